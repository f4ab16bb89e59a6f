//! Laws that hold for every policy on every timeline, tried on random ones from a fixed seed.

use ctxsim::input::policy::{Action, RecoverySpec};
use ctxsim::input::profile::cache::{Blocks, Breakpoints, ExplicitCache, Steps, Touch, UnitRules};
use ctxsim::input::profile::written::RecoveryPrice;
use ctxsim::input::scenario::refetch::{AssumedNumber, Exploration, Refetch};
use ctxsim::ledger::Outcome;
use ctxsim::price::by_request;
use ctxsim::price::{Costs, PriceRows};
use ctxsim::quantity::Amount;
use ctxsim::timeline::SideRequest;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::oracle;
use crate::random_memory::memory;
use crate::random_policy::policy;
use crate::random_rules::{breakpoints, layout, rules, steps, units};
use crate::random_timeline::{TimelinePlan, eventful_trace, timeline};
use crate::support::*;

/// How many cases a law that takes the usual number is tried on, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 64;

/// Tries a law on a multiple of the usual number of cases, from a fixed seed.
pub(crate) fn hold<S: Strategy>(times: u32, strategy: S, law: impl Fn(S::Value) -> Result<(), TestCaseError>)
where
    S::Value: Clone,
{
    let config = ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 60_000,
        max_global_rejects: u32::MAX,
        ..ProptestConfig::default()
    };
    let usual = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { CASES };
    let config = ProptestConfig { cases: usual.saturating_mul(times), ..config };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    match TestRunner::new_with_rng(config, rng).run(&strategy, law) {
        Ok(()) => {}
        Err(TestError::Fail(why, _)) => panic!("{why}"),
        Err(TestError::Abort(why)) => panic!("aborted: {why}"),
    }
}

fn limits() -> impl Strategy<Value = Limits> {
    let prompt = prop_oneof![2 => Just(UNLIMITED), 3 => 2_000_u64..60_000];
    let output = prop_oneof![4 => Just(UNLIMITED), 1 => 700_u64..5_000];
    (prompt, 0_u64..2_000, output).prop_map(|(prompt, more, output)| Limits {
        prompt,
        window: prompt.saturating_add(more),
        output,
    })
}

fn play(timeline: &Timeline, policy: &Policy, limits: &Limits, rules: &CacheRules) -> (Rows, Outcome) {
    let mut rows = Rows::default();
    let outcome = Simulation::new(timeline, policy, limits, rules).run(&mut rows);
    (rows, outcome)
}

/// A case as a reader wants to see it.
fn told(spec: &PolicyFile, timeline: &TimelinePlan, limits: &Limits, rules: &CacheRules) -> String {
    let policy =
        ron::ser::to_string_pretty(spec, ron::ser::PrettyConfig::new().compact_arrays(true)).unwrap();
    format!("{policy}\n{timeline:#?}\n{limits:?}\n{rules:?}")
}

fn identity() -> Policy {
    let spec = PolicyFile {
        name: "identity".to_owned(),
        about: "Keeps everything.".to_owned(),
        ..Default::default()
    };
    Policy::new(&spec).unwrap()
}

/// Fails where a run differs from that of the naive simulator.
fn assert_agree(
    (rows, outcome): (Rows, Outcome),
    (naive_rows, naive_outcome): (Rows, Outcome),
    case: impl Fn() -> String,
) -> Result<(), TestCaseError> {
    for (n, (row, naive)) in rows.requests.iter().zip(&naive_rows.requests).enumerate() {
        prop_assert_eq!(row, naive, "request {} (engine left, naive right) of\n{}", n, case());
    }
    prop_assert_eq!(&rows.stored, &naive_rows.stored, "{}", case());
    prop_assert_eq!(&rows.expected, &naive_rows.expected, "{}", case());
    prop_assert_eq!(&rows.explored, &naive_rows.explored, "{}", case());
    for (n, (row, naive)) in rows.needs.iter().zip(&naive_rows.needs).enumerate() {
        prop_assert_eq!(row, naive, "need {} (engine left, naive right) of\n{}", n, case());
    }
    for (n, (row, naive)) in rows.probes.iter().zip(&naive_rows.probes).enumerate() {
        prop_assert_eq!(row, naive, "probe {} (engine left, naive right) of\n{}", n, case());
    }
    prop_assert_eq!(rows.probes.len(), naive_rows.probes.len(), "{}", case());
    prop_assert_eq!(rows.requests.len(), naive_rows.requests.len(), "{}", case());
    prop_assert_eq!(rows.needs.len(), naive_rows.needs.len(), "{}", case());
    let outcome = super::oracle::known(&outcome);
    prop_assert_eq!(outcome, naive_outcome, "{}", case());
    Ok(())
}

