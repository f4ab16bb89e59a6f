//! opencode's exports: reasoning inside or beside the output, aborted replies, compactions with their bills, cleared results.

use super::*;

const PART: &str = include_str!("../../data/recorded/opencode-part.json");

/// An export of some messages.
fn export(messages: &[Value]) -> String {
    json!({"info": {"id": "ses_1", "version": "1.4.3"}, "messages": messages}).to_string()
}

fn user(at: u64, text: &str) -> Value {
    json!({"info": {"id": format!("m{at}"), "role": "user", "time": {"created": at * 1_000}},
        "parts": [{"type": "text", "text": text}]})
}

/// A reply with a bill: input, read, written, output, reasoning and the total.
fn reply(at: u64, bill: [u64; 5], total: Option<u64>, parts: &[Value]) -> Value {
    let [input, read, write, output, reasoning] = bill;
    let mut tokens = json!({"input": input, "output": output, "reasoning": reasoning,
        "cache": {"read": read, "write": write}});
    if let Some(total) = total {
        tokens["total"] = total.into();
    }
    json!({"info": {"id": format!("m{at}"), "role": "assistant", "modelID": "gpt-5.4", "providerID": "openai", "finish": "stop",
        "tokens": tokens, "cost": 0.25, "time": {"created": at * 1_000, "completed": at * 1_000 + 500}},
        "parts": parts})
}

