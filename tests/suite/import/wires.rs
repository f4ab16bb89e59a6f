//! Kimi's wires in both protocols, and DeepSeek Harness: each request once, compactions, sub-agents, and what is told of broken files.

use ctxsim::timeline::import::import_all;

use super::*;

const KIMI: &str = include_str!("../../data/recorded/kimi-archived.jsonl");
const KIMI_AGENTS: &str = include_str!("../../data/recorded/kimi-agents.jsonl");
const DSH: &str = include_str!("../../data/recorded/dsh-session.jsonl");
const DSH_COMPACTION: &str = include_str!("../../data/recorded/dsh-compaction.jsonl");

fn all(text: &str) -> Vec<Imported> {
    import_all(text, "test", &Assume::default(), &[]).unwrap()
}

#[test]
fn a_step_of_kimi_is_a_request_with_its_call_and_its_result() {
    let read = imported(KIMI);

    let timeline = &read.timeline;
    assert_well_formed(timeline);
    assert_eq!((timeline.spine.turns.len(), prompts(timeline)), (1, vec![18, 22]));
    let kinds: Vec<Kind> = timeline.spine.items.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [Kind::User, Kind::ToolCall, Kind::ToolResult, Kind::ToolCall, Kind::ToolResult]);
    assert_eq!(losses_but_of_records(&read), [""; 0]);
}

#[test]
fn a_payload_that_is_no_object_is_named_with_its_line() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":1700000000.5,"message":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    let lines = [
        r#"{"type":"metadata","protocol_version":"1.9"}"#.to_owned(),
        line("TurnBegin", r#"{"user_input":"hello"}"#),
        line("StepBegin", "1"),
        line("ContentPart", "\"done\""),
        line("StatusUpdate", r#"{"token_usage":{"input_other":90,"output":2}}"#),
    ];

    let losses = losses_but_of_records(&imported(&lines.join("\n")));

    for line in [3, 4] {
        let told = format!("line {line}: objects that are not records");
        assert!(losses.iter().any(|loss| loss.starts_with(&told)), "{losses:?}");
    }
}