#[test]
fn the_engine_agrees_with_a_naive_simulator() {
    let policy = (policy(), layout(), memory());
    let policy = policy.prop_map(|(spec, layout, memory)| PolicyFile { layout, memory, ..spec });
    hold(2, (eventful_trace(), policy, limits(), rules()), |(plan, spec, limits, rules)| {
        let (policy, timeline) = (Policy::new(&spec).unwrap(), plan.build());
        let run = play(&timeline, &policy, &limits, &rules);
        let naive = oracle::simulate(&timeline, &policy, &limits, &rules);
        assert_agree(run, naive, || told(&spec, &plan, &limits, &rules))
    });
}

/// Plays a timeline in the engine and in the naive simulator, which must agree.
fn agreed(timeline: &Timeline, policy: &str) -> Vec<RequestRow> {
    let (policy, rules) =
        (policy_from(policy), CacheRules::prefix_interval(Steps { min: 0, step: 1 }, Some(0)));
    let run = play(timeline, &policy, &Limits::NONE, &rules);
    let requests = run.0.requests.clone();
    let naive = oracle::simulate(timeline, &policy, &Limits::NONE, &rules);
    assert_agree(run, naive, || policy.name.clone()).unwrap();
    requests
}

#[test]
fn a_turn_without_requests_does_not_begin_the_pause_that_it_is_in_again() {
    let mut timeline = TimelineBuilder::new("pause", &[]);
    for at_ms in [Some(0), None, Some(300_000)] {
        timeline.begin_turn(&[NewItem::plain(Kind::User, 80)]);
        let answer = [NewItem::plain(Kind::Assistant, 40)];
        at_ms.into_iter().for_each(|it| timeline.step(it, 40, &answer, &[]));
    }

    let requests = agreed(
        &timeline.finish(),
        r#"(name: "pings", about: "Pings.", stages: [
            (name: "ping", at: [idle], pause: (after: "1m", times: 2), apply: ping()),
        ])"#,
    );

    let sent: Vec<_> = requests.iter().map(|it| (it.role, it.at_ms, it.turn_ix)).collect();
    let pings = [(Role::KeepAlive, 60_000, 0), (Role::KeepAlive, 120_000, 0)];
    assert_eq!(sent, [(Role::Main, 0, 0), pings[0], pings[1], (Role::Main, 300_000, 2)]);
}

#[test]
fn an_image_is_one_tool_use_with_its_result_when_a_summary_stands_for_that() {
    let mut timeline = TimelineBuilder::new("image", &[]);
    timeline.begin_turn(&[NewItem::plain(Kind::User, 80)]);
    let sizes = ItemSizes { raw: 60, ..ItemSizes::default() };
    let result = NewItem::result("read", 0, sizes, Preserve::WorkingEvidence, Recover::default());
    let image = NewItem { tool: "read", answers: usize::MAX, ..NewItem::image(None, 108) };
    timeline.step(0, 40, &[NewItem::call("read", 40)], &[result, image]);

    let requests = agreed(
        &timeline.finish(),
        r#"(name: "sums", about: "Summaries as results enter, then of each tool use.", stages: [
            (name: "uses", at: [turn_end], scope: (by: tool_uses(1)), apply: summarise(output: tokens(110), per: unit)),
            (name: "results", at: [entry], scope: (part: entering), apply: summarise(output: times(0.25, input))),
        ])"#,
    );

    // The second reads the call, the 15 tokens of the first and the image: without this, or this alone, it would not be smaller.
    let read: Vec<_> = requests.iter().map(|it| (it.role, it.prompt)).collect();
    assert_eq!(read, [(Role::Main, 80), (Role::Summariser, 60), (Role::Summariser, 163)]);
}

