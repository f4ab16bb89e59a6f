//! Cases in which engine and naive simulator once differed, each with what the language says.

use ctxsim::input::profile::Steps;
use ctxsim::ledger::{FailureKind, Outcome};
use ctxsim::timeline::{Kind, tool_form};

use crate::oracle;
use crate::support::*;

/// Whole prefixes, whatever their length.
const STEPS: Steps = Steps { min: 0, step: 1 };
const INTERVAL: CacheRules = CacheRules::prefix_interval(STEPS, None);

/// Turns of 100 tokens of user text, one step a result (a call of 10 tokens each), and a final answer of 50.
fn turns(results: &[&[u32]]) -> Timeline {
    let steps: Vec<Vec<&[u32]>> = results.iter().map(|it| it.chunks(1).collect()).collect();
    parallel(&steps)
}

/// The same with several results a step; a second passes between two steps, ten minutes between two turns.
fn parallel(turns: &[Vec<&[u32]>]) -> Timeline {
    let mut timeline = TimelineBuilder::new("case", &[]);
    let mut now_ms = 0;
    for steps in turns {
        timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
        now_ms += 600_000;
        for results in steps {
            let calls: Vec<_> = results.iter().map(|_| NewItem::call("read", 10)).collect();
            let result = |(n, raw): (usize, &u32)| {
                let sizes = ItemSizes { raw: *raw, excerpt: raw / 2, summary: raw / 10, handle: 5 };
                NewItem::result("read", n, sizes, Preserve::WorkingEvidence, Default::default())
            };
            let results: Vec<_> = results.iter().enumerate().map(result).collect();
            timeline.step(now_ms, 10, &calls, &results);
            now_ms += 1_000;
        }
        timeline.step(now_ms, 50, &[NewItem::plain(Kind::Assistant, 50)], &[]);
    }
    timeline.finish()
}

/// Plays a case both ways, which must agree.
fn play(stages: &str, timeline: &Timeline, limits: &Limits, rules: &CacheRules) -> (Rows, Outcome) {
    let text = format!("(name: \"case\", about: \"A case.\", stages: [{stages}])");
    let spec = decode(&text, Format::Ron).unwrap();
    let policy = Policy::new(&spec).unwrap();
    let mut rows = Rows::default();
    let outcome = Simulation::new(timeline, &policy, limits, rules).run(&mut rows);
    let (naive, naive_outcome) = oracle::simulate(timeline, &policy, limits, rules);
    assert_eq!(rows.requests, naive.requests);
    assert_eq!(rows.needs, naive.needs);
    assert_eq!(oracle::known(&outcome), naive_outcome);
    (rows, outcome)
}

fn rows(stages: &str, timeline: &Timeline) -> Rows {
    play(stages, timeline, &Limits::NONE, &INTERVAL).0
}

/// The prompts of the agent's own requests.
fn prompts(stages: &str, timeline: &Timeline) -> Vec<u64> {
    let rows = rows(stages, timeline).requests;
    rows.iter().filter(|it| it.role == Role::Main).map(|it| it.prompt).collect()
}

#[test]
fn no_two_requests_of_a_step_have_the_same_number() {
    let rows = rows(
        r#"(name: "s", at: [turn_start, request, turn_end], apply: summarise(output: tokens(1)))"#,
        &turns(&[&[900], &[800, 700]]),
    );

    let mut ids: Vec<_> = rows.requests.iter().map(|it| (it.step, it.n)).collect();
    let n = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), n);
    assert!(ids.is_sorted() && n > 5, "{ids:?}");
}

#[test]
fn the_cache_is_warm_when_a_turn_ends() {
    let rules = CacheRules::prefix_interval(STEPS, Some(300_000));
    let timeline = turns(&[&[], &[], &[]]);

    let (rows, _) = play(
        r#"(name: "s", at: [turn_end], when: cache_cold, apply: drop)"#,
        &timeline,
        &Limits::NONE,
        &rules,
    );

    assert!(rows.requests.iter().all(|it| it.change.n_edits == 0));
}

