//! OpenTelemetry's spans and log records: which are requests, which belong together, and what they were billed.

use ctxsim::input::policy::Kind::{
    Assistant, Reasoning, Summary, System, ToolCall, ToolResult, ToolSchema, User,
};

use super::*;

const COPILOT_CLI: &str = include_str!("../../data/recorded/otel-copilot-cli.jsonl");
const VSCODE: &str = include_str!("../../data/recorded/otel-vscode.jsonl");
const CLAUDE_CODE: &str = include_str!("../../data/recorded/otel-claude-code.jsonl");
const GEMINI_CLI: &str = include_str!("../../data/recorded/otel-gemini-cli.json");
const OPENCODE: &str = include_str!("../../data/recorded/otel-opencode.jsonl");

fn all(text: &str) -> Vec<Imported> {
    import_all(text, "test", &Assume::default(), &[]).unwrap()
}

fn bills(imported: &Imported) -> Vec<Usage> {
    imported.timeline.recorded.as_ref().unwrap().usage.iter().flatten().copied().collect()
}

/// A span that an SDK wrote.
pub(super) fn span(id: &str, parent: &str, second: u32, name: &str, attributes: Value) -> String {
    json!({"type": "span", "traceId": "t", "spanId": id, "parentSpanId": parent, "name": name,
        "startTime": [1_790_000_000 + second, 0], "endTime": [1_790_000_001 + second, 0], "attributes": attributes})
    .to_string()
}

fn chat(id: &str, second: u32, input: u64, read: u64, output: u64) -> String {
    let usage = json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": input,
        "gen_ai.usage.cache_read.input_tokens": read, "gen_ai.usage.output_tokens": output});
    span(id, "", second, "chat m", usage)
}

#[test]
fn a_sub_agent_is_a_session_of_its_own_and_sums_of_agents_are_no_requests() {
    let all = all(COPILOT_CLI);

    let names: Vec<&str> = all.iter().map(|it| it.session.as_str()).collect();
    assert_eq!(names, ["conversation-1", "conversation-1/explore-b2"]);
    let session = &all[1].timeline.spine.sessions[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("explore-b2", Some("conversation-1")));
    let timeline = &all[0].timeline;
    assert_eq!((timeline.spine.turns.len(), prompts(timeline)), (2, vec![13_066, 14_153, 14_600, 14_900]));
    let models: Vec<(&str, u64)> = timeline.models.iter().map(|it| (it.name.as_str(), it.requests)).collect();
    assert_eq!(models, [("claude-sonnet-5", 3), ("gpt-5.4", 1)]);
    let calls = timeline.spine.items.iter().filter(|it| it.kind == ToolCall);
    let tools: Vec<&str> = calls.map(|it| timeline.spine.tools[usize::from(it.tool)].as_str()).collect();
    assert_eq!(tools, ["view", "runSubagent"]);
    assert!(losses(&all[0]).iter().any(|it| it.contains("exported twice") && it.contains("(4 times)")));
}

#[test]
pub(super) fn spans_in_any_order_give_the_same_sessions() {
    let mut lines: Vec<&str> = COPILOT_CLI.lines().collect();
    lines.reverse();

    let (whole, reversed) = (all(COPILOT_CLI), all(&lines.join("\n")));

    for (one, other) in whole.iter().zip(&reversed) {
        assert_eq!(one.timeline.spine.items, other.timeline.spine.items);
        assert_eq!(one.session, other.session);
    }
}

#[test]
fn messages_that_are_exported_are_the_history_and_a_marked_compaction_takes_it_out() {
    let all = all(VSCODE);

    let timeline = &all[0].timeline;
    let kinds: Vec<Kind> = timeline.spine.items.iter().map(|it| it.kind).collect();
    // What the recording does not show of the first prompt is in front.
    assert_eq!(
        kinds[1..],
        [
            ToolSchema, System, User, Reasoning, ToolCall, ToolResult, Assistant, Summary, Summary, User,
            Assistant
        ][..]
    );
    assert_eq!(played(timeline), [9_000, 9_250, 9_100]);
    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!(recorded.compactions, [2]);
    assert_eq!(bills(&all[0])[1].uncached, 10);
    assert_eq!(all[1].session, "chat-1/beside the agents");
    assert_eq!(all[1].timeline.models[0].name, "gpt-5.4-mini");
}

#[test]
fn claude_codes_own_names_leave_cached_tokens_out_of_the_input_and_a_span_counts_before_its_log() {
    let all = all(CLAUDE_CODE);

    assert_eq!((all.len(), prompts(&all[0].timeline)), (1, vec![20_004, 20_904, 21_146]));
    assert_eq!(bills(&all[0])[2].uncached, 216);
    assert_eq!(all[0].timeline.spine.turns.len(), 2);
    let logs_alone = CLAUDE_CODE.lines().last().unwrap();
    let alone = imported(logs_alone);
    assert_eq!(prompts(&alone.timeline), [20_004, 20_904]);
    let costs: Vec<f64> =
        alone.timeline.recorded.unwrap().costs.iter().flatten().map(|it| it.usd()).collect();
    assert_eq!(costs, [0.1209, 0.0126]);
}