/// Which limits and cache rules there are beside others changes nothing: several caches may answer one play, and limits that no request
/// comes to are as good as none.
#[test]
fn a_play_that_several_caches_answer_is_to_each_of_them_as_its_own() {
    let seed = prop::option::of(0_u64..50);
    let cases = (eventful_trace(), policy(), limits(), prop::collection::vec(rules(), 2..6), seed);
    hold(4, cases, |(plan, spec, limits, rules, seed)| {
        let (policy, timeline) = (Policy::new(&spec).unwrap(), plan.build());
        let compiled = CompiledPolicy::new(&timeline, &policy, &limits);
        let alike = rules.iter().filter(|it| compiled.plays_alike_under(&rules[0], it));
        let alike: Vec<&CacheRules> = alike.filter(|_| timeline.facts.is_none()).collect();
        let mut rows = vec![Rows::default(); alike.len()];
        let unlimited = compiled.clone().within(Limits::NONE);
        for within in [&compiled, &unlimited].into_iter().filter(|_| !alike.is_empty()) {
            rows.fill(Rows::default());
            let play = Simulation::compiled(&timeline, within, alike[0]).under(&alike);
            let play = if let Some(seed) = seed { play.drawn(Seed(seed)) } else { play };
            let (outcome, [prompt, output]) = play.run_measured(&mut rows);
            if std::ptr::eq(within, &unlimited) && (prompt > limits.prompt || output > limits.output) {
                continue;
            }
            for (rows, rules) in rows.iter().zip(&alike) {
                let mut own = Rows::default();
                let play = Simulation::compiled(&timeline, &compiled, rules);
                let alone = if let Some(seed) = seed { play.drawn(Seed(seed)) } else { play }.run(&mut own);
                let shared = (rows.clone(), outcome.clone());
                assert_agree(shared, (own, oracle::known(&alone)), || told(&spec, &plan, &limits, rules))?;
            }
        }
        Ok(())
    });
}

/// Which share of calls has a request of its own, what a call takes, and how much it brings at most.
fn refetch() -> impl Strategy<Value = Refetch> {
    let share = prop::sample::select(vec!["0", "0.5", "1"]).prop_map(|it| Decimal::parse(it).unwrap());
    (share, 0_u32..100, 1_u32..4_000).prop_map(|(share, call_tokens, most)| Refetch {
        own_request: Some(AssumedNumber { value: share, low: share, high: share }),
        fetched_tokens_max: Some(AssumedNumber { value: most, low: most, high: most }),
        call_tokens: Some(call_tokens),
        ..Refetch::default()
    })
}

/// What is looked up anew, if anything is.
fn explores() -> impl Strategy<Value = Option<Exploration>> {
    let calls = prop::sample::select(vec!["0", "0.3", "1.7"]).prop_map(|it| Decimal::parse(it).unwrap());
    let some = (calls, 1_u32..6, -1.0_f64..=1.0, 0_u32..3_000);
    prop::option::of(some.prop_map(|(calls, fades, bend, most)| Exploration {
        calls_per_request: Some(AssumedNumber { value: calls, low: calls, high: calls }),
        fades_in_requests: Some(fades),
        bend: Some(AssumedNumber { value: bend, low: bend, high: bend }),
        fetched_tokens: Some(std::array::from_fn(|nth| most / (nth as u32 + 1))),
        fetched_scale: None,
    }))
}