#[test]
fn arguments_in_parts_are_one_call_and_bills_of_a_step_count_once() {
    let line = |n: u32, kind: &str, payload: &str| {
        format!(r#"{{"timestamp":17000000{n:02}.5,"message":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    let bill = |read: u32| {
        format!(
            r#"{{"token_usage":{{"input_other":40,"output":9,"input_cache_read":{read},"input_cache_creation":0}}}}"#
        )
    };
    let lines = [
        r#"{"type":"metadata","protocol_version":"1.9"}"#.to_owned(),
        line(1, "TurnBegin", r#"{"user_input":"hello"}"#),
        line(2, "StepBegin", r#"{"n":1}"#),
        line(3, "ToolCall", r#"{"id":"c","function":{"name":"Shell","arguments":"{\"comm"}}"#),
        line(4, "ToolCallPart", r#"{"arguments_part":"and\":\"ls\"}"}"#),
        line(5, "StatusUpdate", &bill(256)),
        line(6, "StatusUpdate", r#"{"token_usage":null,"plan_mode":false}"#),
        line(7, "StatusUpdate", &bill(512)),
        line(8, "ToolResult", r#"{"tool_call_id":"c","return_value":{"output":"a b"}}"#),
        line(9, "CompactionBegin", "{}"),
        line(10, "CompactionEnd", "{}"),
        line(11, "StepBegin", r#"{"n":2}"#),
        line(12, "ContentPart", r#"{"type":"text","text":"done"}"#),
        line(13, "StatusUpdate", r#"{"token_usage":{"input_other":90,"output":2}}"#),
    ];

    let read = imported(&lines.join("\n"));

    assert_eq!(prompts(&read.timeline)[0], 552);
    assert_eq!(
        losses_but_of_records(&read),
        ["line 8: bills of a step that a later one of the same step replaces"]
    );
    let recorded = read.timeline.recorded.as_ref().unwrap();
    assert_eq!(recorded.compactions, [1]);
    let call = read.timeline.spine.items.iter().position(|it| it.kind == Kind::ToolCall).unwrap();
    assert_eq!(read.timeline.spine.tools[usize::from(read.timeline.spine.items[call].tool)], "Shell");
}

#[test]
fn a_sub_agent_of_kimi_that_never_answered_leaves_its_parents_session_alone() {
    let all = all(KIMI_AGENTS);

    assert_eq!(all.len(), 1);
    assert_eq!(all[0].timeline.spine.steps.len(), 1);
    assert!(
        losses_but_of_records(&all[0]).iter().any(|it| it.contains("no model has seen")),
        "{:?}",
        losses_but_of_records(&all[0])
    );
}

/// Records as Kimi Code's wire manifest describes them; no published file has them.
const NEWER: &str = r#"{"type":"metadata","protocol_version":"1.5","created_at":1}
{"type":"profile.bind","agentId":"main","systemPrompt":"Be brief.","time":1790000000000}
{"type":"turn.prompt","agentId":"main","input":[{"type":"text","text":"list it"}],"origin":"user","time":1790000001000}
{"type":"llm.request","agentId":"main","kind":"loop","provider":"kimi","model":"kimi-k2.6","modelAlias":"k2","messageCount":1,"time":1790000001100}
{"type":"context.append_loop_event","agentId":"main","event":{"type":"tool.call","toolCallId":"c","name":"Bash","args":{"command":"ls"}},"time":1790000003000}
{"type":"usage.record","agentId":"main","model":"k2","usage":{"inputOther":1000,"output":20,"inputCacheRead":3072,"inputCacheCreation":0},"usageScope":"turn","time":1790000003100}
{"type":"context.append_loop_event","agentId":"main","event":{"type":"tool.result","toolCallId":"c","result":{"output":"a b c"}},"time":1790000004000}
{"type":"llm.request","agentId":"main","kind":"compaction","provider":"kimi","model":"kimi-k2.6","time":1790000005000}
{"type":"usage.record","agentId":"main","model":"k2","usage":{"inputOther":100,"output":60,"inputCacheRead":4096,"inputCacheCreation":0},"usageScope":"session","time":1790000006000}
{"type":"context.apply_compaction","agentId":"main","summary":"listed a, b and c","compactedCount":3,"time":1790000006100}
{"type":"llm.request","agentId":"main","kind":"loop","provider":"kimi","model":"kimi-k2.6","time":1790000006200}
{"type":"context.append_loop_event","agentId":"main","event":{"type":"content.part","part":{"type":"text","text":"done"}},"time":1790000007000}
{"type":"usage.record","agentId":"main","model":"k2","usage":{"inputOther":900,"output":5,"inputCacheRead":0,"inputCacheCreation":0},"usageScope":"turn","time":1790000007100}
"#;

#[test]
fn the_newer_wire_names_the_model_behind_the_alias_and_has_the_bill_of_the_summary_apart() {
    let read = imported(NEWER);

    let recorded = read.timeline.recorded.as_ref().unwrap();
    let bills: Vec<(u64, u64)> =
        recorded.usage.iter().flatten().map(|it| (it.prompt, it.cache_read)).collect();
    assert_eq!(bills, [(4_072, 3_072), (900, 0)]);
    assert_eq!((recorded.summaries()[0].prompt, recorded.summaries()[0].output), (4_196, 60));
    assert_eq!(recorded.compactions, [1]);
    assert_eq!(read.timeline.models[0].name, "kimi-k2.6");
    assert_eq!(read.timeline.spine.steps[0].at_ms, 0);
    assert_eq!(losses_but_of_records(&read), [""; 0]);
}

#[test]
fn a_reply_of_the_harness_is_billed_once_and_input_leaves_out_what_was_read() {
    let read = imported(DSH);

    let bills: Vec<_> = read.timeline.recorded.as_ref().unwrap().usage.iter().flatten().copied().collect();
    assert_eq!(
        bills.iter().map(|it| (it.prompt, it.cache_read, it.output)).collect::<Vec<_>>(),
        [(2_877, 0, 90), (2_984, 2_816, 25)]
    );
    assert_eq!(read.timeline.models[0].name, "deepseek-v4-flash");
    assert_eq!(read.timeline.spine.turns.len(), 1);
    assert_eq!(losses_but_of_records(&read), [""; 0]);
}

#[test]
fn a_compaction_of_the_harness_has_the_bill_of_its_summary_apart_and_begins_a_turn() {
    let timeline = imported(DSH_COMPACTION).timeline;

    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!(recorded.compactions, [1]);
    let prompts: Vec<u64> = recorded.usage.iter().flatten().map(|it| it.prompt).collect();
    assert_eq!(prompts, [24, 20]);
    assert_eq!((recorded.summaries()[0].prompt, recorded.summaries()[0].output), (20, 4));
}

#[test]
fn what_a_sub_agent_took_over_is_no_request_of_its_own_and_a_stream_without_a_reply_is_one() {
    let header = r#"{"type":"session","version":0,"id":"child","createdAt":1,"delegationDepth":1,"parentSession":"parent","seedLength":2}"#;
    let line = |seq: u32, kind: &str, data: &str| {
        format!(r#"{{"type":"{kind}","seq":{seq},"time":{},"data":{data}}}"#, 1_000 + seq)
    };
    let said = r#"{"content":[{"type":"text","text":"hello"}],"source":{"kind":"user"}}"#;
    let reply = r#"{"turn":1,"step":1,"message":{"content":[{"type":"text","text":"hi"}]},"usage":{"inputTokens":10,"outputTokens":3}}"#;
    let stream =
        r#"{"turn":2,"step":1,"chunk":{"type":"usage","usage":{"inputTokens":30,"outputTokens":4}}}"#;
    let lines = [
        header.to_owned(),
        line(0, "user/message", said),
        line(1, "assistant/message", reply),
        line(2, "user/message", said),
        line(3, "assistant/chunk", stream),
        line(4, "turn/end", r#"{"turn":2}"#),
    ];

    let read = imported(&lines.join("\n"));

    assert_eq!(prompts(&read.timeline), [30]);
    let session = &read.timeline.spine.sessions[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("child", Some("parent")));
    assert_eq!(
        losses_but_of_records(&read),
        ["line 3: replies taken over from the parent session, which are its requests"]
    );
}

#[test]
fn cut_doubled_and_mixed_lines_are_told_and_the_rest_is_read() {
    for text in [KIMI, DSH] {
        let whole = imported(text);
        let twice: String = text.lines().flat_map(|it| [it, "\n", it, "\n"]).collect();
        assert_eq!(prompts(&imported(&twice).timeline), prompts(&whole.timeline));
        assert!(losses_but_of_records(&imported(&twice)).iter().any(|it| it.contains("repeated lines")));

        let cut: String = text.chars().take(text.chars().count() - 20).collect();
        assert!(!losses_but_of_records(&imported(&cut)).is_empty());

        let mixed = format!("{text}{{\"role\":\"user\",\"content\":\"hello\"}}\nno JSON\n");
        let read = imported(&mixed);
        assert_eq!(prompts(&read.timeline), prompts(&whole.timeline));
        assert!(read.losses.iter().any(|it| it.what.contains("not JSON")), "{:?}", read.losses);
    }
}

#[test]
fn a_packed_session_is_refused_with_the_command_that_unpacks_it() {
    let bytes = b"\x28\xb5\x2f\xfd\x04\x58\xad\x03";

    let problems = import_all(&String::from_utf8_lossy(bytes), "test", &Assume::default(), &[]).unwrap_err();

    assert_eq!(problems[0].message, "the file is compressed");
    assert!(problems[0].help.as_ref().unwrap().contains("zstd -d"));
}
