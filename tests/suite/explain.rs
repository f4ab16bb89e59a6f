//! Explained requests: what a person reads, and that it adds up to the rows of the run.

use ctxsim::cache::Fate;
use ctxsim::explain::{Explanation, explain};
use ctxsim::price;
use ctxsim::report::explain::{explanation_json, render_prompt_text, table};
use ctxsim::report::rows::RowContext;
use ctxsim::timeline::{Due, Level, Need, Texts};
use proptest::prelude::*;

use crate::laws::hold;
use crate::random_policy::policy as random_policy;
use crate::random_rules::rules as random_rules;
use crate::random_timeline::timeline as random_timeline;
use crate::support::*;

const BREAKPOINTS: &str =
    "[cache.breakpoints]\nmin_tokens = 1_024\nttl = [\"5m\", \"1h\"]\nreadable = \"response_start\"";
const INTERVAL: &str = "[cache.prefix_interval]\nmin_tokens = 1_024\nstep_tokens = 128\nttl = \"10m\"";

fn profile(cache: &str) -> Profile {
    let text = format!(
        r#"
name = "p"
about = "Round numbers."
as_of = "2026-01-01"
sources = ["none"]
{cache}
[[prices]]
input = 2.0
output = 10.0
cache_read = 0.2
cache_write = {{ "5m" = 2.5, "1h" = 4.0 }}
"#
    );
    profile_from(&text)
}

fn policy(stages: &str) -> Policy {
    let text = format!("(name: \"small\", about: \"it\", stages: [{stages}])");
    policy_from(&text)
}

/// Two turns of three results each; the second begins six minutes and forty seconds after the first ended, and its answer
/// needs what the first turn had read.
fn two_turns() -> Timeline {
    let mut timeline = TimelineBuilder::new("two_turns", &[]);
    timeline.stable(Kind::ToolSchema, 600);
    timeline.stable(Kind::System, 1_500);
    for (start_ms, user) in [(0, 200), (430_000, 90)] {
        timeline.begin_turn(&[NewItem::plain(Kind::User, user)]);
        for step in 0..3 {
            let sizes = ItemSizes { raw: 900 + 10 * step, excerpt: 300, summary: 120, handle: 20 };
            let recover = Recover { handle: 20, local: 100, exact: 400 };
            let result = NewItem::result("read", 0, sizes, Preserve::WorkingEvidence, recover);
            let at_ms = start_ms + 10_000 * i64::from(step);
            timeline.step(at_ms, 30, &[NewItem::call("read", 30)], &[result]);
            timeline.response(at_ms + 2_000, at_ms + 3_000);
        }
        if start_ms > 0 {
            let need = Need::new(0, Level::ExactEvidence, 0.5, None);
            timeline.need(Due::Answer, need);
        }
        timeline.step(start_ms + 30_000, 150, &[NewItem::plain(Kind::Assistant, 150)], &[]);
        timeline.response(start_ms + 31_000, start_ms + 33_000);
    }
    timeline.finish()
}

/// Explains a request as a terminal of a hundred columns shows it; returns the words.
fn drawn(name: &str, timeline: &Timeline, policy: &Policy, profile: &Profile, n: usize) -> String {
    let it = explain(timeline, policy, profile, n).unwrap();
    let context = RowContext {
        policy,
        scenario: &timeline.name,
        sessions: &[],
        recorded: None,
        misses: &[],
        profile,
        names_run: false,
    };
    let style = table::ExplainStyle { on: Some(100).into(), lists_all: false };
    let text = table::draw_explanation(&it, context, style);
    assert!(text.lines().all(|it| it.chars().count() <= 100), "{text}");
    assert_snapshot("explain", name, &text);
    one_line(&text)
}

const MASK: &str =
    r#"(name: "mask", scope: (kinds: [tool_result], keep_recent: tool_uses(2)), apply: show(marker(12)))"#;
