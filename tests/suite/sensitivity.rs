//! Policies across price lists: three by three worked out by hand.

mod break_even;

use std::sync::atomic::{AtomicUsize, Ordering};

use ctxsim::input::profile::price::VariedRate;
use ctxsim::measure::Sensitivity;
use ctxsim::measure::floor::Floor;
use ctxsim::report::sensitivity::markdown;

use crate::support::*;

fn folder() -> PathBuf {
    data("sensitivity")
}

fn ctxsim(args: &[&str]) -> Output {
    crate::support::ctxsim(folder(), args)
}

fn out(args: &[&str]) -> String {
    crate::support::out(&ctxsim(args))
}

fn comparison(set: &[&str]) -> Comparison {
    let set = owned(set);
    Comparison { suite: Some("three".to_owned()), set, ..Comparison::default() }
}

fn plan(set: &[&str]) -> Plan {
    let catalog = bundled_catalog().with_folder(&folder()).unwrap();
    Plan::new(&catalog, &comparison(set)).unwrap()
}

fn three() -> Sensitivity {
    plan(&[]).sensitivity_to_profiles(Some(1), &|_, _| {}).unwrap()
}

/// Whether two floats are the same up to their last digits.
fn is_near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * right.abs().max(1.0)
}

/// A system prompt of 1,000 tokens; three turns of a question and an answer of 100 each; in the first also a call of 100
/// and its result of 8,000. So `keep` sends
///
/// ```text
/// 1,100   1,100 + 100 + 8,000 = 9,200   9,200 + 100 + 100 = 9,400   9,600      together 29,300
/// ```
///
/// `prune` has 200 tokens instead of 8,000 from the second turn on: 1,100 + 9,200 + 1,600 + 1,800 = 13,700; `cut` has 7,000
/// from the start: 1,100 + 8,200 + 8,400 + 8,600 = 26,300. Every one of the four replies has 100 tokens.
///
/// An interval cache reads the prompt before (all lengths are multiples of 100 above 1,000), except where `prune` changes it
/// behind the first 1,200 tokens:
///
/// ```text
/// keep    read 1,100 + 9,200 + 9,400 = 19,700    the rest  9,600
/// prune   read 1,100 + 1,200 + 1,600 =  3,900    the rest  9,800
/// cut     read 1,100 + 8,200 + 8,400 = 17,700    the rest  8,600
/// ```
///
/// At 10 USD a million for input and 50 for output, with reads at 1 or at 0.10, in millionths of a dollar:
///
/// ```text
///               keep                            prune                          cut
/// uncached      293,000 + 20,000 = 313,000      137,000 + 20,000 = 157,000     263,000 + 20,000 = 283,000
/// cached         96,000 + 19,700 + 20,000        98,000 +  3,900 + 20,000       86,000 + 17,700 + 20,000
///                               = 135,700                       = 121,900                      = 123,700
/// cheap_reads    96,000 +  1,970 + 20,000        98,000 +    390 + 20,000       86,000 +  1,770 + 20,000
///                               = 117,970                       = 118,390                      = 107,770
/// ```
#[test]
fn three_policies_under_three_profiles_cost_what_they_cost_by_hand() {
    let found = three();

    assert_eq!(found.policies, ["keep", "prune", "cut"]);
    let [grid] = found.grids.as_slice() else { panic!("one scenario needs no sum") };
    let costs: Vec<Vec<f64>> =
        grid.rows.iter().map(|it| it.cells.iter().map(|it| it.cost().unwrap()).collect()).collect();
    assert_eq!(costs, [[0.313, 0.157, 0.283], [0.1357, 0.1219, 0.1237], [0.117_97, 0.118_39, 0.107_77]]);
    let ranks: Vec<Vec<Option<usize>>> =
        grid.rows.iter().map(|it| it.cells.iter().map(|it| it.rank).collect()).collect();
    assert_eq!(
        ranks,
        [[Some(3), Some(1), Some(2)], [Some(3), Some(1), Some(2)], [Some(2), Some(3), Some(1)]]
    );
}

