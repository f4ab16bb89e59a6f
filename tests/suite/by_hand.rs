//! Scenarios that people write by hand: what is left out means what they would expect.

use crate::support::*;

/// Runs a scenario of this repository under a profile, and returns the totals of each policy.
fn totals(scenario: &str, policies: &[&str], set: &[&str]) -> Vec<Value> {
    let run = args("run --profile anthropic/claude-opus-4.5 --format json --scenario");
    let policies = policies.iter().flat_map(|it| ["--policy", it]);
    let set = set.iter().flat_map(|it| ["--set", it]);
    let report: Value = parsed(&ctxsim(root(), run.into_iter().chain([scenario]).chain(policies).chain(set)));
    report["runs"].as_array().unwrap().iter().map(|it| it["totals"].clone()).collect()
}

const KEEP_EVERYTHING: [&str; 2] = ["identity", "clairvoyant"];
const NEEDS: &str = "tests/lints/needs-lost.mended.toml";
const WITHOUT_GAPS: &str = "tests/data/by_hand/nogap.toml";

#[test]
fn needs_of_results_whose_class_no_call_names_are_met_by_what_keeps_everything() {
    for it in totals(NEEDS, &KEEP_EVERYTHING, &[]) {
        assert_eq!(it["evidence_kept"], 1.0, "{it}");
        assert_eq!(it["cost_usd"]["penalty"], 0.0, "{}", it["cost_usd"]);
    }
    let named = "scenario.load.turns.0.calls.0.preserve=working_evidence";
    assert_eq!(totals(NEEDS, &["identity"], &[named]), totals(NEEDS, &["identity"], &[]));
}

#[test]
fn a_class_that_is_named_none_is_another_thing_than_one_that_is_not_named() {
    for it in totals("tests/lints/needs-lost.broken.toml", &KEEP_EVERYTHING, &[]) {
        assert_eq!(it["evidence_kept"], 0.0, "{it}");
    }
}

#[test]
fn a_request_without_a_gap_starts_when_the_reply_to_the_one_before_is_there() {
    let waits = &totals(WITHOUT_GAPS, &["identity"], &[])[0];
    assert!(waits["cache_hit_ratio"].as_f64().unwrap() > 0.9, "{waits}");
    let hurries = &totals(WITHOUT_GAPS, &["identity"], &["scenario.load.turns.0.calls.0.gap_ms=0"])[0];
    assert!(hurries["cache_hit_ratio"].as_f64().unwrap() < 0.1, "{hurries}");
    let as_long = ["scenario.load.turns.0.calls.0.gap_ms=3_000", "scenario.load.turns.0.gap_ms=3_000"];
    assert_eq!(&totals(WITHOUT_GAPS, &["identity"], &as_long)[0], waits);
}

#[test]
fn a_load_that_declares_no_needs_has_no_share_of_kept_evidence() {
    for it in totals(WITHOUT_GAPS, &["identity", "sliding_window"], &[]) {
        assert_eq!(it["evidence_kept"], Value::Null);
    }
}