#[test]
fn a_failing_tool_request_is_numbered_among_tool_requests() {
    let mut timeline = TimelineBuilder::new("case", &[]);
    timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    timeline.step(0, 50, &[NewItem::plain(Kind::Assistant, 50)], &[]);
    let result = NewItem::result("read", 0, ItemSizes::whole(10), Preserve::None, Default::default());
    timeline.step(0, 5_000, &[NewItem::call("read", 10)], &[result]);
    let limits = Limits { output: 1_000, ..Limits::NONE };

    let (_, outcome) = play("", &timeline.finish(), &limits, &CacheRules::None);

    assert_eq!(outcome.failure.map(|it| it.kind), Some(FailureKind::ToolRequest(1)));
}

#[test]
fn a_summary_in_the_slot_of_a_result_is_no_tool_use() {
    let stages = r#"
        (name: "fold", at: [turn_end], scope: (part: active, kinds: [tool_result]), apply: summarise(output: tokens(1))),
        (name: "drop", when: count(of: tool_uses, at_least: 1), scope: (part: completed), apply: drop)"#;

    assert_eq!(prompts(stages, &turns(&[&[900], &[]])), [100, 1_010, 261]);
}

#[test]
fn a_summary_has_nothing_to_reclaim_by_showing_it_otherwise() {
    let stages = r#"
        (name: "fold", at: [turn_end], scope: (part: active, kinds: [tool_result]), apply: summarise(output: tokens(400))),
        (name: "drop", when: reclaimable(above: tokens(200)), scope: (part: completed), apply: show(handle),
         then: [(apply: drop)])"#;

    assert_eq!(prompts(stages, &turns(&[&[900], &[]])), [100, 1_010, 660]);
}

#[test]
fn what_is_taken_counts_from_the_front_at_each_activation() {
    let stages = r#"(name: "s", scope: (kinds: [tool_result]), apply: show(handle), until: taken(items(1)))"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 1_000, 1_000]])), [100, 115, 1_125, 2_135]);
}

#[test]
fn units_of_several_items_are_counted_from_the_front_at_each_activation() {
    let stages = r#"(name: "s", scope: (kinds: [tool_result], by: items(2)), apply: show(handle),
                     until: prompt(at_most: tokens(2200)))"#;
    let timeline = parallel(&[vec![&[3_000], &[1_000, 1_000, 1_000]]]);

    assert_eq!(prompts(stages, &timeline), [100, 115, 2_150]);
}

#[test]
fn a_goal_that_is_met_beforehand_makes_no_pass() {
    let stages = r#"(name: "s", scope: (part: active, kinds: [tool_result]), apply: show(handle),
                     until: prompt(at_most: tokens(500)))"#;
    let timeline = turns(&[&[1_000, 10, 10]]);

    let (rows, _) = play(stages, &timeline, &Limits::NONE, &CacheRules::PrefixCap(STEPS));

    let read: Vec<_> = rows.requests.iter().map(|it| it.usage.read).collect();
    assert_eq!(read, [0, 0, 115, 135]);
}

#[test]
fn a_call_that_went_with_its_result_is_not_taken_again() {
    let stages = r#"(name: "s", at: [turn_end], scope: (kinds: [tool_call, tool_result], order: newest), apply: drop,
                     until: taken(items(2)))"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 900, 800], &[]])).last(), Some(&1_260));
}

#[test]
fn turns_taken_out_of_order_count_once() {
    let stages = r#"(name: "s", at: [turn_start], scope: (part: completed, kinds: [tool_result], order: largest),
                     when: count(of: turns, at_least: 3), apply: show(handle), until: taken(turns(3)))"#;
    let timeline = turns(&[&[1_000, 800], &[900], &[700], &[]]);

    assert_eq!(prompts(stages, &timeline).last(), Some(&610));
}

#[test]
fn messages_of_results_are_messages() {
    let stages = r#"(name: "s", when: every(messages(5)), scope: (kinds: [tool_result]), apply: drop)"#;

    let edits: Vec<_> =
        rows(stages, &turns(&[&[10, 10]])).requests.iter().map(|it| it.change.n_edits).collect();

    assert_eq!(edits, [0, 0, 4]);
}

#[test]
fn a_stage_is_considered_although_it_does_not_fire() {
    let stages = r#"(name: "s", when: prompt(above: tokens(2500)), scope: (kinds: [tool_result]), apply: show(raw),
                     then: [(when: every(steps(2)), apply: drop)])"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 1_000, 1_000]])), [100, 1_110, 2_120, 3_130]);
}