#[test]
fn the_engine_agrees_with_a_naive_simulator_where_needs_are_drawn() {
    let rereads = RecoverySpec::NaiveReread { limit: 2, fits: Some(Size::Tokens(0)) };
    let recovery = prop::option::of(Just(rereads));
    let policy = (policy(), layout(), recovery).prop_map(|(spec, layout, recovery)| PolicyFile {
        layout,
        recovery: recovery.or(spec.recovery),
        ..spec
    });
    let drawn = (refetch(), 0_u64..50);
    hold(
        2,
        (timeline(), policy, limits(), rules(), drawn),
        |(plan, spec, limits, rules, (refetch, seed))| {
            let (policy, timeline) = (Policy::new(&spec).unwrap(), Timeline { refetch, ..plan.build() });
            let compiled = CompiledPolicy::new(&timeline, &policy, &limits);
            let mut rows = Rows::default();
            let outcome = Simulation::compiled(&timeline, &compiled, &rules).drawn(Seed(seed)).run(&mut rows);
            let naive = oracle::simulate_sampled(&timeline, &policy, &limits, &rules, Seed(seed));
            let case = || format!("{}\n{refetch:?} {seed}", told(&spec, &plan, &limits, &rules));
            assert_agree((rows, outcome), naive, case)
        },
    );
}

#[test]
fn the_engine_agrees_with_a_naive_simulator_where_things_are_looked_up_anew() {
    let policy = (policy(), layout()).prop_map(|(spec, layout)| PolicyFile { layout, ..spec });
    let assumed = (refetch(), explores(), 0_u64..50);
    let all = (eventful_trace(), policy, limits(), rules(), assumed);
    hold(1, all, |(plan, spec, limits, rules, (refetch, exploration, seed))| {
        let refetch = Refetch { exploration, ..refetch };
        let (policy, timeline) = (Policy::new(&spec).unwrap(), Timeline { refetch, ..plan.build() });
        let case = || format!("{}\n{refetch:?} {seed}", told(&spec, &plan, &limits, &rules));
        let run = play(&timeline, &policy, &limits, &rules);
        assert_agree(run, oracle::simulate(&timeline, &policy, &limits, &rules), case)?;
        let compiled = CompiledPolicy::new(&timeline, &policy, &limits);
        let mut rows = Rows::default();
        let outcome = Simulation::compiled(&timeline, &compiled, &rules).drawn(Seed(seed)).run(&mut rows);
        let naive = oracle::simulate_sampled(&timeline, &policy, &limits, &rules, Seed(seed));
        assert_agree((rows, outcome), naive, case)
    });
}

/// A price list with six decimals in each rate, perhaps dearer for long prompts, and either way to price what is fetched again.
fn priced() -> impl Strategy<Value = Profile> {
    let rate = || (0_u32..20, 0_u32..1_000_000).prop_map(|(whole, rest)| format!("{whole}.{rest:06}"));
    let rates = (rate(), rate(), rate(), rate(), rate());
    (rates, prop::option::of(1_u64..20_000), any::<bool>()).prop_map(|((input, output, read, short, long), tier, is_flat)| {
        let tier = tier.map_or_else(String::new, |above| {
            format!("[[prices.tiers]]\nabove_prompt_tokens = {above}\ninput = {long}\noutput = {short}\n")
        });
        let recovery = if is_flat { "recovery = \"flat\"\n" } else { "" };
        let text = format!(
            "name = \"p\"\nabout = \"Made up.\"\nas_of = \"2026-01-01\"\nsources = [\"made up\"]\ncache = \"none\"\n[[prices]]\ninput = {input}\n\
             output = {output}\ncache_read = {read}\ncache_write = {{ \"5m\" = {short}, \"1h\" = {long} }}\nstorage = {read}\n{tier}\
             [assumptions]\n{recovery}failure_penalty_usd = 0.123456789012\n"
        );
        profile_from(&text)
    })
}

