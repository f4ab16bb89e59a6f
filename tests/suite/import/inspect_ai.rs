//! Eval logs of inspect_ai: samples, messages by reference, compactions, sub-agents and graders, archives.

use std::io::Write as _;

use super::*;
use ctxsim::timeline::import::{detect_from, import_from};

const PART: &str = include_str!("../../data/recorded/inspect-part.json");

/// A log of some samples.
fn log(samples: &[Value]) -> String {
    json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "openai/gpt-4o-mini"}, "samples": samples}).to_string()
}

fn sample(id: u64, events: &[Value]) -> Value {
    json!({"id": id, "epoch": 1, "events": events, "attachments": {}})
}

fn said(role: &str, text: &str) -> Value {
    json!({"id": format!("{role}-{text}"), "role": role, "content": text})
}

/// A request with its messages and its bill: input, read, written, output and the total.
fn asked(
    span: &str,
    second: u64,
    input: &[Value],
    reply: &Value,
    [tokens, read, write, output, total]: [u64; 5],
) -> Value {
    json!({"event": "model", "span_id": span, "model": "openai/gpt-4o-mini", "timestamp": format!("2026-01-01T00:00:{second:02}-04:00"),
        "completed": format!("2026-01-01T00:00:{:02}-04:00", second + 1), "input": input, "tools": [{"name": "bash"}],
        "output": {"choices": [{"message": reply}], "usage": {"input_tokens": tokens, "output_tokens": output, "total_tokens": total,
            "input_tokens_cache_read": read, "input_tokens_cache_write": write}}})
}

#[test]
fn a_request_that_repeats_the_one_before_goes_on_with_it() {
    let (system, user, first, result, second) = (
        said("system", "be good"),
        said("user", "go"),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "a b"}),
        said("assistant", "done"),
    );
    let events = [
        asked("", 1, &[system.clone(), user.clone()], &first, [100, 0, 0, 10, 110]),
        asked("", 3, &[system, user, first.clone(), result], &second, [130, 64, 0, 10, 140]),
    ];

    let imported = imported(&log(&[sample(1, &events)]));

    let spine = &imported.timeline.spine;
    assert_eq!(imported.format, "inspect-ai");
    assert_eq!((spine.turns.len(), spine.steps.len()), (1, 2));
    let kinds: Vec<Kind> = spine.items.iter().map(|it| it.kind).collect();
    let expected =
        [Kind::ToolSchema, Kind::System, Kind::User, Kind::ToolCall, Kind::ToolResult, Kind::Assistant];
    assert!(kinds.ends_with(&expected), "{kinds:?}");
    assert_eq!(imported.timeline.began_ms, Some(1_767_240_001_000), "four hours behind UTC");
    assert_eq!((spine.steps[1].at_ms, spine.steps[1].end_ms), (2_000, 3_000));
    assert_eq!(losses(&imported), [""; 0]);
}

#[test]
fn what_the_cache_has_to_do_with_is_part_of_the_input_or_beside_it_as_the_total_says() {
    let (user, ok) = (said("user", "go"), said("assistant", "ok"));
    let within = asked("", 1, &[said("user", "a")], &ok, [100, 60, 30, 10, 110]);
    let beside = asked("", 1, &[user], &ok, [10, 60, 30, 10, 110]);

    let all =
        import_all(&log(&[sample(1, &[within]), sample(2, &[beside])]), "test", &Assume::default(), &[])
            .unwrap();

    for Imported { timeline, .. } in all {
        let usage = timeline.recorded.unwrap().usage[0].unwrap();
        assert_eq!((usage.prompt, usage.uncached, usage.cache_read, usage.cache_write), (100, 10, 60, 30));
    }
}

#[test]
fn messages_by_reference_and_attached_texts_are_those_that_stand_elsewhere() {
    let by_text = {
        let (user, ok) = (said("user", "a long text"), said("assistant", "ok"));
        let second = [user.clone(), ok.clone(), said("user", "more")];
        sample(
            1,
            &[
                asked("", 1, &[user], &ok, [100, 0, 0, 9, 109]),
                asked("", 2, &second, &ok, [130, 0, 0, 9, 139]),
            ],
        )
    };
    let mut by_reference = by_text.clone();
    let pool = [said("user", "attachment://x1"), said("assistant", "ok"), said("user", "more")];
    by_reference["message_pool"] = json!(pool);
    by_reference["attachments"] = json!({"x1": "a long text"});
    for (event, refs) in
        [(0, json!([[0, 1]])), (1, json!([[0, 2], [2, 3], [7, 900_000_000_000_u64], [2, 1]]))]
    {
        by_reference["events"][event]["input"] = json!([]);
        by_reference["events"][event]["input_refs"] = refs;
    }

    let (one, other) = (imported(&log(&[by_text])), imported(&log(&[by_reference])));

    assert_eq!(one.timeline.spine.items, other.timeline.spine.items);
    assert_eq!(one.timeline.spine.turns.len(), 2);
}