/// `keep` and `prune` change places between the first two profiles and the third, so do `prune` and `cut`; `cut` is below
/// `keep` everywhere.
#[test]
fn ranks_flip_where_the_order_of_two_policies_depends_on_the_profile() {
    let found = three();

    let flips: Vec<_> = found.grids[0].flips.iter().map(|it| (it.policies, it.cheaper.clone())).collect();
    assert_eq!(flips, [([0, 1], [vec![2], vec![0, 1]]), ([1, 2], [vec![0, 1], vec![2]])]);
}

/// Under `cached`, `cut` costs 1,800 more than `prune` and sends 98,000 − 86,000 = 12,000 less at the price of input: both
/// cost the same when input is dearer by 1,800 / 12,000, a factor of 1.15. Under `cheap_reads`, `prune` costs 10,620 more
/// than `cut` and sends 12,000 more: a factor of 1 − 10,620 / 12,000 = 0.115. Without a cache all three differ in input
/// alone, and no price of input changes that.
#[test]
fn the_nearest_flip_is_the_smallest_change_of_one_rate() {
    let found = three();

    let nearest: Vec<_> = found.grids[0].rows.iter().map(|it| it.nearest).collect();
    assert_eq!(nearest[0], None);
    for (index, policy, factor) in [(1, 2, 1.15), (2, 1, 0.115)] {
        let it = nearest[index].unwrap();
        assert!(it.part == VariedRate::Input && it.policy == policy && is_near(it.factor, factor), "{it:?}");
    }
    for (price, cheapest) in [("11.49", "prune"), ("11.51", "cut")] {
        let plan = plan(&[&format!("profile.prices.0.input={price}")]);
        let row = &plan.sensitivity_to_profiles(Some(1), &|_, _| {}).unwrap().grids[0].rows[1];
        assert_eq!(plan.policies[row.order()[0]], cheapest, "at {price}");
    }
}

/// The shares of the sums above: of 135,700 that `keep` pays under `cached`, 96,000 are at the price of input. A tenth more
/// of it costs 9,600 more.
#[test]
fn elasticities_are_the_shares_that_are_paid_at_a_rate() {
    let found = three();
    let cell = &found.grids[0].rows[1].cells[0];

    let shares = VariedRate::ALL.map(|it| cell.elasticity(it).unwrap());
    let by_hand = [96_000.0 / 135_700.0, 20_000.0 / 135_700.0, 19_700.0 / 135_700.0, 0.0, 0.0];
    assert!(shares.iter().zip(by_hand).all(|(left, right)| is_near(*left, right)), "{shares:?}");
    let [less, more] = cell.cost_at(VariedRate::Input).map(Option::unwrap);
    assert!(is_near(less, 0.1261) && is_near(more, 0.1453), "{less} {more}");
    // A rate that the list leaves out is that of input: 29,300 tokens are sent, and 293,000 of 313,000 paid for them.
    let uncached = &found.grids[0].rows[0].cells[0];
    assert!(is_near(uncached.elasticity(VariedRate::Input).unwrap(), 293_000.0 / 313_000.0));
    assert_eq!(uncached.elasticity(VariedRate::CacheRead), Some(0.0));
}

