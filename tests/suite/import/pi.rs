//! pi sessions: the tree of their entries, and the bills that they keep.

use ctxsim::price;
use ctxsim::quantity::Cost;

use super::*;

const SESSION: &str = include_str!("../../data/recorded/pi-session.jsonl");
const SONNET: &str = include_str!("../../data/recorded/claude-sonnet-4.5.toml");

/// An entry of a session of the third version; names are `e1`, `e2`, …
fn entry(id: u32, parent: Option<u32>, kind: &str, rest: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |it| format!("\"e{it}\""));
    format!(
        r#"{{"type":"{kind}","id":"e{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{id:02}.000Z",{rest}}}"#
    )
}

fn user(id: u32, parent: Option<u32>, text: &str) -> String {
    entry(id, parent, "message", &format!(r#""message":{{"role":"user","content":"{text}"}}"#))
}

/// A reply with a call, where one is named.
fn reply(id: u32, parent: u32, call: Option<&str>, usage: [u64; 4]) -> String {
    let [input, read, write, output] = usage;
    let call = call.map_or(String::new(), |it| {
        format!(r#",{{"type":"toolCall","id":"{it}","name":"read","arguments":{{"path":"a"}}}}"#)
    });
    let usage = format!(
        r#"{{"input":{input},"output":{output},"cacheRead":{read},"cacheWrite":{write},"cost":{{"total":0.25}}}}"#
    );
    let message = format!(
        r#""message":{{"role":"assistant","api":"anthropic-messages","content":[{{"type":"text","text":"ok"}}{call}],"usage":{usage},"timestamp":{}}}"#,
        1_767_225_600_000_u64 + u64::from(id) * 1_000
    );
    entry(id, Some(parent), "message", &message)
}

fn result(id: u32, parent: u32, call: &str, text: &str) -> String {
    let message = format!(
        r#""message":{{"role":"toolResult","toolCallId":"{call}","toolName":"read","content":[{{"type":"text","text":"{text}"}}]}}"#
    );
    entry(id, Some(parent), "message", &message)
}

fn read(lines: &[String]) -> Imported {
    imported(&lines.join("\n"))
}

#[test]
fn a_session_keeps_what_each_request_cost_and_its_tail_behind_the_last_breakpoint() {
    let lines = [
        user(1, None, "hello"),
        reply(2, 1, Some("c1"), [3, 0, 1_500, 40]),
        result(3, 2, "c1", "text"),
        reply(4, 3, None, [5, 1_500, 200, 30]),
    ];

    let Imported { timeline, format, losses, .. } = read(&lines);

    assert_well_formed(&timeline);
    assert_eq!((format, losses.len()), ("pi", 0));
    assert_eq!(prompts(&timeline), [1_503, 1_705]);
    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!(recorded.costs, [Some(Cost(250_000_000_000)); 2]);
    assert_eq!(recorded.tails, [3, 5]);
    let step = &timeline.spine.steps[0];
    assert_eq!(
        timeline.spine.items[step.results.start as usize].raw, 162,
        "what the prompt grew by and no output"
    );
    assert_eq!(timeline.spine.items[step.results.start as usize].pair, step.reply.end - 1);
}

#[test]
fn entries_stand_in_the_order_of_their_parents_and_other_branches_are_told() {
    let lines = [
        user(1, None, "hello"),
        reply(2, 1, None, [3, 0, 1_500, 40]),
        user(3, Some(2), "a wrong turn"),
        reply(4, 3, None, [3, 1_500, 100, 40]),
        user(5, Some(2), "the right turn"),
        reply(6, 5, None, [3, 1_500, 120, 40]),
    ];

    let Imported { timeline, losses, .. } = read(&lines);

    assert_eq!(prompts(&timeline), [1_503, 1_623]);
    assert_eq!(losses.len(), 1);
    assert_eq!(
        (losses[0].what.as_str(), &losses[0].lines[..]),
        ("records on abandoned branches", &[3, 4][..])
    );
}

#[test]
fn a_compaction_keeps_what_stands_from_its_first_kept_entry_on() {
    let lines = [
        user(1, None, "hello"),
        reply(2, 1, None, [3, 0, 9_000, 40]),
        user(3, Some(2), &"keep this ".repeat(40)),
        reply(4, 3, None, [3, 9_000, 100, 40]),
        entry(
            5,
            Some(4),
            "compaction",
            r#""summary":"what was said","firstKeptEntryId":"e3","tokensBefore":9143"#,
        ),
        user(6, Some(5), "go on"),
        reply(7, 6, None, [3, 0, 2_000, 40]),
    ];

    let Imported { timeline, losses, .. } = read(&lines);

    assert_well_formed(&timeline);
    assert_eq!(losses, []);
    let ctxsim::timeline::EventKind::Reset(gone) = timeline.events[1].kind.clone() else {
        panic!("no reset")
    };
    let kept = timeline.spine.turns[1].items.clone();
    assert_eq!((timeline.events.len(), gone.end), (2, kept.start));
    assert_eq!(played(&timeline), [9_003, 9_103, 2_003]);
    let kinds: Vec<Kind> =
        timeline.spine.turns[2].user.clone().map(|it| timeline.spine.items[it as usize].kind).collect();
    assert!(kinds.ends_with(&[Kind::Summary, Kind::User]), "{kinds:?}");
}

#[test]
fn an_aborted_reply_is_a_request_of_which_nothing_was_billed() {
    let lines = [
        user(1, None, "hello"),
        reply(2, 1, None, [0, 0, 0, 0]),
        user(3, Some(2), "again"),
        reply(4, 3, None, [3, 0, 1_500, 40]),
    ];

    let timeline = read(&lines).timeline;

    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!((recorded.usage[0], recorded.costs[0]), (None, None));
    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len()), (2, 2));
}

#[test]
fn what_the_user_ran_stands_in_the_prompt_unless_it_was_for_himself() {
    let ran = |id, parent, rest: &str| {
        let message = format!(
            r#""message":{{"role":"bashExecution","command":"ls","output":"a b","exitCode":0{rest}}}"#
        );
        entry(id, Some(parent), "message", &message)
    };
    let lines = [
        user(1, None, "hello"),
        reply(2, 1, None, [3, 0, 1_500, 40]),
        ran(3, 2, ""),
        ran(4, 3, r#","excludeFromContext":true"#),
        user(5, Some(4), "go on"),
        reply(6, 5, None, [3, 1_500, 100, 40]),
    ];

    let Imported { timeline, losses, .. } = read(&lines);

    assert_eq!(timeline.spine.turns[1].user.len(), 2);
    assert_eq!(losses[0].to_string(), "line 4: commands run by the user, which no model has seen");
}

/// What a session was billed against what is predicted.
struct Bills {
    /// Requests whose read was missed or exceeded by more than 64 tokens and 0.5%, with the billed and the predicted read.
    missed: Vec<(u32, u64, u64)>,
    /// Input, read, written, and picodollars of the other requests, as predicted.
    predicted: [u128; 4],
    /// The same, as billed.
    billed: [u128; 4],
    /// The differences of all requests together in read and written tokens, over what was billed.
    of_all: [f64; 2],
    n: usize,
}

/// Plays a session as it took place and compares every bill; the first says nothing of what was cached before.
fn bills(text: &str, profile: &str) -> Bills {
    let timeline = imported(text).timeline;
    let identity = include_str!("../../../policies/identity.ron");
    let policy = policy_from(identity);
    let profile = profile_from(profile);
    let mut rows = Rows::default();
    ctxsim::engine::Simulation::new(&timeline, &policy, &Limits::NONE, &profile.cache).run(&mut rows);
    let recorded = timeline.recorded.as_ref().unwrap();
    let mut bills = Bills { missed: Vec::new(), predicted: [0; 4], billed: [0; 4], of_all: [0.0; 2], n: 0 };
    let mut all = [[0_u128; 2]; 2];
    let billed = rows.requests.iter().filter_map(|row| {
        let step = row.step as usize;
        Some((row, recorded.usage[step]?, recorded.costs[step]?))
    });
    for (row, usage, cost) in billed.skip(1) {
        let step = row.step;
        bills.n += 1;
        assert_eq!(row.prompt, usage.prompt, "step {step}");
        let written = row.usage.write[0] + row.usage.write[1];
        all[0] = [all[0][0] + u128::from(row.usage.read), all[0][1] + u128::from(written)];
        all[1] = [all[1][0] + u128::from(usage.cache_read), all[1][1] + u128::from(usage.cache_write)];
        let difference = row.usage.read.abs_diff(usage.cache_read);
        if difference > 64 && difference * 1_000 > usage.cache_read * 5 {
            bills.missed.push((row.step, usage.cache_read, row.usage.read));
            continue;
        }
        let row = RequestRow { output: usage.output, ..*row };
        let predicted = price::request(&row, &profile.prices).unwrap();
        add(&mut bills.predicted, [row.usage.uncached, row.usage.read, written], predicted);
        add(&mut bills.billed, [usage.uncached, usage.cache_read, usage.cache_write], cost);
    }
    let error = |at: usize| (all[0][at] as f64 - all[1][at] as f64) / all[1][at] as f64;
    bills.of_all = [error(0), error(1)];
    bills
}

fn add(sums: &mut [u128; 4], tokens: [u64; 3], cost: Cost) {
    for (sum, it) in sums.iter_mut().zip(tokens.map(u128::from).into_iter().chain([cost.0])) {
        *sum += it;
    }
}

/// Checks that input, read, written and dollars are within one per cent over the session, beside what is listed.
fn assert_within_one_per_cent(bills: &Bills) {
    for (predicted, billed) in bills.predicted.iter().zip(bills.billed) {
        assert!(predicted.abs_diff(billed) * 100 <= billed, "{:?} {:?}", bills.predicted, bills.billed);
    }
}

#[test]
fn a_pi_session_is_billed_as_predicted_but_for_a_restart_of_the_tool() {
    let bills = bills(SESSION, SONNET);

    assert_within_one_per_cent(&bills);
    assert_eq!(bills.n, 58);
    // The tool was started anew before this turn, and its system prompt says when: nothing was read.
    assert_eq!(bills.missed, [(7, 0, 23_458)]);
}

#[test]
fn the_reference_pi_session_is_billed_as_predicted_but_for_the_misses_listed() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let text = std::fs::read_to_string(folder.join("recorded/pi/pi-mono_large-session.jsonl")).unwrap();

    let bills = bills(&text, SONNET);

    assert_within_one_per_cent(&bills);
    let missed: Vec<u32> = bills.missed.iter().map(|it| it.0).collect();
    assert_eq!(
        (bills.n, missed.len()),
        (438, 34),
        "{:?} {:?} {:?} {:?}",
        bills.missed,
        bills.of_all,
        bills.predicted,
        bills.billed
    );
    let is_new_turn_with_nothing_read = bills.missed.iter().filter(|it| it.1 == 0).count();
    assert_eq!(is_new_turn_with_nothing_read, 33);
}

/// A line of a session whose entries follow one another.
fn next(n: u32, record: &str) -> String {
    let parent = if n > 1 { format!("e{}", n - 1) } else { String::new() };
    format!(r#"{{"id":"e{n}","parentId":"{parent}","timestamp":"2026-01-01T00:00:{n:02}.000Z",{record}}}"#)
}

fn said(n: u32, role: &str, text: &str, more: &str) -> String {
    let content = format!(r#""content":[{{"type":"text","text":"{text}"}}]"#);
    next(n, &format!(r#""type":"message","message":{{"role":"{role}",{content}{more}}}"#))
}

#[test]
fn failed_tries_and_texts_of_the_gateway_are_no_requests() {
    let usage = |input: u32| format!(r#","usage":{{"input":{input},"output":5,"costUSD":0.5}}"#);
    let lines = [
        said(1, "user", "hello", ""),
        said(2, "assistant", "", r#","stopReason":"error","usage":{"input":0,"output":0}"#),
        said(3, "assistant", "a reminder", r#","provider":"openclaw","model":"gateway-injected""#),
        said(4, "assistant", "hi", &usage(100)),
    ];

    let read = imported(&lines.join("\n"));

    assert_eq!(prompts(&read.timeline), [100]);
    assert_eq!(read.timeline.recorded.as_ref().unwrap().costs[0].unwrap().usd(), 0.5);
    let told: Vec<String> = read.losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 2: replies that failed or were cancelled, and were not billed",
            "line 3: replies that the gateway wrote and no model; they are kept without a request",
        ]
    );
}

#[test]
fn a_summary_that_is_billed_between_the_marks_of_a_compaction_is_in_the_place_of_the_history() {
    let usage = |input: u32| format!(r#","usage":{{"input":{input},"output":50}}"#);
    let lines = [
        said(1, "user", "a long task", ""),
        said(2, "assistant", "work", &usage(9_000)),
        next(3, r#""type":"compaction_start","reason":"threshold""#),
        said(4, "assistant", &"what was done ".repeat(15), &usage(9_100)),
        next(5, r#""type":"compaction_end""#),
        said(6, "user", "continue", ""),
        said(7, "assistant", "ok", &usage(900)),
    ];

    let timeline = imported(&lines.join("\n")).timeline;

    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!(recorded.compactions, [1]);
    assert_eq!((recorded.summaries()[0].prompt, recorded.summaries()[0].output), (9_100, 50));
    assert_eq!(played(&timeline), [9_000, 900]);
}
