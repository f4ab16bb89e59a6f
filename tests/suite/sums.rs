//! Laws of whole runs: what neither threads nor prices may change.

use ctxsim::ledger::{NeedSums, Outcome, RequestSums};
use ctxsim::report::json;
use proptest::prelude::*;

use crate::support::*;

#[test]
fn one_thread_and_two_threads_write_the_same_bytes() {
    let comparison = Comparison { suite: Some("default".to_owned()), ..Comparison::default() };
    let plan = planned(&comparison);

    let [one, two] =
        [1, 2].map(|threads| json::report_json(&plan.report(Some(threads), &|_, _| {}).unwrap()).unwrap());

    assert_eq!(one, two);
}

/// Returns how many simulations the matrix takes under some of its policies and profiles.
fn n_simulations(policies: &[&str], profiles: &[&str]) -> usize {
    let name = |it: &&str| format!("duckagent/{it}");
    let comparison = Comparison {
        suite: Some("duckagent-matrix".to_owned()),
        policies: policies.iter().map(name).collect(),
        profiles: profiles.iter().map(name).collect(),
        ..Comparison::default()
    };
    planned(&comparison).n_simulations().unwrap()
}

#[test]
fn profiles_that_differ_in_prices_alone_share_their_simulations() {
    assert_eq!(n_simulations(&["raw_snapshot"], &[]), 6, "nine profiles have six distinct limits");
}

#[test]
fn policies_that_differ_in_recovery_alone_share_their_simulation() {
    let variants = ["guarded_mid", "guarded_mid_one_shot", "guarded_mid_naive_recovery"];
    let variants = variants.map(|it| format!("duckagent_recoverable_decay_{it}"));
    let variants = variants.each_ref().map(String::as_str);

    assert_eq!(n_simulations(&variants, &["openai-gpt-5.4"]), 1);
}

#[test]
fn policies_that_come_to_the_same_under_a_limit_share_their_simulation_there() {
    let late = ["duckagent_recoverable_decay_balanced", "duckagent_recoverable_decay_guarded_late"];

    assert_eq!(n_simulations(&late, &["deepseek-chat"]), 1, "both put pressure at 80% of 131,072 tokens");
    assert_eq!(n_simulations(&late, &["openai-gpt-5.4"]), 2, "at 80% and at 90% of a million");
}

fn profile(rates: [u32; 4]) -> Profile {
    let [input, output, read, write] = rates;
    let text = format!(
        "name = \"p\"\nabout = \"Made up.\"\nas_of = \"2026-01-01\"\nsources = [\"made up\"]\ncache = \"none\"\n\
         [[prices]]\ninput = {input}\noutput = {output}\ncache_read = {read}\ncache_write = {{ \"5m\" = {write} }}\n"
    );
    profile_from(&text)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn doubling_every_rate_doubles_the_token_cost(rates in prop::array::uniform4(0_u32..1_000_000), tokens in prop::array::uniform5(0_u64..1 << 40)) {
        let [read, write, uncached, output, compacted] = tokens;
        let main = RequestSums { n: 1, tokens: TokenUse { read, write: [write, 0], uncached, output }, ..RequestSums::default() };
        let summariser = RequestSums { n: 1, tokens: TokenUse { uncached: compacted, ..TokenUse::default() }, ..RequestSums::default() };
        let sums = Sums { main, summariser, needs: NeedSums::default(), ..Sums::default() };
        let cost = |rates| Tally::new(&sums, None, &Outcome::default(), false, &profile(rates)).costs;

        let (once, twice) = (cost(rates), cost(rates.map(|it| 2 * it)));

        prop_assert_eq!(once.base() + once.base(), twice.base());
        prop_assert_eq!(once.compaction + once.compaction, twice.compaction);
    }
}
