//! Gemini's caches, as its guide and its prices stood in 2026-09: found by itself, and stored by the hour.

use ctxsim::ledger::ExplicitCacheRow;
use ctxsim::price::{Costs, PriceRows};
use ctxsim::timeline::Kind;

use super::listed::{Listed, profile, rules_of, users};
use crate::support::*;

const STORED: &str = "[cache.stored]\nmin_tokens = 4_096\nttl = \"1h\"";

/// Gemini 2.5 Pro.
const PRICES: &str = "input = 1.25\noutput = 10.0\ncache_read = 0.125\nstorage = 4.50
tiers = [{ above_prompt_tokens = 200_000, input = 2.50, output = 15.0, cache_read = 0.25 }]";

/// A system prompt and so many steps of 1,000 tokens, each so many minutes after the one before.
fn timeline(system: u32, n_steps: i64, minutes: i64) -> Timeline {
    let mut builder = TimelineBuilder::new("stored", &[]);
    builder.stable(Kind::System, system);
    builder.begin_turn(&[NewItem::plain(Kind::User, 1_000)]);
    for step in 0..n_steps {
        let results = [NewItem::plain(Kind::ToolResult, 900)];
        builder.step(step * minutes * 60_000, 100, &[NewItem::call("read", 100)], &results);
    }
    builder.finish()
}

/// What a timeline comes to under a profile and a policy's layout.
fn run(profile: &Profile, layout: &str, timeline: &Timeline) -> (Sums, Costs) {
    let text = format!("(name: \"it\", about: \"it\", {layout})");
    let policy = policy_from(&text);
    let mut ledger = (Sums::default(), PriceRows::default());
    Simulation::new(timeline, &policy, &Limits::NONE, &profile.cache).run(&mut ledger);
    let index = ledger.1.into();
    (ledger.0, Costs::new(&ledger.0, Some(&index), 0, profile))
}

#[test]
fn gemini_guide_implicit_hits_begin_at_a_models_minimum() {
    for (min_tokens, tokens, read) in
        [(2_048, 2_047, 0), (2_048, 2_048, 2_048), (4_096, 4_095, 0), (4_096, 5_000, 5_000)]
    {
        let rules = rules_of(&format!("[cache.prefix_interval]\nmin_tokens = {min_tokens}"));
        let prompts = [users(tokens, &[]), users(tokens, &[])];

        assert_eq!(Listed::new(&rules, "").reads_and_writes(&prompts), [[0, 0], [read, 0]]);
    }
}

#[test]
fn gemini_prices_a_content_is_made_as_input_read_for_a_tenth_and_kept_by_the_hour() {
    let profile = profile(STORED, PRICES);
    let (sums, costs) = run(&profile, "", &timeline(100_000, 5, 10));

    // Five prompts of 100,000 stored tokens and 1,000 to 5,000 others, all within the hour.
    assert_eq!(
        (sums.main.tokens.read, sums.main.tokens.uncached, sums.main.tokens.write),
        (500_000, 15_000, [0, 0])
    );
    assert_eq!((sums.stored.n, sums.stored.tokens), (1, 100_000));
    let (made, kept) = (0.125, 0.45);
    assert_eq!(costs.storage.usd(), made + kept);
    assert_eq!(costs.main.read.usd(), 0.0625);
    assert_eq!(costs.total(), Some(0.0625 + 0.01875 + 0.005 + made + kept));
    // The same load without a cache: 515,000 tokens of input.
    let none = super::listed::profile("cache = \"none\"", PRICES);
    assert_eq!(run(&none, "", &timeline(100_000, 5, 10)).1.total(), Some(0.64375 + 0.005));
}

#[test]
fn a_content_is_kept_to_the_end_of_its_time_and_then_made_again() {
    let kept = |lines: &str| {
        let (sums, _) = run(&profile(lines, PRICES), "", &timeline(100_000, 4, 40));
        (sums.stored.n, sums.stored.token_ms / 3_600_000)
    };

    assert_eq!(kept(STORED), (2, 200_000), "made at 0 and at 80 minutes, each for an hour");
    assert_eq!(
        kept(&format!("{STORED}\nrenewal = \"on_use\"")),
        (1, 300_000),
        "to an hour after 120 minutes"
    );
}

#[test]
fn a_content_ends_where_the_last_breakpoint_stands_and_shorter_ones_are_not_stored() {
    let profile = profile(STORED, PRICES);
    let stored = |layout: &str, system| {
        let (sums, _) = run(&profile, layout, &timeline(system, 3, 1));
        (sums.stored.n, sums.stored.tokens, sums.main.tokens.read)
    };

    assert_eq!(stored("", 4_095), (0, 0, 0));
    assert_eq!(stored("layout: (breakpoints: [])", 5_000), (0, 0, 0), "who asks for none stores none");
    assert_eq!(stored("", 5_000), (1, 5_000, 15_000));
    let all = "layout: (breakpoints: [(at: automatic)])";
    assert_eq!(stored(all, 5_000), (3, 6_000 + 7_000 + 8_000, 21_000), "each prompt a content of its own");
}

#[test]
fn gemini_prices_a_long_content_is_made_at_the_price_of_long_prompts() {
    let (_, costs) = run(&profile(STORED, PRICES), "", &timeline(300_000, 1, 1));

    assert_eq!(costs.storage.usd(), 2.10, "0.75 at twice the price, 1.35 to keep it for an hour");
}

#[test]
fn storage_without_a_price_makes_the_sum_unknown() {
    let profile = profile(STORED, "input = 1.25\noutput = 10.0\ncache_read = 0.125");

    let (sums, costs) = run(&profile, "", &timeline(100_000, 1, 1));

    assert!(costs.is_unknown && costs.total().is_none());
    assert!(!run(&profile, "", &timeline(100, 1, 1)).1.is_unknown, "nothing was stored");
    assert_eq!(sums.stored.token_ms, u128::from(ExplicitCacheRow::default().tokens + 100_000) * 3_600_000);
}
