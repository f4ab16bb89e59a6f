//! What a saving bears: more turns, a declared ratio of them, and what published runs tell of the task.

use std::cell::RefCell;

use ctxsim::input::policy::PolicyFamily;
use ctxsim::measure::assumed::Assumed;
use ctxsim::measure::known_task::KnownTask;
use ctxsim::measure::more_turns::TurnRatios;
use ctxsim::report::known_task::{narrow_window_reason, published_task_effects};
use ctxsim::report::lever::TurnsBreakEven;
use proptest::prelude::*;

use crate::laws::hold;
use crate::random_policy::policy;
use crate::random_rules::rules;
use crate::random_timeline::timeline;
use crate::support::*;
use crate::task_page::page;

/// Random runs that are compared.
const RUNS: usize = 100;

fn profile() -> Profile {
    let text = include_str!("../../profiles/field/sonnet-5.toml");
    profile_from(text)
}

/// A request as it is billed, with parts of tokens: reads, writes by lifetime, plain input, output.
type Billed = [f64; 5];

/// Returns what requests cost at flat prices.
fn usd(of: &Billed, profile: &Profile) -> f64 {
    let rates = profile.prices.usual();
    let write = |it| rates.write(it).map_or(0, |it| it.0);
    let rates = [rates.read().0, write(0), write(1), rates.input.0, rates.output.map_or(0, |it| it.0)];
    of.iter().zip(rates).map(|(n, rate)| n * rate as f64 / 1e12).sum()
}

/// Returns the ledger of a session that goes on for so many of its requests, and what that costs: its own requests, then those that follow, each
/// as the page on turns says.
fn goes_on(rows: &Rows, rest: f64, profile: &Profile, more: f64) -> f64 {
    let own: Vec<Billed> = rows
        .requests
        .iter()
        .filter(|it| it.role == Role::Main)
        .map(|it| it.tokens())
        .map(|it| [it.read, it.write[0], it.write[1], it.uncached, it.output].map(|it| it as f64))
        .collect();
    let prompt = |it: &Billed| it[..4].iter().sum::<f64>();
    let n = own.len() as f64;
    let longest = own.iter().map(prompt).fold(0.0, f64::max);
    let mean = own.iter().map(prompt).sum::<f64>() / n;
    let missed = own.iter().map(|it| prompt(it) - it[0]).sum::<f64>();
    let new = if missed > 0.0 { (longest / missed).min(1.0) } else { 1.0 };
    let longer = longest / mean;
    let average = [0, 1, 2, 3, 4].map(|nth| own.iter().map(|it| it[nth]).sum::<f64>() / n);
    let again = new + (1.0 - new) * longer;
    let next: Billed =
        [average[0] * longer, average[1] * again, average[2] * again, average[3] * again, average[4]];
    let mut all: f64 = own.iter().map(|it| usd(it, profile)).sum::<f64>() + rest;
    // Request by request, the last one in part.
    let mut left = more * n;
    while left > 0.0 {
        let part = left.min(1.0);
        all += part * (usd(&next, profile) + rest / n);
        left -= 1.0;
    }
    all
}

/// Searches for the percentage of turns at which a cost is reached.
fn searched(cost: impl Fn(f64) -> f64, base: f64) -> f64 {
    let mut ends = [0.0, 1.0];
    while cost(ends[1]) < base {
        ends[1] *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(ends[0], ends[1]);
        ends[usize::from(cost(middle) >= base)] = middle;
    }
    100.0 * ends[0]
}

#[test]
fn the_turns_that_a_saving_bears_are_those_of_a_search_over_scaled_sessions_on_a_hundred_random_runs() {
    let (profile, off) = (profile(), RefCell::new(Vec::new()));
    let case = (timeline(), policy(), rules(), 0.005..0.6_f64);
    hold(4, case, |(plan, spec, rules, saved)| {
        let (policy, timeline) = (Policy::new(&spec).unwrap(), plan.build());
        let play = || Simulation::new(&timeline, &policy, &Limits::NONE, &rules);
        let (mut rows, mut sums) = (Rows::default(), Sums::default());
        play().run(&mut rows);
        let outcome = play().run(&mut sums);
        let tally = Tally::new(&sums, None, &outcome, true, &profile);
        let (Some(total), Some(again)) = (tally.costs.total(), tally.as_many_again()) else { return Ok(()) };
        let main = &tally.costs.main;
        let rest = total - (main.read + main.write + main.uncached + main.output).usd();
        let base = total / (1.0 - saved);
        if off.borrow().len() < RUNS && total > 0.0 {
            let gone = TurnsBreakEven::new(-saved, None, again / base).unwrap();
            let found = searched(|more| goes_on(&rows, rest, &profile, more), base);
            prop_assert!((gone.percent - found).abs() < 0.1, "{} and {found}", gone.percent);
            // More turns make it dearer, and fewer do not.
            let at = |percent: f64| tally.clone().with_more_turns(percent / 100.0).costs.total().unwrap();
            prop_assert!(
                at(gone.percent + 0.1) > base * (1.0 - 1e-6) && at(gone.percent - 0.1) < base * (1.0 + 1e-6)
            );
            // A ratio between two others moves the cost by as much as they say.
            let ratio = tally.clone().at_turns_ratio(1.2, [1.0, 1.3]);
            let [less, most] = ratio.assumed.of(Assumed::Turns);
            prop_assert!((less + 0.2 * again).abs() < 1e-9 && (most - 0.1 * again).abs() < 1e-9);
            prop_assert!((ratio.costs.total().unwrap() - total - 0.2 * again).abs() < 1e-6 * total);
            off.borrow_mut().push((gone.percent - found).abs());
        }
        Ok(())
    });
    assert_eq!(off.borrow().len(), RUNS);
}

