//! Documented bills and break-evens, each named after its source: what is read, and what that is worth.

use ctxsim::cache::breakpoints::BreakpointCache;
use ctxsim::cache::{CacheRule, RequestView, cache};
use ctxsim::input::LayoutSpec;
use ctxsim::input::TtlClass::{self, Long, Short};
use ctxsim::input::profile::Steps;
use ctxsim::price::Bill;
use ctxsim::projection::chain::Chain;

use super::*;

/// Sends blocks to a cache of automatic prefixes.
fn ask(cache: &mut dyn CacheRule, blocks: &Blocks, at_ms: i64) -> CacheUse {
    let links = blocks.links();
    let layout = LayoutSpec { breakpoints: Some(Vec::new()), ..LayoutSpec::default() };
    let prompt = links.last().map_or(0, |it| it.tokens);
    cache.submit(&RequestView::new(prompt, &Chain::from_links(links), &layout, at_ms))
}

fn interval(min: u64, step: u64, ttl_ms: Option<u64>) -> Box<dyn CacheRule> {
    cache(&CacheRules::prefix_interval(Steps { min, step }, ttl_ms))
}

/// xAI's bills as measured 2026-08-19: 8,802 tokens in common are read as 8,704, and 2,735 as 2,688.
#[test]
fn xai_reads_what_prompts_have_in_common_in_steps_of_128() {
    for (common, read) in [(8_802, 8_704), (2_735, 2_688)] {
        let mut cache = interval(128, 128, None);
        let prompt = |name| Blocks(vec![(Kind::System, 1, common), (Kind::User, name, 400)]);
        assert_eq!(ask(cache.as_mut(), &prompt(2), 0).read, 0);

        let usage = ask(cache.as_mut(), &prompt(3), 10);

        assert_eq!((usage.read, usage.uncached), (read, common + 400 - read));
    }
}

/// The same: with another first character only the 128 tokens that stand in front of every prompt are read.
#[test]
fn xai_a_changed_first_character_leaves_the_128_tokens_in_front_of_all_prompts() {
    let mut cache = interval(128, 128, None);
    let prompt = |name| Blocks(vec![(Kind::System, 1, 128), (Kind::User, name, 8_674)]);
    ask(cache.as_mut(), &prompt(2), 0);

    assert_eq!(ask(cache.as_mut(), &prompt(3), 10).read, 128);
    assert_eq!(ask(cache.as_mut(), &prompt(2), 20).read, 8_704, "what was sent before is there still");
}

/// OpenAI's guide for models before GPT-5.6: from 1,024 tokens on, in steps of 128, for some minutes after the last use.
#[test]
fn openai_guide_before_5_6_prefixes_count_from_1024_in_steps_of_128_while_they_are_used() {
    let of = |tokens, pause_ms: i64| {
        let mut cache = interval(1_024, 128, Some(300_000));
        let prompt = |name| Blocks(vec![(Kind::System, 1, tokens), (Kind::User, name, 50)]);
        ask(cache.as_mut(), &prompt(2), 0);
        ask(cache.as_mut(), &prompt(3), 200_000);
        ask(cache.as_mut(), &prompt(4), 200_000 + pause_ms).read
    };

    assert_eq!(
        [1_023, 1_024, 1_151, 1_152, 9_000].map(|it| of(it, 300_000)),
        [0, 1_024, 1_024, 1_152, 8_960]
    );
    assert_eq!(of(9_000, 300_001), 0, "every use renews, and nothing else");
}

/// A day of DeepSeek's dashboard as Reasonix shows it, 2026-05-01, at 0.028, 0.139 and 0.278 dollars.
#[test]
fn reasonix_dashboard_costs_a_fifth_of_what_it_would_uncached() {
    let text = r#"
name = "p"
about = "DeepSeek's prices of 2026-05."
as_of = "2026-05-01"
sources = ["Reasonix dashboard"]
cache = "none"
[[prices]]
input = 0.139
output = 0.278
cache_read = 0.028
"#;
    let profile = Profile::new(&decode::<ProfileFile>(text, Format::Toml).unwrap()).unwrap();
    let rates = profile.prices.flat().unwrap();
    let (hit, miss, output) = (435_033_856, 767_616, 179_763);
    let cost = |read, uncached| {
        let tokens = TokenUse { read, uncached, output, ..TokenUse::default() };
        Bill::at(rates, &tokens).total().unwrap().usd()
    };
    let to_the_cent = |usd: f64| format!("{usd:.2}");

    assert_eq!(format!("{:.2}", hit as f64 / (hit + miss) as f64 * 100.0), "99.82");
    assert_eq!(
        (to_the_cent(cost(hit, miss)), to_the_cent(cost(0, hit + miss))),
        ("12.34".into(), "60.63".into())
    );
}

/// awesome-ai-gateway (2026-07-29): a cached prefix pays from 21.74% of hits on, and for an hour from 52.63% on.
#[test]
fn awesome_ai_gateway_writing_is_worth_it_from_a_share_of_hits_on() {
    let share = |ttl: TtlClass, write: f64| {
        let mut cache = BreakpointCache::new(rules(512));
        let blocks = Blocks(vec![(Kind::System, 1, 20_000)]);
        let mut cost = |at_ms| {
            let usage = send(&mut cache, &blocks, &[(1, ttl)], at_ms);
            (usage.read as f64 * 0.1 + usage.write[ttl as usize] as f64 * write) / 20_000.0
        };
        let (miss, hit) = (cost(0), cost(60_000));
        format!("{:.2}", (miss - 1.0) / (miss - hit) * 100.0)
    };

    assert_eq!([share(Short, 1.25), share(Long, 2.0)], ["21.74", "52.63"]);
}

/// Anthropic's guide: 2,048 tokens of input, 1,800 read, 248 written: 148 for five minutes and 100 for an hour.
#[test]
fn anthropic_guide_the_usage_of_mixed_lifetimes() {
    let mut cache = BreakpointCache::new(rules(1_024));
    let front = vec![(Kind::System, 1, 1_800)];
    send(&mut cache, &Blocks(front.clone()), &[(1, Long)], 0);
    let mut blocks = Blocks(front);
    blocks.0.extend([(Kind::User, 2, 100), (Kind::User, 3, 148), (Kind::User, 4, 2_048)]);

    let usage = send(&mut cache, &blocks, &[(2, Long), (3, Short)], 10);

    assert_eq!((usage.uncached, usage.read, usage.write), (2_048, 1_800, [148, 100]));
}
