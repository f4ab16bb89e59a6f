//! A live grid is what twenty compaction strategies cost and kept in 600 paid runs; `tests/data/live-grid` holds what was measured.
//!
//! A *forecast* knows how long the replies of `none` were, and nothing else of the runs. *Mechanics* knows the mean reply of each
//! strategy and cell, so that what is left is what ctxsim says of prompts, caches and facts.

mod document;
mod scores;

use ctxsim::input::policy::memory::State;
use ctxsim::input::scenario::{Amount, NumberRange, TurnSpec};
use ctxsim::price;
use ctxsim::take::RowsOf;
use ctxsim::timeline::load::load;
use ctxsim::worlds::needles::Retention;
use serde::Deserialize;

use crate::support::*;

/// The strategies that are scored: those without a summariser, whose outputs the runs tell apart.
fn scored() -> Vec<&'static str> {
    listed(
        "none sliding_window truncation selective_tool_call tool_result context_window \
        context_window_aggressive context_window_lazy token_budget_fallback token_budget_tools_first \
        token_budget_truncate_first token_budget_window_first anchored anchored_no_assistant \
        anchored_min_gain",
    )
}

/// What was measured.
#[derive(Debug, Deserialize)]
struct Grid {
    cells: IndexMap<String, Cell>,
}

/// A model at one fill of the window.
#[derive(Debug, Deserialize)]
struct Cell {
    turns: u64,
    strategies: IndexMap<String, Measured>,
}

/// What one strategy came to in a cell: means of five seeds.
#[derive(Debug, Deserialize)]
struct Measured {
    cost_usd: f64,
    cost_max_less_min_usd: f64,
    against_none_percent: f64,
    hit_percent: f64,
    output_tokens: f64,
    final_prompt: f64,
    peak_prompt: f64,
    facts_left: Vec<f64>,
}

/// What ctxsim makes of a strategy in a cell.
#[derive(Clone, Copy, Debug, Default)]
struct Played {
    cost_usd: f64,
    hit_percent: f64,
    final_prompt: f64,
    peak_prompt: f64,
    /// Facts left where replies say nothing of results again, and where they say all of it.
    facts_left: [f64; 2],
}

/// How much a play knows of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knows {
    /// The replies of `none`.
    Forecast,
    /// The mean reply of each strategy.
    Mechanics,
}