/// `cached`: i 10, r 1, and writes cost what input does; minimum 1,000; five minutes. `cheap_reads`: r 0.1, w 12.5 and 20.
///
/// ```text
///                        cached                                  cheap_reads
/// hit share              0                                       2.5 / 12.4, for an hour 10 / 19.9
/// against a half         (10 − 5) / 9                            (12.5 − 5) / 12.4
/// pauses for an hour     –                                       (20 − 12.5) / (12.5 − 0.1)
/// keep alive, minutes    4 × (10/1 − 1) = 36                     4 × (12.5/0.1 − 1) = 496
/// prune, requests        9 × 40 / (1 × 20) = 18                  12.4 × 40 / (0.1 × 20) = 248
/// fill up from, tokens   1,000 × (1 + 9/10) / 10 = 190           1,000 × (0.1 + 12.4/10) / 10 = 134
/// compaction, tokens     √(2 × 9 × 40,000 × 6,400 / 1)           √(2 × 12.4 × 40,000 × 6,400 / 0.1)
/// ```
#[test]
fn break_even_points_follow_from_rates_and_habits() {
    let found = three();
    let points = |index: usize| found.profiles[index].break_even.points().map(|(_, it)| it);

    assert_eq!(points(0), [None; 8], "there is no cache");
    let by_hand = [
        [
            Some(0.0),
            None,
            Some(5.0 / 9.0),
            None,
            Some(36.0),
            Some(18.0),
            Some(190.0),
            Some(4_608_000_000.0_f64.sqrt()),
        ],
        [
            Some(2.5 / 12.4),
            Some(10.0 / 19.9),
            Some(7.5 / 12.4),
            Some(7.5 / 12.4),
            Some(496.0),
            Some(248.0),
            Some(134.0),
            Some(63_488_000_000.0_f64.sqrt()),
        ],
    ];
    for (index, by_hand) in by_hand.into_iter().enumerate() {
        for (found, expected) in points(index + 1).into_iter().zip(by_hand) {
            assert!(
                found == expected || is_near(found.unwrap(), expected.unwrap()),
                "{found:?} is not {expected:?}"
            );
        }
    }
    let other = plan(&["break_even.prune_removes_tokens=40_000"])
        .sensitivity_to_profiles(Some(1), &|_, _| {})
        .unwrap();
    assert_eq!(other.profiles[1].break_even.prune_requests, Some(9.0));
}

#[test]
fn a_ledger_is_simulated_once_for_each_pair_of_rules_and_limits() {
    let n_played = AtomicUsize::new(0);
    let count = |_, _| {
        n_played.fetch_add(1, Ordering::Relaxed);
    };

    let found = plan(&[]).sensitivity_to_profiles(Some(1), &count).unwrap();

    assert_eq!(found.n_distinct, 2, "two of the three profiles differ in prices alone");
    assert_eq!((found.n_simulations, n_played.load(Ordering::Relaxed)), (6, 6));
    // Forty more price lists for the same cache cost no further simulation.
    let mut plan = plan(&[]);
    let more = plan.profiles[2].clone();
    plan.profiles.extend((0..40).map(|index| Profile { name: format!("more/{index}"), ..more.clone() }));
    let many = plan.sensitivity_to_profiles(Some(2), &count).unwrap();
    assert_eq!((many.n_simulations, many.profiles.len(), many.grids[0].rows.len()), (6, 43, 43));
    assert_eq!(n_played.load(Ordering::Relaxed), 12);
    assert_eq!(many.grids[0].rows[2], many.grids[0].rows[42]);
}

#[test]
fn a_policy_that_stops_at_a_limit_has_no_rank() {
    let found =
        plan(&["profile.limits.input_tokens=9_300"]).sensitivity_to_profiles(Some(1), &|_, _| {}).unwrap();

    let ranks: Vec<_> = found.grids[0].rows[0].cells.iter().map(|it| it.rank).collect();
    assert_eq!(ranks, [None, Some(1), Some(2)], "`keep` goes over at its third request");
    assert!(found.grids[0].flips.iter().all(|it| it.policies[0] != 0));
}

#[test]
fn several_scenarios_are_added_up_first() {
    let catalog = bundled_catalog().with_folder(&folder()).unwrap();
    let scenarios = vec!["read".to_owned(), "duckagent/plain_chat".to_owned()];
    let found = Plan::new(&catalog, &Comparison { scenarios, ..comparison(&[]) }).unwrap();
    let found = found.sensitivity_to_profiles(None, &|_, _| {}).unwrap();

    let loads: Vec<&str> = found.grids.iter().map(|it| it.load.as_str()).collect();
    assert_eq!(loads, ["ALL", "read", "duckagent/plain_chat"]);
    for profile in 0..3 {
        for policy in 0..3 {
            let cost = |grid: usize| found.grids[grid].rows[profile].cells[policy].cost().unwrap();
            assert!(is_near(cost(0), cost(1) + cost(2)));
        }
    }
}