#[test]
fn no_units_protect_nothing() {
    for extent in ["steps(0)", "turns(0)", "messages(0)", "items(0)", "tool_uses(0)"] {
        let stages = format!(
            r#"(name: "s", at: [turn_end], scope: (keep_first: {extent}, keep_recent: {extent}), apply: drop)"#
        );
        assert_eq!(prompts(&stages, &turns(&[&[900], &[]])), [100, 1_010, 100], "{extent}");
    }
}

#[test]
fn only_results_count_as_tool_uses() {
    let stages = r#"(name: "s", at: [turn_end], scope: (keep_recent: tool_uses(1)), apply: drop)"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 500], &[]])).last(), Some(&660));
}

#[test]
fn only_recent_units_lie_in_front_of_kept_ones() {
    let stages = r#"(name: "s", at: [turn_start], scope: (keep_recent: turns(2), only_recent: turns(1)), apply: drop)"#;
    let timeline = turns(&[&[1_000], &[900], &[800], &[]]);

    assert_eq!(prompts(stages, &timeline).last(), Some(&1_060));
}

#[test]
fn what_is_protected_stays_the_same_during_an_activation() {
    let stages = r#"(name: "s", at: [turn_end], apply: show(handle), until: scope(below: tokens(0)),
                     scope: (kinds: [tool_result], keep: [(kinds: [tool_result], first: tokens(2100))]))"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 1_000, 1_000, 50], &[]])).last(), Some(&2_300));
}

#[test]
fn a_step_whose_goal_is_a_share_has_not_met_it_beforehand() {
    let stages = r#"(name: "s", at: [turn_end], scope: (kinds: [tool_result]), apply: show(raw),
                     then: [(apply: show(handle), until: taken(fraction(0.5)))])"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 1_000], &[]])).last(), Some(&1_275));
}

#[test]
fn a_summary_outside_its_scope_leaves_the_scope_without_its_input() {
    let stages = r#"(name: "s", at: [turn_end], scope: (kinds: [tool_result]), until: scope(at_most: tokens(1000)),
                     apply: summarise(output: tokens(200)))"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 1_000, 1_000], &[]])).last(), Some(&1_480));
}

#[test]
fn the_instructions_of_a_summary_may_depend_on_its_input() {
    let stages = r#"(name: "s", at: [turn_end], scope: (kinds: [tool_result]),
                     apply: summarise(output: tokens(200), overhead: times(0.5, input)))"#;

    let rows = rows(stages, &turns(&[&[1_000]]));

    assert_eq!(rows.requests.last().map(|it| it.prompt), Some(1_500));
}

#[test]
fn instructions_without_a_limit_do_not_overflow() {
    let stages = r#"(name: "s", at: [turn_end], apply: summarise(output: tokens(200), overhead: limit))"#;

    assert_eq!(rows(stages, &turns(&[&[1_000]])).requests.last().map(|it| it.prompt), Some(u64::MAX));
}

#[test]
fn what_a_lasting_summary_hides_does_not_come_back_after_the_request() {
    let stages = r#"
        (name: "for_now", scope: (kinds: [tool_result]), apply: show(handle), lasts: request),
        (name: "fold", scope: (kinds: [tool_call, tool_result]), apply: summarise(output: tokens(1)))"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000, 1_000]])), [100, 101, 102]);
}

#[test]
fn the_cache_knows_a_slot_again_when_an_edit_is_taken_back() {
    let stages = r#"
        (name: "server", at: [turn_end], scope: (kinds: [tool_result]), apply: show(handle), prefix: keeps),
        (name: "for_now", at: [turn_start], scope: (kinds: [tool_result]), apply: show(marker(1)), lasts: request)"#;

    let rows = rows(stages, &turns(&[&[1_000], &[1_000]]));

    assert_eq!(rows.requests[2].usage.read, 110);
    assert_eq!(rows.requests[3].usage.read, 115);
}

#[test]
fn the_cache_knows_a_summary_again_when_another_in_its_slot_is_taken_back() {
    let stages = r#"
        (name: "fold", at: [turn_end], scope: (part: active, kinds: [tool_call, tool_result]),
         apply: summarise(output: tokens(200), prompt: free)),
        (name: "for_now", at: [turn_start], when: every(turns(2)), scope: (kinds: [summary]),
         apply: summarise(output: tokens(10), prompt: free), lasts: request)"#;

    let rows = rows(stages, &turns(&[&[1_000], &[1_000], &[1_000], &[1_000]]));

    let last = rows.requests.last().unwrap();
    assert_eq!((last.prompt, last.usage.read), (100 * 4 + 50 * 3 + 200 * 3 + 1_010, 800));
}