#[test]
fn a_compaction_and_messages_that_are_replaced_leave_the_prompts() {
    let (long, ok) = (said("user", &"long ".repeat(400)), said("assistant", "ok"));
    let summary = said("user", "what was done");
    let first = asked("", 1, std::slice::from_ref(&long), &ok, [900, 0, 0, 10, 910]);
    let compacted = asked("", 3, std::slice::from_ref(&summary), &ok, [60, 0, 0, 10, 70]);
    let mark = json!({"event": "compaction", "span_id": "", "tokens_before": 900, "tokens_after": 60});
    let trimmed = [said("user", "kept"), said("assistant", "b"), said("user", "new")];
    let before = [
        said("user", "kept"),
        said("assistant", "b"),
        said("user", &"old ".repeat(300)),
        ok.clone(),
        said("user", "new"),
    ];

    let compaction = imported(&log(&[sample(1, &[first, mark, compacted])])).timeline;
    let events =
        [asked("", 1, &before, &ok, [700, 0, 0, 10, 710]), asked("", 2, &trimmed, &ok, [120, 0, 0, 10, 130])];
    let trimming = imported(&log(&[sample(1, &events)])).timeline;

    assert_eq!(compaction.recorded.as_ref().unwrap().compactions.len(), 1);
    assert_eq!(played(&compaction), [900, 60]);
    assert_eq!(trimming.spine.steps.len(), 2);
    assert_eq!(played(&trimming), [700, 120]);
}

