//! Drawn needs: what they fetch is in the history, and on the average they are the needs that were weighed.

use ctxsim::engine::{CompiledPolicy, Sampled, sample, simulate_sampled};
use ctxsim::ledger::NeedSums;
use ctxsim::model::{CacheRules, Limits, Policy};
use ctxsim::rng::Seed;
use ctxsim::spec::Format;
use ctxsim::spec::decode::decode;
use ctxsim::timeline::evidence::Recover;
use ctxsim::timeline::{
    Due, Inferred, Kind, Level, NO_ITEM, Need, NewItem, Preserve, Sizes, Timeline, TimelineBuilder,
};
use ctxsim::{Catalog, Comparison, Plan, Rows, Sums, simulate};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::oracle;
use super::random_policy::policy;
use super::random_timeline::timeline;

/// How many seeds an average is taken over.
const N_SEEDS: u64 = 300;

/// Averages may be off by so many standard errors.
const ERRORS_MAX: f64 = 4.0;

fn of(text: &str) -> Policy {
    Policy::new(&decode(text, Format::Ron).unwrap()).unwrap()
}

/// A policy whose scopes count turns: nothing that is fetched later changes what it shows of a turn.
fn by_turns() -> Policy {
    of(r#"(name: "handles", about: "Handles of completed turns.", stages: [
        (name: "history", scope: (part: completed, kinds: [tool_result]), apply: show(handle)),
    ], recovery: naive_reread(limit: 3, fits: tokens(900)))"#)
}

/// A policy that drops the more, the more was fetched.
fn by_tokens() -> Policy {
    of(r#"(name: "drop", about: "Drops the oldest.", stages: [
        (name: "drop", when: prompt(above: tokens(6000)), until: prompt(at_most: tokens(4000)),
         scope: (kinds: [tool_call, tool_result], keep_recent: steps(1), by: steps(1)), apply: drop),
    ])"#)
}

/// Eight turns of three results; each turn needs something of an earlier one, of itself, and of single results.
fn load() -> Timeline {
    let mut timeline = TimelineBuilder::new("load", &["read_file".to_owned()]);
    timeline.stable(Kind::System, 500);
    let mut step = 0;
    for turn_ix in 0..8_u32 {
        timeline.begin_turn(&[NewItem::plain(Kind::User, 80)]);
        for (tool, raw) in [("read_file", 1_200), ("grep", 700), ("read_file", 400)] {
            if step > 4 {
                // One of the first turn's results.
                let inferred = Inferred { rule: "test", step, item: 3 + 2 * (step % 3) };
                timeline.item_need(inferred, Level::ExactEvidence, 0.3, &[]);
            }
            let sizes = Sizes { raw, excerpt: 300, summary: 120, handle: 20 };
            let recover = Recover { handle: 30, local: 60, exact: 300 };
            let result = NewItem::result(tool, 0, sizes, Preserve::WorkingEvidence, recover);
            timeline.step(i64::from(step) * 5_000, 60, &[NewItem::call(tool, 40)], &[result]);
            step += 1;
        }
        let answer = NewItem::plain(Kind::Assistant, 150);
        timeline.step(i64::from(step) * 5_000, 150, &[answer], &[]);
        step += 1;
        let need = |source, level, weight| Need { source, level, weight, recover_tokens: None };
        if turn_ix > 1 {
            timeline.need(Due::TurnStart, need(turn_ix - 2, Level::RawContent, 0.6));
            timeline.need(Due::TurnStart, need(turn_ix - 1, Level::ExactEvidence, 0.35));
        }
        timeline.need(Due::TurnEnd, need(turn_ix, Level::LocalDetail, 0.2));
    }
    timeline.finish()
}

fn drawn(timeline: &Timeline, policy: &Policy, seed: u64) -> Sampled {
    let compiled = CompiledPolicy::new(timeline, policy, &Limits::NONE);
    sample(timeline, &compiled, compiled.recovery(), &Limits::NONE, &CacheRules::None, Seed(seed))
}

