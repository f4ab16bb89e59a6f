//! What repair lines name: fields and events that a run takes with `--set`, each with the score that it brings.

use ctxsim::app::{Comparison, Plan};
use ctxsim::catalog::bundled_catalog;
use ctxsim::report::Report;
use ctxsim::take::{Run, StageRepair};

const POLICIES: [&str; 6] = [
    "aging/no_memory",
    "aging/full_context",
    "aging/lossy",
    "aging/append_only",
    "aging/append_only_last",
    "aging/workspace_reread",
];

fn report(scenario: &str, policies: &[&str], set: &[&str]) -> Report {
    let comparison = Comparison {
        policies: policies.iter().map(|it| (*it).to_owned()).collect(),
        scenarios: vec![scenario.to_owned()],
        profiles: vec!["unlimited".to_owned()],
        set: set.iter().map(|it| (*it).to_owned()).collect(),
        ..Comparison::default()
    };
    Plan::new(&bundled_catalog(), &comparison).unwrap().report(None, &|_, _| {}).unwrap()
}

fn repair(run: &Run) -> &StageRepair {
    run.findings.as_ref().unwrap().repair().unwrap()
}

fn score(run: &Run) -> f64 {
    run.remembered().next().unwrap().number.mean
}

/// Holds every change that is named against a run with it.
fn each_change_brings_its_score(scenario: &str, policies: &[&str]) -> usize {
    let mut n = 0;
    for run in &report(scenario, policies, &[]).runs {
        let repair = repair(run);
        assert!((repair.score - score(run)).abs() < 1e-9, "{}: {repair:?}", run.policy);
        let Some(change) = &repair.change else { continue };
        let changed = &report(scenario, &[run.policy.as_str()], &[change.as_str()]).runs[0];
        let brings = repair.brings.unwrap();
        assert!(
            brings > repair.score && (brings - score(changed)).abs() < 1e-9,
            "{}: {repair:?}",
            run.policy
        );
        n += 1;
    }
    n
}

#[test]
fn each_named_change_is_taken_by_set_and_brings_the_score_that_the_line_gives() {
    let helped = each_change_brings_its_score("aging/s6", &POLICIES);
    assert_eq!(
        helped,
        POLICIES.len() - 1,
        "nothing but the event is tried of a policy that declares no memory"
    );
    assert!(each_change_brings_its_score("aging/s2", &["aging/careful", "aging/lossy"]) > 0);
}

#[test]
fn each_named_change_of_a_memory_runner_is_taken_by_set_and_brings_its_score() {
    let runners = ["memory_runners/context_only", "memory_runners/entries"];
    assert!(each_change_brings_its_score("memory_runners/spec", &runners) > 0);
}

#[test]
fn where_an_event_takes_the_memory_away_the_line_names_the_event_and_no_field() {
    let report = report("aging/s6", &["aging/full_context"], &[]);

    assert_eq!(repair(&report.runs[0]).change.as_deref(), Some("scenario.load.aging.events=[]"));
    let [line] = &report.repair_lines()[..] else { panic!("one line for one memory") };
    assert!(line.contains("With `--set 'scenario.load.aging.events=[]'`: mean score "), "{line}");
}
