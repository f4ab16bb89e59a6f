//! What reports show of ageing memories: numbers by place, cards in AgingBench's fields, graphs and traces.

use ctxsim::report::json;

use crate::support::*;

/// Fields that AgingBench's schema 1.0.0 of aging cards asks for.
const REQUIRED: &str = "\
    schema_version card_type generated_at run_id scenario scenario_version suite_id sut seed n_sessions \
    pressure headline mechanism_metrics cost_and_efficiency checkpoints provenance warnings links";

fn plan(scenario: &str, set: &[&str]) -> Plan {
    let comparison = Comparison {
        set: owned(set),
        ..comparing(&["aging/lossy", "aging/full_context"], &[scenario], &["aging/gpt-4o"])
    };
    planned(&comparison)
}

#[test]
fn a_run_has_its_numbers_under_aging_and_a_card_has_the_fields_that_are_asked_for() {
    let report = plan("aging/s2", &[]).report(Some(1), &|_, _| {}).unwrap();
    let document: Value = serde_json::from_str(&json::report_json(&report).unwrap()).unwrap();
    let aging = &document["runs"][0]["aging"];

    for place in ["final", "accumulator_error", "slope", "binding"] {
        assert!(aging[place]["mean"].is_f64(), "{place}");
    }
    assert!(aging["lag"]["1"]["mean"].is_f64() && aging["usd_per_session"].as_f64().unwrap() > 0.0);
    assert_eq!(aging["metric"], "constraint_precision");
    assert_eq!(aging["curve"].as_array().unwrap().len(), 10);
    assert_eq!(aging["attribution"]["write_error"], Value::Null, "there is no retrieval step");
    for card in report.finding_cards_json() {
        for field in listed(REQUIRED) {
            assert!(card.get(field).is_some(), "{field}");
        }
        assert_eq!(card["card_type"], "agingbench.AgingCard");
    }
}

#[test]
fn what_a_memory_costs_follows_from_its_requests() {
    let report = plan("aging/s1", &[]).report(Some(1), &|_, _| {}).unwrap();
    let [lossy, whole] =
        [0, 1].map(|it| report.runs[it].found::<ctxsim::worlds::aging::AgingSummary>().unwrap());

    assert_eq!((lossy.compaction_calls, whole.compaction_calls), (10, 0));
    assert_eq!(lossy.calls, whole.calls + lossy.compaction_calls);
    assert!(whole.tokens_per_session > 2.0 * lossy.tokens_per_session, "a history grows");
    let hits = |at: usize| report.runs[at].tally.cache_hit_ratio();
    assert!(hits(1) > hits(0), "what only grows is read from the cache");
}

#[test]
fn a_zero_density_beside_other_knobs_is_told_with_the_metrics_that_nothing_covers() {
    let report = plan("aging/s1", &["scenario.load.aging.dependency_density=0.0"]);
    let report = report.report(Some(1), &|_, _| {}).unwrap();

    assert!(
        report.notes.iter().any(|it| it.contains("nothing measures version_accuracy")),
        "{:?}",
        report.notes
    );
}

#[test]
fn the_graph_and_the_trace_of_the_first_stream_can_be_read() {
    let traced = plan("aging/s6", &[]).map_loads(Some(1), &|_, _| {}, |load, _| {
        let aging: &ctxsim::worlds::aging::Aging = load.world().unwrap();
        (aging.fact_graph(), aging.trace(load))
    });
    let (graph, trace) = traced.unwrap().remove(0);
    let graph = &graph["dependency_graph"];

    assert!(graph["summary"]["total_facts"].as_u64().unwrap() > 100);
    assert_eq!(graph["interference_map"].as_array().unwrap().len(), 3);
    assert_eq!(trace.len(), 2, "one for each policy");
    assert!(trace[0].1.iter().any(|it| it.asks == "chain") && trace[0].1.len() == trace[1].1.len());
}