fn ctxsim(args: &[&str]) -> Value {
    parsed(&crate::support::ctxsim(root(), args))
}

/// A mask, a clear and a summary that save on sessions without pauses.
const SAVING: [(&str, &str); 3] = [
    (
        "mask",
        r#"stages: [(name: "mask", scope: (kinds: [tool_result], keep_recent: tool_uses(4), by: tool_uses(16), whole: true), apply: show(marker(12)))]"#,
    ),
    (
        "clear",
        r#"stages: [(name: "clear", when: prompt(at_least: tokens(60_000)), scope: (kinds: [tool_result], keep_recent: tool_uses(2)), apply: show(marker(12)))]"#,
    ),
    (
        "drop",
        r#"stages: [(name: "drop", when: prompt(at_least: tokens(80_000)), scope: (keep_recent: turns(2)), apply: drop)]"#,
    ),
];

/// A session of turns that are alike.
const SESSION: &str = r#"
name = "alike"
about = "Turns that are alike."
stable = [{ kind = "system", tokens = 4_000 }]
[load.generate]
turns = 40
[[load.generate.patterns]]
times = 1
user_tokens = 150
answer_tokens = 300
[[load.generate.patterns.calls]]
tool = "read_file"
times = 4
args_tokens = 60
preserve = "reference"
result.raw = 2_500
result.excerpt = 400
result.summary = 200
result.handle = 40
"#;

#[test]
fn sessions_that_are_played_with_more_turns_than_a_saving_bears_cost_more() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let session = path("alike.toml");
    fs::write(&session, SESSION).unwrap();
    let mut ratios = Vec::new();
    for (name, stages) in SAVING {
        let file = path(&format!("{name}.ron"));
        fs::write(&file, format!("(name: {name:?}, about: \"Saves.\", {stages})")).unwrap();
        let with = |turns: &str| {
            let turns = format!("scenario.load.generate.turns={turns}");
            let args = [
                "run",
                "--policy",
                "identity",
                &file,
                "--profile",
                "anthropic/claude-sonnet-5.5",
                "--format",
                "json",
            ];
            let report = ctxsim(&[&args[..], &["--scenario", &session, "--set", &turns]].concat());
            [0, 1].map(|nth| report["runs"][nth]["totals"]["cost_usd"]["total"].as_f64().unwrap())
        };
        let compared = ctxsim(&[
            "compare",
            "--base",
            "identity",
            "--candidate",
            &file,
            "--scenario",
            &session,
            "--profile",
            "anthropic/claude-sonnet-5.5",
            "--format",
            "json",
        ]);
        let gone = compared["comparisons"][0]["gone_at_extra_turns"]["percent"].as_f64().unwrap();
        let base = with("40")[0];
        // Where the cost of longer sessions reaches that of keeping everything.
        let turns = (40..400).find(|it| with(&it.to_string())[1] > base).unwrap();
        let played = 100.0 * (f64::from(turns) / 40.0 - 1.0);
        ratios.push((gone, played));
        assert!((0.6..1.7).contains(&(played / gone)), "{ratios:?}");
        let dearer = (40.0 * (1.0 + 1.5 * played.max(gone) / 100.0)).ceil();
        assert!(with(&dearer.to_string())[1] > base);
    }
    // The page on turns has them.
    let page = include_str!("../../docs/reference/turns.md");
    let row = |it: &(f64, f64)| page.contains(&format!("| {:.1}% | {:.1}% |", it.0, it.1));
    assert!(ratios.iter().all(row), "{ratios:?}");
}