/// Whether needs are expected or drawn, and whatever is fetched or looked up anew.
#[test]
fn the_rows_of_a_run_add_up_to_its_total_to_the_picodollar() {
    let policy = (policy(), layout(), memory());
    let policy = policy.prop_map(|(spec, layout, memory)| PolicyFile { layout, memory, ..spec });
    let assumed = (refetch(), explores(), prop::option::of(0_u64..50), priced());
    let all = (eventful_trace(), policy, limits(), rules(), assumed);
    let n_beside = std::cell::Cell::new(0);
    hold(2, all, |(plan, spec, limits, rules, (refetch, exploration, seed, profile))| {
        let refetch = Refetch { exploration, ..refetch };
        let (policy, timeline) = (Policy::new(&spec).unwrap(), Timeline { refetch, ..plan.build() });
        let ready = CompiledPolicy::new(&timeline, &policy, &limits);
        let recovery = match profile.assumptions.recovery {
            RecoveryPrice::Flat => ready.recovery().under(None),
            RecoveryPrice::Requests => ready.recovery(),
        };
        let play =
            Simulation::compiled(&timeline, &ready, &rules).recovering(std::slice::from_ref(&recovery));
        let play = if let Some(seed) = seed { play.drawn(Seed(seed)) } else { play };
        let mut sink: (Rows, (Sums, PriceRows)) = Default::default();
        let outcome = play.run(&mut sink);
        let (rows, (sums, prices)) = sink;
        let costs = Costs::new(&sums, Some(&prices.into()), outcome.limit_violations, &profile);
        prop_assume!(!rows.requests.is_empty());

        let all = by_request(&rows, &profile, |_| &profile, &costs);

        let case = || format!("{}\n{refetch:?} {seed:?}", told(&spec, &plan, &limits, &rules));
        prop_assert_eq!(
            all.iter().map(|it| it.total().unwrap()).sum::<Amount>(),
            costs.exact().unwrap(),
            "{}",
            case()
        );
        prop_assert_eq!(
            all.iter().map(|it| it.recovery.unwrap()).sum::<Amount>(),
            costs.recovery,
            "{}",
            case()
        );
        prop_assert_eq!(
            all.iter().map(|it| it.exploration.unwrap()).sum::<Amount>(),
            costs.exploration,
            "{}",
            case()
        );
        n_beside.set(n_beside.get() + usize::from(costs.assumed() > Amount::ZERO));
        Ok(())
    });
    assert!(n_beside.get() > 20, "too few runs with anything beside their requests: {}", n_beside.get());
}

#[test]
fn every_prompt_token_is_read_or_written_or_uncached() {
    hold(1, (timeline(), policy(), layout(), limits(), rules()), |(plan, spec, layout, limits, rules)| {
        let spec = PolicyFile { layout, ..spec };
        let (rows, _) = play(&plan.build(), &Policy::new(&spec).unwrap(), &limits, &rules);
        for row in &rows.requests {
            let usage = &row.usage;
            let parts = usage.read + usage.write[0] + usage.write[1] + usage.uncached;
            prop_assert_eq!(parts, row.prompt, "{}", told(&spec, &plan, &limits, &rules));
        }
        Ok(())
    });
}

#[test]
fn the_same_inputs_give_the_same_rows() {
    hold(1, (timeline(), policy(), limits(), rules()), |(plan, spec, limits, rules)| {
        let (policy, timeline) = (Policy::new(&spec).unwrap(), plan.build());
        let (first, outcome) = play(&timeline, &policy, &limits, &rules);
        let (second, again) = play(&timeline, &policy, &limits, &rules);
        prop_assert_eq!(first.requests, second.requests);
        prop_assert_eq!(first.needs, second.needs);
        prop_assert_eq!(outcome, again);
        Ok(())
    });
}