const COMPACT: &str = r#"(name: "compact", when: prompt(at_least: tokens(4000)),
    apply: summarise(output: tokens(300), overhead: tokens(100), prompt: aligned))"#;

#[test]
fn what_nobody_changed_begins_with_the_whole_prompt_before() {
    let text = drawn("identity", &two_turns(), &policy(""), &profile(BREAKPOINTS), 3);

    assert!(text.contains("Begins with the whole prompt of request 2"), "{text}");
}

#[test]
fn a_cleared_result_breaks_the_prefix_and_its_stage_is_named() {
    let text = drawn("cleared", &two_turns(), &policy(MASK), &profile(BREAKPOINTS), 4);

    assert!(text.contains("Differs from request 3 at item 4 (tool_result of read)"), "{text}");
    assert!(text.contains("stage `mask`, request 4"), "{text}");
}

#[test]
fn a_summary_hides_what_it_replaces_and_its_own_request_is_explained_too() {
    let (timeline, policy, profile) = (two_turns(), policy(COMPACT), profile(BREAKPOINTS));

    let asking = drawn("summariser", &timeline, &policy, &profile, 3);
    assert_says(&asking, &["of a summariser for stage `compact`", "100 tokens that belong to no item"]);
    let after = drawn("summarised", &timeline, &policy, &profile, 4);
    assert!(after.contains("in the summary at 2"), "{after}");
}

#[test]
fn a_summariser_with_a_prompt_of_its_own_is_told_what_it_replaces() {
    let policy = policy(&COMPACT.replace("aligned", "separate"));

    let text = drawn("separate", &two_turns(), &policy, &profile(BREAKPOINTS), 3);

    assert!(text.contains("The cache was not consulted"), "{text}");
}

#[test]
fn an_expired_entry_is_told_with_its_age() {
    let text = drawn("expired", &two_turns(), &policy(""), &profile(BREAKPOINTS), 5);

    assert!(text.contains("expired 100 s earlier, last used 400 s ago, lives 300 s"), "{text}");
}

#[test]
fn a_prompt_below_the_minimum_is_told() {
    let profile = profile(&BREAKPOINTS.replace("1_024", "4_096"));

    let text = drawn("too_short", &two_turns(), &policy(""), &profile, 2);

    assert!(text.contains("its prompt was too short: 2,300 tokens, the minimum is 4,096 tokens"), "{text}");
}

#[test]
fn an_entry_out_of_lookback_is_told_with_its_position() {
    let profile = profile(&format!("{BREAKPOINTS}\nlookback_positions = 2"));
    let policy_text = "(name: \"small\", about: \"it\", layout: (breakpoints: [(at: automatic)]))";
    let policy = policy_from(policy_text);

    let text = drawn("out_of_lookback", &two_turns(), &policy, &profile, 2);

    assert_says(
        &text,
        &["out of lookback: position 3 back from the next breakpoint, and only 2 are checked"],
    );
}

#[test]
fn an_interval_rule_reads_whole_steps_and_says_so() {
    let text = drawn("interval", &two_turns(), &policy(MASK), &profile(INTERVAL), 8);

    assert!(text.contains("prefixes end in steps of 128 from 1,024 on"), "{text}");
}

#[test]
fn units_are_told_with_their_fate() {
    let units = "[cache.units]\nmin_tokens = 64\nstep_tokens = 64\nunits = [\"input_end\", \"output_end\"]";

    let read = drawn("units", &two_turns(), &policy(""), &profile(units), 2);
    let expired =
        drawn("units_expired", &two_turns(), &policy(""), &profile(&format!("{units}\nttl = \"5m\"")), 5);

    assert!(read.contains("up to item 3: read, last used"), "{read}");
    assert!(expired.contains("expired 100 s earlier, last used 400 s ago, lives 300 s"), "{expired}");
}