fn call(id: &str, output: &str) -> Value {
    json!({"type": "tool", "tool": "read", "callID": id, "state": {"status": "completed",
        "input": {"filePath": "/a.rs"}, "output": output, "time": {"start": 1, "end": 2}}})
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

#[test]
fn reasoning_is_a_part_of_the_output_only_where_the_total_says_so() {
    let parts = [text("ok")];
    let messages = [
        user(1, "go"),
        reply(2, [100, 0, 0, 50, 30], Some(180), &parts),
        user(3, "on"),
        reply(4, [50, 100, 7, 50, 30], Some(207), &parts),
        user(5, "on"),
        reply(6, [50, 200, 0, 50, 30], None, &parts),
    ];

    let imported = imported(&export(&messages));

    let recorded = imported.timeline.recorded.as_ref().unwrap();
    let usage: Vec<_> = recorded.usage.iter().flatten().collect();
    assert_eq!(usage.iter().map(|it| it.output).collect::<Vec<_>>(), [80, 50, 80]);
    assert_eq!(usage.iter().map(|it| it.prompt).collect::<Vec<_>>(), [100, 157, 250]);
    assert_eq!((usage[1].cache_write, imported.timeline.models[0].name.as_str()), (7, "gpt-5.4"));
    assert_eq!(recorded.costs.iter().flatten().count(), 3);
}

#[test]
fn an_aborted_reply_is_no_request_but_what_it_says_stays_in_the_prompts() {
    let mut aborted = reply(4, [0; 5], None, &[text("half of")]);
    aborted["info"]["error"] = json!({"name": "MessageAbortedError"});
    let messages = [
        user(1, "go"),
        reply(2, [100, 0, 0, 10, 0], None, &[text("ok")]),
        user(3, "more"),
        aborted,
        user(5, "again"),
        reply(6, [60, 100, 0, 10, 0], None, &[text("ok")]),
    ];

    let imported = imported(&export(&messages));

    let spine = &imported.timeline.spine;
    assert_eq!((spine.turns.len(), spine.steps.len()), (2, 2));
    let user = spine.turns[1].user.clone();
    assert_eq!(spine.items[user.start as usize..user.end as usize].len(), 3);
    assert_eq!(deviation_max(&imported.timeline), 0);
    assert_eq!(losses(&imported).len(), 1);
}

#[test]
fn a_session_whose_provider_bills_nothing_has_requests_without_usage() {
    let messages = [user(1, "go"), reply(2, [0; 5], None, &[text("ok")])];

    let timeline = imported(&export(&messages)).timeline;

    assert_eq!(timeline.spine.steps.len(), 1);
    assert!(timeline.recorded.unwrap().usage[0].is_none());
}

#[test]
fn a_compaction_resets_the_history_and_its_bill_is_no_request_of_the_agent() {
    let Imported { timeline, losses, .. } = imported(PART);

    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!(recorded.summarised.len(), 1);
    assert_eq!((recorded.summaries()[0].prompt, recorded.summaries()[0].output), (98_608, 1_305));
    let compaction = timeline.events.iter().find_map(|it| match it.kind {
        EventKind::Compaction(it) => Some(it),
        _ => None,
    });
    assert_eq!(compaction.unwrap().output, 1_305);
    let after = recorded.summarised[0] as usize;
    let summary = timeline.spine.items.iter().filter(|it| it.kind == Kind::Summary);
    assert_eq!(summary.count(), 2, "what stands for the requests before the part, and the summary");
    assert_eq!(recorded.usage[after].unwrap().prompt, 16_303);
    assert!(timeline.spine.steps[after].at_ms > timeline.spine.steps[after - 1].at_ms);
    assert!(losses.is_empty(), "{losses:?}");
}

#[test]
fn a_compaction_may_keep_the_end_of_the_history() {
    let compaction = json!({"info": {"id": "m5", "role": "user", "time": {"created": 5_000}},
        "parts": [{"type": "compaction", "auto": true, "tail_start_id": "m3"}]});
    let mut summary = reply(6, [1_000, 0, 0, 40, 0], None, &[text("the summary")]);
    summary["info"]["summary"] = true.into();
    let messages = [
        user(1, &"long ".repeat(400)),
        reply(2, [900, 0, 0, 10, 0], None, &[text("ok")]),
        user(3, "short"),
        reply(4, [20, 900, 0, 10, 0], None, &[text("ok")]),
        compaction,
        summary,
        reply(7, [120, 0, 0, 10, 0], None, &[text("ok")]),
    ];

    let timeline = imported(&export(&messages)).timeline;

    let resets = timeline.events.iter().filter_map(|it| match &it.kind {
        EventKind::Reset(items) => Some(items.clone()),
        _ => None,
    });
    let resets: Vec<_> = resets.collect();
    let kept = timeline.spine.turns[1].user.start;
    assert!(resets.iter().all(|it| it.end <= kept), "{resets:?} and {kept}");
    assert!(!resets.is_empty());
}

#[test]
fn results_that_the_harness_cleared_leave_the_prompts_from_then_on() {
    let mut cleared = call("c1", &"word ".repeat(300));
    cleared["state"]["time"]["compacted"] = 4_500.into();
    let messages = [
        user(1, "go"),
        reply(2, [100, 0, 0, 10, 0], None, &[cleared]),
        reply(3, [400, 100, 0, 10, 0], None, &[call("c2", "short")]),
        reply(5, [200, 0, 0, 10, 0], None, &[text("ok")]),
    ];

    let timeline = imported(&export(&messages)).timeline;

    let gone: Vec<_> = timeline.events.iter().filter(|it| matches!(it.kind, EventKind::Reset(_))).collect();
    assert_eq!(gone.len(), 1);
    assert_eq!(timeline.spine.step_at(gone[0].at), 2);
}

#[test]
fn a_session_of_a_sub_agent_names_the_session_that_started_it() {
    let child = json!({"info": {"id": "ses_2", "parentID": "ses_1"},
        "messages": [user(1, "go"), reply(2, [10, 0, 0, 5, 0], None, &[text("ok")])]});
    let both =
        export(&[user(1, "go"), reply(2, [10, 0, 0, 5, 0], None, &[text("ok")])]) + "\n" + &child.to_string();

    let all = import_all(&both, "test", &Assume::default(), &[]).unwrap();

    assert_eq!(all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["ses_1", "ses_2"]);
    let session = &all[1].timeline.spine.sessions[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("ses_2", Some("ses_1")));
    assert_eq!(all[0].timeline.spine.sessions[0].parent, None);
}

#[test]
fn messages_out_of_order_or_twice_are_told_and_read_as_they_were_sent() {
    let messages = [
        user(1, "go"),
        reply(2, [100, 0, 0, 10, 0], None, &[text("ok")]),
        user(3, "on"),
        reply(4, [20, 100, 0, 10, 0], None, &[text("ok")]),
    ];
    let whole = imported(&export(&messages)).timeline;
    let [a, b, c, d] = messages;

    let mixed = imported(&export(&[c.clone(), d.clone(), a.clone(), b.clone(), d.clone()]));

    assert_eq!(mixed.timeline.spine.items, whole.spine.items);
    assert_eq!(
        losses(&mixed),
        [
            "line 1: messages that stand twice; the last one is used",
            "line 1: messages after later ones; they are ordered by time"
        ]
    );

    // Ids that were redacted to one word are told apart by their times.
    let redacted = [a, b, c, d].map(|mut it| {
        it["info"]["id"] = "REDACTED".into();
        it
    });
    assert_eq!(imported(&export(&redacted)).timeline.spine.items, whole.spine.items);
}

#[test]
fn an_export_that_is_cut_off_anywhere_is_read_up_to_there_and_told() {
    let whole = imported(PART).timeline.spine.steps.len();
    for cut in (200..PART.len()).step_by(1_777) {
        let Ok(all) = import_all(&PART[..cut], "test", &Assume::default(), &[]) else { continue };
        assert!(all[0].timeline.spine.steps.len() <= whole);
        assert!(losses(&all[0]).iter().any(|it| it.contains("cut off")), "{cut}");
    }
    let half = &PART[..PART.len() / 2];
    assert!(imported(half).timeline.spine.steps.len() > 3);
}

#[test]
fn a_count_that_is_none_is_refused_with_its_line_and_column() {
    let text = PART.replacen("\"input\": 184,", "\"input\": -184,", 1);

    let problems = import(&text, "test", &Assume::default(), &[]).unwrap_err();

    assert_eq!(
        (problems[0].code.name(), problems[0].place.field.as_str()),
        ("recording-usage", "tokens.input")
    );
    let (line, column) = problems[0].place.line_column.unwrap();
    let written = text.lines().nth(line - 1).unwrap();
    assert!(written[column - 1..].starts_with("\"input\": -184"), "{line}:{column} {written}");
}

#[test]
fn unknown_parts_and_roles_are_told_and_unknown_fields_are_not() {
    let mut odd = reply(2, [10, 0, 0, 5, 0], None, &[text("ok"), json!({"type": "hologram", "text": "x"})]);
    odd["info"]["mood"] = "fine".into();
    let stranger = json!({"info": {"id": "m9", "role": "oracle"}, "parts": [3, null]});

    let imported = imported(&export(&[user(1, "go"), odd, stranger]));

    assert_eq!(
        losses(&imported),
        [
            "line 1: parts of the unknown type `hologram` in replies",
            "line 1: messages of the unknown role `oracle`"
        ]
    );
}
