//! Claude Code sessions, whole and damaged.

use super::*;

/// Writes a line of a session, each following the one before.
#[derive(Default)]
pub(super) struct Session {
    pub(super) text: String,
    n_lines: usize,
}

impl Session {
    pub(super) fn line(mut self, kind: &str, message: &str, more: &str) -> Self {
        let parent = match self.n_lines {
            0 => "null".to_owned(),
            n => format!("\"u{n}\""),
        };
        self.n_lines += 1;
        let n = self.n_lines;
        writeln!(
            self.text,
            r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":{parent},"timestamp":"2026-01-01T00:00:{:02}.000Z",{more}"message":{message}}}"#,
            n % 60
        )
        .unwrap();
        self
    }

    pub(super) fn user(self, text: &str) -> Self {
        self.line("user", &format!(r#"{{"role":"user","content":"{text}"}}"#), "")
    }

    pub(super) fn result(self, call: &str, text: &str) -> Self {
        let block = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"{text}"}}"#);
        self.line("user", &format!(r#"{{"role":"user","content":[{block}]}}"#), "")
    }

    fn reply(self, id: &str, block: &str, usage: &str) -> Self {
        let message = format!(r#"{{"id":"{id}","model":"m","content":[{block}],"usage":{usage}}}"#);
        self.line("assistant", &message, "")
    }

    pub(super) fn text(self, id: &str, text: &str, usage: &str) -> Self {
        self.reply(id, &format!(r#"{{"type":"text","text":"{text}"}}"#), usage)
    }

    pub(super) fn call(self, id: &str, call: &str, usage: &str) -> Self {
        let block =
            format!(r#"{{"type":"tool_use","id":"{call}","name":"Bash","input":{{"command":"ls"}}}}"#);
        self.reply(id, &block, usage)
    }
}

/// Writes what the provider billed.
pub(super) fn usage(input: u64, read: u64, write: u64, output: u64) -> String {
    format!(
        r#"{{"input_tokens":{input},"cache_read_input_tokens":{read},"cache_creation_input_tokens":{write},"output_tokens":{output}}}"#
    )
}

/// Returns how often the harness took something out.
pub(super) fn n_resets(timeline: &Timeline) -> usize {
    timeline.events.iter().filter(|it| matches!(it.kind, EventKind::Reset(_))).count()
}

/// A session in which a greeting was answered.
fn greeted() -> Session {
    Session::default().user("hello").text("m1", "hi", &usage(0, 0, 100, 20))
}

#[test]
fn the_text_plane_says_what_each_item_says_and_a_call_says_its_input() {
    let session = Session::default()
        .user("hello")
        .call("m1", "c1", "null")
        .result("c1", "a\\nb")
        .text("m2", "done", "null");

    let timeline = imported(&session.text).timeline;

    let texts: Vec<Option<&str>> = (0..4).map(|it| timeline.texts.text(it)).collect();
    assert_eq!(texts, [Some("hello"), Some(r#"{"command":"ls"}"#), Some("a\nb"), Some("done")]);
    assert_eq!(timeline.texts.text(4), None);
}

#[test]
fn a_result_of_several_blocks_says_their_texts_one_a_line_and_a_picture_says_nothing() {
    let blocks = r#"{"type":"text","text":"one"},{"type":"image","source":{"data":"AAAA"}},{"type":"text","text":"two"}"#;
    let result = format!(r#"{{"type":"tool_result","tool_use_id":"c1","content":[{blocks}]}}"#);
    let session = Session::default()
        .user("hello")
        .call("m1", "c1", "null")
        .line("user", &format!(r#"{{"role":"user","content":[{result}]}}"#), "")
        .text("m2", "done", "null");

    let timeline = imported(&session.text).timeline;

    assert_eq!(timeline.texts.text(2), Some("one\ntwo"));
}

#[test]
fn equal_content_has_an_equal_digest_and_other_content_another() {
    let session =
        Session::default().user("same").text("m1", "same", "null").user("same").text("m2", "other", "null");

    let timeline = imported(&session.text).timeline;

    let digests: Vec<u64> = timeline.spine.items.iter().map(|it| it.digest).collect();
    assert_eq!(digests[0], digests[2]);
    assert_ne!(digests[0], digests[1], "a user's text is not an assistant's");
    assert_ne!(digests[1], digests[3]);
}

#[test]
fn a_session_without_a_request_says_what_was_left_out() {
    let problems =
        import(&Session::default().user("hello").text, "test", &Assume::default(), &[]).unwrap_err();

    assert_eq!(problems[0].code.name(), "recording-empty");
    assert!(problems[0].help.as_ref().unwrap().contains("user text after the last request"));
}

#[test]
fn two_objects_on_one_line_are_two_records() {
    let session = Session::default().user("hello").text("m1", "hi", &usage(1, 0, 99, 20));

    let glued = imported(&session.text.replace("}\n{", "}{"));

    let spine = &glued.timeline.spine;
    assert_eq!(spine.items.len() - spine.n_stable as usize, 2);
    assert_eq!(glued.losses, []);
}

#[test]
fn a_line_that_is_cut_off_is_reported_with_its_line() {
    let session = Session::default().user("hello").text("m1", "hi", &usage(1, 0, 99, 20)).user("more");
    let text = &session.text[..session.text.len() - 20];

    let cut = imported(text);

    assert_eq!(cut.timeline.spine.steps.len(), 1);
    assert_eq!(cut.losses.len(), 1);
    assert_eq!(cut.losses[0].to_string(), "line 3: records that are cut off");
}

#[test]
fn a_line_that_is_no_record_does_not_stop_the_rest() {
    let session = Session::default().user("hello").text("m1", "hi", &usage(1, 0, 99, 20));
    let text = format!("not json\n{{\"type\":\"user\",\"isMeta\":\"maybe\"}}\n{}", session.text);

    let read = imported(&text);

    assert_eq!(read.timeline.spine.steps.len(), 1);
    assert_eq!(read.losses.iter().map(|it| it.line).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn usage_that_lines_of_a_reply_repeat_is_billed_once() {
    let session = Session::default()
        .user("hello")
        .reply("m1", r#"{"type":"thinking","thinking":"hm"}"#, &usage(4, 6, 90, 1))
        .text("m1", "hi", &usage(4, 6, 90, 1))
        .call("m1", "c1", &usage(4, 6, 90, 230))
        .result("c1", "done")
        .text("m2", "bye", &usage(4, 96, 400, 30));

    let timeline = imported(&session.text).timeline;

    let recorded = timeline.recorded.as_ref().unwrap().usage[0].unwrap();
    assert_eq!((recorded.prompt, recorded.cache_read, recorded.cache_write), (100, 6, 90));
    assert_eq!((recorded.uncached, recorded.output), (4, 230));
    assert_eq!(timeline.spine.steps[0].output_tokens, 230);
    assert_eq!(timeline.spine.steps[0].reply.len(), 3);
    assert_eq!(prompts(&timeline), [100, 500]);
}

#[test]
fn parallel_results_between_lines_of_a_reply_find_their_calls() {
    let in_order = Session::default()
        .user("hello")
        .call("m1", "c1", &usage(0, 0, 100, 1))
        .result("c1", "first")
        .call("m1", "c2", &usage(0, 0, 100, 9))
        .result("c2", "second result")
        .text("m2", "bye", &usage(0, 100, 50, 30));
    // The second call hangs on the first one, and so the first one's result is on a side branch.
    let on_a_side_branch = in_order.text.replacen(r#""parentUuid":"u3""#, r#""parentUuid":"u2""#, 1);

    for text in [&in_order.text, &on_a_side_branch] {
        let Imported { timeline, losses, .. } = imported(text);

        assert_well_formed(&timeline);
        assert_eq!(losses, []);
        assert_eq!(prompts(&timeline), [100, 150]);
        let step = &timeline.spine.steps[0];
        assert_eq!((step.reply.len(), step.results.len()), (2, 2));
        let pairs: Vec<u32> = step.results.clone().map(|it| timeline.spine.items[it as usize].pair).collect();
        assert_eq!(pairs, step.reply.clone().collect::<Vec<_>>());
    }
}

#[test]
fn an_abandoned_branch_is_left_out_and_reported() {
    let session = greeted()
        .user("a wrong turn")
        .text("m2", "no", &usage(0, 100, 50, 20))
        .user("the right turn")
        .text("m3", "yes", &usage(0, 100, 60, 20));
    let text = session.text.replacen(r#""parentUuid":"u4""#, r#""parentUuid":"u2""#, 1);

    let Imported { timeline, losses, .. } = imported(&text);

    assert_eq!(prompts(&timeline), [100, 160]);
    let aside = &timeline.recorded.as_ref().unwrap().aside;
    assert_eq!(
        aside.iter().map(|it| it.usage.prompt).collect::<Vec<_>>(),
        [150],
        "it was billed all the same"
    );
    let reasons: Vec<String> = losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        ["line 3: user records on abandoned branches", "line 4: reply lines on abandoned branches"]
    );
}

#[test]
fn records_that_follow_each_other_in_a_circle_end() {
    let session = greeted();
    let text = session.text.replacen(r#""parentUuid":null"#, r#""parentUuid":"u2""#, 1);

    assert_eq!(imported(&text).timeline.spine.steps.len(), 1);
}

#[test]
fn a_synthetic_reply_is_no_request() {
    let synthetic = r#"{"id":"m2","model":"<synthetic>","content":[{"type":"text","text":"API error"}]}"#;
    let session = greeted().user("more").line("assistant", synthetic, "").user("again").text(
        "m3",
        "yes",
        &usage(0, 100, 60, 20),
    );

    let Imported { timeline, losses, .. } = imported(&session.text);

    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len()), (2, 2));
    assert_eq!(timeline.spine.turns[1].user.len(), 2, "both messages wait for the one reply");
    assert_eq!(losses[0].line, 4);
}

#[test]
fn records_of_sub_agents_that_no_model_answered_and_of_progress_are_counted_and_left_out() {
    let session = greeted()
        .line("user", r#"{"content":"side"}"#, r#""isSidechain":true,"#)
        .line("progress", "null", "");

    let Imported { timeline, losses, .. } = imported(&session.text);

    assert_eq!(timeline.spine.steps.len(), 1);
    assert_eq!(losses.iter().map(|it| (it.line, it.count)).collect::<Vec<_>>(), [(3, 1), (4, 1)]);
}

#[test]
fn a_sub_agent_whose_records_the_file_holds_is_a_session_of_its_own() {
    let aside = |agent: &str| format!(r#""isSidechain":true,"sessionId":"s","agentId":"{agent}","#);
    let reply =
        |id: &str, usage: &str| format!(r#"{{"id":"{id}","model":"m","content":[],"usage":{usage}}}"#);
    let session = greeted()
        .line("user", r#"{"content":"one"}"#, &aside("a"))
        .line("user", r#"{"content":"two"}"#, &aside("b"))
        .line("assistant", &reply("s1", &usage(3, 0, 50, 10)), &aside("a"))
        .line("assistant", &reply("s2", &usage(3, 0, 70, 10)), &aside("b"));

    let all = import_all(&session.text, "x", &Assume::default(), &[]).unwrap();

    let named = |it: &Imported| {
        let session = &it.timeline.spine.sessions[0];
        let prompt = it.timeline.recorded.as_ref().unwrap().usage[0].unwrap().prompt;
        (it.session.clone(), session.id.clone(), session.parent.clone(), prompt)
    };
    let of = |name: &str, agent: &str, parent: Option<&str>, prompt: u64| {
        (name.to_owned(), agent.to_owned(), parent.map(str::to_owned), prompt)
    };
    assert_eq!(
        all.iter().map(named).collect::<Vec<_>>(),
        [of("", "", None, 100), of("agent-a", "a", Some("s"), 53), of("agent-b", "b", Some("s"), 73)]
    );
}

/// A session of an older version, with two sub-agents in `progress` records: one writes for an hour, one for five minutes. Of the first
/// one's last request only `toolUseResult` tells; of the second one's both tell.
const PROGRESS: &str = include_str!("../../data/recorded/claude-code-progress.jsonl");

#[test]
fn what_progress_records_hold_of_sub_agents_are_sessions_with_models_and_lifetimes_of_their_own() {
    let all = import_all(PROGRESS, "x", &Assume::default(), &[]).unwrap();

    let of = |it: &Imported| {
        assert_well_formed(&it.timeline);
        let usage = &it.timeline.recorded.as_ref().unwrap().usage;
        let writes = usage.iter().flatten().map(|it| it.writes(None));
        let writes = writes.fold([0, 0], |sum, it| [sum[0] + it[0], sum[1] + it[1]]);
        (it.session.clone(), it.timeline.models[0].name.clone(), prompts(&it.timeline), writes)
    };
    let sessions: Vec<_> = all.iter().map(of).collect();
    let expected = |name: &str, model: &str, prompts: &[u64], writes: [u64; 2]| {
        (name.to_owned(), format!("claude-{model}"), prompts.to_vec(), writes)
    };
    assert_eq!(
        sessions,
        [
            expected("", "opus-4-5-20251101", &[15_005, 15_905], [0, 3_900]),
            expected("agent-one", "haiku-4-5-20251001", &[15_003, 15_507, 16_509], [0, 7_500]),
            expected("agent-two", "opus-4-5-20251101", &[8_004, 8_406], [8_400, 0]),
        ]
    );
    let one = &all[1].timeline;
    assert_eq!(one.spine.sessions[0].parent.as_deref(), Some("session-1"));
    // Both calls of a reply that stands on two lines have their results.
    assert_eq!((one.spine.steps[0].reply.len(), one.spine.steps[0].results.len()), (2, 2));
    assert_eq!(one.recorded.as_ref().unwrap().usage[0].unwrap().output, 31);
    let losses: Vec<String> = all[0].losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "line 5: records of type `progress`, which is never part of a prompt",
            "line 14: replies that no model wrote (`<synthetic>`), which are not requests",
        ]
    );
}

#[test]
fn progress_records_that_stand_twice_or_beside_a_sub_agents_own_records_are_billed_once() {
    let whole = import_all(PROGRESS, "x", &Assume::default(), &[]).unwrap();
    let billed = |all: &[Imported]| -> u64 {
        let recorded = all.iter().filter_map(|it| it.timeline.recorded.as_ref());
        recorded
            .flat_map(|it| it.usage.iter().flatten().chain(it.aside.iter().map(|it| &it.usage)))
            .map(|it| it.prompt)
            .sum()
    };
    let progress = || PROGRESS.lines().filter(|it| it.contains("agent_progress"));
    // The same as the records of a sub-agent's own session, each with its parent.
    let mut before = IndexMap::new();
    let own = progress().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        let mut own = record["data"]["message"].clone();
        let agent = record["data"]["agentId"].as_str().unwrap().to_owned();
        own["agentId"] = agent.clone().into();
        own["isSidechain"] = true.into();
        own["sessionId"] = record["sessionId"].clone();
        own["parentUuid"] = before.insert(agent, own["uuid"].clone()).unwrap_or_default();
        format!("{own}\n")
    });
    let own: String = own.collect();
    let twice: String = progress().map(|it| format!("{it}\n")).collect();

    for text in [format!("{own}{PROGRESS}"), format!("{PROGRESS}{own}"), format!("{PROGRESS}{twice}")] {
        let all = import_all(&text, "x", &Assume::default(), &[]).unwrap();

        assert_eq!((all.len(), billed(&all)), (whole.len(), billed(&whole)));
    }
}

const TOTALS: &str = include_str!("../../data/recorded/claude-code-totals.jsonl");

#[test]
fn totals_of_sub_agents_stand_beside_the_bill_where_the_log_holds_no_request_of_theirs() {
    let told = |text: &str| -> Vec<(String, String, [u64; 3], bool)> {
        let all = import_all(text, "x", &Assume::default(), &[]).unwrap();
        let agents = all.iter().flat_map(|it| it.timeline.recorded.as_ref().unwrap().agents.iter().cloned());
        agents.map(|it| (it.agent, it.model, [it.tokens, it.tools, it.agents], it.is_long)).collect()
    };
    let of = |agent: &str, model: &str, counts: [u64; 3], is_long: bool| {
        (agent.to_owned(), model.to_owned(), counts, is_long)
    };

    assert_eq!(
        told(TOTALS),
        [
            of("a0ne", "claude-haiku-4-5-20251001", [40_000, 9, 1], true),
            of("a2wo", "claude-opus-4-5-20251101", [30_000, 4, 1], false),
            of("w3orkflow", "", [60_000, 12, 3], false),
        ],
        "not of `a5ide`, whose request is here, nor of what a user quotes"
    );
    assert_eq!(told(PROGRESS), [], "the requests of both stand in `progress`");
    let without: Vec<&str> = PROGRESS.lines().filter(|it| !it.contains("agent_progress")).collect();
    assert_eq!(told(&without.join("\n")).len(), 2, "{without:#?}");
}

#[test]
fn damaged_totals_of_sub_agents_cost_only_themselves() {
    let damaged = include_str!("../../data/fuzz/recording/totals_damaged.jsonl");
    let [whole, damaged] = [TOTALS, damaged].map(|it| import_all(it, "x", &Assume::default(), &[]).unwrap());
    let recorded = |it: &Imported| it.timeline.recorded.clone().unwrap();

    assert!(damaged.iter().all(|it| recorded(it).agents.is_empty()));
    let not_counts = damaged[0].losses.iter().find(|it| it.what.contains("that are not counts")).unwrap();
    assert_eq!((not_counts.count, whole.len()), (3, damaged.len()));
    for (whole, damaged) in whole.iter().zip(&damaged) {
        assert_eq!(recorded(whole).usage, recorded(damaged).usage);
    }
    // However a line is cut, the others are read.
    for (nth, line) in
        TOTALS.lines().enumerate().filter(|it| it.1.contains("Tokens") || it.1.contains("<usage>"))
    {
        let others =
            |at: usize| TOTALS.lines().enumerate().filter(move |it| (it.0 < nth) == (at == 0) && it.0 != nth);
        for cut in (0..line.len()).step_by(7).filter(|it| line.is_char_boundary(*it)) {
            let lines = others(0).map(|it| it.1).chain([&line[..cut]]).chain(others(1).map(|it| it.1));
            let text = lines.collect::<Vec<_>>().join("\n");
            assert!(!import_all(&text, "x", &Assume::default(), &[]).unwrap().is_empty(), "{nth}: {cut}");
        }
    }
}

#[test]
fn a_damaged_progress_record_of_each_kind_costs_only_itself() {
    let message = r#"{"id":"s1","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}"#;
    let kinds: [(&str, &str); 12] = [
        (r#"{"type":"agent_progress","agentId":"a","message":5}"#, "objects that are not records"),
        (r#"{"type":"agent_progress","agentId":"a","message":"text"}"#, "objects that are not records"),
        (r#"{"type":"agent_progress","agentId":"a","message":[]}"#, "never part of a prompt"),
        (r#"{"type":"agent_progress","agentId":"a","message":null}"#, "never part of a prompt"),
        (r#"{"type":"agent_progress","agentId":"a"}"#, "never part of a prompt"),
        (r#"{"type":"agent_progress","message":{"type":"assistant"}}"#, "never part of a prompt"),
        (
            r#"{"type":"agent_progress","agentId":"a","message":{"type":"assistant","message":7}}"#,
            "not records",
        ),
        (r#"{"type":7,"agentId":{},"message":{"type":"agent_progress"}}"#, "never part of a prompt"),
        (r#""agent_progress""#, "objects that are not records"),
        (r#"["agent_progress"]"#, "never part of a prompt"),
        ("7", "never part of a prompt"),
        (
            r#"{"type":"agent_progress","agentId":"a","message":{"type":"user","message":{"content":"asks"}}}"#,
            "no model answered",
        ),
    ];
    for (data, told) in kinds {
        let session = greeted().line("progress", "null", &format!(r#""data":{data},"#)).user("more").text(
            "m2",
            "yes",
            &usage(0, 100, 60, 20),
        );

        let Imported { timeline, losses, .. } = imported(&session.text);

        assert_eq!(prompts(&timeline), [100, 160], "{data}");
        assert!(losses.iter().any(|it| it.line == 3 && it.what.contains(told)), "{data}: {losses:?}");
    }
    // What is cut off is told, and what has no name is a session nevertheless.
    let nameless = format!(
        r#""data":{{"type":"agent_progress","message":{{"type":"assistant","message":{message}}}}},"#
    );
    let session = greeted().line("progress", "null", &nameless);
    let all = import_all(&session.text, "x", &Assume::default(), &[]).unwrap();
    assert_eq!(all.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["", "agent-unnamed"]);
    let negative = session.text.replace(r#""input_tokens":3"#, r#""input_tokens":-3"#);
    let problems = import_all(&negative, "x", &Assume::default(), &[]).unwrap_err();
    assert_eq!(
        (problems[0].place.field.as_str(), problems[0].place.line_column.unwrap().0),
        ("message.usage.input_tokens", 3)
    );
    for end in (session.text.len() - nameless.len()..session.text.len())
        .filter(|it| session.text.is_char_boundary(*it))
    {
        assert!(import_all(&session.text[..end], "x", &Assume::default(), &[]).is_ok(), "cut at {end}");
    }
}

#[test]
fn text_that_the_user_did_not_type_goes_on_with_the_turn() {
    let session = Session::default()
        .user("hello")
        .call("m1", "c1", &usage(0, 0, 100, 1))
        .result("c1", "done")
        .line("user", r#"{"content":"a reminder"}"#, r#""isMeta":true,"#)
        .text("m2", "bye", &usage(0, 100, 50, 30))
        .line("user", r#"{"content":"a caveat"}"#, r#""isMeta":true,"#)
        .user("next")
        .text("m3", "ok", &usage(0, 150, 70, 30));

    let timeline = imported(&session.text).timeline;

    assert_well_formed(&timeline);
    assert_eq!(timeline.spine.turns.len(), 2);
    let kinds: Vec<Kind> =
        timeline.spine.steps[0].results.clone().map(|it| timeline.spine.items[it as usize].kind).collect();
    assert_eq!(kinds, [Kind::ToolResult, Kind::User]);
    assert_eq!(timeline.spine.turns[1].user.len(), 2);
    assert_eq!(prompts(&timeline), [100, 150, 220]);
}

#[test]
fn a_session_without_usage_is_sized_by_its_characters() {
    let session = Session::default().user("12345678").text("m1", "1234", "null").user("123456789");
    let session = session.text("m2", "1", r#"{"input_tokens":0,"output_tokens":0}"#);

    let timeline = imported(&session.text).timeline;

    assert_eq!(timeline.recorded.map(|it| it.usage), Some(vec![None, None]));
    assert_eq!(timeline.spine.items.iter().map(|it| it.raw).collect::<Vec<_>>(), [2, 1, 3, 1]);
    assert!(timeline.assumptions.iter().any(|it| it.starts_with("Requests without recorded usage: 2.")));
}

#[test]
fn requests_without_usage_share_in_the_next_known_growth() {
    let session = greeted().user("more").text("m2", "yes", "null").user("and more").text(
        "m3",
        "well",
        &usage(0, 100, 60, 20),
    );

    let timeline = imported(&session.text).timeline;

    assert_eq!(prompts(&timeline)[2], 160);
    assert_eq!(timeline.recorded.unwrap().usage[1], None);
}

#[test]
fn a_prompt_that_shrinks_is_a_reset_by_the_harness() {
    let session = greeted().user("more").text("m2", "yes", &usage(0, 80, 0, 20)).user("and more").text(
        "m3",
        "well",
        &usage(0, 80, 40, 20),
    );

    let timeline = imported(&session.text).timeline;

    assert_eq!(n_resets(&timeline), 1);
    assert_eq!(played(&timeline), [100, 80, 120]);
    assert!(
        timeline.assumptions.iter().any(|it| it.starts_with("Prompts that shrank") && it.contains(": 1."))
    );
}

#[test]
fn text_larger_than_its_recorded_prompt_is_scaled_down() {
    let session = Session::default().user(&"x".repeat(4_000)).text("m1", "hi", &usage(10, 0, 0, 20));

    let timeline = imported(&session.text).timeline;

    assert_eq!(timeline.spine.n_stable, 0);
    assert_eq!(prompts(&timeline), [10]);
}

#[test]
fn deep_nesting_is_reported_and_not_followed() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let session = Session::default()
        .user("hello")
        .reply("m1", &format!(r#"{{"type":"tool_use","id":"c1","name":"Bash","input":{deep}}}"#), "null")
        .line("user", r#"{"content":"again"}"#, &format!(r#""toolUseResult":{deep},"#))
        .text("m2", "hi", &usage(0, 0, 100, 20));

    let Imported { timeline, losses, .. } = imported(&session.text);

    assert_eq!(timeline.spine.steps.len(), 1);
    assert_eq!(losses[0].line, 2);
}

#[test]
fn a_compaction_takes_the_history_out_and_its_summary_is_user_text() {
    let session = greeted()
        .line("system", "null", r#""subtype":"compact_boundary","compactMetadata":{"preTokens":120},"#)
        .line("user", r#"{"content":"so far: hello"}"#, r#""isCompactSummary":true,"#)
        .text("m2", "yes", &usage(0, 0, 120, 20));

    let timeline = imported(&session.text).timeline;

    assert_eq!(timeline.spine.turns.len(), 2);
    assert_eq!((n_resets(&timeline), played(&timeline)), (1, vec![100, 120]), "longer, and yet compacted");
    assert!(timeline.assumptions.iter().any(|it| it.starts_with("Compactions: 1.")));
    let [unbilled] = &timeline.recorded.as_ref().unwrap().unbilled[..] else { panic!("one request") };
    assert_eq!((unbilled.prompt, unbilled.is_stated, unbilled.model.as_str()), (120, true, "m"));
}

#[test]
fn replies_whose_names_were_made_alike_are_told_apart_by_their_prompts() {
    let session = greeted()
        .user("on")
        .text("m1", "yes", &usage(0, 100, 30, 20))
        .text("m1", "and more", &usage(0, 100, 30, 25))
        .user("on")
        .text("m1", "no", &usage(0, 130, 40, 20));

    assert_eq!(prompts(&imported(&session.text).timeline), [100, 130, 170]);
}

#[test]
fn the_last_request_of_a_sub_agent_has_the_model_of_its_session_where_nothing_else_names_one() {
    let progress = PROGRESS.lines().filter(|it| !(it.contains("progress") && it.contains("haiku")));

    let all = import_all(&progress.collect::<Vec<_>>().join("\n"), "x", &Assume::default(), &[]).unwrap();

    let one = all.iter().find(|it| it.session == "agent-one").unwrap();
    assert_eq!(one.timeline.models[0].name, all[0].timeline.models[0].name);
}
