//! Chats of Gemini CLI and Qwen Code: messages written again, taken back and cancelled, thoughts, compressions, sub-agents.

use serde_json::{Value, json};

use super::*;
use ctxsim::timeline::EventKind;
use ctxsim::timeline::import::import_all;

const PART: &str = include_str!("../../data/recorded/gemini-part.jsonl");

/// A time, in seconds after the start.
fn at(seconds: u64) -> String {
    format!("2026-01-01T00:{:02}:{:02}.000Z", seconds / 60, seconds % 60)
}

fn user(id: u64, text: &str) -> Value {
    json!({"id": format!("m{id}"), "timestamp": at(id), "type": "user", "content": [{"text": text}]})
}

/// A reply with its bill: input, of it cached, output and thoughts.
fn reply(id: u64, bill: [u64; 4], calls: &[Value]) -> Value {
    let [input, cached, output, thoughts] = bill;
    json!({"id": format!("m{id}"), "timestamp": at(id), "type": "gemini", "content": "ok", "model": "gemini-2.5-flash",
        "thoughts": [{"subject": "x", "description": "y"}], "toolCalls": calls,
        "tokens": {"input": input, "output": output, "cached": cached, "thoughts": thoughts, "tool": 0,
            "total": input + output + thoughts}})
}

fn call(id: &str, output: &str) -> Value {
    json!({"id": id, "name": "read_file", "args": {"file_path": "/a"}, "status": "success",
        "result": [{"functionResponse": {"id": id, "name": "read_file", "response": {"output": output}}}]})
}

/// A chat as JSON lines.
fn lines(records: &[Value]) -> String {
    let first = json!({"sessionId": "s1", "projectHash": "p", "startTime": at(0), "lastUpdated": at(0), "kind": "main"});
    std::iter::once(&first).chain(records).map(|it| format!("{it}\n")).collect()
}

/// The same as one document.
fn document(messages: &[Value]) -> String {
    serde_json::to_string_pretty(
        &json!({"sessionId": "s1", "projectHash": "p", "startTime": at(0), "messages": messages}),
    )
    .unwrap()
}

fn told(imported: &Imported) -> Vec<String> {
    imported.losses.iter().map(ToString::to_string).collect()
}

#[test]
fn a_document_and_its_lines_are_read_alike() {
    let messages = [
        user(1, "go"),
        reply(2, [100, 0, 10, 5], &[call("c1", "a file")]),
        reply(3, [150, 90, 10, 0], &[]),
        user(4, "on"),
        reply(5, [180, 120, 10, 7], &[]),
    ];

    let (one, other) = (imported(&document(&messages)), imported(&lines(&messages)));

    assert_eq!((one.format, other.format), ("gemini-cli", "gemini-cli"));
    assert_eq!(one.timeline.spine.items, other.timeline.spine.items);
    assert_eq!((one.timeline.spine.turns.len(), one.timeline.spine.steps.len()), (2, 3));
    let usage: Vec<_> = one.timeline.recorded.as_ref().unwrap().usage.iter().flatten().collect();
    assert_eq!((usage[1].uncached, usage[1].cache_read, usage[0].output), (60, 90, 15));
    assert!(told(&one).is_empty() && told(&other).is_empty());
}

#[test]
fn no_prompt_holds_the_thoughts_that_were_billed() {
    let messages =
        [user(1, "go"), reply(2, [100, 0, 10, 500], &[call("c1", "a file")]), reply(3, [140, 0, 10, 0], &[])];

    let timeline = imported(&lines(&messages)).timeline;

    assert_eq!(timeline.spine.steps[0].output_tokens, 510);
    assert_eq!(played(&timeline), [100, 140]);
}