/// A conversation's trials are priced request by request where a price list asks for it.
#[test]
fn conversations_pay_long_prompt_prices() {
    let catalog = bundled_catalog();
    let comparison =
        Comparison { trials: Some(1), ..comparing(&["identity"], &["context_decay/trials"], &["unlimited"]) };
    let mut plan = Plan::new(&catalog, &comparison).unwrap();
    let tiers = |tiers: &str| {
        let text = format!(
            "name = \"p\"\nabout = \"a\"\nas_of = \"2026-10-07\"\nsources = [\"s\"]\ncache = \"none\"\n\
             [[prices]]\ninput = 1.0\noutput = 2.0\n{tiers}"
        );
        profile_from(&text)
    };
    plan.profiles = vec![
        tiers(""),
        tiers("[[prices.tiers]]\nfrom_prompt_tokens = 0\ninput = 3.0\noutput = 6.0\n"),
        tiers("[[prices.windows]]\nfactor = 5.0\n"),
    ];

    let report = plan.report(Some(1), &|_, _| {}).unwrap();

    let [flat, long, peak] = [0, 1, 2].map(|it| report.runs[it].tally.costs.total().unwrap());
    assert!(flat > 0.0 && is_near(long, 3.0 * flat) && is_near(peak, 5.0 * flat), "{flat} {long} {peak}");
    let found = plan.sensitivity_to_profiles(Some(1), &|_, _| {}).unwrap();
    assert!(is_near(found.grids[0].rows[2].cells[0].cost().unwrap(), peak));
    assert!(is_near(
        found.grids[0].rows[1].cells[0].cost_at(VariedRate::Input)[1].unwrap(),
        long + 0.1 * report.runs[1].tally.costs.main.uncached.usd()
    ));
}

#[test]
fn a_varied_list_changes_one_rate_everywhere_and_no_other() {
    let text = "name = \"p\"\nabout = \"a\"\nas_of = \"2026-10-07\"\nsources = [\"s\"]\ncache = \"none\"\n\
                [[prices]]\ninput = 0.003125\noutput = 2.0\ncache_write = { \"5m\" = 3.0, \"1h\" = 4.0 }\n\
                [[prices.tiers]]\nabove_prompt_tokens = 10\ninput = 7.0\n[[prices.windows]]\nfactor = 3.0\n";
    let profile = profile_from(text);
    let rates = |part, factor| {
        let prices = profile.prices.times(part, factor);
        let list = prices.at(0);
        [list.base, list.tiers[0].rates].map(|it| (it.input.0, it.output.unwrap().0, it.write(1).unwrap().0))
    };

    assert_eq!(rates(VariedRate::Input, 0), [(0, 6_000_000, 12_000_000), (0, 6_000_000, 12_000_000)]);
    assert_eq!(
        rates(VariedRate::CacheWriteLong, 3),
        [(9_375, 6_000_000, 36_000_000), (21_000_000, 6_000_000, 36_000_000)]
    );
    assert_eq!(profile.prices.times(VariedRate::CacheRead, 9), profile.prices);
}

#[test]
fn a_comparison_is_drawn_as_tables_and_as_markdown() {
    assert_snapshot(
        "sensitivity",
        "sensitivity_table",
        &out(&["sensitivity", "--suite", "three", "--details"]),
    );
    assert_snapshot(
        "sensitivity",
        "sensitivity_markdown",
        &out(&["sensitivity", "--suite", "three", "--format", "markdown"]),
    );
}

