//! Drawn needs: what they fetch is in the history, and on the average they are the needs that were weighed.

use ctxsim::ledger::NeedSums;
use ctxsim::quantity::Expected;
use ctxsim::recovery::Terms;
use ctxsim::report::runs;
use ctxsim::row;
use ctxsim::take;
use ctxsim::timeline::{Due, Inferred, Level, Need};

use crate::support::*;

/// How many seeds an average is taken over.
const N_SEEDS: u64 = 300;

/// Averages may be off by so many standard errors.
const ERRORS_MAX: f64 = 4.0;

fn of(text: &str) -> Policy {
    policy_from(text)
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
                let inferred = Inferred { rule: "test", step, item: 3 + 2 * (step % 3), names: None };
                timeline.item_need(inferred, Level::ExactEvidence, 0.3, &[]);
            }
            let sizes = ItemSizes { raw, excerpt: 300, summary: 120, handle: 20 };
            let recover = Recover { handle: 30, local: 60, exact: 300 };
            let result = NewItem::result(tool, 0, sizes, Preserve::WorkingEvidence, recover);
            timeline.step(i64::from(step) * 5_000, 60, &[NewItem::call(tool, 40)], &[result]);
            step += 1;
        }
        let answer = NewItem::plain(Kind::Assistant, 150);
        timeline.step(i64::from(step) * 5_000, 150, &[answer], &[]);
        step += 1;
        let need = |source, level, weight| Need::new(source, level, weight, None);
        if turn_ix > 1 {
            timeline.need(Due::TurnStart, need(turn_ix - 2, Level::RawContent, 0.6));
            timeline.need(Due::TurnStart, need(turn_ix - 1, Level::ExactEvidence, 0.35));
        }
        timeline.need(Due::TurnEnd, need(turn_ix, Level::LocalDetail, 0.2));
    }
    timeline.finish()
}

/// Returns whether some edit hangs on what is fetched, if results enter as handles and a stage reads sizes.
fn is_swayed(conditions: &str) -> bool {
    let policy = of(&format!(
        r#"(name: "near", about: "Nearly drops.", stages: [
            (name: "enter", at: [entry], scope: (part: entering), apply: show(handle)),
            (name: "drop", {conditions}, scope: (by: steps(1)), apply: drop),
        ])"#
    ));
    let mut sums = Sums::default();
    let outcome = Simulation::new(&load(), &policy, &Limits::NONE, &CacheRules::None).run(&mut sums);
    assert!(!outcome.reacts, "{conditions}: {sums:?}");
    outcome.is_swayed
}

#[test]
fn every_condition_on_a_size_hangs_on_what_is_fetched_where_it_is_near() {
    for of in ["prompt", "body", "raw", "scope", "counted", "grown"] {
        for (most, is_near) in [(11_300, true), (900_000, false)] {
            let above = format!("{of}(above: tokens({most}))");
            for conditions in [
                format!("when: {above}"),
                format!("when: all([{above}])"),
                format!("when: not({of}(at_most: tokens({most})))"),
                format!("when: always, until: {of}(at_most: tokens({most}))"),
            ] {
                assert_eq!(is_swayed(&conditions), is_near, "{conditions}");
            }
        }
    }
}

fn drawn(timeline: &Timeline, policy: &Policy, seed: u64) -> Rows {
    drawn_with(timeline, policy, seed, 1.0)
}

/// Draws the needs of a load, so many of whose calls have a request of their own.
fn drawn_with(timeline: &Timeline, policy: &Policy, seed: u64, own_request: f64) -> Rows {
    let compiled = CompiledPolicy::new(timeline, policy, &Limits::NONE);
    let mut rows = Rows::default();
    let terms = compiled.recovery().terms().map(|it| Terms { own_request, ..it });
    Simulation::compiled(timeline, &compiled, &CacheRules::None)
        .recovering(&[compiled.recovery().under(terms)])
        .drawn(Seed(seed))
        .run(&mut rows);
    rows
}

fn sums(rows: &[ctxsim::ledger::NeedRow]) -> NeedSums {
    use ctxsim::ledger::Sink as _;
    let mut sums = Sums::default();
    rows.iter().for_each(|it| sums.need(it));
    sums.needs
}