/// Rules of every kind under which nothing is forgotten and nothing is out of sight.
fn rules_that_keep() -> impl Strategy<Value = CacheRules> {
    let seen = |rules: Breakpoints| Breakpoints {
        lookup: None,
        lookback_positions: u16::MAX,
        is_implicit: true,
        ttl_ms: [Some(u64::MAX), None],
        max_age_ms: None,
        ..rules
    };
    let stored = ExplicitCache { min_tokens: 1_024, ttl_ms: 1 << 40, renews: false };
    prop_oneof![
        steps().prop_map(|steps| CacheRules::prefix_interval(steps, None)),
        units().prop_map(|rules| CacheRules::Units(UnitRules { ttl_ms: None, ..rules })),
        breakpoints().prop_map(move |rules| CacheRules::Breakpoints(seen(rules))),
        (1_u64..600, any::<bool>()).prop_map(|(block_tokens, is_head_first)| {
            let touch = if is_head_first { Touch::HeadFirst } else { Touch::TailFirst };
            CacheRules::Blocks(Blocks { block_tokens, capacity_blocks: None, touch })
        }),
        Just(CacheRules::ExplicitCache(stored)),
    ]
}

#[test]
fn appending_never_lowers_reads_while_nothing_expires() {
    hold(2, (timeline(), rules_that_keep()), |(plan, rules)| {
        let (rows, _) = play(&plan.build(), &identity(), &Limits::NONE, &rules);
        for pair in rows.requests.windows(2) {
            prop_assert!(pair[0].usage.read <= pair[1].usage.read, "{:#?}\n{:#?}\n{:?}", pair, plan, rules);
        }
        Ok(())
    });
}

fn clairvoyant() -> Policy {
    let text = include_str!("../../policies/clairvoyant.ron");
    policy_from(text)
}

/// Plays without carrying what is fetched, so that rows say what the prompt alone meets.
fn unrecovered(timeline: &Timeline, policy: &Policy, rules: &CacheRules) -> Rows {
    let ready = CompiledPolicy::new(timeline, policy, &Limits::NONE);
    let mut rows = Rows::default();
    let play = Simulation::compiled(timeline, &ready, rules);
    play.recovering(&[ready.recovery().under(None)]).run(&mut rows);
    rows
}

#[test]
fn clairvoyant_meets_what_identity_meets_with_no_larger_a_prompt() {
    hold(2, (timeline(), rules()), |(plan, rules)| {
        let timeline = plan.build();
        let (all, some) =
            (unrecovered(&timeline, &identity(), &rules), unrecovered(&timeline, &clairvoyant(), &rules));
        prop_assert_eq!(all.requests.len(), some.requests.len());
        for (whole, part) in all.requests.iter().zip(&some.requests) {
            prop_assert!(part.prompt <= whole.prompt, "{:?} {:?}\n{:#?}", part, whole, plan);
        }
        prop_assert_eq!(all.needs.len(), some.needs.len());
        for (whole, part) in all.needs.iter().zip(&some.needs).filter(|(it, _)| it.weight > 0.0) {
            prop_assert!(part.met >= whole.met, "{:?} {:?}\n{:#?}", part, whole, plan);
        }
        Ok(())
    });
}

/// Whether any stage writes summaries, or folds turns whatever the size.
fn summarises(spec: &PolicyFile) -> bool {
    let writes = |action: &Action| {
        matches!(action, Action::Summarise(_)) || matches!(action, Action::Fold(fold) if fold.grows)
    };
    spec.stages.iter().any(|stage| {
        stage.apply.as_ref().is_some_and(writes) || stage.then.iter().any(|it| writes(&it.apply))
    })
}

#[test]
fn no_prompt_without_summaries_is_larger_than_identity_s() {
    hold(1, (timeline(), policy(), rules()), |(plan, spec, rules)| {
        prop_assume!(!summarises(&spec));
        let timeline = plan.build();
        let (all, _) = play(&timeline, &identity(), &Limits::NONE, &rules);
        let (some, _) = play(&timeline, &Policy::new(&spec).unwrap(), &Limits::NONE, &rules);
        let some: Vec<_> = some.requests.iter().filter(|it| it.role != Role::KeepAlive).collect();
        prop_assert_eq!(all.requests.len(), some.len());
        for (whole, part) in all.requests.iter().zip(some) {
            prop_assert!(part.role == Role::Main && part.prompt <= whole.prompt, "{:?} {:?}", part, whole);
        }
        Ok(())
    });
}

