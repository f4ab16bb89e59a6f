//! Calls to the memory service: how many, in which order, and what the log says of them.

use ctxsim::input::policy::memory::ServiceCall::{
    self, AddEntry, AwaitConsistency, GetContext, ListEntries, PutContext, Search,
};
use ctxsim::worlds::chats::{ChatPhase, ModelRole, Occurrence};
use serde_json::Value;

use super::{chats, few, lines_of, play, report, runner};

/// Plays the case of the specification: 50 sessions of 10 messages.
fn counts(policy: &str, sessions: u64, messages: u64) -> [u64; 7] {
    let log = play(&chats(few(sessions, messages), &[]), &runner(policy));
    let of = |call: ServiceCall| log.calls(ChatPhase::Ingestion, call);
    let all = log.n_calls(ChatPhase::Ingestion);
    [all, of(AddEntry), of(AwaitConsistency), of(PutContext), of(GetContext), of(ListEntries), of(Search)]
}

#[test]
fn the_calls_of_the_specification_hold_exactly() {
    assert_eq!(counts("context_only", 50, 10), [150, 0, 50, 50, 50, 0, 0]);
    assert_eq!(counts("entries_spec", 50, 10), [600, 500, 50, 50, 0, 0, 0]);
    assert_eq!(counts("entries", 50, 10), [850, 500, 150, 100, 50, 50, 0]);
    assert_eq!(counts("entries_shipped", 50, 10), [850, 500, 150, 100, 50, 50, 0]);
    assert_eq!(counts("context_only_shipped", 50, 10), [250, 0, 100, 50, 50, 50, 0]);
}

#[test]
fn the_runner_with_entries_makes_three_calls_one_a_message_two_a_flush_and_two() {
    for messages in [1, 5, 6, 7, 12, 13, 30] {
        let expected = 3 + messages + 2 * (messages / 6) + 2;
        assert_eq!(counts("entries", 2, messages)[0], 2 * expected, "{messages} messages");
        assert_eq!(counts("context_only", 2, messages)[0], 2 * 3, "{messages} messages");
        assert_eq!(counts("context_only_shipped", 2, messages)[0], 2 * 5, "{messages} messages");
    }
}

#[test]
fn with_context_only_a_session_waits_gets_takes_all_messages_synthesises_and_puts() {
    let log = play(&chats(few(5, 10), &[]), &runner("context_only"));
    for session in 0..5 {
        let events = log.events.iter().filter(|it| it.session == session && it.phase == ChatPhase::Ingestion);
        let whats: Vec<Occurrence> =
            events.map(|it| it.what).filter(|it| *it != Occurrence::Initialised).collect();
        let is_call = |it: &Occurrence, call| matches!(it, Occurrence::Call(made, _) if *made == call);

        assert_eq!(whats.len(), 14);
        assert!(is_call(&whats[0], AwaitConsistency) && is_call(&whats[1], GetContext));
        assert!((0..10).all(|nth| whats[2 + nth] == Occurrence::Message(u32::try_from(nth).unwrap())));
        assert!(matches!(whats[12], Occurrence::Model { role: ModelRole::Synthesis, .. }));
        assert!(is_call(&whats[13], PutContext));
    }
    let times: Vec<u64> = log.events.iter().map(|it| it.at_ms).collect();
    assert!(times.is_sorted(), "one user has one clock");
}

#[test]
fn context_only_is_the_default_and_the_policy_file_alone_says_so() {
    let written: ctxsim::input::PolicyFile = ctxsim::input::source::decode(
        "(name: \"p\", about: \"\", memory: service())",
        ctxsim::input::Format::Ron,
    )
    .unwrap();
    assert!(!written.service_memory().unwrap().write.entries);
    assert!(runner("entries").write.entries);
}