#[test]
fn sub_agents_and_graders_have_sessions_of_their_own() {
    let span = |id: &str, parent: &str, kind: &str| json!({"event": "span_begin", "id": id, "parent_id": parent, "type": kind, "name": id});
    let ok = said("assistant", "ok");
    let mut grader = asked("score", 9, &[said("user", "grade")], &ok, [40, 0, 0, 1, 41]);
    grader["role"] = "grader".into();
    let events = [
        span("main", "", "agent"),
        span("tool", "main", "tool"),
        span("search", "tool", "agent"),
        span("score", "", "scorer"),
        asked("main", 1, &[said("user", "go")], &ok, [100, 0, 0, 10, 110]),
        asked("search", 3, &[said("user", "look")], &ok, [50, 0, 0, 5, 55]),
        asked("tool", 5, &[said("user", "go"), ok.clone(), said("user", "on")], &ok, [130, 0, 0, 10, 140]),
        grader,
    ];

    let all = import_all(&log(&[sample(7, &events)]), "test", &Assume::default(), &[]).unwrap();

    assert_eq!(
        all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(),
        ["7_epoch_1", "7_epoch_1/2-search", "7_epoch_1/3-grader"]
    );
    assert_eq!(all.iter().map(|it| it.timeline.spine.steps.len()).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(all[1].timeline.spine.sessions[0].parent.as_deref(), Some("7_epoch_1"));
}

#[test]
fn what_nobody_billed_is_no_request() {
    let (user, ok) = (said("user", "go"), said("assistant", "ok"));
    let mut known = asked("", 1, std::slice::from_ref(&user), &ok, [100, 0, 0, 10, 110]);
    known["cache"] = "read".into();
    let mut pending = known.clone();
    pending["cache"] = Value::Null;
    pending["pending"] = true.into();
    let failed =
        json!({"event": "model", "input": [user.clone()], "error": "timeout", "output": {"choices": []}});
    let real = asked("", 2, &[user], &ok, [100, 0, 0, 10, 110]);

    let imported = imported(&log(&[sample(1, &[known, pending, failed, real])]));

    assert_eq!(imported.timeline.spine.steps.len(), 1);
    assert_eq!(losses(&imported).len(), 3, "{:?}", losses(&imported));
}

/// Packs members as an archive.
fn packed(members: &[(&str, &str)], method: rawzip::CompressionMethod) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
    for (name, text) in members {
        let (mut entry, config) = archive.new_file(name).compression_method(method).start().unwrap();
        let descriptor = if method == rawzip::CompressionMethod::DEFLATE {
            let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(text.as_bytes()).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(text.as_bytes()).unwrap();
            writer.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

fn unpacked(mut bytes: &[u8]) -> Result<Vec<Imported>, Vec<ctxsim::diag::Diagnostic>> {
    import_from(&mut bytes, "test", &Assume::default(), &[]).unwrap()
}

#[test]
fn an_archive_holds_what_a_document_does() {
    let ok = said("assistant", "ok");
    let samples =
        [1, 2].map(|it| sample(it, &[asked("", 1, &[said("user", "go")], &ok, [100, 0, 0, 10, 110])]));
    let whole = import_all(&log(&samples), "test", &Assume::default(), &[]).unwrap();
    let texts = samples.map(|it| it.to_string());
    let members = [
        ("_journal/start.json", "{}"),
        ("samples/1_epoch_1.json", &*texts[0]),
        ("samples/2_epoch_1.json", &*texts[1]),
        ("header.json", "{}"),
    ];

    for method in [rawzip::CompressionMethod::DEFLATE, rawzip::CompressionMethod::STORE] {
        let bytes = packed(&members, method);
        let all = unpacked(&bytes).unwrap();

        assert_eq!(detect_from(&mut bytes.as_slice()).unwrap(), Some("inspect-ai"));
        assert_eq!(all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["1_epoch_1", "2_epoch_1"]);
        let pairs = all.iter().zip(&whole);
        assert!(
            pairs.clone().count() == 2
                && pairs
                    .into_iter()
                    .all(|(one, other)| one.timeline.spine.items == other.timeline.spine.items)
        );
    }
}

#[test]
fn members_of_an_archive_that_share_their_bytes_are_refused() {
    let ok = said("assistant", "ok");
    let texts = [1, 2]
        .map(|it| sample(it, &[asked("", 1, &[said("user", "go")], &ok, [100, 0, 0, 10, 110])]).to_string());
    let members = [("samples/1_epoch_1.json", &*texts[0]), ("samples/2_epoch_1.json", &*texts[1])];
    let mut bytes = packed(&members, rawzip::CompressionMethod::DEFLATE);
    assert_eq!(unpacked(&bytes).unwrap().len(), 2);
    // The directory says of the second member that it begins where the first does.
    let entries: Vec<usize> =
        bytes.windows(4).enumerate().filter(|it| it.1 == b"PK\x01\x02").map(|it| it.0).collect();
    let first = bytes[entries[0] + 42..entries[0] + 46].to_vec();
    bytes[entries[1] + 42..entries[1] + 46].copy_from_slice(&first);

    let problems = unpacked(&bytes).unwrap_err();

    assert!(problems[0].message.contains("member 2 of the archive"), "{problems:?}");
}

#[test]
fn an_archive_that_is_damaged_or_of_something_else_is_refused_or_read_as_far_as_it_goes() {
    let one =
        sample(1, &[asked("", 1, &[said("user", "go")], &said("assistant", "ok"), [100, 0, 0, 10, 110])])
            .to_string();
    let bytes = packed(
        &[("samples/1_epoch_1.json", &*one), ("samples/2_epoch_1.json", &*one)],
        rawzip::CompressionMethod::DEFLATE,
    );
    for cut in (0..bytes.len()).step_by(23) {
        let _ = unpacked(&bytes[..cut]);
        let mut flipped = bytes.clone();
        flipped[cut] ^= 0x55;
        let _ = unpacked(&flipped);
    }
    let problems = unpacked(&bytes[..bytes.len() / 2]).unwrap_err();
    assert!(problems[0].message.contains("damaged"), "{problems:?}");
    let other = packed(&[("a.txt", "hello")], rawzip::CompressionMethod::STORE);
    assert!(unpacked(&other).unwrap_err()[0].message.contains("no samples"));
}

#[test]
fn a_log_that_is_cut_off_is_read_up_to_there_and_told() {
    let mut n_told = 0;
    for cut in (600..PART.len()).step_by(2_311) {
        if let Ok(all) = import_all(&PART[..cut], "test", &Assume::default(), &[]) {
            assert!(losses(&all[0]).iter().any(|it| it.contains("cut off")), "{cut}");
            n_told += 1;
        }
    }
    assert!(n_told > 3);
    assert_eq!(imported(PART).timeline.spine.steps.len(), 5);
}
