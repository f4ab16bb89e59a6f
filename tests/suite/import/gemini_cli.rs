//! Chats of Gemini CLI and Qwen Code: messages written again, taken back and cancelled, thoughts, compressions, sub-agents.

use super::*;

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
    assert!(losses(&one).is_empty() && losses(&other).is_empty());
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
    assert_eq!(losses(&imported), [""; 0]);
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
    assert_eq!(losses(&imported).len(), 1);
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
    assert!(losses(&half).iter().any(|it| it.contains("cut off")), "{:?}", losses(&half));
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
