//! Logs of messages, as each of the providers' interfaces writes them.

use ctxsim::input::policy::Kind::{Assistant, Reasoning, System, ToolCall, ToolResult, ToolSchema, User};

use super::*;

fn kinds(timeline: &Timeline) -> Vec<Kind> {
    timeline.spine.items.iter().map(|it| it.kind).collect()
}

fn told(imported: &Imported) -> Vec<String> {
    imported.losses.iter().map(ToString::to_string).collect()
}

/// A conversation of blocks, with a call and its result.
const BLOCKS: &str = include_str!("../../data/recorded/messages-blocks.json");

/// The same, with calls beside the text and results in messages of their own.
const CALLS: &str = include_str!("../../data/recorded/messages-calls.json");

#[test]
fn a_conversation_of_blocks_has_its_system_prompt_its_tools_and_its_turns() {
    let read = imported(BLOCKS);

    let timeline = &read.timeline;
    assert_well_formed(timeline);
    assert_eq!((read.format, told(&read)), ("messages", vec![]));
    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len(), timeline.spine.n_stable), (2, 3, 2));
    let expected = [
        ToolSchema, System, User, Reasoning, Assistant, ToolCall, ToolResult, User, Assistant, User,
        Assistant,
    ];
    assert_eq!(kinds(timeline), expected);
    assert_eq!(timeline.spine.items[6].pair, 5);
    assert!(timeline.recorded.as_ref().unwrap().usage.iter().all(Option::is_none));
}

#[test]
fn a_list_of_messages_with_calls_beside_their_text_is_a_session() {
    let read = imported(CALLS);

    let timeline = &read.timeline;
    assert_well_formed(timeline);
    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len(), timeline.spine.n_stable), (1, 2, 1));
    let result = timeline.spine.steps[0].results.start as usize;
    assert_eq!(timeline.spine.items[result].kind, Kind::ToolResult);
    assert_eq!(timeline.spine.tools[usize::from(timeline.spine.items[result].tool)], "read");
}

#[test]
fn messages_may_stand_one_a_line() {
    let lines = "{\"role\":\"user\",\"content\":\"hello\"}\n{\"role\":\"assistant\",\"content\":\"hi\"}\n";

    let read = imported(lines);

    assert_eq!((read.timeline.spine.turns.len(), read.timeline.spine.steps.len()), (1, 1));
}

/// A request of a log with its response, which bills a prompt of which a part was read and a part written.
fn exchange(messages: &str, reply: &str, [input, cached, written, output]: [u64; 4], at: &str) -> String {
    format!(
        r#"{{"timestamp":"{at}","request":{{"body":{{"system":"Be brief.","messages":[{messages}]}}}},"response":{{"body":{{"role":"assistant","content":[{{"type":"text","text":"{reply}"}}],"usage":{{"input_tokens":{input},"cache_read_input_tokens":{cached},"cache_creation_input_tokens":{written},"output_tokens":{output}}}}}}}}}"#
    )
}

