//! Recovery as reports give it against recovery that is drawn and played, on recorded sessions.

use ctxsim::input::profile::cache::TtlClass;
use ctxsim::input::scenario::refetch::Refetch;
use ctxsim::measure::assumed::{Assumed, AssumedCost};
use ctxsim::price::PriceRows;
use ctxsim::quantity::Expected;
use ctxsim::recovery::Assumption;
use ctxsim::take::Cell;
use ctxsim::timeline::{Event, Phase, When};

use crate::support::*;

/// How many seeds an average is taken over.
const N_SEEDS: u64 = 20;

/// A cost may be off by this share of itself, or by four standard errors of the difference: there are more than a hundred comparisons.
const SHARE_MAX: f64 = 0.03;

/// All sessions together may be off by this share, or by three standard errors.
const SHARE_OF_ALL_MAX: f64 = 0.01;

const POLICIES: &str = "\
    identity truncate_oldest sliding_window clear_tool_results_at_40k_min_5k \
    duckagent/duckagent_recoverable_decay_guarded_mid duckagent/immediate_summary clairvoyant";

/// The recorded Claude Code sessions of the reference data where it is given, else the bundled one.
fn sessions() -> Vec<String> {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE") else {
        return vec!["recorded/claude-code".to_owned()];
    };
    let root = std::path::absolute(root).unwrap();
    let folders = ["recorded/claude-code", "recorded/claude-code-2"].map(|it| root.join(it));
    let mut files: Vec<PathBuf> =
        folders.iter().flat_map(|it| fs::read_dir(it).unwrap()).map(|it| it.unwrap().path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "jsonl"));
    files.sort();
    files.iter().map(|it| it.to_str().unwrap().to_owned()).collect()
}

fn plan(policies: &[&str], scenarios: Vec<String>, set: &[&str]) -> Plan {
    let comparison =
        Comparison { scenarios, set: owned(set), ..comparing(policies, &[], &["anthropic/claude-opus-4.5"]) };
    planned(&comparison)
}

/// What a run costs in US dollars with each of some seeds.
fn drawn(timeline: &Timeline, policy: &Policy, profile: &Profile) -> Vec<f64> {
    let ready = CompiledPolicy::new(timeline, policy, &profile.limits);
    let one = |seed| {
        let mut sink = (Sums::default(), PriceRows::default());
        let rules = &profile.cache;
        let outcome = Simulation::compiled(timeline, &ready, rules).drawn(Seed(seed)).run(&mut sink);
        let tally = Tally::new(&sink.0, Some(&sink.1.into()), &outcome, true, profile);
        tally.costs.total().unwrap()
    };
    (1_000..1_000 + N_SEEDS).map(one).collect()
}

