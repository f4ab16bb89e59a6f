//! What a harness does to the cache, by version: small logs as Claude Code writes them.

use ctxsim::calibrate::Calibration;
use ctxsim::explain::explain;
use ctxsim::input::profile::cache::Setting;

use super::*;

/// A log that is being written: each record follows the one before, two seconds later.
#[derive(Clone)]
pub(super) struct Log {
    text: String,
    version: &'static str,
    n_records: usize,
    parent: Option<usize>,
    seconds: usize,
    /// Whether writes are billed for an hour; nothing where the log does not say.
    is_long: Option<bool>,
    model: &'static str,
    /// What each reply is billed as output.
    output: u64,
    /// What the provider says of each reply's miss: a field, or nothing.
    diagnosis: &'static str,
    side_request: HiddenRequest,
}

impl Log {
    pub(super) fn new(version: &'static str) -> Self {
        let side_request = HiddenRequest::Inferred;
        let (n_records, seconds) = (0, 0);
        Self {
            text: String::new(),
            version,
            n_records,
            parent: None,
            seconds,
            is_long: Some(true),
            model: "claude-opus-4-5",
            output: 1,
            diagnosis: "",
            side_request,
        }
    }

    fn record(mut self, kind: &str, fields: &str) -> Self {
        let parent = self.parent.map_or("null".to_owned(), |it| format!("\"u{it}\""));
        self.n_records += 1;
        self.seconds += 2;
        let (n, s) = (self.n_records, self.seconds);
        let time = format!("2026-01-01T{:02}:{:02}:{:02}.000Z", s / 3_600, s / 60 % 60, s % 60);
        writeln!(
            self.text,
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"{}","gitBranch":"main","type":"{kind}",{fields},"uuid":"u{n}","timestamp":"{time}"}}"#,
            self.version
        )
        .unwrap();
        self.parent = Some(n);
        self
    }

    /// Writes are billed for an hour, or for five minutes.
    pub(super) fn lasting(self, is_long: bool) -> Self {
        Self { is_long: Some(is_long), ..self }
    }

    fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    pub(super) fn wait(self, seconds: usize) -> Self {
        Self { seconds: self.seconds + seconds, ..self }
    }

    /// The harness sums up for the user what was done.
    fn recap(self) -> Self {
        self.record("system", r#""subtype":"away_summary","content":"So far: nothing.""#)
    }

    /// The harness connects a remote control; nothing follows the record.
    fn connected(self) -> Self {
        let parent = self.parent;
        let log = self.record("system", r#""subtype":"bridge_status","content":"/remote-control is active""#);
        Self { parent, ..log }
    }

    /// The harness notes a reply that no model wrote.
    fn synthetic(self, text: &str) -> Self {
        let block = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
        let message = format!(r#"{{"model":"<synthetic>","id":"x","role":"assistant","content":{block}}}"#);
        self.record("assistant", &format!(r#""message":{message}"#))
    }

    /// The next record follows none.
    fn root(self) -> Self {
        Self { parent: None, ..self }
    }

    fn hook(self, name: &str) -> Self {
        let fields = format!(
            r#""data":{{"type":"hook_progress","hookEvent":"SessionStart","hookName":"{name}","command":"x"}},"toolUseID":"t""#
        );
        self.record("progress", &fields)
    }

    pub(super) fn user(self, text: &str) -> Self {
        self.record("user", &format!(r#""message":{{"role":"user","content":"{text}"}}"#))
    }

    /// A command that is a skill, and what it stands for.
    pub(super) fn skill_command(self) -> Self {
        let command = r"<command-message>review</command-message>\n<command-name>/review</command-name>";
        let text = r#"{"type":"text","text":"Base directory for this skill: /skills/review"}"#;
        self.user(command)
            .record("user", &format!(r#""message":{{"role":"user","content":[{text}]}},"isMeta":true"#))
    }

    /// The result of a call; of a skill's, with what it stands for.
    fn result(self, call: &str, is_skill: bool) -> Self {
        let block =
            format!(r#"{{"tool_use_id":"{call}","type":"tool_result","content":"{}"}}"#, "line ".repeat(100));
        let log = self.record("user", &format!(r#""message":{{"role":"user","content":[{block}]}}"#));
        if !is_skill {
            return log;
        }
        let text = r#"{"type":"text","text":"Base directory for this skill: /skills/review"}"#;
        let fields = format!(
            r#""message":{{"role":"user","content":[{text}]}},"isMeta":true,"sourceToolUseID":"{call}""#
        );
        log.record("user", &fields)
    }

    /// The provider says of the replies from here on that it no longer knew the request before, or that the tools had changed.
    pub(super) fn diagnosed(self, tools_changed: bool) -> Self {
        let diagnosis = if tools_changed {
            r#","diagnostics":{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":15000}}"#
        } else {
            r#","diagnostics":{"cache_miss_reason":{"type":"previous_message_not_found"}}"#
        };
        Self { diagnosis, ..self }
    }

    /// A reply that calls a tool, unless its name is empty; three tokens stand behind the last breakpoint.
    pub(super) fn reply(self, tool: &str, read: u64, write: u64) -> Self {
        let n = self.n_records;
        let block = match tool {
            "" => r#"{"type":"text","text":"done"}"#.to_owned(),
            tool => format!(r#"{{"type":"tool_use","id":"c{n}","name":"{tool}","input":{{}}}}"#),
        };
        let split = self.is_long.map_or(String::new(), |is_long| {
            let (short, long) = if is_long { (0, write) } else { (write, 0) };
            format!(
                r#","cache_creation":{{"ephemeral_5m_input_tokens":{short},"ephemeral_1h_input_tokens":{long}}}"#
            )
        });
        let usage = format!(
            r#"{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{write},"output_tokens":{}{split}}}"#,
            self.output
        );
        let message = format!(
            r#"{{"model":"{}","id":"m{n}","role":"assistant","content":[{block}],"usage":{usage}{}}}"#,
            self.model, self.diagnosis
        );
        self.record("assistant", &format!(r#""message":{message}"#))
    }

    /// A reply that calls a tool, and the result.
    pub(super) fn called(self, tool: &str, read: u64, write: u64) -> Self {
        self.called_for(0, tool, read, write)
    }

    /// The same, where the call takes so many seconds more.
    pub(super) fn called_for(self, seconds: usize, tool: &str, read: u64, write: u64) -> Self {
        let call = format!("c{}", self.n_records);
        self.reply(tool, read, write).wait(seconds).result(&call, tool == "Skill")
    }

    pub(super) fn timeline(&self) -> Timeline {
        timelines(&self.text, self.side_request).remove(0)
    }

    /// What is predicted to be read, and what was billed.
    fn reads(&self) -> Vec<(u64, u64)> {
        let timeline = self.timeline();
        let billed = timeline.recorded.as_ref().unwrap().usage.iter().flatten();
        let rows = rows(&timeline, &profile()).requests;
        assert_eq!(rows.len(), billed.clone().count());
        rows.iter().map(|it| it.usage.read).zip(billed.map(|it| it.cache_read)).collect()
    }

    /// Asserts that every request but the first reads what was billed.
    fn is_predicted(&self) {
        let reads = self.reads();
        assert!(reads.iter().skip(1).all(|(predicted, billed)| predicted == billed), "{reads:?}");
    }
}

/// What a log's prompts are when each request reads what the one before had cached.
fn with_whole_reads(log: &Log) -> Vec<u64> {
    let timeline = log.timeline();
    let usage = timeline.recorded.unwrap().usage;
    usage.windows(2).map(|it| it[0].unwrap().prompt - it[0].unwrap().uncached).collect()
}

/// A turn of two requests: tools and system prompt take 16,000 tokens.
fn begun(version: &'static str) -> Log {
    began(Log::new(version))
}

fn began(log: Log) -> Log {
    log.user("hello").called("Read", 16_000, 14_000).reply("", 30_000, 1_000)
}

/// The same of a version that counts its outputs, by a model: 400 tokens a reply.
fn newer(version: &'static str, model: &'static str) -> Log {
    began(Log { model, output: 400, ..Log::new(version) })
}

/// A skill is expanded by a command, another one by a call in the same turn; two turns follow.
fn with_skills(version: &'static str) -> Log {
    begun(version)
        .skill_command()
        .called("Skill", 16_000, 16_000)
        .reply("", 32_000, 500)
        .user("go on")
        .reply("", 16_000, 17_000)
        .user("go on")
        .reply("", 33_000, 200)
}

#[test]
fn a_skill_and_the_turn_after_it_read_tools_and_system_prompt_alone_in_some_versions() {
    for version in ["2.1.14", "2.1.30", "2.1.37"] {
        with_skills(version).is_predicted();
    }
    for version in ["2.0.76", "2.1.12", "2.1.42"] {
        let log = with_skills(version);
        let predicted: Vec<u64> = log.reads().iter().skip(1).map(|it| it.0).collect();
        assert_eq!(predicted, with_whole_reads(&log), "{version}");
    }
}

#[test]
fn an_explanation_says_that_the_harness_wrote_the_messages_anew() {
    let timeline = with_skills("2.1.30").timeline();
    let settings = |request: usize| {
        explain(&timeline, &identity(), &profile(), request).unwrap().prefix.unwrap().settings
    };

    assert_eq!(settings(3), [Setting::Preamble], "the skill's");
    assert_eq!(settings(4), []);
}

#[test]
fn the_first_skill_of_a_turn_that_a_call_expands_reads_tools_and_system_prompt_alone() {
    begun("2.1.30")
        .user("review it")
        .called("Skill", 31_000, 200)
        .called("Skill", 16_000, 16_000)
        .reply("", 32_000, 500)
        .is_predicted();
}

#[test]
fn the_turn_after_a_task_was_created_reads_tools_and_system_prompt_alone_in_some_versions() {
    let log = |version| {
        begun(version)
            .user("plan it")
            .called("TaskCreate", 31_000, 200)
            .called("TaskUpdate", 31_200, 200)
            .reply("", 31_400, 200)
            .user("go on")
            .called("TaskUpdate", 16_000, 16_000)
            .reply("", 32_000, 100)
            .user("go on")
            .reply("", 32_100, 200)
    };

    log("2.1.31").is_predicted();
    log("2.1.37").is_predicted();
    for version in ["2.1.30", "2.1.38"] {
        let log = log(version);
        let predicted: Vec<u64> = log.reads().iter().skip(1).map(|it| it.0).collect();
        assert_eq!(predicted, with_whole_reads(&log), "{version}");
    }
}

#[test]
fn a_session_that_is_taken_up_again_reads_tools_and_system_prompt_alone() {
    let log = begun("2.1.62").hook("SessionStart:resume").user("go on").reply("", 16_000, 15_500);
    log.is_predicted();

    let expired = begun("2.1.62").wait(4_000).hook("SessionStart:resume").user("go on").reply("", 0, 31_500);
    expired.is_predicted();
}

#[test]
fn a_session_that_was_cleared_goes_on_behind_a_reset_and_loses_no_request() {
    let log = begun("2.1.12")
        .hook("SessionStart:startup")
        .root()
        .hook("SessionStart:clear")
        .hook("SessionStart:clear")
        .user("Implement the following plan")
        .called("Read", 16_000, 13_500)
        .reply("", 29_500, 400);

    let timeline = log.timeline();

    assert_eq!(timeline.spine.steps.len(), 4, "those before the session was cleared, too");
    assert_eq!(timeline.events.iter().filter(|it| matches!(it.kind, EventKind::Reset(_))).count(), 1);
    log.is_predicted();
}

#[test]
fn a_second_root_that_nothing_explains_is_where_the_session_begins() {
    let log = begun("2.1.12").root().user("Something else").reply("", 16_000, 13_500);

    assert_eq!(log.timeline().spine.steps.len(), 1);
}

#[test]
fn results_that_the_harness_cleared_are_in_no_later_prompt() {
    let metadata = r#""subtype":"microcompact_boundary","microcompactMetadata":{"compactedToolIds":["c1"]}"#;
    let log = Log::new("2.1.12")
        .user("hello")
        .called("Read", 16_000, 14_000)
        .called("Read", 30_000, 20_000)
        .called("Read", 50_000, 20_000)
        .record("system", metadata)
        .reply("", 16_000, 36_000);

    let timeline = log.timeline();

    log.is_predicted();
    let gone: Vec<u32> = timeline.events.iter().filter_map(|it| reset(&it.kind)).flatten().collect();
    let gone: Vec<u32> = gone.iter().map(|it| timeline.spine.items[*it as usize].step_ix).collect();
    assert_eq!(gone, [0], "the result of the first request's call, and nothing of the newest");
    let prompts: Vec<u64> = rows(&timeline, &profile()).requests.iter().map(|it| it.prompt).collect();
    assert_eq!(prompts, [30_003, 50_003, 70_003, 52_003]);
}

/// Returns the items that a reset takes out.
fn reset(kind: &EventKind) -> Option<std::ops::Range<u32>> {
    match kind {
        EventKind::Reset(items) => Some(items.clone()),
        _ => None,
    }
}

#[test]
fn a_session_that_was_left_without_a_reply_and_taken_up_again_needs_no_hook_to_show_it() {
    let log = begun("2.1.150").synthetic("No response requested.").user("go on").reply("", 16_000, 15_500);
    log.is_predicted();

    let other = begun("2.1.150").synthetic("API Error").user("go on").reply("", 31_000, 500);
    other.is_predicted();
}

#[test]
fn a_summary_for_a_user_who_was_away_caches_the_prompt_and_the_reply_from_2_1_150_on() {
    // The prompt of 31,003 tokens and the reply, of which two or four tokens are in no later prompt.
    let away = |log: Log, read| log.wait(180).recap().wait(60).user("go on").reply("", read, 31_800 - read);
    away(newer("2.1.160", "claude-opus-4-8"), 31_401).is_predicted();
    away(newer("2.1.150", "claude-opus-4-7"), 31_399).is_predicted();
    away(newer("2.1.149", "claude-opus-4-7"), 31_000).is_predicted();

    let short = Log { is_long: Some(false), model: "claude-opus-4-7", output: 400, ..Log::new("2.1.119") };
    let kept = began(short.clone()).wait(180).recap().wait(200).user("go on").reply("", 31_399, 400);
    kept.is_predicted();
    let lost = began(short).wait(380).user("go on").reply("", 16_000, 15_800);
    lost.is_predicted();
}

#[test]
fn a_summary_counts_where_the_harness_is_taken_to_send_its_usual_requests_and_not_where_none_is() {
    let log = newer("2.1.160", "claude-opus-4-8").wait(180).recap().wait(60).user("go on");
    let log = log.reply("", 31_401, 400).wait(60).user("go on").reply("", 31_801, 400);
    let predicted = |side_request| {
        let reads = Log { side_request, ..log.clone() }.reads();
        reads.iter().skip(2).map(|it| it.0).collect::<Vec<u64>>()
    };

    assert_eq!(predicted(HiddenRequest::Usual), [31_401, 31_801], "the second turn has no summary");
    assert_eq!(predicted(HiddenRequest::None), [31_000, 31_801]);
    assert_eq!(log.timeline().side_requests.len(), 1);
}

#[test]
fn newer_versions_are_taken_to_make_side_requests_where_most_turns_of_the_session_had_one() {
    let turn = |log: Log, read, prompt: u64| log.wait(60).user("go on").reply("", read, prompt - read);
    let without = turn(newer("2.1.100", "claude-opus-4-6"), 31_000, 31_800);
    turn(without, 31_800, 32_600).is_predicted();

    // A turn reads 31,003 + 400 - 2 tokens where the prompt and the reply were sent again.
    let mut with = newer("2.1.170", "claude-opus-4-8");
    for prompt in [31_003, 31_803, 32_603] {
        with = turn(with, prompt + 398, prompt + 797);
    }
    let reads = with.reads();
    assert_eq!(reads[2..].iter().map(|it| it.1 - it.0).collect::<Vec<u64>>(), [401, 401, 0], "{reads:?}");
}

#[test]
fn what_the_first_search_for_tools_finds_changes_the_tools_under_some_models() {
    let log = |model, first, read| {
        Log { model, output: 400, ..Log::new("2.1.123") }
            .user("hello")
            .called("Read", first, 30_000 - first)
            .called("ToolSearch", 30_000, 1_000)
            .called("Read", read, 32_000 - read)
            .called("ToolSearch", 32_000, 1_000)
            .reply("", 33_000, 1_000)
    };
    for model in ["claude-opus-4-7", "claude-opus-4-8"] {
        log(model, 16_000, 16_093).is_predicted();
        log(model, 0, 0).is_predicted();
    }
    log("claude-fable-5", 16_000, 16_093).is_predicted();
    log("claude-fable-5", 0, 31_000).is_predicted();
    log("claude-fable-5-1", 16_000, 31_000).is_predicted();
    log("claude-opus-4-6", 16_000, 31_000).is_predicted();
    log("claude-opus-4-6", 0, 31_000).is_predicted();
}

#[test]
fn the_first_prompt_behind_a_remote_control_that_is_connected_in_mid_session_reads_nothing_in_some_versions()
{
    let log = |version, read| {
        let log = Log { model: "claude-fable-5", output: 400, ..Log::new(version) }.connected();
        let log = log.user("hello").called("Read", 16_000, 14_000);
        let call = format!("c{}", log.n_records);
        let log = log.reply("Read", 30_000, 1_000).connected().result(&call, false);
        log.called("Read", read, 32_000 - read).reply("", 32_000, 500)
    };
    log("2.1.199", 0).is_predicted();
    log("2.1.218", 0).is_predicted();
    log("2.1.178", 31_000).is_predicted();

    // A prompt that is there already does not change.
    newer("2.1.199", "claude-fable-5")
        .user("go on")
        .connected()
        .called("Read", 31_000, 1_000)
        .reply("", 0, 33_000)
        .is_predicted();
}

#[test]
fn new_turns_of_2_1_78_to_2_1_81_do_not_read_the_reply_back_and_those_of_versions_around_them_do() {
    let predicted = |version| begun(version).wait(60).user("go on").reply("", 31_000, 500).reads()[2].0;

    assert_eq!(["2.1.78", "2.1.79", "2.1.81"].map(predicted), [31_000; 3]);
    assert!(["2.1.77", "2.1.82", "2.1.90"].map(predicted).iter().all(|it| *it > 31_000));
}

#[test]
fn a_first_image_in_mid_session_is_behind_all_that_is_read() {
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
    let shown = format!(r#""message":{{"role":"user","content":[{image}]}}"#);

    begun("2.1.119").record("user", &shown).reply("", 31_000, 2_000).is_predicted();
}

#[test]
fn tools_and_system_prompt_that_many_send_are_read_after_the_session_s_own_entries_have_expired() {
    let paused = |log: Log, read| log.wait(4_000).user("go on").reply("", read, 31_900 - read);
    paused(newer("2.1.178", "claude-opus-4-8"), 16_000).is_predicted();

    let own = |first: u64| {
        let log = Log { model: "claude-opus-4-8", output: 400, ..Log::new("2.1.178") };
        log.user("hello").called("Read", first, 30_000 - first).reply("", 30_000, 1_000)
    };
    paused(own(28_000), 0).is_predicted();
    paused(own(0), 0).is_predicted();
    paused(begun("2.1.62"), 0).is_predicted();
    let searched = own(16_000).called("ToolSearch", 31_000, 400).reply("", 16_093, 16_000);
    paused(searched, 16_093).is_predicted();
}

#[test]
fn after_a_pause_a_session_reads_what_it_read_when_it_last_fell_to_no_more_than_others_share() {
    let last = |version, fell: u64| {
        let log = Log { model: "claude-opus-4-8", output: 400, ..Log::new(version) };
        let log = log.user("hello").called("Read", 16_000, 14_000).reply("", 30_000, 1_000);
        let log = log.user("go on").reply("", fell, 31_500 - fell).wait(4_000);
        log.user("go on").reply("", 0, 32_000).reads()[3].0
    };

    assert_eq!([15_000, 16_646, 22_000].map(|it| last("2.1.178", it)), [15_000, 16_646, 16_000]);
    assert_eq!(last("2.1.62", 16_646), 0);
}

#[test]
fn each_write_asks_for_the_lifetime_that_the_log_states() {
    let mut log = begun("2.1.119");
    for is_long in [false, true, false] {
        log = Log { is_long: Some(is_long), ..log }.user("go on").reply("", 31_000, 200);
    }
    let timeline = log.timeline();

    let changes = timeline.events.iter().filter_map(|it| match it.kind {
        EventKind::Lifetime(ttl) => Some((timeline.spine.step_at(it.at), ttl)),
        _ => None,
    });
    let changes: Vec<_> = changes.collect();
    assert_eq!(timeline.harness.ttl, Some(TtlClass::Long));
    assert_eq!(changes, [(2, TtlClass::Short), (3, TtlClass::Long), (4, TtlClass::Short)]);
}

#[test]
fn entries_live_as_the_writes_of_the_session_say_and_where_none_does_as_its_version_is_known_for() {
    let ttl = |version, is_long| {
        let log = Log { is_long, ..Log::new(version) };
        log.user("hello").reply("", 0, 30_000).timeline().harness.ttl
    };
    assert_eq!(ttl("2.1.17", Some(false)), Some(TtlClass::Short));
    assert_eq!(ttl("2.1.17", Some(true)), Some(TtlClass::Long));
    assert_eq!(ttl("2.1.17", None), Some(TtlClass::Short), "what the version is known for");
    assert_eq!(ttl("2.1.20", None), Some(TtlClass::Long));

    let short = Log { is_long: Some(false), side_request: HiddenRequest::None, ..Log::new("2.1.17") };
    let short = short.user("hello").reply("", 0, 30_000).wait(400).user("go on").reply("", 0, 31_000);
    Log { is_long: Some(true), ..short }
        .version("2.1.37")
        .user("go on")
        .reply("", 31_000, 200)
        .wait(400)
        .user("go on")
        .reply("", 31_200, 200)
        .is_predicted();
}

#[test]
fn how_much_survives_a_rewrite_is_learned_from_the_one_before_and_from_no_later_one() {
    let log = |reads: [u64; 3]| {
        let mut log = Log::new("2.1.30").user("hello").reply("", 0, 30_000);
        for (read, prompt) in reads.into_iter().zip([31_000, 32_000, 33_000]) {
            log = log.hook("SessionStart:resume").user("go on").reply("", read, prompt - read);
        }
        log
    };
    let predicted = |reads| log(reads).reads().into_iter().map(|it| it.0).collect::<Vec<u64>>();

    for told in [12_000, 22_000] {
        let [first, one, two, three] = predicted([told, told, told])[..] else { panic!("four requests") };
        assert_eq!([first, two, three], [0, told, told]);
        assert!((19_000..20_000).contains(&one), "66% of what the log hides: {one}");
    }
    assert_eq!(predicted([12_000, 9_000, 9_000]), predicted([12_000, 12_000, 12_000]));
    assert_eq!(predicted([0, 9_000, 9_000])[..3], predicted([0, 12_000, 12_000])[..3]);
}

#[test]
fn a_version_with_one_size_of_tools_and_system_prompt_has_it_after_rewrites_until_a_bill_says_otherwise() {
    let log = |reads: [u64; 2]| {
        let mut log = Log::new("2.1.17").user("hello").reply("", 16_141, 13_859);
        for (read, prompt) in reads.into_iter().zip([31_000, 32_000]) {
            log = log.hook("SessionStart:resume").user("go on").reply("", read, prompt - read);
        }
        log
    };
    log([18_573, 18_573]).is_predicted();
    let otherwise: Vec<u64> = log([16_141, 16_141]).reads().iter().skip(1).map(|it| it.0).collect();
    assert_eq!(otherwise, [18_573, 16_141]);
}

#[test]
fn billed_writes_are_priced_by_the_lifetime_that_the_log_gives_them() {
    let billed = |is_long| {
        let log = Log { is_long, ..Log::new("2.1.12") };
        let log = log.user("hello").called("Read", 0, 30_000).reply("", 30_000, 1_000_000);
        let (timeline, profile) = (log.timeline(), profile());
        let rows = rows(&timeline, &profile);
        Calibration::new(&timeline, &rows, &profile.prices, &profile.cache).billed_cost.usd()
    };
    let read_and_input = 0.015 + 0.000_015;

    assert!((billed(Some(true)) - read_and_input - 10.0).abs() < 1e-9);
    assert!((billed(Some(false)) - read_and_input - 6.25).abs() < 1e-9);
    assert!((billed(None) - read_and_input - 6.25).abs() < 1e-9, "as the version asks");
}