#[test]
fn gemini_clis_records_over_several_lines_have_their_cached_figure_and_reasoning_beside_the_output() {
    let read = imported(GEMINI_CLI);

    let bills = bills(&read);
    assert_eq!(
        bills.iter().map(|it| (it.prompt, it.cache_read, it.output)).collect::<Vec<_>>(),
        [(12_000, 0, 140), (12_800, 8_100, 60), (13_000, 12_200, 30)]
    );
    assert_eq!(
        (read.timeline.spine.turns.len(), read.timeline.models[0].name.as_str()),
        (2, "gemini-3.5-flash")
    );
    assert!(
        losses(&read).iter().any(|it| it.starts_with("line 92: log records of requests")),
        "{:?}",
        losses(&read)
    );
}

#[test]
fn a_wrapper_with_sums_is_no_request_and_an_answer_is_not_said_twice() {
    let read = imported(OPENCODE);

    assert_eq!(prompts(&read.timeline), [8_000, 8_060]);
    let kinds: Vec<Kind> = read.timeline.spine.items.iter().map(|it| it.kind).collect();
    assert_eq!(kinds[1..], [System, User, Assistant, User, Assistant]);
}

#[test]
fn a_library_whose_input_cannot_hold_what_was_read_counts_it_beside() {
    let lines = [chat("a", 0, 100, 0, 5), chat("b", 10, 40, 900, 5)].join("\n");

    let read = imported(&lines);

    assert_eq!(prompts(&read.timeline), [100, 940]);
    assert!(read.timeline.assumptions.iter().any(|it| it.contains("are taken as without it")));
}

#[test]
fn a_number_that_is_no_count_refuses_the_file_and_a_failed_request_is_told() {
    let wrong = chat("a", 0, 100, 0, 5).replace(":100", ":\"-3\"");
    let problems = import_all(&wrong, "test", &Assume::default(), &[]).unwrap_err();
    assert_eq!(
        (problems[0].code.name(), problems[0].place.field.as_str()),
        ("recording-usage", "gen_ai.usage.input_tokens")
    );

    let failed = span("b", "", 1, "chat m", json!({"error.type": "timeout"}));
    let read = imported(&[chat("a", 0, 100, 0, 5), failed].join("\n"));
    assert_eq!(losses(&read), ["line 2: requests that failed, and were not billed"]);
}

#[test]
fn a_history_of_which_nothing_is_left_begins_again() {
    let messages =
        |text: &str| json!([{"role": "user", "parts": [{"type": "text", "content": text}]}]).to_string();
    let one = |id: &str, second, input: u64, text: &str| {
        let usage = json!({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": 2,
            "gen_ai.input.messages": messages(text)});
        span(id, "", second, "chat m", usage)
    };

    let timeline = imported(&[one("a", 0, 5_000, "one"), one("b", 9, 3_000, "two")].join("\n")).timeline;

    assert_eq!(played(&timeline), [5_000, 3_000]);
    assert!(
        timeline.recorded.unwrap().compactions.is_empty(),
        "the user began again, and no harness compacted"
    );
}

#[test]
fn a_trace_without_requests_is_refused_and_says_what_it_holds() {
    let agent = span("a", "", 0, "invoke_agent x", json!({"gen_ai.operation.name": "invoke_agent"}));

    let problems = import_all(&agent, "test", &Assume::default(), &[]).unwrap_err();

    assert_eq!(problems[0].code.name(), "recording-empty");
    assert!(problems[0].help.as_ref().unwrap().contains("`otel`"), "{problems:?}");
    assert!(problems[0].help.as_ref().unwrap().contains("sums repeat"), "{problems:?}");
}

#[test]
fn broken_lines_and_cut_off_files_are_told_and_the_rest_is_read() {
    let mut lines: Vec<&str> = COPILOT_CLI.lines().collect();
    let cut = &lines[0][..lines[0].len() / 2];
    lines.splice(1..1, ["{}", "no JSON", cut]);

    let read = all(&lines.join("\n"));

    assert_eq!(prompts(&read[0].timeline), [13_066, 14_153, 14_600, 14_900]);
    let told = losses(&read[0]);
    assert!(told[0].starts_with("line 2: objects without spans"), "{told:?}");
    assert!(told.iter().any(|it| it.starts_with("line 3: text that is not JSON")), "{told:?}");
    assert!(told.iter().any(|it| it.starts_with("line 4: ")), "{told:?}");
}