#[test]
fn a_stored_content_is_told_from_its_making_to_its_end() {
    let rules = profile("[cache.stored]\nmin_tokens = 2_048\nttl = \"5m\"");

    let made = drawn("stored_first", &two_turns(), &policy(""), &rules, 1);
    let read = drawn("stored", &two_turns(), &policy(""), &rules, 2);
    let made_again = drawn("stored_again", &two_turns(), &policy(""), &rules, 5);

    assert!(made.contains("stored first, in a separate call, and then read, lives 300 s"), "{made}");
    assert!(read.contains("read, stored 10 s ago, lives 300 s"), "{read}");
    assert!(made_again.contains("expired"), "{made_again}");
}

#[test]
fn what_held_for_one_request_is_told_as_taken_back() {
    let once =
        MASK.replace("apply:", "at: [request], lasts: request, when: prompt(at_most: tokens(5200)), apply:");

    let text = drawn("taken_back", &two_turns(), &policy(&once), &profile(BREAKPOINTS), 5);

    assert!(text.contains("Undone after one request: marker (12 tokens) → "), "{text}");
}

#[test]
fn an_explanation_for_programs_has_the_row_and_every_item() {
    let (timeline, policy, profile) = (two_turns(), policy(MASK), profile(BREAKPOINTS));
    let it = explain(&timeline, &policy, &profile, 8).unwrap();
    let context = RowContext {
        policy: &policy,
        scenario: "s",
        sessions: &[],
        recorded: None,
        misses: &[],
        profile: &profile,
        names_run: false,
    };

    let document: Value = serde_json::from_str(&explanation_json(&it, context, false).unwrap()).unwrap();

    assert_eq!(document["schema"], "ctxsim.explanation/1");
    assert_eq!(document["items"].as_array().unwrap().len(), it.items.len());
    assert_eq!(document["row"]["changed_by"], "mask");
    let changes = &document["items"][4]["changes"][0];
    assert_eq!(
        (&changes["by"], &changes["to"], &changes["request"]),
        (&"stage `mask`".into(), &"marker".into(), &4.into())
    );
    let cost = &document["cost_picodollars"];
    let parts = ["cache_read", "cache_write", "uncached", "output"].map(|it| cost[it].as_u64().unwrap());
    assert_eq!(cost["total"].as_u64().unwrap(), parts.iter().sum::<u64>());
}

#[test]
fn a_request_that_is_not_there_is_refused_with_how_many_there_are() {
    for n in [0, 9] {
        let problem = explain(&two_turns(), &policy(""), &profile(BREAKPOINTS), n).unwrap_err();

        assert_eq!(problem.code.name(), "request-out-of-range");
        assert_eq!(problem.message, format!("there is no request {n}: this run makes 8"));
    }
}

/// The entry that is told as read must be what was read, unless the machine that served it had none; one that an edit is
/// taken to have broken is read in part.
fn found(it: &Explanation) -> Result<(), TestCaseError> {
    let entries = it.finding.iter().flat_map(|it| &it.entries);
    let read = entries.filter_map(|it| match it.fate {
        Fate::Read(tokens) | Fate::Stored(tokens) => Some((tokens, tokens)),
        Fate::Capped(_) => Some((0, it.tokens)),
        _ => None,
    });
    let billed = it.row.usage.read;
    match read.map(|(least, most)| least..=most).collect::<Vec<_>>().as_slice() {
        [] => prop_assert_eq!(billed, 0),
        [told] => prop_assert!(billed == 0 || told.contains(&billed), "{:?} {:?}", it.finding, it.row),
        _ => prop_assert!(false, "{:?}", it.finding),
    }
    Ok(())
}

/// What must hold of every explanation.
fn adds_up(it: &Explanation) -> Result<(), TestCaseError> {
    let shown: u64 = it.items.iter().map(|it| u64::from(it.now.tokens)).sum();
    prop_assert_eq!(shown + it.beside - it.unread, it.row.prompt);
    prop_assert!(it.unread == 0 || it.row.role == Role::Summariser);
    let read: u64 = it.items.iter().map(|it| it.cached.read).sum();
    let written: u64 = it.items.iter().map(|it| it.cached.written).sum();
    prop_assert_eq!(read, it.row.usage.read);
    prop_assert_eq!(written, it.row.usage.write[0] + it.row.usage.write[1]);
    found(it)?;
    for item in &it.items {
        match item.causes.last() {
            Some(cause) => prop_assert_eq!(cause.change[1], item.now),
            None => prop_assert_eq!(item.now.tokens, item.raw),
        }
    }
    Ok(())
}