fn sums(rows: &[ctxsim::ledger::NeedRow]) -> NeedSums {
    use ctxsim::ledger::Sink as _;
    let mut sums = Sums::default();
    rows.iter().for_each(|it| sums.need(it));
    sums.needs
}

/// Checks that an average is a value, within so many standard errors.
fn assert_near(what: &str, samples: &[f64], value: f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(error > 0.0, "{what}: nothing was left to chance");
    assert!((mean - value).abs() <= ERRORS_MAX * error, "{what}: {mean} and not {value}, by {error} each");
}

#[test]
fn where_nothing_fetched_changes_what_follows_drawn_needs_average_to_the_expected_ones() {
    let (timeline, policy) = (load(), by_turns());
    let mut expected = Sums::default();
    simulate(&timeline, &policy, &Limits::NONE, &CacheRules::None, &mut expected);

    let drawn: Vec<NeedSums> = (0..N_SEEDS).map(|it| sums(&drawn(&timeline, &policy, it).needs)).collect();

    let column = |of: fn(&NeedSums) -> f64| drawn.iter().map(of).collect::<Vec<_>>();
    let expected = expected.needs;
    assert!(expected.repeats > 0.0);
    assert_near("calls", &column(|it| it.calls), expected.calls);
    assert_near("repeats", &column(|it| it.repeats), expected.repeats);
    assert_near("fetched", &column(|it| it.fetched), expected.fetched);
}

#[test]
fn drawn_needs_average_to_what_is_expected_along_the_run_even_where_fetching_changes_what_follows() {
    let timeline = load();
    let surplus = |seed| {
        let rows = drawn(&timeline, &by_tokens(), seed).needs;
        let happened: f64 = rows.iter().map(|it| f64::from(u8::from(it.calls + it.failed > 0.0))).sum();
        happened - rows.iter().map(|it| it.weight * (1.0 - it.met)).sum::<f64>()
    };

    let surplus: Vec<f64> = (0..N_SEEDS).map(surplus).collect();

    assert_near("needs beyond the expected", &surplus, 0.0);
}

#[test]
fn what_is_fetched_is_a_request_a_call_and_a_result_of_the_step_that_needs_it() {
    let (timeline, policy) = (load(), by_turns());
    let compiled = CompiledPolicy::new(&timeline, &policy, &Limits::NONE);
    let mut rows = Rows::default();
    simulate_sampled(
        &timeline,
        &compiled,
        compiled.recovery(),
        &Limits::NONE,
        &CacheRules::None,
        Seed(7),
        &mut rows,
    );

    let n_calls = sums(&rows.needs).calls as usize;
    assert!(n_calls > 3);
    assert_eq!(rows.requests.len(), timeline.spine.steps.len() + n_calls);
    let further = rows.requests.iter().filter(|it| it.n > 0).count();
    assert_eq!(further, n_calls, "each stands under a step of the load");
    assert!(rows.requests.is_sorted_by_key(|it| (it.step, it.n)));
    let mut plain = Rows::default();
    simulate(&timeline, &policy, &Limits::NONE, &CacheRules::None, &mut plain);
    let last = |rows: &Rows| rows.requests.last().unwrap().prompt;
    assert!(last(&rows) > last(&plain), "what was fetched stays in the history");
    assert_eq!(rows.needs.len(), plain.needs.len(), "each need is drawn once");
}