#[test]
fn every_row_of_the_log_and_the_initialisation_say_whether_it_is_context_only() {
    for (policy, context_only) in [("context_only", true), ("entries", false)] {
        let name = format!("memory_runners/{policy}");
        let args = ["run", "--scenario", "memory_runners/spec", "--policy", &name, "--profile", "unlimited"];
        let log = lines_of(&[&args[..], &["--rows", "log"]].concat());
        assert_eq!(log[0]["event"], "agent_initialised");
        assert!(log.iter().all(|it| it["context_only"] == Value::Bool(context_only)), "{policy}");
        let calls = lines_of(&[&args[..], &["--rows", "calls"]].concat());
        assert!(calls.iter().all(|it| it["context_only"] == Value::Bool(context_only)));
        for field in ["kind", "service", "calls", "tokens", "phase", "session", "latency_ms"] {
            assert!(calls.iter().all(|it| !it[field].is_null()), "{field}");
        }
        let n = calls.iter().filter(|it| it["phase"] == "ingestion").count();
        assert_eq!(n, if context_only { 150 } else { 850 });
    }
}

#[test]
fn the_calls_of_any_memory_with_a_service_are_rows_too() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/chats");
    let policy = format!("{folder}/banks_with_service.ron");
    let scenario = format!("{folder}/plants.toml");
    let args =
        ["run", "--scenario", &scenario, "--policy", &policy, "--profile", "unlimited", "--rows", "calls"];
    let calls = lines_of(&args);
    assert!(!calls.is_empty() && calls.iter().all(|it| it["service"] == "notes" && it["tokens"].is_u64()));
}

#[test]
fn calls_of_ingestion_and_of_questions_are_counted_apart_in_the_report() {
    let report =
        report("memory_runners/spec", &["memory_runners/context_only"], &["scenario.load.chats.trials=2"]);
    let runs = serde_json::to_value(ctxsim::report::runs::run_rows(&report, false)).unwrap();
    let run = &runs[0];
    let calls = &run["memory_calls"];

    assert_eq!(calls["ingestion"]["put_context"], 50);
    assert_eq!(calls["ingestion"]["search"], 0);
    assert!(calls["qa"]["search"].as_u64().unwrap() >= 50 && calls["qa"]["put_context"] == 0);
    assert_eq!(calls["model_calls"]["synthesis"], 50);
    assert_eq!(calls["model_calls"]["answer"], 50);
    assert!(
        calls["latency_ms"]["total"].as_u64().unwrap() > calls["latency_ms"]["ingestion"].as_u64().unwrap()
    );
    assert_eq!(calls["storage"]["shards"], 50);
    // The ledger that is priced has the same calls.
    let sums = &report.runs[0].tally.sums.memory;
    let qa: u64 = calls["qa"].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum();
    assert_eq!((sums.calls(), sums.writes, sums.waits), (150 + qa, 50, 50));
}

#[test]
fn waiting_takes_what_the_index_has_left_to_do() {
    let log = play(&chats(few(3, 10), &[]), &runner("context_only"));
    let waits: Vec<u64> = log
        .events
        .iter()
        .filter(|it| matches!(it.what, Occurrence::Call(AwaitConsistency, _)))
        .map(|it| it.waited_ms)
        .collect();
    // A write is found 1,500 ms after the indexer's 50 ms of work; putting it takes 60 ms of these.
    assert_eq!(waits, [0, 1_490, 1_490]);
}

#[test]
fn a_service_that_is_paid_by_the_call_costs_what_its_file_says() {
    let hosted = "memory_runners/context_only_hosted";
    let report = report("memory_runners/spec", &[hosted], &["scenario.load.chats.trials=1"]);
    let it = report.runs[0].found::<ctxsim::worlds::chats::ChatSummary>().unwrap();
    let searches = it.qa["search"];
    let expected = 50.0 * (0.0001 + 0.000_01 + 0.000_05) + searches as f64 * 0.0005;
    assert!((it.service_usd - expected).abs() < 1e-9);
    assert!((report.runs[0].tally.costs.memory.usd() - expected).abs() < 1e-9);
}