/// The mean and its standard error.
fn mean(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[test]
fn what_a_report_says_is_what_drawn_needs_cost_on_the_average() {
    let plan = plan(&listed(POLICIES), sessions(), &[]);
    let (report, profile) = (plan.report(Some(2), &|_, _| {}).unwrap(), &plan.profiles[0]);
    for (nth, name) in listed(POLICIES).iter().enumerate() {
        let (mut told, mut played, mut error_of_all) = (0.0, 0.0, 0.0_f64);
        let loads = plan.scenarios.iter().flat_map(|it| plan.open(it).unwrap());
        for (load, runs) in loads.zip(report.runs.chunks(listed(POLICIES).len())) {
            let lived = load.timeline_of(Cell { scenario: 0, profile: 0, policy: nth });
            let timeline = &*lived.expect("a recording has items");
            let cost = runs[nth].tally.costs.total().unwrap();
            let (mean, error) = mean(&drawn(timeline, &load.policies[nth], profile));
            // What was played for the report has an error of its own.
            let n_played = f64::from(runs[nth].tally.n_played);
            let own = if n_played > 0.0 { error * (N_SEEDS as f64 / n_played).sqrt() } else { 0.0 };
            let error = error.hypot(own);
            let most = (SHARE_MAX * mean).max(4.0 * error);
            assert!((cost - mean).abs() <= most, "{name} on {}: {cost} and not {mean} ± {error}", load.name);
            (told, played, error_of_all) = (told + cost, played + mean, error_of_all.hypot(error));
        }
        let most = (SHARE_OF_ALL_MAX * played).max(3.0 * error_of_all);
        let is_near = plan.scenarios.len() == 1 || (told - played).abs() <= most;
        assert!(is_near, "{name}: {told} and not {played} ± {error_of_all}");
    }
}

#[test]
fn recovery_is_played_where_edits_hang_on_what_was_fetched_and_else_it_is_the_formula() {
    let plan = plan(&listed(POLICIES), vec!["recorded/claude-code".to_owned()], &[]);

    let report = plan.report(Some(1), &|_, _| {}).unwrap();

    let n_played = |name: &str| report.runs.iter().find(|it| it.policy == name).unwrap().tally.n_played;
    assert_eq!((n_played("identity"), n_played("duckagent/immediate_summary")), (0, 0));
    assert!(n_played("clear_tool_results_at_40k_min_5k") > 0);
    assert!(
        report
            .notes
            .iter()
            .any(|it| it.contains("sampled") && it.contains("clear_tool_results_at_40k_min_5k")),
        "{:?}",
        report.notes
    );
}

/// The trigger is above every prompt of the expected run, but below what drawn needs make of some.
#[test]
fn recovery_is_played_where_what_is_fetched_may_reach_a_trigger() {
    let name = "duckagent/immediate_summary";
    let told = |trigger: &str| {
        let set = format!("{name}.params.threshold={trigger}");
        let plan = plan(&[name], vec!["recorded/claude-code".to_owned()], &[&set]);
        let report = plan.report(Some(1), &|_, _| {}).unwrap();
        let load = plan.open(&plan.scenarios[0]).unwrap().remove(0);
        let timeline = load.timeline().expect("a recording has items");
        let (mean, error) = mean(&drawn(timeline, &load.policies[0], &plan.profiles[0]));
        let tally = &report.runs[0].tally;
        let cost = tally.costs.total().unwrap();
        assert!((cost - mean).abs() <= (SHARE_MAX * mean).max(3.0 * error), "{trigger}: {cost} {mean}");
        assert!(tally.sums.main.prompt_max < 82_000, "{}", tally.sums.main.prompt_max);
        (tally.n_played, report.notes.join("\n"))
    };

    let (n_played, notes) = told("tokens(82000)");
    assert!(n_played > 0);
    assert_says(
        &notes,
        &["sampled", "no prompt exceeded 82,000; the longest was 80,670 without fetched results"],
    );
    assert_eq!(told("tokens(160000)").0, 0);
}

#[test]
fn an_ordering_is_called_open_just_where_the_interval_of_what_is_assumed_holds_no_change() {
    let plan = plan(&["identity", "duckagent/immediate_summary"], sessions(), &[]);

    let report = plan.report(Some(2), &|_, _| {}).unwrap();

    let of = |nth: usize, cost: &dyn Fn(&Tally) -> f64| -> f64 {
        report.runs.iter().skip(nth).step_by(2).map(|it| cost(&it.tally)).sum()
    };
    let identity = of(0, &|it| it.costs.total().unwrap());
    // A short session of a sub-agent loses nothing, and then what is assumed changes nothing.
    let ends = |it: &Tally| it.cost_interval().unwrap_or([it.costs.total().unwrap(); 2]);
    let end = |end: usize| of(1, &|it| ends(it)[end]) / identity - 1.0;
    let change = of(1, &|it| it.costs.total().unwrap()) / identity - 1.0;
    assert!(end(0) < change && change < end(1), "{} {change} {}", end(0), end(1));
    if plan.scenarios.len() > 1 {
        // What was measured of such a policy on 272 sessions, over the intervals of its assumptions.
        assert!((-0.185..=0.189).contains(&change), "{} {change} {}", end(0), end(1));
        assert!(end(1) > 0.0, "nothing was measured of results that are cut as they enter: {}", end(1));
    }
    // Each assumption alone, both policies under it; the squares of what they move the change by add up.
    let mut squares = [0.0; 2];
    for it in Assumed::ALL {
        let at = |end: usize| {
            let cost =
                |nth: usize| of(nth, &|tally| tally.costs.total().unwrap() + tally.assumed.of(it)[end]);
            cost(1) / cost(0) - 1.0 - change
        };
        let [one, other] = [at(0), at(1)];
        squares[0] += one.min(other).min(0.0).powi(2);
        squares[1] += one.max(other).max(0.0).powi(2);
    }
    let [down, up] = squares.map(f64::sqrt);
    let is_open = report
        .notes
        .iter()
        .any(|it| it.contains("immediate_summary") && it.contains("depends on what is assumed"));
    assert_eq!(is_open, change - down < 0.0 && 0.0 < change + up, "{down} {up} {:?}", report.notes);
    assert!(down < change - end(0) + 1e-9 && up < end(1) - change + 1e-9, "all at once is a bound");
}

/// Each number of recovery is drawn anew between its ends, and played; weights stand with each need, and are left. What is sampled of an agent's
/// reaction, where a policy edits fetched results, differs from one play to the other by chance, and is left out.
#[test]
fn assumptions_that_are_drawn_together_cost_about_what_their_changes_add_up_to() {
    let numbers = [
        ("own_request", Assumption::OwnRequest),
        ("fetched_tokens_max", Assumption::FetchedTokens),
        ("exploration.calls_per_request", Assumption::ExploredCalls),
        ("exploration.bend", Assumption::ExploredBend),
        ("exploration.fetched_scale", Assumption::ExploredSizes),
    ];
    let policies = ["identity", "duckagent/immediate_summary", "truncate_oldest"];
    let costs = |set: &[&str]| {
        let report = plan(&policies, sessions(), set).report(Some(2), &|_, _| {}).unwrap();
        let mut sums = [AssumedCost::default(); 3];
        let runs = report.runs.iter().enumerate();
        runs.for_each(|(nth, it)| {
            let cost = it.tally.assumed_cost().unwrap();
            let usd = cost.usd - it.tally.costs.reaction.usd();
            sums[nth % 3] += AssumedCost { usd, ..cost };
        });
        sums
    };
    let declared = costs(&[]);
    let refetch = Refetch::default().explored();
    for nth in 0..6 {
        let mut draw = Seed(6).nth("joint numbers", 0, nth);
        let (mut set, mut at) = (Vec::new(), Vec::new());
        for (path, it) in numbers {
            let [value, low, high] = refetch.number(it).unwrap();
            let share = draw.next_unit();
            let drawn = low + (high - low) * share;
            let drawn = if it == Assumption::FetchedTokens { drawn.round() } else { drawn };
            set.push(format!("scenario.refetch.{path}={{ value = {drawn:.6}, low = {low}, high = {high} }}"));
            let span = if drawn < value { value - low } else { high - value };
            at.push((
                it,
                usize::from(drawn > value),
                if span > 0.0 { (drawn - value).abs() / span } else { 0.0 },
            ));
        }
        set[1] = set[1].replacen(".000000", "", 1);
        let played = costs(&set.iter().map(String::as_str).collect::<Vec<_>>());
        for policy in 1..3 {
            let reach = declared[policy].reach_from(&declared[0]).0;
            let own = |of: usize| {
                let changes = at
                    .iter()
                    .map(|(it, end, share)| declared[of].changes.of(Assumed::Recovery(*it))[*end] * share);
                declared[of].usd + changes.sum::<f64>()
            };
            let expected = own(policy) / own(0) - 1.0;
            let found = played[policy].change_from(&played[0]);
            // Calls, shape and sizes multiply: where one is far off, what another changes is so, too.
            let most = 0.25 * (reach[0] + reach[1]);
            assert!(
                (found - expected).abs() <= most,
                "{}: {found} and not {expected}, {reach:?} {set:?}",
                policies[policy]
            );
        }
    }
}

#[test]
fn the_upper_end_of_recovery_is_higher_where_a_result_was_cut_before_it_was_seen_whole() {
    let high = |policy: &str, most: &str| {
        let set = format!("scenario.refetch.unseen_weight_high={most}");
        let report = plan(&[policy], vec!["recorded/claude-code".to_owned()], &[&set])
            .report(Some(1), &|_, _| {})
            .unwrap();
        let tally = &report.runs[0].tally;
        (tally.costs.total().unwrap(), tally.cost_interval().unwrap())
    };

    let (cost, [low, end]) = high("duckagent/immediate_summary", "0");
    let (same_cost, [same_low, unseen_end]) = high("duckagent/immediate_summary", "1");

    assert_eq!((cost, low), (same_cost, same_low));
    assert!(unseen_end > end, "{unseen_end} {end}");
    assert_eq!(high("clear_tool_results", "0"), high("clear_tool_results", "1"), "it clears what was seen");
}

#[test]
fn what_is_fetched_is_written_for_as_long_as_the_harness_asks_by_then() {
    let plan = plan(&["duckagent/immediate_summary"], vec!["recorded/claude-code".to_owned()], &[]);
    let load = plan.open(&plan.scenarios[0]).unwrap().remove(0);
    let timeline = load.timeline().expect("a recording has items");
    let mut timeline = Timeline::clone(timeline);
    let written = |timeline: &Timeline| {
        let mut sums = Sums::default();
        let (limits, rules) = (&plan.profiles[0].limits, &plan.profiles[0].cache);
        Simulation::new(timeline, &load.policies[0], limits, rules).run(&mut sums);
        sums.needs.refetched.write.map(Expected::to_f64)
    };

    let [minutes, none] = written(&timeline);
    let at = When { turn_ix: 0, phase: Phase::SessionStart };
    timeline.events.insert(0, Event { at, kind: EventKind::Lifetime(TtlClass::Long) });
    let [later_none, hour] = written(&timeline);

    assert!(
        minutes > 0.0 && none == 0.0 && later_none == 0.0 && hour > 0.0,
        "{minutes} {none} {later_none} {hour}"
    );
}
