//! Copilot CLI sessions: lanes of agents, totals spread over requests, and compactions with a bill of their own.

use super::*;

const AGENTS: &str = include_str!("../../data/recorded/copilot-cli-agents.jsonl");
const SESSION: &str = include_str!("../../data/recorded/copilot-cli-session.jsonl");

fn all(text: &str) -> Vec<Imported> {
    import_all(text, "test", &Assume::default(), &[]).unwrap()
}

/// An event of the session's own agent.
fn event(second: u32, kind: &str, data: &str) -> String {
    format!(r#"{{"type":"{kind}","timestamp":"2026-01-01T00:00:{second:02}.000Z","data":{data}}}"#)
}

fn asked(second: u32) -> String {
    event(second, "user.message", r#"{"content":"please go on with it"}"#)
}

fn answered(second: u32, id: &str, text: &str) -> String {
    event(
        second,
        "assistant.message",
        &format!(r#"{{"messageId":"{id}","model":"m","content":"{text}","outputTokens":10}}"#),
    )
}

fn shut_down(second: u32, n: u32, [input, read, written, output]: [u64; 4]) -> String {
    event(
        second,
        "session.shutdown",
        &format!(
            r#"{{"modelMetrics":{{"m":{{"requests":{{"count":{n}}},"usage":{{"inputTokens":{input},"outputTokens":{output},"cacheReadTokens":{read},"cacheWriteTokens":{written}}}}}}}}}"#
        ),
    )
}

/// The sums of the bills of some requests: input, read, written.
fn sums(imported: &Imported, requests: std::ops::Range<usize>) -> [u64; 3] {
    let usage = &imported.timeline.recorded.as_ref().unwrap().usage[requests];
    let sum = |field: fn(&ctxsim::timeline::Usage) -> u64| usage.iter().flatten().map(field).sum();
    [sum(|it| it.prompt), sum(|it| it.cache_read), sum(|it| it.cache_write)]
}

#[test]
fn a_session_has_a_lane_for_each_sub_agent_and_its_own_model_and_parent() {
    let all = all(AGENTS);

    let requests: Vec<usize> = all.iter().map(|it| it.timeline.spine.steps.len()).collect();
    assert_eq!(requests, [120, 35, 27, 2]);
    let (main, agent) = (&all[0].timeline, &all[1].timeline);
    assert_eq!(main.models[0].name, "claude-fable-5");
    assert_eq!(agent.spine.sessions[0].parent.as_deref(), Some("e07fc822-e277-4d5d-898a-1b91eedea7b6"));
    assert!(agent.spine.sessions[0].id.starts_with("car-toolu_018"));
    assert_eq!(agent.models[0].name, "claude-opus-4.8");
}

#[test]
fn the_request_for_a_summary_has_the_bill_that_the_seller_made_and_is_none_of_the_agents() {
    let timeline = all(AGENTS).remove(0).timeline;

    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!(recorded.compactions.len(), 1);
    let summaries = recorded.summaries();
    let [bill] = &summaries[..] else { panic!("{summaries:?}") };
    assert_eq!(recorded.summarised[..], recorded.compactions[..]);
    // The log's own figure of what was written is 0.
    assert_eq!(
        (bill.prompt, bill.cache_read, bill.cache_write, bill.output),
        (154_705, 14_777, 139_926, 4_769)
    );
}

#[test]
fn totals_hold_and_grow_with_the_texts_and_are_not_scored() {
    let read = imported(SESSION);

    assert_eq!(sums(&read, 0..6), [186_809, 151_738, 0]);
    let usage = &read.timeline.recorded.as_ref().unwrap().usage;
    assert!(usage.is_sorted_by_key(|it| it.unwrap().prompt));
    assert!(read.timeline.recorded.as_ref().unwrap().is_spread);
    assert!(read.timeline.assumptions.iter().any(|it| it.contains("totals alone")));
    let file = "tests/data/recorded/copilot-cli-session.jsonl";
    let command = program(root(), ["import", "--report", "--format", "json", file]).output();
    let report: Value = serde_json::from_slice(&command.unwrap().stdout).unwrap();
    assert_eq!(report["as_recorded"]["all"]["requests"], 0, "{report}");
}

#[test]
fn counters_that_go_on_over_legs_are_differenced_and_begin_anew_where_they_are_smaller() {
    let lines = [
        asked(1),
        answered(2, "a", "one"),
        shut_down(3, 1, [1_000, 0, 0, 10]),
        asked(4),
        answered(5, "b", "two"),
        shut_down(6, 2, [2_200, 900, 0, 20]),
        asked(7),
        answered(8, "c", "three"),
        shut_down(9, 1, [1_300, 1_200, 50, 10]),
        asked(10),
        answered(11, "d", "four"),
    ];

    let read = imported(&lines.join("\n"));

    assert_eq!(sums(&read, 0..1), [1_000, 0, 0]);
    assert_eq!(sums(&read, 1..2), [1_200, 900, 0]);
    assert_eq!(sums(&read, 2..3), [1_300, 1_200, 50]);
    assert!(read.timeline.recorded.unwrap().usage[3].is_none(), "no totals came after it");
}

#[test]
fn a_compaction_that_the_totals_hold_is_taken_off_them() {
    let compaction = event(
        4,
        "session.compaction_complete",
        r#"{"success":true,"summaryContent":"what was done","compactionTokensUsed":{"inputTokens":1100,"outputTokens":5,"cacheReadTokens":1000,"cacheWriteTokens":0}}"#,
    );
    let lines = [
        asked(1),
        answered(2, "a", "one"),
        compaction,
        asked(5),
        answered(6, "b", "two"),
        shut_down(7, 3, [3_000, 1_500, 0, 25]),
    ];

    let read = imported(&lines.join("\n"));

    let summaries = &read.timeline.recorded.as_ref().unwrap().summaries();
    assert_eq!((summaries[0].prompt, summaries[0].cache_read), (1_100, 1_000));
    assert_eq!(sums(&read, 0..2), [1_900, 500, 0]);
}

#[test]
fn what_is_recorded_twice_out_of_its_lane_or_without_totals_is_told() {
    let lines = [
        asked(1),
        answered(2, "a", "one"),
        answered(2, "a", "once more"),
        event(4, "tool.execution_complete", r#"{"toolCallId":"nobody","result":{"content":"text"}}"#),
        event(5, "session.compaction_complete", r#"{"success":false}"#),
        shut_down(6, 1, [100, 90, 20, 10]),
    ];

    assert_eq!(
        losses(&imported(&lines.join("\n"))),
        [
            "line 3: messages that are recorded again, which count once",
            "line 4: results that answer no call of the previous reply; they are kept without a call",
            "line 5: compactions that did not succeed",
            "line 6: totals that read and write more than their input; they are left out",
        ]
    );
    let wrong = [asked(1), answered(2, "a", "one"), shut_down(3, 1, [100, 0, 0, 10]).replace(":100", ":-1")];
    let problems = import_all(&wrong.join("\n"), "test", &Assume::default(), &[]).unwrap_err();
    assert_eq!(problems[0].place.field, "data.modelMetrics.inputTokens");
}