#[test]
fn a_declared_ratio_of_turns_adds_what_they_cost_to_policies_that_edit_prompts_and_is_an_assumption() {
    let folder = tempdir().unwrap();
    let session = folder.path().join("alike.toml").to_str().unwrap().to_owned();
    fs::write(&session, SESSION).unwrap();
    let args = [
        "run",
        "--policy",
        "identity",
        "agents/complexity_trap/mask",
        "--profile",
        "anthropic/claude-sonnet-5.5",
        "--scenario",
        &session,
        "--format",
        "json",
    ];
    let (plain, more) =
        (ctxsim(&args), ctxsim(&[&args[..], &["--set", "scenario.turns_ratio=1.2"]].concat()));
    let total = |report: &Value, nth: usize, place: [&str; 2]| {
        report["runs"][nth]["totals"][place[0]][place[1]].as_f64().unwrap()
    };
    let cost = |report: &Value, nth: usize| total(report, nth, ["cost_usd", "total"]);
    assert_eq!(cost(&plain, 0).to_bits(), cost(&more, 0).to_bits(), "what edits nothing takes as many turns");
    assert!(cost(&more, 1) > 1.19 * cost(&plain, 1), "{} and {}", cost(&more, 1), cost(&plain, 1));
    refusal(&crate::support::ctxsim(root(), [&args[..8], &["--set", "scenario.turns_ratio=11"]].concat()));
}

#[test]
fn the_published_ratios_of_turns_lie_in_their_ranges_and_each_has_its_tasks() {
    let all = TurnRatios::declared().all();
    assert!(all.len() >= 4, "{all:?}");
    for it in all {
        let [low, high] = it.range;
        assert!(low <= it.turns.value && it.turns.value <= high, "{it:?}");
        assert!(it.n >= 200 && it.contrasts > 0 && it.turns.low <= it.turns.value, "{it:?}");
        assert!((it.halves[0] - it.halves[1]).abs() < 0.15, "{it:?}");
    }
}

#[test]
fn no_number_of_points_stands_without_its_source() {
    let declared = KnownTask::declared();
    for it in declared.contrasts.iter().chain(&declared.read) {
        assert!(declared.sources.contains_key(&it.source), "{it:?}");
        assert!(it.n >= 5, "{it:?}");
    }
    assert!(declared.pooled.iter().all(|it| declared.sources.contains_key(&it.source)));
    let titles: Vec<&str> = declared.sources.values().map(|it| it.title.as_str()).collect();
    let lines: Vec<String> =
        PolicyFamily::ALL.into_iter().filter_map(|it| published_task_effects(&[it])).collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines.iter().all(|line| titles.iter().any(|it| line.contains(it))), "{lines:#?}");
    for row in page().lines().filter(|it| it.starts_with("| ") && it.contains(" to ")) {
        assert!(titles.iter().any(|it| row.contains(it)), "{row}");
    }
    // No other file writes points of tasks.
    let files = crate::tidy::own_sources();
    let told: Vec<&String> =
        files.iter().filter(|it| it.1.contains("points of tasks")).map(|it| &it.0).collect();
    assert!(
        told.iter()
            .all(|it| it.ends_with("report/src/known_task.rs")
                || it.ends_with("engine/src/measure/known_task.rs")),
        "{told:?}"
    );
}

#[test]
fn a_window_that_is_small_against_the_requests_of_the_sessions_is_its_users_to_judge() {
    let why = narrow_window_reason(10, &[5, 60, 80]).unwrap();
    assert!(why.contains("The Complexity Trap") && why.contains("60 or more"), "{why}");
    assert_eq!(narrow_window_reason(40, &[60, 60, 80]), None);
    let mask = |keep: &str| {
        let text = format!(
            "(name: \"m\", about: \"Masks.\", stages: [(name: \"m\", scope: (kinds: [tool_result], keep_recent: {keep}), apply: show(marker(12)))])"
        );
        policy_from(&text)
    };
    assert_eq!(mask("tool_uses(5)").newest_requests(), Some(5));
    assert_eq!(mask("tool_uses(5)").families(), [PolicyFamily::Mask]);
    assert_eq!(mask("size(tokens(5_000))").newest_requests(), None);
}

/// What published arms below and above the declared window took of turns.
#[test]
fn masks_below_the_declared_share_of_turns_took_more_turns_and_those_above_it_did_not() {
    let declared = KnownTask::declared();
    let share = declared.window.share;
    let masks = declared.contrasts.iter().filter(|it| it.policy == "mask");
    let (below, above): (Vec<_>, Vec<_>) =
        masks.partition(|it| (it.window.unwrap() as f64) < share * it.raw_turns.unwrap());
    let turns = |all: &[&ctxsim::measure::known_task::TaskContrast]| -> Vec<f64> {
        all.iter().map(|it| it.turns.unwrap().value).collect()
    };
    assert_eq!((below.len(), above.len()), (9, 7));
    assert_eq!(turns(&below).iter().filter(|it| **it > 1.1).count(), 6);
    assert!(turns(&above).iter().all(|it| (0.85..=1.10).contains(it)), "{:?}", turns(&above));
}