#[test]
fn the_first_look_has_forty_lines_of_a_hundred_columns_and_says_what_the_cheapest_keeps() {
    let policies = ["identity", "clear_tool_results", "duckagent/immediate_summary"];
    let scenarios = ["duckagent/fix_test_loop", "duckagent/long_log_debug"];
    let args = [&["sensitivity", "--policies"], &policies[..], &["--scenarios"], &scenarios[..]].concat();
    let text = out(&args);
    let json: Value = parsed(&ctxsim(&[&args[..], &["--format", "json"]].concat()));

    let wide: Vec<&str> = text.lines().filter(|it| it.chars().count() > 100).collect();
    assert!(wide.is_empty() && text.lines().count() <= 40, "{text}");
    let answer = &json["answer"];
    let best = answer["policy"].as_str().unwrap().rsplit('/').next().unwrap();
    let lists = format!("{} of {} price lists: {best}", answer["cheapest_under"], answer["price_lists"]);
    assert!(text.starts_with(&lists), "{text}");
    assert_says(&text, &["at least 90% of the evidence", "Δ", "evidence"]);
    let cell = |policy: &str| {
        let cells = json["loads"][0]["cells"].as_array().unwrap();
        cells.iter().find(|it| it["policy"] == policy).unwrap().clone()
    };
    let summary = cell("duckagent/immediate_summary");
    assert_eq!((&cell("identity")["label"], &summary["label"]), (&"baseline".into(), &"cost_only".into()));
    assert!(
        summary["recovery_tokens"].as_f64().unwrap() > 0.0 && summary["of_limit"].as_f64().unwrap() < 1.0
    );
    assert!(summary["results_shown"].as_f64().unwrap() < 1.0 && cell("identity")["results_shown"] == 1.0);
}

/// Under `cached`, `cut` is 12,000 tokens of input below `prune` and 13,800 tokens of reads above it: 0.1219 against 0.1237 at a rate of 1, and
/// both the same at 1 − 1,800 / 13,800, the 0.087 of an input price of 10.
#[test]
fn the_answer_turns_at_the_ratio_that_is_told_and_not_just_before_it() {
    let cheapest = |price: f64| {
        let set = format!("profile.cached.prices.0.cache_read={price:.6}");
        let found = plan(&[&set]).sensitivity_to_profiles(Some(1), &|_, _| {}).unwrap();
        found.policies[found.grids[0].rows[1].cheapest_keeping(Floor(0.0)).unwrap()].clone()
    };

    let found = three();
    let turns = found.grids[0].rows[1].turning_points(Floor(0.0), &[VariedRate::CacheRead]);

    let [turn] = turns.as_slice() else { panic!("{turns:?}") };
    assert!(
        is_near(turn.factor, 1.0 - 1_800.0 / 13_800.0) && found.policies[turn.policy] == "cut",
        "{turn:?}"
    );
    assert_eq!(found.profiles[1].ratios[VariedRate::CacheRead as usize], Some(0.1));
    assert_eq!([turn.factor * 0.999, turn.factor * 1.001].map(cheapest), ["cut", "prune"]);
}

/// The price list at which a first look says that its answer turns is tried just below that and just above it.
#[test]
fn a_real_answer_turns_where_its_first_line_says() {
    let look = |set: &[String]| -> Value {
        let set = set.iter().flat_map(|it| ["--set", it.as_str()]);
        let given = args("sensitivity --scenarios recorded/claude-code --format json");
        let profiles = ["--profile", "anthropic/claude-opus-4.5", "xai/grok-4.7", "groq/gpt-oss-120b"];
        parsed(&ctxsim(&given.into_iter().chain(profiles).chain(set).collect::<Vec<_>>()))
    };
    let answer = look(&[])["answer"].clone();
    let turn = answer["turns"].as_array().unwrap().iter().find(|it| it["rate"] == "cache_read").unwrap();
    let (ratio, then) = (turn["of_input"].as_f64().unwrap(), &turn["then"]);
    let under = answer["turns_under"].as_str().unwrap();

    // Input is five dollars there.
    let winner = |factor: f64| {
        let price = 5.0 * ratio * factor;
        let found = look(&[format!("profile.{under}.prices.0.cache_read={price:.6}")]);
        let floor = 0.9;
        let cells = found["loads"][0]["cells"].as_array().unwrap().iter();
        let keeps = |it: &&Value| it["profile"] == under && it["evidence_kept"].as_f64().unwrap() >= floor;
        let cost = |it: &&Value| it["cost_usd"].as_f64().unwrap();
        let best = cells.filter(keeps).min_by(|one, other| cost(one).total_cmp(&cost(other)));
        best.unwrap()["policy"].clone()
    };
    assert_ne!(winner(0.99), *then, "{answer}");
    assert_eq!(winner(1.01), *then, "{answer}");
}