#[test]
fn a_drop_that_keeps_the_prefix_keeps_it() {
    let stages = r#"(name: "s", at: [turn_end], scope: (kinds: [tool_result], keep_recent: items(1)), apply: drop,
                     prefix: keeps)"#;

    let rows = rows(stages, &turns(&[&[1_000, 1_000], &[]]));

    let last = rows.requests.last().unwrap();
    assert_eq!((last.prompt, last.usage.read), (1_260, 1_110));
}

#[test]
fn a_result_can_be_summarised_as_it_enters() {
    let stages = r#"(name: "s", at: [entry], scope: (part: entering), apply: summarise(output: tokens(5)))"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000]])), [100, 115]);
}

#[test]
fn a_result_enters_as_the_last_stage_shows_it() {
    let stages = r#"
        (name: "small", at: [entry], scope: (part: entering), apply: show(handle)),
        (name: "larger", at: [entry], scope: (part: entering), apply: show(summary))"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000]])), [100, 215]);
}

#[test]
fn a_summary_is_of_no_tool_that_is_left_alone() {
    let stages = r#"
        (name: "fold", at: [turn_end], scope: (part: active), apply: summarise(output: tokens(5))),
        (name: "drop", at: [turn_start], scope: (part: completed, except_tools: ["read"]), apply: drop)"#;

    assert_eq!(prompts(stages, &turns(&[&[1_000], &[]])).last(), Some(&100));
}

#[test]
fn a_summary_by_steps_leaves_a_step_whole_that_an_end_of_its_scope_cuts() {
    let load = turns(&[&[900, 800], &[700]]);
    // Of the last step, 705 tokens hold the result and 710 the call, too; what the user said belongs to it.
    let stage = |kept: &str| {
        format!(
            r#"(name: "s", when: prompt(above: tokens(2_600)), scope: ({kept}, by: steps(1)),
                apply: summarise(output: tokens(40), prompt: free))"#
        )
    };
    let last = |kept: &str| *prompts(&stage(kept), &load).last().unwrap();

    assert_eq!(last("keep_recent: tokens(705)"), 40 + 100 + 10 + 700);
    assert_eq!(last("keep_recent: tokens(710)"), 40 + 100 + 10 + 700);
    // The first reply is a call; its result stays with it.
    assert_eq!(
        last("keep_first: messages(2), keep_recent: tokens(710)"),
        100 + 10 + 900 + 40 + 100 + 10 + 700
    );
}

#[test]
fn what_is_sent_raw_grows_on_whatever_stages_clear() {
    let clear = |basis: &str| {
        format!(
            r#"(name: "clear", when: {basis}(above: tokens(1_500)), scope: (keep_recent: tool_uses(1), kinds: [tool_result]),
                apply: show(marker(10)))"#
        )
    };
    let timeline = turns(&[&[900, 500, 40, 40]]);

    // The second request with two results is past the trigger either way; after it only the raw prompt is.
    assert_eq!(prompts(&clear("prompt"), &timeline), [100, 1_010, 630, 680, 730]);
    assert_eq!(prompts(&clear("raw"), &timeline), [100, 1_010, 630, 190, 210]);
}

#[test]
fn a_prompt_has_grown_since_its_stage_last_changed_it() {
    let drop =
        r#"(name: "drop", when: grown(above: tokens(1_000)), scope: (kinds: [tool_result]), apply: drop)"#;

    // 1,010 behind no stable prefix, then 1,010 more than the 100 that the first drop left.
    assert_eq!(prompts(drop, &turns(&[&[900, 900, 150]])), [100, 100, 1_010, 100]);
}

#[test]
fn units_are_counted_from_where_a_stage_last_acted_and_before_that_there_are_enough() {
    let stages = r#"
        (name: "cut", when: since(stage: "cut", of: steps, at_least: 2), scope: (kinds: [tool_result]), apply: show(marker(10))),
        (name: "quiet", when: since(stage: "cut", of: steps, below: 1), scope: (kinds: [user]), apply: drop)"#;

    // Nothing to cut at first; cut at the second request, and again two steps later.
    assert_eq!(prompts(stages, &turns(&[&[900, 900, 900, 900]])), [100, 20, 930, 60, 970]);
}