fn grid() -> Grid {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/live-grid/measured.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// How many draws of the replies a mean is over: one trajectory hangs on a few tokens, a mean does not.
const SEEDS: u64 = 20;

/// The scenario of a cell with drawn replies: of this mean length, if that is known, else of the scenario's own.
///
/// How replies spread is not in the records. Each is drawn evenly between nothing and twice the mean, but for the first two, which
/// were long in every run.
fn scenario(own: &ScenarioFile, cell: &Cell, output_tokens: Option<f64>, seed: u64) -> ScenarioFile {
    const OF_CALLS: f64 = 6.0 * 18.0;
    const OF_FIRST: f64 = 700.0;
    let mut spec = ScenarioFile { seed, ..own.clone() };
    let LoadSpec::Generate(load) = &mut spec.load else { panic!("{} is no pattern", own.name) };
    let others = cell.turns as f64 - 2.0;
    let mean = output_tokens.map(|it| ((it - OF_CALLS - 2.0 * OF_FIRST) / others).max(0.0));
    for turn in load.patterns.iter_mut().skip(2) {
        let mean = mean.unwrap_or_else(|| turn.answer_tokens.most() as f64);
        turn.answer_tokens = Amount::Range(NumberRange { first: 0, last: (2.0 * mean).round() as u64 });
    }
    spec
}

/// The same with one more question at its end.
fn asking(mut spec: ScenarioFile) -> ScenarioFile {
    let LoadSpec::Generate(load) = &mut spec.load else { panic!("no pattern") };
    let filler = load.patterns.iter().find(|it| it.name == "filler").unwrap();
    let question = TurnSpec { times: 1, user_tokens: Amount::Fixed(93), ..filler.clone() };
    load.patterns.push(question);
    spec
}

/// The same with replies that say again what results told.
fn repeating(mut spec: ScenarioFile) -> ScenarioFile {
    let LoadSpec::Generate(load) = &mut spec.load else { panic!("no pattern") };
    load.patterns.iter_mut().for_each(|it| it.repeats = true);
    spec
}

/// The policy of a strategy, with the parameters that a scenario sets.
fn policy(strategy: &str, scenario: &ScenarioFile) -> Policy {
    let name = match strategy {
        "none" => "identity".to_owned(),
        "tool_result" => "agents/agent_framework/collapse_tool_results".to_owned(),
        other => format!("agents/agent_framework/{other}"),
    };
    let mut spec: PolicyFile = bundled_catalog().policy(&name).unwrap().spec;
    for (param, size) in &scenario.params {
        if let Some(own) = spec.params.get_mut(param) {
            own.clone_from(size);
        }
    }
    Policy::new(&spec).unwrap_or_else(|it| panic!("{it:#?}"))
}

fn rows(policy: &Policy, spec: &ScenarioFile, profile: &Profile) -> Rows {
    let timeline = load(&Scenario::new(spec).unwrap(), |path, _| panic!("{path} is recorded")).unwrap();
    let mut rows = Rows::default();
    let outcome = Simulation::new(&timeline, policy, &profile.limits, &profile.cache).run(&mut rows);
    assert_eq!(outcome.failure, None, "{}", policy.name);
    rows
}

/// Plays a strategy in a cell: means over the draws, and the bounds of what any of them leaves.
fn play(name: &str, cell: &Cell, strategy: &str, knows: Knows) -> Played {
    let model = name.split_once('/').unwrap().0;
    let profile = bundled_catalog().profile(&format!("live_grid/{model}")).unwrap();
    let profile = Profile::new(&profile.spec).unwrap();
    let replies = (knows == Knows::Mechanics).then(|| cell.strategies[strategy].output_tokens);
    let own = bundled_catalog().scenario(&format!("live_grid/{name}")).unwrap().spec;
    let policy = policy(strategy, &own);
    let mut sum = Played { facts_left: [f64::MAX, 0.0], ..Played::default() };
    for seed in 0..SEEDS {
        let it = play_once(&policy, scenario(&own, cell, replies, seed), &profile, knows);
        sum.cost_usd += it.cost_usd / SEEDS as f64;
        sum.hit_percent += it.hit_percent / SEEDS as f64;
        sum.final_prompt += it.final_prompt / SEEDS as f64;
        sum.peak_prompt += it.peak_prompt / SEEDS as f64;
        sum.facts_left[0] = sum.facts_left[0].min(it.facts_left[0]);
        sum.facts_left[1] = sum.facts_left[1].max(it.facts_left[1]);
    }
    sum
}

/// Plays a strategy on one draw of the replies; a forecast says nothing of facts and of the prompts of questions.
fn play_once(policy: &Policy, spec: ScenarioFile, profile: &Profile, knows: Knows) -> Played {
    let conversation = rows(policy, &spec, profile);
    let usd = |it| price::request(it, &profile.prices).unwrap().0 as f64 / 1e12;
    let read: u64 = conversation.requests.iter().map(|it| it.usage.read).sum();
    let cost_usd = conversation.requests.iter().map(usd).sum();
    let hit_percent = 100.0 * read as f64 / prompts(&conversation).iter().sum::<f64>();
    if knows == Knows::Forecast {
        return Played { cost_usd, hit_percent, ..Played::default() };
    }
    let asked = prompts(&rows(policy, &asking(spec.clone()), profile));
    let repeated = rows(policy, &repeating(spec), profile);
    Played {
        cost_usd,
        hit_percent,
        final_prompt: *asked.last().unwrap(),
        peak_prompt: asked.iter().copied().fold(0.0, f64::max),
        facts_left: [left(&conversation), left(&repeated)],
    }
}

fn prompts(rows: &Rows) -> Vec<f64> {
    rows.requests.iter().map(|it| it.prompt as f64).collect()
}

/// How many facts the prompt still says when all is over.
fn left(rows: &Rows) -> f64 {
    rows.probes.iter().filter(|it| matches!(it.state, State::Exact | State::Summarised)).count() as f64
}

#[test]
fn a_run_says_how_many_facts_are_left_and_rows_say_which() {
    let names = ["identity", "agents/agent_framework/truncation"];
    let comparison = Comparison {
        policies: names.map(str::to_owned).to_vec(),
        ..comparing(&[], &["live_grid/gpt-6-luna/fill_0.9"], &["live_grid/gpt-6-luna"])
    };
    let plan = planned(&comparison);
    let report = plan.report(None, &|_, _| {}).unwrap();
    let of_questions =
        plan.map_loads(None, &|_, _| {}, |load, it| load.rows_of(RowsOf::Questions, it)).unwrap();
    let profile = Profile::new(&bundled_catalog().profile("live_grid/gpt-6-luna").unwrap().spec).unwrap();
    let own = bundled_catalog().scenario("live_grid/gpt-6-luna/fill_0.9").unwrap().spec;

    for (nth, name) in ["none", "truncation"].into_iter().enumerate() {
        let retention = report.runs[nth].found::<Retention>().unwrap();
        let left = left(&rows(&policy(name, &own), &own, &profile));
        assert_eq!((retention.needles_total, retention.needles_found as f64), (53, left), "{name}");
        assert_eq!(of_questions[0][nth].rows.len(), 53, "{name}");
    }
    assert_eq!(report.runs[0].found::<Retention>().unwrap().needles_found, 53);
    assert_eq!(
        report.notes_on_planted_facts(),
        [
            "Facts left under live_grid/gpt-6-luna: identity 53 of 53; agents/agent_framework/truncation 26 of 53."
        ]
    );
    assert_eq!(report.verdicts().len(), 1, "it has a table of bills as any load");
}
