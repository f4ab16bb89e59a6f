//! Logs of messages, as each of the providers' interfaces writes them.

use ctxsim::input::policy::Kind::{Assistant, Reasoning, System, ToolCall, ToolResult, ToolSchema, User};

use super::*;

fn kinds(timeline: &Timeline) -> Vec<Kind> {
    timeline.spine.items.iter().map(|it| it.kind).collect()
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
    assert_eq!((read.format, losses(&read)), ("messages", vec![]));
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
            losses(&read)
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
        losses(&imported(log)),
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
            .map_err(|it| it[0].code.name())
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

/// The bills of all requests of a log, in order.
fn usages(log: &str) -> Vec<ctxsim::timeline::Usage> {
    let all = ctxsim::timeline::import::import_all(log, "test", &Assume::default(), &[]).unwrap();
    let recorded = all.iter().flat_map(|it| it.timeline.recorded.as_ref().unwrap().usage.clone());
    recorded.flatten().collect()
}

#[test]
fn a_gateway_bills_what_was_written_as_part_of_the_input_and_tells_the_lifetimes() {
    let log = |usage: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"hello"}}],"response":{{"choices":[{{"message":{{"role":"assistant","content":"hi"}}}}],"usage":{usage}}}}}"#
        )
    };

    let gateway = log(
        r#"{"prompt_tokens":5000,"completion_tokens":9,"cache_read_input_tokens":1000,"cache_creation_input_tokens":3000,
          "prompt_tokens_details":{"cached_tokens":1000,"cache_creation_tokens":3000,"cache_creation_token_details":{"ephemeral_5m_input_tokens":1000,"ephemeral_1h_input_tokens":2000}}}"#,
    );
    let own = log(
        r#"{"input_tokens":7,"output_tokens":9,"cache_read_input_tokens":1000,"cache_creation_input_tokens":3000,
          "cache_creation":{"ephemeral_5m_input_tokens":3000,"ephemeral_1h_input_tokens":0}}"#,
    );
    let hits = log(r#"{"prompt_tokens":5000,"completion_tokens":9,"prompt_cache_hit_tokens":4928}"#);

    // Older gateways leave their own figure at nought, and what was written is beside their prompt.
    let older = log(
        r#"{"prompt_tokens":1007,"completion_tokens":9,"cache_read_input_tokens":1000,"cache_creation_input_tokens":3000,
          "prompt_tokens_details":{"audio_tokens":null,"cached_tokens":0}}"#,
    );
    let oldest = log(
        r#"{"prompt_tokens":4007,"completion_tokens":9,"cache_read_input_tokens":1000,"cache_creation_input_tokens":3000,
          "prompt_tokens_details":{"cached_tokens":1000}}"#,
    );

    let usages = [gateway, own, hits, older, oldest].map(|it| usages(&it)[0]);

    let parts = usages.map(|it| (it.prompt, it.uncached, it.cache_read, it.cache_write, it.cache_write_long));
    assert_eq!(
        parts,
        [
            (5_000, 1_000, 1_000, 3_000, Some(2_000)),
            (4_007, 7, 1_000, 3_000, Some(0)),
            (5_000, 72, 4_928, 0, None),
            (4_007, 7, 1_000, 3_000, None),
            (4_007, 7, 1_000, 3_000, None)
        ]
    );
}

/// The lines of the OpenHands log: four requests of one conversation.
const COMPLETIONS: &str = include_str!("../../data/recorded/openhands-completions.jsonl");

#[test]
fn a_log_of_requests_has_their_model_their_times_and_their_costs() {
    let read = imported(COMPLETIONS);

    let (timeline, recorded) = (&read.timeline, read.timeline.recorded.as_ref().unwrap());
    assert_eq!(losses(&read), [""; 0]);
    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len()), (1, 4));
    assert_eq!(timeline.models[0].name, "litellm_proxy/deepseek-chat");
    // The log is written when a reply has come; the first request began 6.5 s before.
    assert_eq!(timeline.began_ms, Some(1_757_015_047_539));
    assert_eq!(timeline.spine.steps[1].at_ms, 7_192);
    assert_eq!(deviation_max(timeline), 0);
    let costs: Vec<f64> = recorded.costs.iter().flatten().map(|it| it.usd()).collect();
    // DeepSeek's prices until 5 September 2025: 0.27, 0.07 and 1.10 USD per million tokens.
    let billed =
        recorded.usage.iter().flatten().map(|it| {
            (it.uncached as f64 * 0.27 + it.cache_read as f64 * 0.07 + it.output as f64 * 1.1) / 1e6
        });
    for (cost, billed) in costs.iter().zip(billed) {
        assert!((cost / billed - 1.0).abs() < 0.001, "{cost} {billed}");
    }
    assert_eq!(costs.len(), 4);
}

#[test]
fn requests_out_of_order_and_recorded_twice_are_one_session_and_told() {
    let mut lines: Vec<&str> = COMPLETIONS.lines().collect();
    lines.swap(1, 2);
    lines.push(lines[0]);

    let read = imported(&lines.join("\n"));

    assert_eq!(prompts(&read.timeline), prompts(&imported(COMPLETIONS).timeline));
    assert_eq!(
        losses(&read),
        [
            "line 1: responses that are recorded again later, which count once",
            "line 3: requests after a later one; they are ordered by their times (2 times)",
        ]
    );
}

#[test]
fn what_a_gateway_was_sent_and_what_it_calls_its_model_are_found_inside_a_row_of_its_log() {
    let row = r#"{"request_id":"r1","startTime":"2026-01-01T00:00:01.500Z","endTime":"2026-01-01T00:00:03Z","spend":0.25,"model":"alias","backing_model":"azure/gpt-5.4",
        "messages":{},"proxy_server_request":{"body":{"model":"alias","messages":[{"role":"user","content":"hello"}]}},
        "response":{"id":"c1","model":"gpt","choices":[{"message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":50,"completion_tokens":9}}}"#;

    let timeline = imported(row).timeline;

    let recorded = timeline.recorded.as_ref().unwrap();
    assert_eq!((timeline.models[0].name.as_str(), prompts(&timeline)), ("azure/gpt-5.4", vec![50]));
    assert_eq!((timeline.began_ms, recorded.costs[0].unwrap().usd()), (Some(1_767_225_601_500), 0.25));
}

#[test]
fn commands_in_the_text_of_replies_are_calls_and_what_they_print_is_their_result() {
    let read = imported(include_str!("../../data/recorded/mini-swe-agent.traj.json"));

    let timeline = &read.timeline;
    assert_well_formed(timeline);
    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len()), (1, 20));
    assert_eq!(&kinds(timeline)[..7], [System, System, User, Reasoning, Assistant, ToolCall, ToolResult]);
    let of = |kind: Kind| kinds(timeline).into_iter().filter(|it| *it == kind).count();
    assert_eq!([ToolCall, ToolResult, User].map(of), [20, 20, 1]);
    let times = timeline.spine.steps.iter().filter(|it| it.at_ms > 0).count();
    assert!(times > 10, "{times}");
    assert_eq!(losses(&read), Vec::<String>::new());
}