/// The prompts and the outputs of the policy's own requests.
fn asked(stages: &str, timeline: &Timeline) -> Vec<(u64, u64)> {
    let rows = rows(stages, timeline).requests;
    rows.iter().filter(|it| it.role == Role::Summariser).map(|it| (it.prompt, it.output)).collect()
}

#[test]
fn a_summariser_reads_no_more_than_it_is_given_and_a_second_request_looks_over_what_it_wrote() {
    let summarise = |more: &str| {
        format!(
            r#"(name: "s", at: [turn_end], when: scope(above: tokens(1_000)),
                apply: summarise(output: tokens(20), overhead: tokens(7), reads: tokens(400), {more}))"#
        )
    };
    let timeline = turns(&[&[900], &[]]);

    assert_eq!(asked(&summarise(""), &timeline), [(407, 20)]);
    let again = "again: (overhead: tokens(3), output: tokens(5))";
    assert_eq!(asked(&summarise(again), &timeline), [(407, 20), (3 + 20 + 400, 5)]);
    let merge = "again: (reads: summary)";
    assert_eq!(asked(&summarise(merge), &timeline), [(407, 20), (20, 20)]);
    assert_eq!(prompts(&summarise(merge), &timeline).last(), Some(&(20 + 100)));
}

#[test]
fn the_newest_of_what_the_user_said_stays_beside_a_summary_and_the_oldest_of_it_is_cut() {
    let summarise = |tokens: u64| {
        format!(
            r#"(name: "s", at: [turn_start], when: every(turns(4)), scope: (part: completed),
                apply: summarise(output: tokens(20), keeps: (kinds: [user], tokens: tokens({tokens}))))"#
        )
    };
    let timeline = turns(&[&[], &[], &[], &[]]);
    let last = |tokens| *prompts(&summarise(tokens), &timeline).last().unwrap();

    // Three messages of 100; the summariser reads them and the answers, and writes the summary alone.
    assert_eq!([0, 100, 130, 300].map(last), [120, 220, 250, 420]);
    assert_eq!(asked(&summarise(130), &timeline), [(450, 20)]);
}

#[test]
fn the_last_files_come_back_behind_a_summary_whole_or_by_name() {
    let summarise = |restore: &str| {
        format!(
            r#"(name: "cut", at: [turn_end], scope: (kinds: [tool_result]), apply: show(marker(1))),
            (name: "s", at: [turn_end], apply: summarise(output: tokens(20), restore: (tools: ["read"], {restore})))"#
        )
    };
    let timeline = turns(&[&[100, 200, 900, 300], &[]]);
    let last = |restore: &str| *prompts(&summarise(restore), &timeline).last().unwrap() - 100 - 20;

    assert_eq!(last("files: 2, each: tokens(500)"), 300);
    assert_eq!(last("files: 2, each: tokens(500), name: tokens(8), more: tokens(50)"), 300 + 8 + 50);
    assert_eq!(last("files: 4, each: tokens(500), all: tokens(450)"), 300 + 100);
}

#[test]
fn a_result_that_came_back_is_in_the_scope_again() {
    let stages = r#"(name: "s", at: [turn_end], when: scope(above: tokens(500)),
        apply: summarise(output: tokens(20), restore: (files: 1, tools: ["read"])))"#;
    let timeline = turns(&[&[100, 400], &[]]);

    assert_eq!(prompts(stages, &timeline).last(), Some(&(20 + 400 + 100)));
    // The summariser read all of it; the second time, the result that came back too.
    assert_eq!(asked(stages, &timeline), [(670, 20), (570, 20)]);
}

