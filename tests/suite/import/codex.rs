//! Codex rollouts, whole and damaged.

use super::*;

/// A rollout, record by record.
#[derive(Default)]
struct Rollout {
    lines: Vec<String>,
    total: [u64; 4],
}

impl Rollout {
    fn record(mut self, kind: &str, payload: &str) -> Self {
        let n = self.lines.len();
        self.lines.push(format!(
            r#"{{"timestamp":"2026-01-01T00:00:{:02}.000Z","type":"{kind}","payload":{payload}}}"#,
            n % 60
        ));
        self
    }

    fn item(self, payload: &str) -> Self {
        self.record("response_item", payload)
    }

    fn user(self, text: &str) -> Self {
        let content = format!(r#"[{{"type":"input_text","text":"{text}"}}]"#);
        self.item(&format!(r#"{{"type":"message","role":"user","content":{content}}}"#))
    }

    fn text(self, text: &str) -> Self {
        let content = format!(r#"[{{"type":"output_text","text":"{text}"}}]"#);
        self.item(&format!(r#"{{"type":"message","role":"assistant","content":{content}}}"#))
    }

    fn reasoning(self, text: &str) -> Self {
        self.item(&format!(r#"{{"type":"reasoning","summary":[],"encrypted_content":"{text}"}}"#))
    }

    fn call(self, id: &str) -> Self {
        self.item(&format!(
            r#"{{"type":"function_call","name":"exec","arguments":"{{\"cmd\":\"ls\"}}","call_id":"{id}"}}"#
        ))
    }

    fn output(self, id: &str, text: &str) -> Self {
        self.item(&format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{text}"}}"#))
    }

    /// Closes a response: its prompt, what of it was cached, its output, and what of that was reasoning.
    fn count(mut self, last: [u64; 4]) -> Self {
        self.total.iter_mut().zip(last).for_each(|(sum, it)| *sum += it);
        let usage = |it: [u64; 4]| {
            format!(
                r#"{{"input_tokens":{},"cached_input_tokens":{},"output_tokens":{},"reasoning_output_tokens":{}}}"#,
                it[0], it[1], it[2], it[3]
            )
        };
        let info =
            format!(r#"{{"total_token_usage":{},"last_token_usage":{}}}"#, usage(self.total), usage(last));
        self.record("event_msg", &format!(r#"{{"type":"token_count","info":{info}}}"#))
    }

    fn text_of(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    fn read(&self) -> Imported {
        imported(&self.text_of())
    }
}

fn kinds(timeline: &Timeline) -> Vec<Kind> {
    timeline.spine.items.iter().map(|it| it.kind).collect()
}

#[test]
fn a_count_of_tokens_closes_a_request_and_its_input_holds_what_was_cached() {
    let rollout = Rollout::default()
        .user("hello")
        .reasoning("abcd")
        .call("c1")
        .call("c2")
        .output("c1", "one")
        .output("c2", "two")
        .count([1_000, 896, 50, 20])
        .text("done")
        .count([1_200, 1_024, 30, 0]);

    let Imported { timeline, format, losses, .. } = rollout.read();

    assert_well_formed(&timeline);
    assert_eq!((format, losses.len()), ("codex", 0));
    assert_eq!(prompts(&timeline), [1_000, 1_200]);
    let usage = timeline.recorded.as_ref().unwrap().usage[0].unwrap();
    assert_eq!((usage.prompt, usage.cache_read, usage.cache_write, usage.uncached), (1_000, 896, 0, 104));
    let step = &timeline.spine.steps[0];
    let sizes: Vec<u32> = step.reply.clone().map(|it| timeline.spine.items[it as usize].raw).collect();
    assert_eq!(sizes, [20, 15, 15], "reasoning is counted by itself, the calls share the rest of the output");
    let results: u32 = step.results.clone().map(|it| timeline.spine.items[it as usize].raw).sum();
    assert_eq!(results, 150, "the growth behind the output is the results'");
}

#[test]
fn reasoning_leaves_the_prompts_when_the_user_speaks_again() {
    let rollout = Rollout::default()
        .user("hello")
        .reasoning("abcd")
        .call("c1")
        .output("c1", "one")
        .count([1_000, 896, 150, 100])
        .reasoning("efgh")
        .text("done")
        .count([1_200, 1_024, 90, 60])
        .user("more")
        .text("yes")
        .count([1_140, 896, 10, 0]);

    let timeline = rollout.read().timeline;

    let gone: Vec<Kind> = timeline
        .events
        .iter()
        .flat_map(|it| {
            let ctxsim::timeline::EventKind::Reset(items) = it.kind.clone() else { panic!("no reset") };
            items.map(|it| timeline.spine.items[it as usize].kind)
        })
        .collect();
    assert_eq!(gone, [Kind::Reasoning, Kind::Reasoning]);
    assert_eq!(played(&timeline), [1_000, 1_200, 1_140]);
    // 1,200 and 90 of output, less 160 of reasoning, are 1,130.
    assert_eq!(timeline.spine.items[timeline.spine.turns[1].user.start as usize].raw, 10);
}

#[test]
fn a_count_that_stands_twice_and_one_without_numbers_bill_nothing() {
    let mut rollout = Rollout::default().user("hello").text("hi").count([1_000, 0, 20, 0]);
    let twice = rollout.lines.last().unwrap().replace(".000Z", ".500Z");
    rollout.lines.push(twice);
    let rollout = rollout
        .record("event_msg", r#"{"type":"token_count","info":null}"#)
        .user("more")
        .text("yes")
        .count([1_100, 0, 20, 0]);

    let Imported { timeline, losses, .. } = rollout.read();

    assert_eq!(prompts(&timeline), [1_000, 1_100]);
    let told: Vec<String> = losses.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["line 4: repeated token counts", "line 5: token counts without numbers"]);
}

#[test]
fn requests_that_the_log_does_not_hold_are_told_by_the_sum_of_everything_billed() {
    let mut rollout = Rollout::default().user("hello").text("hi").count([1_000, 0, 20, 0]);
    rollout.total[0] += 88_335;
    let rollout = rollout.user("more").text("yes").count([1_100, 0, 20, 0]);

    let losses = rollout.read().losses;

    let told = "line 6: requests before this count that are missing from the log (88335 input tokens)";
    assert_eq!(losses[0].to_string(), told);
}

#[test]
fn a_compaction_takes_the_history_out_and_what_replaces_it_begins_a_turn() {
    let rollout = Rollout::default()
        .record("session_meta", r#"{"id":"s","base_instructions":{"text":"Be brief."}}"#)
        .user("hello")
        .text("hi")
        .count([1_000, 0, 20, 0])
        .record(
            "compacted",
            r#"{"message":"","replacement_history":[
                {"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]},
                {"type":"compaction","encrypted_content":"abcdefgh"}]}"#
                .replace('\n', "")
                .as_str(),
        )
        .user("more")
        .text("yes")
        .count([700, 0, 20, 0]);

    let Imported { timeline, losses, .. } = rollout.read();

    assert_well_formed(&timeline);
    assert_eq!(losses, []);
    assert_eq!(played(&timeline), [1_000, 700]);
    assert_eq!(timeline.events.len(), 2, "the request that wrote the summary, and what it took out");
    assert_eq!(
        kinds(&timeline)[..2],
        [Kind::System, Kind::System],
        "the prompt's own text and what is not shown"
    );
    let user = timeline.spine.turns[1].user.clone();
    let kinds: Vec<Kind> = user.map(|it| timeline.spine.items[it as usize].kind).collect();
    assert_eq!(kinds.last(), Some(&Kind::User));
    assert!(kinds.contains(&Kind::Summary));
}

#[test]
fn a_reply_without_a_count_is_a_request_without_usage() {
    let rollout =
        Rollout::default().user("hello").text("hi").user("more").text("yes").count([1_100, 0, 20, 0]);

    let timeline = rollout.read().timeline;

    assert_eq!(timeline.spine.steps.len(), 2);
    let usage = &timeline.recorded.as_ref().unwrap().usage;
    assert_eq!((usage[0].is_some(), usage[1].is_some()), (false, true));
}

#[test]
fn an_item_of_an_unknown_type_and_a_broken_line_are_told_with_their_lines() {
    let rollout = Rollout::default()
        .user("hello")
        .item(r#"{"type":"ghost_snapshot"}"#)
        .text("hi")
        .count([1_000, 0, 20, 0])
        .record("event_msg", r#"{"type":"agent_message","message":"hi"}"#);
    let text = rollout.text_of() + "nonsense\n{\"timestamp\":\"2026";

    let told: Vec<String> = imported(&text).losses.iter().map(ToString::to_string).collect();

    assert_eq!(
        told,
        [
            "line 2: items of the unknown type `ghost_snapshot`",
            "line 5: records of type `event_msg/agent_message`, which is never part of a prompt",
            "line 6: text that is not JSON: expected ident",
            "line 7: records that are cut off",
        ]
    );
}

/// A session of the time, and a turn before or after it, by the names that Codex gives both.
const FORK: &str = "019d7e30-2f7a-7f60-a942-c59ab0be98d9";
const BEFORE: &str = "019d7d08-f1d2-78a1-ae52-df8e21f9b394";
const AFTER: &str = "019d7e30-5000-7f60-a942-000000000000";

/// A rollout that repeats a turn, whose parent it may name.
fn repeating(parent: &str) -> Rollout {
    let turn = |name: &str| format!(r#"{{"type":"task_started","turn_id":"{name}"}}"#);
    Rollout::default()
        .record("session_meta", &format!(r#"{{"id":"{FORK}"{parent},"instructions":"be brief"}}"#))
        .record("session_meta", r#"{"id":"019d7d08-46c9-7f73-affe-4e6ca9852d56"}"#)
        .record("event_msg", &turn(BEFORE))
        .user("where is it")
        .reasoning("long thoughts")
        .call("c1")
        .output("c1", "there")
        .count([1_000, 0, 20, 10])
        .text("it is there")
        .count([1_100, 960, 20, 10])
        .record("event_msg", &turn(AFTER))
        .user("move it")
        .text("moved")
        .count([1_200, 1_088, 20, 0])
}

#[test]
fn what_a_fork_repeats_of_its_parent_stands_in_its_prompts_and_was_billed_there() {
    let fork = repeating(r#","forked_from_id":"019d7d08-46c9-7f73-affe-4e6ca9852d56""#).read();
    let own = repeating("").read();

    let usage = |it: &Imported| it.timeline.recorded.as_ref().unwrap().usage.iter().flatten().count();
    assert_eq!((usage(&fork), usage(&own)), (1, 3));
    assert_eq!(prompts(&fork.timeline), [1_200]);
    let says = |kind: Kind| kinds(&fork.timeline).iter().filter(|it| **it == kind).count();
    // A call and its result stand without a request that made the one and saw the other.
    assert_eq!([Kind::User, Kind::Assistant, Kind::Summary, Kind::Reasoning].map(says), [2, 2, 2, 0]);
    let told: Vec<String> = fork.losses.iter().map(ToString::to_string).collect();
    let repeated = "requests that the log repeats of the session that it is a fork of, which are that one's";
    assert!(told.contains(&format!("line 8: {repeated} (2 times)")), "{told:?}");
    assert!(!own.losses.iter().any(|it| it.what == repeated));
}

#[test]
fn a_fork_begins_with_what_its_parents_harness_had_put_in_the_place_of_its_history() {
    let parent = r#","forked_from_id":"019d7d08-46c9-7f73-affe-4e6ca9852d56""#;
    let mut lines = repeating(parent).lines;
    let compacted =
        r#"{"timestamp":"2026-01-01T00:00:09.000Z","type":"compacted","payload":{"message":"so far"}}"#;
    lines.insert(10, compacted.to_owned());

    let timeline = imported(&lines.join("\n")).timeline;

    let kinds = &kinds(&timeline)[timeline.spine.n_stable as usize..];
    assert_eq!(kinds, [Kind::Summary, Kind::User, Kind::Assistant]);
    assert_eq!(prompts(&timeline), [1_200]);
}

#[test]
fn what_a_review_found_is_no_reply_and_the_next_one_is() {
    let rollout = Rollout::default()
        .user("hello")
        .text("hi")
        .count([1_000, 0, 20, 0])
        .user("the review's output")
        .record("event_msg", r#"{"type":"exited_review_mode","review_output":{"findings":[]}}"#)
        .text("what the review found")
        .record("turn_context", r#"{"model":"m"}"#)
        .user("mend it")
        .text("mended")
        .count([1_200, 960, 20, 0]);

    let Imported { timeline, losses, .. } = rollout.read();

    assert_eq!((timeline.spine.turns.len(), timeline.spine.steps.len()), (2, 2));
    assert_eq!(timeline.spine.turns[1].user.len(), 3);
    assert_eq!(prompts(&timeline), [1_000, 1_200]);
    assert!(losses.iter().all(|it| it.what.ends_with("never part of a prompt")), "{losses:?}");
}

#[test]
fn what_is_said_behind_a_result_goes_on_with_the_turn_under_some_models_unless_the_log_says_that_one_begins()
{
    let n_turns = |model: &str, begins: bool| {
        let started = |it: Rollout| it.record("event_msg", r#"{"type":"task_started"}"#);
        let log = started(Rollout::default()).record("turn_context", &format!(r#"{{"model":"{model}"}}"#));
        let log = log.user("hello").reasoning("abcd").call("c1").output("c1", "one");
        let log = log.count([1_000, 896, 150, 100]);
        let log = if begins { started(log) } else { log };
        log.user("that, too").text("done").count([1_200, 1_024, 90, 0]).read().timeline.spine.turns.len()
    };

    assert_eq!([n_turns("gpt-5.4", false), n_turns("gpt-5.4", true)], [1, 2]);
    assert_eq!([n_turns("gpt-5.5", false), n_turns("gpt-5.5", true)], [2, 2]);
}

#[test]
fn what_is_written_to_the_cache_is_a_part_of_the_input_and_a_sum_of_it_may_be_anything() {
    let count = r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":1000,"cached_input_tokens":640,"cache_write_input_tokens":900,"output_tokens":20},
        "last_token_usage":{"input_tokens":1000,"cached_input_tokens":640,"cache_write_input_tokens":350,"output_tokens":20}}}"#;
    let written = Rollout::default().user("hello").text("hi").record("event_msg", &count.replace('\n', ""));
    let too_many =
        written.text_of().replace("\"cache_write_input_tokens\":350", "\"cache_write_input_tokens\":361");

    let usage = written.read().timeline.recorded.unwrap().usage[0].unwrap();
    let problems = ctxsim::timeline::import::import(&too_many, "test", &Assume::default(), &[]).unwrap_err();

    assert_eq!((usage.prompt, usage.cache_read, usage.cache_write, usage.uncached), (1_000, 640, 350, 10));
    assert_eq!(problems[0].place.field, "payload.info.last_token_usage.cache_write_input_tokens");
}

#[test]
fn each_request_is_of_the_model_that_its_turn_names() {
    let rollout = ["m1", "m2"].iter().fold(Rollout::default(), |it, model| {
        let turn = format!(r#"{{"model":"{model}"}}"#);
        it.record("turn_context", &turn).user("hello").text("hi").count([1_000, 0, 20, 0])
    });

    let models = rollout.read().timeline.models;

    let models: Vec<_> = models.iter().map(|it| (it.name.as_str(), it.requests, it.input)).collect();
    assert_eq!(models, [("m1", 1, 1_000), ("m2", 1, 1_000)]);
}

/// Requests, then input, cached and output tokens, and how far the played prompts are from the recorded ones.
const REFERENCE: [(&str, [u64; 4]); 3] = [
    ("agentv_96-eca76f596a-0", [112, 15_572_605, 15_085_056, 39_666]),
    ("agentv_a3-92ff332928-0", [10, 266_714, 230_656, 2_958]),
    ("agentv_b9-220e73bdf9-1", [61, 3_044_675, 2_806_144, 15_834]),
];

#[test]
fn the_reference_rollouts_have_the_recorded_totals_and_prompts() {
    let Some(folder) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    for (name, totals) in REFERENCE {
        let path = folder.join(format!("recorded/codex/{name}.jsonl"));
        let Imported { timeline, losses, .. } = imported(&std::fs::read_to_string(path).unwrap());

        assert_well_formed(&timeline);
        let usage: Vec<_> = timeline
            .recorded
            .as_ref()
            .unwrap()
            .usage
            .iter()
            .flatten()
            .map(|it| (it.prompt, it.cache_read, it.output))
            .collect();
        let sum = |field: fn(&(u64, u64, u64)) -> u64| usage.iter().map(field).sum::<u64>();
        assert_eq!([usage.len() as u64, sum(|it| it.0), sum(|it| it.1), sum(|it| it.2)], totals, "{name}");
        let is_known = |it: &str| {
            it.ends_with("never part of a prompt") || it.starts_with("user text after the last request")
        };
        assert!(losses.iter().all(|it| is_known(&it.what)), "{name}: {losses:#?}");
        let played = played(&timeline);
        let recorded = timeline.recorded.as_ref().unwrap().usage.iter();
        let differences =
            played.iter().zip(recorded).filter_map(|(it, usage)| Some(it.abs_diff((*usage)?.prompt)));
        let differences: Vec<u64> = differences.collect();
        let n_different = differences.iter().filter(|it| **it > 0).count();
        assert!(n_different <= 2 && differences.iter().max() <= Some(&64), "{name}: {differences:?}");
    }
}
