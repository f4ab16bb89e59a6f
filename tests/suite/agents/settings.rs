//! Verdicts print the setting that makes the real agent do what is advised, with the numbers that it ran with.

use ctxsim::catalog::Catalog;
use ctxsim::compare::{Comparison, Plan};
use ctxsim::report::Report;

use super::{LOADS, PROFILE, loads};

/// Compares a preset with keeping everything, whatever it loses.
fn compared(preset: &str, set: &str, profiles: &[&str]) -> Report {
    let comparison = Comparison {
        policies: ["identity", preset].map(str::to_owned).to_vec(),
        scenarios: vec![LOADS[0].to_owned()],
        profiles: profiles.iter().map(|it| (*it).to_owned()).collect(),
        set: vec![set.to_owned()],
        ..Comparison::default()
    };
    let plan = Plan::new(&Catalog::bundled(), &comparison).unwrap_or_else(|it| panic!("{it}"));
    let report = plan.report(Some(1), &|_, _| {}).unwrap_or_else(|it| panic!("{it}"));
    Report { min_evidence: 0.0, ..report }
}

#[test]
fn a_verdict_ends_with_the_setting_and_its_tuned_numbers() {
    let report = compared("agents/anthropic/compact", "params.trigger.tokens=90000", &["field/sonnet-5"]);

    let told = "To apply anthropic/compact, put this in the request (beta compact-2026-01-12): {\"context_management\": {\"edits\": \
                [{\"type\": \"compact_20260112\", \"trigger\": {\"type\": \"input_tokens\", \"value\": 90000}}]}}";
    let words = report.verdict_lines();
    assert!(words[0].ends_with(told), "{words:?}");
    let of_json = serde_json::to_value(report.verdicts()).unwrap();
    assert!(of_json[0]["cheapest"]["apply"]["write"].as_str().unwrap().contains("90000"), "{of_json}");
}

#[test]
fn numbers_of_a_setting_are_those_of_the_profile() {
    let set = "agents/claude_code/auto_compact.params.trigger.tokens=150000";
    let report = compared("agents/claude_code/auto_compact", set, &["field/sonnet-5"]);
    let words = report.verdict_lines();
    // The harness takes 20,000 for the output and 13,000 for its own off the window.
    assert!(words[0].contains("\"autoCompactWindow\": 183000}"), "{words:?}");
}

#[test]
fn every_setting_of_a_preset_can_be_written() {
    let load = &loads()[0];
    let with_setting = load.policies.iter().filter(|it| it.apply.is_some());
    let n_settings = with_setting.count();
    assert!(n_settings >= 40, "{n_settings}");
    let comparison = Comparison {
        policies: load.policies.iter().map(|it| it.name.clone()).collect(),
        scenarios: vec!["duckagent/plain_chat".to_owned()],
        profiles: vec![PROFILE.to_owned()],
        ..Comparison::default()
    };
    let plan = Plan::new(&Catalog::bundled(), &comparison).unwrap_or_else(|it| panic!("{it}"));
    let report = plan.report(Some(1), &|_, _| {}).unwrap_or_else(|it| panic!("{it}"));

    for (run, policy) in report.runs.iter().zip(&load.policies) {
        assert_eq!(run.apply.is_some(), policy.apply.is_some(), "{}", policy.name);
    }
}