#[test]
fn an_explanation_adds_up_to_its_row_of_the_run() {
    hold(1, (random_timeline(), random_policy(), random_rules()), |(plan, spec, rules)| {
        let (policy, timeline) = (Policy::new(&spec).unwrap(), plan.build());
        let profile = Profile { cache: rules, limits: Limits::NONE, ..profile(INTERVAL) };
        let mut rows = Rows::default();
        Simulation::new(&timeline, &policy, &profile.limits, &profile.cache).run(&mut rows);
        let all = rows.requests.len();
        for n in (1..=all).rev().take(3).chain([1, all / 2]).filter(|it| (1..=all).contains(it)) {
            let it = explain(&timeline, &policy, &profile, n).unwrap();

            prop_assert_eq!((it.n, it.of, it.row), (n, all, rows.requests[n - 1]));
            prop_assert_eq!(it.bill.total(), price::request(&it.row, &profile.prices));
            adds_up(&it)?;
        }
        Ok(())
    });
}

#[test]
fn a_prompt_with_text_is_rendered_and_what_has_none_is_said() {
    const SESSION: &str = include_str!("../../scenarios/recorded/claude-code-session.jsonl");
    let timeline = import_all(SESSION, "recorded", &Assume::default(), &[]).unwrap().remove(0).timeline;
    let policy = policy(MASK);
    let it = explain(&timeline, &policy, &profile(BREAKPOINTS), 6).unwrap();

    let text = render_prompt_text(&it);

    let heads: Vec<&str> = text.lines().filter(|it| it.starts_with("──── ")).collect();
    assert_eq!(heads.len(), it.items.iter().filter(|it| it.now.tokens > 0).count());
    assert!(text.contains("\n[12 tokens: marker]\n"), "{text}");
    let says = |item: u32| timeline.texts.text(item);
    let user = it.items.iter().find(|it| it.kind == Kind::User && says(it.item).is_some()).unwrap();
    assert!(text.contains(timeline.texts.text(user.item).unwrap()), "{text}");
    let mute = Timeline { texts: Texts::default(), ..timeline };
    let it = explain(&mute, &policy, &profile(BREAKPOINTS), 6).unwrap();
    assert_eq!(
        render_prompt_text(&it).matches("[no text]").count(),
        heads.len() - text.matches("[12 tokens").count()
    );
}

#[test]
fn what_a_template_writes_is_rendered_in_its_words() {
    const SESSION: &str = include_str!("../../scenarios/recorded/claude-code-session.jsonl");
    let file = root().join("policies/duckagent/runtime_guarded_mid.ron");
    let runtime = Policy::new(&Source::read(&file).unwrap().decode::<PolicyFile>().unwrap()).unwrap();
    let timeline = import_all(SESSION, "recorded", &Assume::default(), &[]).unwrap().remove(0).timeline;
    let limits = Limits { prompt: UNLIMITED, window: 32_000, output: UNLIMITED };
    let profile = Profile { limits, ..profile(BREAKPOINTS) };
    let last = timeline.spine.steps.len();

    let it = explain(&timeline, &runtime, &profile, last).unwrap();

    let text = render_prompt_text(&it);
    let head = |it: &&str| {
        it.starts_with("[TOOL RESULT SUMMARY]") || it.starts_with("[COMPLETED AGENT LOOP SUMMARY]")
    };
    assert!(text.lines().any(|it| head(&it)), "{text}");
    let written = it.items.iter().filter(|it| it.text.as_deref().is_some_and(|it| head(&it)));
    assert!(written.count() > 0);
}