#[test]
fn requests_that_go_on_with_one_another_are_one_session_with_their_bills() {
    let (hello, hi) = (r#"{"role":"user","content":"hello"}"#, r#"{"role":"assistant","content":"hi"}"#);
    let more = r#"{"role":"user","content":"more"}"#;
    let log = [
        exchange(hello, "hi", [4, 0, 2_000, 20], "2026-01-01T00:00:00Z"),
        exchange(
            r#"{"role":"user","content":"a title, please"}"#,
            "title",
            [90, 0, 0, 5],
            "2026-01-01T00:00:01Z",
        ),
        exchange(&format!("{hello},{hi},{more}"), "bye", [4, 2_000, 40, 12], "2026-01-01T00:00:09Z"),
    ]
    .join("\n");

    let all = ctxsim::timeline::import::import_all(&log, "test", &Assume::default(), &[]).unwrap();

    assert_eq!(all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    let timeline = &all[0].timeline;
    assert_well_formed(timeline);
    assert_eq!(prompts(timeline), [2_004, 2_044]);
    assert_eq!(timeline.spine.steps.iter().map(|it| it.at_ms).collect::<Vec<_>>(), [0, 9_000]);
    assert_eq!(timeline.recorded.as_ref().unwrap().tails, [4, 4]);
    assert_eq!(prompts(&all[1].timeline), [90]);
}

#[test]
fn what_openai_bills_as_input_holds_what_was_cached() {
    let log = r#"[{"request":{"messages":[{"role":"user","content":"hello"}]},"response":{"created":1767225600,
      "choices":[{"message":{"role":"assistant","content":"hi"}}],
      "usage":{"prompt_tokens":2000,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":1920},"completion_tokens_details":{"reasoning_tokens":20}}}},
      {"request":{"input":[{"role":"user","content":[{"type":"input_text","text":"other"}]}]},"response":{
      "output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],
      "usage":{"input_tokens":500,"output_tokens":30,"input_tokens_details":{"cached_tokens":128},"output_tokens_details":{"reasoning_tokens":20}}}}]"#;

    let all = ctxsim::timeline::import::import_all(log, "test", &Assume::default(), &[]).unwrap();

    let usage: Vec<_> =
        all.iter().map(|it| it.timeline.recorded.as_ref().unwrap().usage[0].unwrap()).collect();
    assert_eq!((usage[0].prompt, usage[0].cache_read, usage[0].uncached), (2_000, 1_920, 80));
    assert_eq!((usage[1].prompt, usage[1].cache_read, usage[1].uncached), (500, 128, 372));
    let sizes: Vec<u32> = all[1].timeline.spine.steps[0]
        .reply
        .clone()
        .map(|it| all[1].timeline.spine.items[it as usize].raw)
        .collect();
    assert_eq!(sizes, [20, 10]);
}

#[test]
fn items_of_the_responses_interface_are_messages_too() {
    let log = r#"[{"role":"user","content":"hello"},
      {"type":"reasoning","summary":[],"encrypted_content":"abc"},
      {"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},
      {"type":"function_call_output","call_id":"c1","output":"text"},
      {"role":"assistant","content":"done"}]"#;

    let timeline = imported(log).timeline;

    assert_eq!(kinds(&timeline), [User, Reasoning, ToolCall, ToolResult, Assistant]);
    assert_eq!(timeline.spine.steps.len(), 2);
}

#[test]
fn a_log_that_breaks_off_is_read_up_to_there_and_the_place_is_told() {
    for (log, line) in [(BLOCKS, 5), (CALLS, 5)] {
        let cut = log.find("apples").unwrap();

        let read = imported(&log[..cut]);

        assert_eq!(read.timeline.spine.steps.len(), 1, "{log}");
        assert!(
            read.losses.iter().any(|it| it.line >= 1 && it.line <= line && it.what.contains("not JSON")),
            "{:?}",
            told(&read)
        );
    }
}

#[test]
fn what_is_not_understood_is_told_with_its_line() {
    let log = r#"[{"role":"user","content":[{"type":"text","text":"hello"},{"type":"hologram"}]},
      {"role":"oracle","content":"?"},
      {"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"dance"}]},
      {"role":"tool","tool_call_id":"nobody","content":"result"},
      {"role":"assistant","content":"bye"},
      17]"#;

    assert_eq!(
        told(&imported(log)),
        [
            "line 1: blocks of the unknown type `hologram` in user messages",
            "line 2: messages of the unknown role `oracle`",
            "line 3: blocks of the unknown type `dance` in replies",
            "line 4: results that answer no call of the previous reply; they are kept without a call",
            "line 6: values without messages",
        ]
    );
}

#[test]
fn without_usage_a_tokenizer_counts_the_texts_and_else_their_characters_do() {
    let sizes = |tokenizer| {
        let assume = Assume { tokenizer, ..Assume::default() };
        import(CALLS, "test", &assume, &[])
            .map(|it| it.timeline.spine.items.iter().map(|it| it.raw).collect::<Vec<_>>())
            .map_err(|it| it[0].code)
    };

    assert_eq!(sizes(None), Ok(vec![3, 4, 4, 2, 2]));
    let spec = ctxsim::input::scenario::TokenizerName::O200k;
    match ctxsim::tokens::tokenizer(spec) {
        Some(it) => {
            let texts = ["Be brief.", "What is in a?", r#"{"path":"a"}"#, "apples", "Apples."];
            let counted = texts.map(|text| u32::try_from(it.count(text)).unwrap());
            assert_eq!(sizes(Some(spec)), Ok(counted.to_vec()));
        }
        None => assert_eq!(sizes(Some(spec)), Err("tokenizer-not-built")),
    }
}