/// Checks that an average is a value, within so many standard errors.
fn assert_near(what: &str, samples: &[f64], value: f64, errors_max: f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(error > 0.0, "{what}: nothing was left to chance");
    assert!((mean - value).abs() <= errors_max * error, "{what}: {mean} and not {value}, by {error} each");
}

#[test]
fn where_nothing_fetched_changes_what_follows_drawn_needs_average_to_the_expected_ones() {
    let (timeline, policy) = (load(), by_turns());
    let mut expected = Sums::default();
    Simulation::new(&timeline, &policy, &Limits::NONE, &CacheRules::None).run(&mut expected);

    let drawn: Vec<NeedSums> = (0..N_SEEDS).map(|it| sums(&drawn(&timeline, &policy, it).needs)).collect();

    let column = |of: fn(&NeedSums) -> f64| drawn.iter().map(of).collect::<Vec<_>>();
    let expected = expected.needs;
    assert!(expected.repeats > Expected::ZERO);
    assert_near("calls", &column(|it| it.calls.to_f64()), expected.calls.to_f64(), ERRORS_MAX);
    assert_near("repeats", &column(|it| it.repeats.to_f64()), expected.repeats.to_f64(), ERRORS_MAX);
    assert_near("fetched", &column(|it| it.fetched.to_f64()), expected.fetched.to_f64(), ERRORS_MAX);
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

    assert_near("needs beyond the expected", &surplus, 0.0, ERRORS_MAX);
}

#[test]
fn what_is_fetched_is_a_request_a_call_and_a_result_of_the_step_that_needs_it() {
    let (timeline, policy) = (load(), by_turns());
    let rows = drawn(&timeline, &policy, 7);

    let n_calls = sums(&rows.needs).calls.to_f64() as usize;
    assert!(n_calls > 3);
    assert_eq!(rows.requests.len(), timeline.spine.steps.len() + n_calls);
    let further = rows.requests.iter().filter(|it| it.n > 0).count();
    assert_eq!(further, n_calls, "each stands under a step of the load");
    assert!(rows.requests.is_sorted_by_key(|it| (it.step, it.n)));
    let mut plain = Rows::default();
    Simulation::new(&timeline, &policy, &Limits::NONE, &CacheRules::None).run(&mut plain);
    let last = |rows: &Rows| rows.requests.last().unwrap().prompt;
    assert!(last(&rows) > last(&plain), "what was fetched stays in the history");
    assert_eq!(rows.needs.len(), plain.needs.len(), "each need is drawn once");
}

#[test]
fn what_rides_along_is_in_the_history_without_a_request_of_its_own() {
    let (timeline, policy) = (load(), by_turns());

    let (own, along) = (drawn(&timeline, &policy, 7), drawn_with(&timeline, &policy, 7, 0.0));

    assert_eq!(along.requests.len(), timeline.spine.steps.len());
    let first_call = |rows: &Rows| rows.needs.iter().position(|it| it.calls > 0.0);
    assert_eq!(first_call(&own), first_call(&along), "the draws are the same");
    let output = |rows: &Rows| rows.requests.iter().map(|it| it.output).sum::<u64>();
    assert!(
        output(&along) > timeline.spine.steps.iter().map(|it| it.output_tokens).sum(),
        "the agent writes the calls"
    );
}

