//! What caching is worth, on the numbers of cuihuan/awesome-ai-gateway (2026-07-29).

use ctxsim::cache::breakpoints::BreakpointCache;
use ctxsim::input::TtlClass::{self, Long, Short};

use super::*;

/// Picodollars per token of Opus 5: input, output, read, written for short and for long.
const OPUS_5: [u64; 5] = [5_000_000, 25_000_000, 500_000, 6_250_000, 10_000_000];

/// Returns what 50 requests of 20K shared tokens, 3K of their own and 700 of output cost, and what the shared part does.
fn costs(ttl: Option<TtlClass>, is_shared: bool, n_gaps: i64) -> (f64, f64) {
    let [input, output, read, short, long] = OPUS_5;
    let mut cache = BreakpointCache::new(rules(512));
    let (mut total, mut of_prefix, mut now_ms) = (0, 0, 0);
    for n in 0..50 {
        let name = if is_shared { 1 } else { u64::try_from(n).unwrap() * 2 + 2 };
        let blocks = Blocks(vec![
            (Kind::System, name, 20_000),
            (Kind::User, 1_001 + 2 * u64::try_from(n).unwrap(), 3_000),
        ]);
        let mark = ttl.map(|it| (1, it));
        now_ms += if (1..=n_gaps).contains(&n) { 600_000 } else { 60_000 };
        let usage: CacheUse = send(&mut cache, &blocks, mark.as_slice(), now_ms);
        let cached = usage.read * read + usage.write[0] * short + usage.write[1] * long;
        total += cached + usage.uncached * input + 700 * output;
        of_prefix += cached;
    }
    (total as f64 / 1e12, of_prefix as f64 / 1e12)
}

#[test]
fn awesome_ai_gateway_fifty_requests_cost_a_third_when_their_prefix_is_cached() {
    let found = [(None, true), (Some(Short), true), (Some(Long), true), (Some(Short), false)]
        .map(|(ttl, is_shared)| costs(ttl, is_shared, 0).0);

    assert_eq!(found, [6.625, 2.24, 2.315, 7.875]);
}

#[test]
fn awesome_ai_gateway_one_long_pause_makes_the_longer_lifetime_worth_its_price() {
    assert_eq!([0, 1, 2, 3].map(|gaps| costs(Some(Short), true, gaps).1), [0.615, 0.73, 0.845, 0.96]);
    assert_eq!([0, 1, 2, 3].map(|gaps| costs(Some(Long), true, gaps).1), [0.69; 4]);
}