#[test]
fn price_lists_that_charge_nothing_are_said_to_have_no_cheapest_policy() {
    let mut plan = plan(&[]);
    let text = "name = \"free\"\nabout = \"a\"\nas_of = \"2026-10-07\"\nsources = [\"s\"]\ncache = \"none\"\n\
                [[prices]]\ninput = 0.0\noutput = 0.0\n";
    plan.profiles.insert(0, profile_from(text));
    let found = plan.sensitivity_to_profiles(Some(1), &|_, _| {}).unwrap();

    assert_eq!(found.grids[0].rows[0].cheapest(), None, "all cost nothing");
    let told = markdown(&found, false);
    assert_says(&told, &["3 price lists", "1 price list charges nothing (free)"]);
}

#[test]
fn the_document_and_the_values_hold_the_same_numbers() {
    let document: Value = parsed(&ctxsim(&args("sensitivity --suite three --format json")));
    let values = out(&["sensitivity", "--suite", "three", "--format", "csv"]);

    assert_eq!(document["schema"], "ctxsim.sensitivity/1");
    let cells = document["loads"][0]["cells"].as_array().unwrap();
    assert_eq!((cells.len(), values.lines().count()), (9, 10));
    let columns: Vec<&str> = values.lines().next().unwrap().split(',').collect();
    let column = |name: &str| columns.iter().position(|it| *it == name).unwrap();
    for (line, cell) in values.lines().skip(1).zip(cells) {
        let line: Vec<&str> = line.split(',').collect();
        assert_eq!(line[column("cost_usd")], cell["cost_usd"].to_string());
        assert_eq!(
            line[column("rates.cache_read.elasticity")],
            cell["rates"]["cache_read"]["elasticity"].to_string()
        );
    }
    assert_eq!(document["profiles"][1]["break_even"]["prune_requests"], 18.0);
    assert!(document["profiles"][0]["break_even"]["prune_requests"].is_null());
    assert_eq!(document["loads"][0]["cheapest"][1]["until"]["then"], "cut");
    assert_eq!(document["loads"][0]["flips"][0]["first_cheaper"][0], "cheap_reads");
}

#[test]
fn patterns_name_several_inputs_and_wrong_ones_are_refused() {
    let given = args("sensitivity --policies keep cut --scenarios read --format csv");
    let text = out(&[&given[..], &["--profiles", "cach*", "ch*p_reads", "uncached"]].concat());
    let profiles: Vec<&str> = text.lines().skip(1).map(|it| it.split(',').nth(2).unwrap()).collect();
    assert_eq!(profiles, ["cached", "cached", "cheap_reads", "cheap_reads", "uncached", "uncached"]);

    let refused = |args: &[&str]| {
        let output = ctxsim(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["sensitivity", "--suite", "three", "--profiles", "nobody/*"]).contains("nobody/*"));
    assert!(
        refused(&["sensitivity", "--suite", "three", "--format", "jsonl"]).contains("did you mean `json`?")
    );
    let zero = ["sensitivity", "--suite", "three", "--set", "break_even.compression=0"];
    assert!(refused(&zero).contains("break-even-value"));
    let nowhere = args("run --policy keep --scenario read --profile cached --set break_even.compression=3");
    assert!(refused(&nowhere).contains("this run has no suite with `break_even`"));
}