#[test]
fn a_fetched_result_serves_the_needs_that_follow() {
    let mut timeline = TimelineBuilder::new("twice", &[]);
    timeline.begin_turn(&[NewItem::plain(Kind::User, 80)]);
    let sizes = Sizes { raw: 1_200, excerpt: 300, summary: 120, handle: 20 };
    for step in 0..6_u32 {
        if step > 2 {
            let inferred = Inferred { rule: "test", step, item: 2 };
            timeline.item_need(inferred, Level::ExactEvidence, 1.0, &[]);
        }
        let result = NewItem::result("grep", 0, sizes, Preserve::Reference, Recover::default());
        timeline.step(i64::from(step), 60, &[NewItem::call("grep", 40)], &[result]);
    }
    let timeline = timeline.finish();
    let policy = of(r#"(name: "one", about: "Keeps three steps.", stages: [
        (name: "cut", scope: (kinds: [tool_result], keep_recent: steps(3)), apply: show(handle)),
    ])"#);

    let rows = drawn(&timeline, &policy, 0).needs;

    let calls: Vec<f64> = rows.iter().map(|it| it.calls).collect();
    assert_eq!(calls, [0.0, 1.0, 0.0], "the copy still stands a step later");
    assert!(rows.iter().all(|it| it.inferred.unwrap().item == 2), "rows speak of the load as it was given");
}

#[test]
fn who_keeps_everything_fetches_nothing() {
    let timeline = load();
    let keep = of(r#"(name: "keep", about: "Keeps.")"#);

    let kept = drawn(&timeline, &keep, 3);

    assert_eq!(kept.timeline.spine.steps, timeline.spine.steps);
    assert_eq!(kept.needs.iter().map(|it| it.calls + it.failed).sum::<f64>(), 0.0);
}

#[test]
fn the_history_with_what_was_fetched_plays_in_the_naive_simulator_alike() {
    let config = Config { failure_persistence: None, ..Config::with_cases(100) };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let result = TestRunner::new_with_rng(config, rng).run(
        &(timeline(), policy(), 0_u64..50),
        |(plan, spec, seed)| {
            let (policy, timeline) = (Policy::new(&spec).unwrap(), plan.build());
            let sampled = drawn(&timeline, &policy, seed);
            let spine = &sampled.timeline.spine;
            for (index, item) in (0_u32..).zip(&spine.items) {
                prop_assert!(item.pair == NO_ITEM || spine.items[item.pair as usize].pair == index);
                prop_assert!(item.step_ix as usize <= spine.steps.len());
            }
            prop_assert_eq!(
                (sampled.steps.len(), sampled.items.len()),
                (spine.steps.len(), spine.items.len())
            );
            let mut rows = Rows::default();
            simulate(&sampled.timeline, &policy, &Limits::NONE, &CacheRules::None, &mut rows);
            let (naive, _) = oracle::simulate(&sampled.timeline, &policy, &Limits::NONE, &CacheRules::None);
            prop_assert_eq!(&rows.requests, &naive.requests, "{:#?}", plan);
            prop_assert_eq!(&rows.needs, &naive.needs, "{:#?}", plan);
            Ok(())
        },
    );
    result.unwrap();
}

#[test]
fn a_scenario_chooses_to_draw_and_what_was_sent_is_not_priced_twice() {
    let plan = |set: &[&str]| {
        let comparison = Comparison {
            policies: vec!["clear_tool_results".to_owned()],
            scenarios: vec!["recorded/claude-code".to_owned()],
            profiles: vec!["interval/openai-gpt-5.4".to_owned()],
            set: set.iter().map(|it| (*it).to_owned()).collect(),
            ..Comparison::default()
        };
        Plan::new(&Catalog::bundled(), &comparison).unwrap().report(Some(1), &|_, _| {}).runs.remove(0).tally
    };

    let (expected, drawn) = (plan(&[]), plan(&["scenario.recovery=sampled"]));

    let n_sent = drawn.sums.needs.sent_calls;
    assert!(n_sent > 0.0 && expected.sums.needs.sent_calls == 0.0);
    assert_eq!(drawn.sums.main.n - expected.sums.main.n, n_sent as u64);
    assert_eq!(drawn.recovery_input, 0.0);
    assert!(expected.recovery_input > 0.0);
}