/// So many turns of three results each, all alike.
fn uniform(n_turns: i64) -> Timeline {
    let mut timeline = TimelineBuilder::new("uniform", &[]);
    timeline.stable(Kind::System, 2_000);
    for turn_ix in 0..n_turns {
        timeline.begin_turn(&[NewItem::plain(Kind::User, 80)]);
        for step in 0..3 {
            let sizes = ItemSizes { raw: 1_200, excerpt: 300, summary: 120, handle: 20 };
            let result = NewItem::result("read", 0, sizes, Preserve::WorkingEvidence, Recover::default());
            timeline.step(turn_ix * 40_000 + step * 10_000, 60, &[NewItem::call("read", 40)], &[result]);
        }
        let answer = NewItem::plain(Kind::Assistant, 150);
        timeline.step(turn_ix * 40_000 + 30_000, 150, &[answer], &[]);
    }
    timeline.finish()
}

/// So many turns of one request each, after each of which the harness asks something besides.
fn asked_beside(n_turns: u32) -> Timeline {
    let mut timeline = TimelineBuilder::new("beside", &[]);
    timeline.stable(Kind::System, 2_000);
    for turn_ix in 0..n_turns {
        timeline.begin_turn(&[NewItem::plain(Kind::User, 80)]);
        let answer = NewItem::plain(Kind::Assistant, 150);
        timeline.step(i64::from(turn_ix) * 40_000, 150, &[answer], &[]);
    }
    let mut timeline = timeline.finish();
    let beside =
        |turn_ix| SideRequest { turn_ix, at_ms: i64::from(turn_ix) * 40_000 + 5_000, is_logged: true };
    timeline.side_requests = (0..n_turns).map(beside).collect();
    timeline
}

#[test]
fn a_late_request_beside_the_agents_own_touches_as_many_slots_as_an_early_one() {
    let steps = Steps { min: 1_024, step: 128 };
    let rules = CacheRules::prefix_interval(steps, Some(300_000));
    let touched = |n_turns| play(&asked_beside(n_turns), &identity(), &Limits::NONE, &rules).1.touched_slots;
    let slope = |n: u32| (touched(2 * n) - touched(n)) as f64 / f64::from(n);

    let (early, late) = (slope(250), slope(2_000));

    assert!(touched(2) > touched(1) + 2, "what is asked beside is counted");
    assert!(late <= 1.2 * early, "{early} slots a turn early, {late} late");
}

#[test]
fn a_late_turn_touches_as_many_slots_as_an_early_one() {
    let threshold = r#"(name: "threshold", about: "Handles, then a summary.", stages: [
        (name: "history", when: prompt(above: tokens(60000)), until: prompt(at_most: tokens(25000)),
         scope: (part: completed, kinds: [tool_result], keep_recent: turns(1), by: turns(1)), apply: show(handle),
         then: [(scope: (part: completed, keep_recent: turns(1), by: turns(1)), apply: summarise(output: tokens(500)))]),
    ])"#;
    let threshold = policy_from(threshold);
    let steps = Steps { min: 1_024, step: 128 };
    let rules = [CacheRules::PrefixCap(steps), CacheRules::prefix_interval(steps, Some(300_000))];
    for policy in [identity(), threshold] {
        for rules in &rules {
            let touched = |n_turns| play(&uniform(n_turns), &policy, &Limits::NONE, rules).1.touched_slots;
            let slope = |n: i64| (touched(2 * n) - touched(n)) as f64 / n as f64;
            let (early, late) = (slope(250), slope(2_000));
            assert!(late <= 1.2 * early, "{}: {early} slots a turn early, {late} late", policy.name);
        }
    }
}
