//! Every declared number of a world moves something that is reported, or says in its file that it moves nothing, and why.

use ctxsim::report::json;
use ctxsim::worlds::aging::{AgingNumbers, Model};
use ctxsim::worlds::chats::ChatNumbers;

use crate::support::*;

/// By how much of itself a number has to move.
const MOVED: f64 = 0.001;
/// How a line of a file says that its number moves nothing.
const UNMOVED: &str = "moves nothing:";

/// A world's numbers, and the loads that show what they do.
struct DeclaredWorld {
    /// What `--set` calls them.
    root: &'static str,
    file: &'static str,
    numbers: Vec<(String, f64)>,
    policies: &'static str,
    scenarios: &'static str,
    trials: Option<u64>,
}

fn file(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Notes the numbers of a report by their places.
fn collect(value: &Value, place: &str, all: &mut BTreeMap<String, f64>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|it| collect(it.1, &format!("{place}.{}", it.0), all));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|it| collect(it.1, &format!("{place}.{}", it.0), all));
        }
        Value::Number(it) => drop(all.insert(place.to_owned(), it.as_f64().unwrap_or_default())),
        _ => {}
    }
}

/// Plays a load and returns the numbers that are reported of it; nothing if the change is refused.
fn reported(world: &DeclaredWorld, scenario: &str, set: Option<String>) -> Option<BTreeMap<String, f64>> {
    let comparison = Comparison {
        trials: world.trials,
        set: set.into_iter().collect(),
        ..comparing(&listed(world.policies), &[scenario], &["anthropic/claude-sonnet-4.5"])
    };
    let plan = Plan::new(&bundled_catalog(), &comparison).ok()?;
    let report = plan.report(None, &|_, _| {}).unwrap();
    let mut all = BTreeMap::new();
    for run in &report.runs {
        let value = json::run_json_value(run);
        collect(&value, &run.policy, &mut all);
    }
    Some(all)
}

fn is_moved(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> bool {
    let differs = |(place, one): (&String, &f64)| {
        after.get(place).is_none_or(|other| (one - other).abs() > MOVED * one.abs().max(other.abs()))
    };
    before.iter().any(differs)
}

/// Returns the values that a number is set to.
fn others(declared: f64) -> Vec<f64> {
    if declared == 0.0 {
        return vec![0.5, 1.0];
    }
    let is_count = declared >= 1.0 && declared.fract() == 0.0;
    let half = if is_count { (declared / 2.0).floor() } else { declared / 2.0 };
    vec![half, declared * 2.0, 0.0, (1.0 - declared).max(0.0)]
}

fn worlds() -> [DeclaredWorld; 2] {
    let aging = AgingNumbers::declared();
    let mid = Model::named("mid").unwrap();
    let chats = ChatNumbers::declared();
    let of = |names: Vec<String>, get: &dyn Fn(&str) -> Option<f64>| -> Vec<(String, f64)> {
        names.into_iter().filter_map(|it| get(&it).map(|value| (it, value))).collect()
    };
    [
        DeclaredWorld {
            root: "aging",
            file: "assumptions/aging/numbers.toml",
            numbers: of(aging.names(), &|it| aging.get(it).or(mid.own(it))),
            policies: "\
                aging/lossy aging/careful aging/append_only aging/workspace aging/careful_overlay \
                aging/lossy_episodic aging/hard aging/growing_history aging/full_context",
            scenarios: "aging/s6 aging/s2 aging/s3 aging/s4 aging/s1 aging/s7 aging/s3_pairs_6 aging/s2_heavy",
            trials: Some(3),
        },
        DeclaredWorld {
            root: "runner",
            file: "assumptions/memory_runners/numbers.toml",
            numbers: of(chats.names(), &|it| chats.get(it)),
            policies: "\
                memory_runners/entries memory_runners/entries_shipped memory_runners/context_only \
                memory_runners/context_only_listed",
            scenarios: "memory_runners/spec memory_runners/spec_dated",
            trials: Some(2),
        },
    ]
}

#[test]
#[ignore = "slow: .ci/run runs it"]
fn every_declared_number_moves_a_reported_one_or_its_file_says_why_not() {
    for world in worlds() {
        let text = file(world.file);
        let scenarios = listed(world.scenarios);
        let usual: Vec<_> = scenarios.iter().map(|it| reported(&world, it, None).unwrap()).collect();
        assert!(world.numbers.len() > 5, "{}", world.root);
        let mut unmoved = Vec::new();
        for (name, declared) in &world.numbers {
            let moves = |at: usize, value: f64| {
                let set = format!("{}.{name}={value}", world.root);
                let after = reported(&world, scenarios[at], Some(set));
                after.is_some_and(|it| is_moved(&usual[at], &it))
            };
            let tried = |at: usize| others(*declared).into_iter().any(|value| moves(at, value));
            let is_found = (0..scenarios.len()).any(tried);
            let last = name.rsplit('.').next().unwrap_or(name);
            let says = |it: &str| it.contains(UNMOVED) && it.trim_start().starts_with(last);
            if is_found == text.lines().any(says) {
                unmoved.push(format!("{name} (moves something: {is_found})"));
            }
        }
        assert!(unmoved.is_empty(), "{}: {unmoved:?}", world.file);
    }
}