#[test]
fn a_message_that_is_written_again_counts_once_with_its_last_content() {
    let first = reply(2, [100, 0, 10, 0], &[]);
    let again = reply(2, [100, 0, 10, 0], &[call("c1", "a file")]);
    let text = lines(&[
        user(1, "go"),
        first,
        json!({"$set": {"lastUpdated": at(2)}}),
        again,
        reply(3, [150, 0, 9, 0], &[]),
    ]);

    let imported = imported(&text);

    let spine = &imported.timeline.spine;
    assert_eq!((spine.turns.len(), spine.steps.len()), (1, 2));
    assert_eq!(spine.items.iter().filter(|it| it.kind == Kind::ToolResult).count(), 1);
    assert_eq!(told(&imported), [""; 0]);
}

#[test]
fn what_the_user_took_back_was_paid_and_leaves_the_prompts() {
    let messages = [
        user(1, "go"),
        reply(2, [100, 0, 10, 0], &[]),
        user(3, &"wrong ".repeat(50)),
        reply(4, [400, 100, 10, 0], &[]),
        json!({"$rewindTo": "m3"}),
        user(5, "right"),
        reply(6, [115, 100, 10, 0], &[]),
    ];

    let timeline = imported(&lines(&messages)).timeline;

    assert_eq!(timeline.spine.steps.len(), 3);
    assert_eq!(played(&timeline), [100, 400, 115]);
    let gone = timeline.events.iter().filter_map(|it| match &it.kind {
        EventKind::Reset(items) => Some(items.len()),
        _ => None,
    });
    assert_eq!(gone.sum::<usize>(), 2, "the message and its reply");
}

#[test]
fn a_cancelled_reply_is_no_request_and_one_that_lost_its_bill_is() {
    let cancelled = reply(4, [0; 4], &[]);
    let unbilled = reply(6, [0; 4], &[call("c9", "a file")]);
    let messages = [
        user(1, "go"),
        reply(2, [100, 0, 10, 0], &[]),
        user(3, "on"),
        cancelled,
        user(5, "on"),
        unbilled,
        reply(7, [160, 0, 10, 0], &[]),
    ];

    let imported = imported(&lines(&messages));

    let usage = &imported.timeline.recorded.as_ref().unwrap().usage;
    assert_eq!(usage.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(told(&imported).len(), 1);
}

#[test]
fn a_change_of_the_model_is_a_change_of_the_session() {
    let timeline = imported(PART).timeline;

    let models: Vec<&str> = timeline.models.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(models, ["gemini-3-flash-preview", "gemini-3.1-pro-preview"]);
    assert_eq!(timeline.models.iter().map(|it| it.requests).collect::<Vec<_>>(), [5, 1]);
}

#[test]
fn a_chat_that_is_cut_off_or_mixed_up_is_read_and_told() {
    for cut in (300..PART.len()).step_by(997) {
        let cut = (cut..).find(|it| PART.is_char_boundary(*it)).unwrap();
        if let Ok(all) = import_all(&PART[..cut], "test", &Assume::default(), &[]) {
            assert!(!all.is_empty());
        }
    }
    let messages =
        [user(1, "go"), reply(2, [100, 0, 10, 0], &[]), user(3, "on"), reply(4, [130, 0, 10, 0], &[])];
    let text = document(&messages);
    let half = imported(&text[..text.rfind("\"type\": \"gemini\"").unwrap()]);
    assert_eq!(half.timeline.spine.steps.len(), 1);
    assert!(told(&half).iter().any(|it| it.contains("cut off")), "{:?}", told(&half));
    let glued = lines(&messages).replace('\n', "");
    assert_eq!(imported(&glued).timeline.spine.steps.len(), 2);
}

#[test]
fn two_chats_in_one_file_are_two_sessions() {
    let one = lines(&[user(1, "go"), reply(2, [100, 0, 10, 0], &[])]);
    let other = one.replace("\"s1\"", "\"s2\"").replace("\"m", "\"n");

    let all = import_all(&(one + &other), "test", &Assume::default(), &[]).unwrap();

    assert_eq!(all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["s1", "s2"]);
}

/// A record of Qwen Code.
fn qwen(id: u64, kind: &str, rest: &Value) -> Value {
    let parent = if id > 1 { json!(format!("u{}", id - 1)) } else { Value::Null };
    let mut record = json!({"uuid": format!("u{id}"), "parentUuid": parent, "sessionId": "q1", "timestamp": at(id), "type": kind});
    record.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    record
}

fn qwen_user(id: u64, text: &str) -> Value {
    qwen(id, "user", &json!({"message": {"role": "user", "parts": [{"text": text}]}}))
}

fn qwen_reply(id: u64, [input, cached, output, thoughts, total]: [u64; 5]) -> Value {
    qwen(
        id,
        "assistant",
        &json!({"model": "qwen3-coder-plus",
        "message": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "ok"}]},
        "usageMetadata": {"promptTokenCount": input, "cachedContentTokenCount": cached, "candidatesTokenCount": output,
            "thoughtsTokenCount": thoughts, "totalTokenCount": total}}),
    )
}