#[test]
fn a_result_is_superseded_once_its_call_or_its_file_has_come_again() {
    let mut timeline = TimelineBuilder::new("case", &[]);
    timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    let mut read = |tool: &str, file: &str, digest: u64, tokens: u32| {
        let input = format!(r#"{{"file_path": "{file}"}}"#).into();
        let form = tool_form::form_of("claude-code", "Read");
        let call = NewItem { digest: Some(digest), text: Some(&input), form, ..NewItem::call(tool, 10) };
        let result =
            NewItem::result(tool, 0, ItemSizes::whole(tokens), Preserve::WorkingEvidence, Default::default());
        timeline.step(0, 10, &[call], &[result]);
    };
    read("read_file", "a.rs", 1, 1_000);
    read("grep", "a.rs", 2, 2_000);
    read("read_file", "b.rs", 3, 4_000);
    read("read_file", "a.rs", 4, 8_000);
    read("grep", "a.rs", 2, 16_000);
    timeline.step(0, 50, &[NewItem::plain(Kind::Assistant, 50)], &[]);
    let timeline = timeline.finish();
    let drop = |ways: &str| {
        format!(r#"(name: "drop", scope: (kinds: [tool_result], superseded_by: [{ways}]), apply: drop)"#)
    };

    // The read of a.rs supersedes the first and the search in it; the search again only the search before.
    assert_eq!(prompts(&drop("same_file"), &timeline), [100, 1_110, 3_120, 7_130, 12_120, 28_130]);
    assert_eq!(prompts(&drop("same_call"), &timeline), [100, 1_110, 3_120, 7_130, 15_140, 29_140]);
    assert_eq!(prompts(&drop("same_file, same_call"), &timeline).last(), Some(&28_130));
}

/// Whole prefixes that are forgotten after five minutes; ten pass between two turns.
const MINUTES: CacheRules = CacheRules::prefix_interval(STEPS, Some(300_000));

#[test]
fn a_prompt_that_is_sent_while_nothing_is_asked_is_still_in_the_cache_when_the_user_comes_back() {
    let ping = |times: u64| {
        format!(r#"(name: "p", at: [idle], pause: (after: "4m", times: {times}), apply: ping())"#)
    };
    let timeline = turns(&[&[], &[], &[]]);
    let of = |times| {
        let (rows, outcome) = play(&ping(times), &timeline, &Limits::NONE, &MINUTES);
        let is_ping = |it: &&RequestRow| it.role == Role::KeepAlive;
        let pings: Vec<_> = rows.requests.iter().filter(is_ping).map(|it| it.at_ms / 60_000).collect();
        let read: Vec<_> =
            rows.requests.iter().filter(|it| it.role == Role::Main).map(|it| it.usage.read).collect();
        (pings, read, outcome.firings[0].acted)
    };

    // Nobody comes back after the last turn as far as the load says.
    assert_eq!(of(1), (vec![14, 24], vec![0, 0, 0], 2));
    assert_eq!(of(2), (vec![14, 18, 24, 28], vec![0, 150, 300], 4));
    assert_eq!(of(9), (vec![14, 18, 24, 28], vec![0, 150, 300], 4));
}

#[test]
fn a_cache_that_was_kept_is_not_cold() {
    let stages = r#"
        (name: "p", at: [idle], pause: (after: "4m", times: 2), apply: ping()),
        (name: "cut", at: [turn_start], when: cache_cold, apply: drop)"#;
    let (rows, outcome) = play(stages, &turns(&[&[], &[]]), &Limits::NONE, &MINUTES);

    assert_eq!(outcome.firings[1].fired, 0);
    assert_eq!(rows.requests.last().map(|it| it.prompt), Some(250));
}

#[test]
fn a_history_is_summarised_inside_a_pause_when_there_is_enough_of_it() {
    let stages = r#"(name: "s", at: [idle], pause: (after: "9m"), when: prompt(above: tokens(200)),
        apply: summarise(output: tokens(20), prompt: aligned, overhead: tokens(5)))"#;
    let timeline = turns(&[&[], &[], &[]]);
    let spec =
        decode(&format!("(name: \"case\", about: \"A case.\", stages: [{stages}])"), Format::Ron).unwrap();
    let mut rows = Rows::default();
    Simulation::new(&timeline, &Policy::new(&spec).unwrap(), &Limits::NONE, &INTERVAL).run(&mut rows);

    let told: Vec<_> = rows.requests.iter().map(|it| (it.role, it.at_ms / 60_000, it.prompt)).collect();
    let main = |at_min, prompt| (Role::Main, at_min, prompt);
    assert_eq!(told, [main(10, 100), main(20, 250), (Role::Summariser, 29, 305), main(30, 120)]);
    assert_eq!(rows.requests[2].usage.read, 250, "the cache still knows what the agent sent");
}
