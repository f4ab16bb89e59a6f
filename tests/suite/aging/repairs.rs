//! What repair lines name: fields and events that a run takes with `--set`, each with the score that it brings.

use ctxsim::take::{Run, StageRepair};

use crate::support::*;

const POLICIES: [&str; 6] = [
    "aging/no_memory",
    "aging/full_context",
    "aging/lossy",
    "aging/append_only",
    "aging/append_only_last",
    "aging/workspace_reread",
];

fn report(scenario: &str, policies: &[&str], set: &[&str]) -> Report {
    let comparison = Comparison { set: owned(set), ..comparing(policies, &[scenario], &["unlimited"]) };
    reported(&comparison)
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
    let [line] = &report.memory_repair_lines()[..] else { panic!("one line for one memory") };
    assert!(line.contains("With `--set 'scenario.load.aging.events=[]'`: mean score "), "{line}");
}

/// Runs so many loads that differ in their names alone.
fn of_loads(n: usize) -> Report {
    let one = report("aging/s6", &["aging/lossy"], &[]).runs.remove(0);
    let named = |nth| Run { scenario: format!("load {nth}"), ..one.clone() };
    Report::new(None, Vec::new(), (0..n).map(named).collect(), false)
}

#[test]
fn repairs_are_looked_for_on_at_most_six_loads_in_runs_as_in_lines() {
    let (few, many) = (of_loads(6), of_loads(7));
    let has_repair = |it: &Run| {
        let findings = it.findings.as_ref().unwrap();
        let written = serde_json::to_value(findings.value()).unwrap();
        assert_eq!(findings.repair().is_some(), !written["repair"].is_null(), "{}", it.scenario);
        findings.repair().is_some()
    };

    assert!(few.runs.iter().all(has_repair) && few.memory_repair_lines()[0].contains("--set"));
    assert!(!many.runs.iter().any(has_repair));
    assert_eq!(
        many.memory_repair_lines(),
        ["not looked for on 7 loads: run at most 6 to see which changes help."]
    );
}