fn joined(records: &[Value]) -> String {
    records.iter().map(|it| format!("{it}\n")).collect()
}

#[test]
fn a_chat_of_qwen_code_follows_its_records_and_reads_thoughts_by_the_total() {
    let abandoned = {
        let mut it = qwen_reply(9, [999, 0, 9, 0, 1_008]);
        it["parentUuid"] = "u1".into();
        it
    };
    let records = [
        qwen_user(1, "go"),
        abandoned,
        qwen_reply(2, [100, 0, 10, 5, 115]),
        qwen_user(3, "on"),
        qwen_reply(4, [130, 64, 10, 5, 140]),
    ];

    let imported = imported(&joined(&records));

    assert_eq!(imported.format, "qwen-code");
    let usage: Vec<_> = imported.timeline.recorded.as_ref().unwrap().usage.iter().flatten().collect();
    assert_eq!(usage.iter().map(|it| it.output).collect::<Vec<_>>(), [15, 10]);
    assert_eq!((usage[1].uncached, usage[1].cache_read), (66, 64));
    assert_eq!(told(&imported), ["line 2: records on abandoned branches"]);
}

#[test]
fn a_compression_of_qwen_code_takes_the_place_of_the_history() {
    let compression = qwen(
        3,
        "system",
        &json!({"subtype": "chat_compression", "systemPayload": {
        "info": {"originalTokenCount": 5000, "newTokenCount": 200},
        "compressedHistory": [{"role": "user", "parts": [{"text": "what was done"}]},
            {"role": "model", "parts": [{"text": "good"}]}]}}),
    );
    let records = [
        qwen_user(1, &"long ".repeat(900)),
        qwen_reply(2, [5_000, 0, 10, 0, 5_010]),
        compression,
        qwen_user(4, "on"),
        qwen_reply(5, [220, 0, 10, 0, 230]),
    ];

    let timeline = imported(&joined(&records)).timeline;

    assert_eq!(timeline.recorded.as_ref().unwrap().compactions.len(), 1);
    assert!(timeline.spine.items.iter().any(|it| it.kind == Kind::Summary));
    assert_eq!(played(&timeline), [5_000, 220]);
}

#[test]
fn a_sub_agent_of_qwen_code_has_a_session_of_its_own() {
    let side = |mut record: Value| {
        record["isSidechain"] = true.into();
        record["agentId"] = "explore-1".into();
        record["uuid"] = format!("side-{}", record["uuid"].as_str().unwrap()).into();
        record["parentUuid"] =
            record["parentUuid"].as_str().map_or(Value::Null, |it| format!("side-{it}").into());
        record
    };
    let records = [
        qwen_user(1, "go"),
        side(qwen_user(1, "look")),
        side(qwen_reply(2, [50, 0, 5, 0, 55])),
        qwen_reply(2, [100, 0, 10, 0, 110]),
    ];

    let all = import_all(&joined(&records), "test", &Assume::default(), &[]).unwrap();

    assert_eq!(all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["q1", "explore-1"]);
    assert_eq!(all[1].timeline.spine.sessions[0].parent.as_deref(), Some("q1"));
}