#[test]
fn a_fetched_result_serves_the_needs_that_follow() {
    let mut timeline = TimelineBuilder::new("twice", &[]);
    timeline.begin_turn(&[NewItem::plain(Kind::User, 80)]);
    let sizes = ItemSizes { raw: 1_200, excerpt: 300, summary: 120, handle: 20 };
    for step in 0..6_u32 {
        if step > 2 {
            let inferred = Inferred { rule: "test", step, item: 2, names: None };
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

    assert_eq!(kept.requests.len(), timeline.spine.steps.len());
    assert_eq!(kept.needs.iter().map(|it| it.calls + it.failed).sum::<f64>(), 0.0);
}

/// Plans a policy on the recorded session.
fn recorded(policy: &str, trials: Option<u64>, set: &[&str]) -> Plan {
    let comparison = Comparison {
        trials,
        set: owned(set),
        ..comparing(&[policy], &["recorded/claude-code"], &["interval/openai-gpt-5.4"])
    };
    planned(&comparison)
}

/// Returns rows as programs read them.
fn values(rows: &row::Rows) -> Vec<Value> {
    serde_json::from_value(serde_json::to_value(rows).unwrap()).unwrap()
}

/// Returns the report of a plan and the rows of its trials, as programs read them.
fn written(plan: &Plan, threads: usize) -> (Value, Vec<Value>) {
    let quiet = |_, _| {};
    let run = take::RunName { policy: "p", scenario: "s", profile: "m" };
    let trials = plan.map_loads(Some(threads), &quiet, take::Load::drawn).unwrap().concat();
    let lines = trials.iter().flat_map(|(_, trials)| values(&take::drawn(run, trials)));
    (values(&runs::run_rows(&plan.report(Some(threads), &quiet).unwrap(), false)).remove(0), lines.collect())
}

#[test]
fn a_scenario_chooses_to_draw_and_what_was_sent_is_not_priced_twice() {
    let plan = |set: &[&str]| {
        let plan = recorded("clear_tool_results_at_40k_min_5k", None, set);
        plan.report(Some(1), &|_, _| {}).unwrap().runs.remove(0).tally
    };

    let (expected, drawn) = (plan(&[]), plan(&["scenario.recovery=sampled"]));

    let n_sent = drawn.sums.needs.sent_calls;
    assert!(n_sent > Expected::ZERO && expected.sums.needs.sent_calls == Expected::ZERO);
    let further = drawn.sums.main.n - expected.sums.main.n;
    let looked_up = drawn.sums.explored.sent_calls;
    assert!(Expected::from(further) <= n_sent + looked_up, "some of the calls ride along");
    assert_eq!(drawn.recovery_input, Expected::ZERO);
    assert!(expected.recovery_input > Expected::ZERO);
}

#[test]
fn trials_of_a_recorded_session_add_up_and_average_to_what_is_expected() {
    let policy = "duckagent/immediate_summary";
    let expected = recorded(policy, None, &[]).report(Some(1), &|_, _| {}).unwrap().runs.remove(0).tally;
    let drawn = recorded(policy, Some(20), &["scenario.recovery=sampled"]);

    let (run, rows) = written(&drawn, 1);

    assert_eq!(written(&drawn, 2), (run.clone(), rows.clone()), "threads change nothing");
    assert_eq!((rows.len(), &run["trials"]), (20, &Value::from(20)));
    assert!((0_u64..).zip(&rows).all(|(trial, row)| row["trial"] == trial));
    let numbers = |place: &str| -> Vec<f64> {
        rows.iter().map(|it| it.pointer(place).unwrap().as_f64().unwrap()).collect()
    };
    for place in
        ["/requests", "/input_tokens", "/recovery/expected_calls", "/cost_usd/base", "/cost_usd/total"]
    {
        let (sum, whole) =
            (numbers(place).iter().sum::<f64>(), run["totals"].pointer(place).unwrap().as_f64().unwrap());
        assert!((sum - whole).abs() <= 1e-12 * whole, "{place}: {sum} and not {whole}");
    }
    assert_near("cost", &numbers("/cost_usd/total"), expected.costs.total().unwrap(), 3.0);
}

#[test]
fn the_first_of_several_trials_is_the_only_one_of_one() {
    let of = |trials, set: &[&str]| {
        let set = [&["scenario.recovery=sampled"], set].concat();
        written(&recorded("clear_tool_results_at_40k_min_5k", trials, &set), 1).1
    };

    let (one, three) = (of(None, &[]), of(Some(3), &[]));

    assert_eq!((one.len(), one.first()), (1, three.first()));
    let numbers =
        |nth: usize| three[nth].as_object().unwrap().iter().filter(|it| it.0 != "trial").collect::<Vec<_>>();
    assert_ne!(numbers(1), numbers(2));
    assert_eq!(of(None, &["scenario.trials=3"]), three, "a scenario says it as the command line does");
}
