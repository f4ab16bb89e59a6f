//! Cache rules on examples from documents, on listed prompts, and on what live calls were billed.

mod best_effort;
mod breakpoints;
mod cassettes;
mod deepseek;
mod documented;
mod economics;
mod gemini;
mod hit_draws;
mod kimi;
mod layout;
mod listed;
mod live_ttl;
mod openai;
mod placement;
mod qwen;
mod self_hosted;
mod settings;

use ctxsim::cache::breakpoints::{BreakpointCache, Times};
use ctxsim::cache::marks::CacheMark;
use ctxsim::input::Breakpoints;
use ctxsim::input::profile::cache::Readable;
use ctxsim::projection::chain::Link;

use crate::support::*;

/// Anthropic's numbers, with the minimum that a test wants.
fn rules(min_tokens: u64) -> Breakpoints {
    Breakpoints {
        min_tokens,
        breakpoints_max: 4,
        lookback_positions: 20,
        ttl_ms: [Some(300_000), Some(3_600_000)],
        readable: Readable::ResponseStart,
        ..Breakpoints::default()
    }
}

/// A prompt of blocks: what each is, its name and its tokens.
struct Blocks(Vec<(Kind, u64, u64)>);

impl Blocks {
    /// User blocks of 100 tokens, named from 1 on.
    fn users(n: u64) -> Self {
        Self((1..=n).map(|name| (Kind::User, name, 100)).collect())
    }

    fn links(&self) -> Vec<Link> {
        let (mut digest, mut tokens) = (0_u128, 0);
        let links = self.0.iter().enumerate().map(|(index, (kind, name, size))| {
            digest = digest
                .wrapping_mul(0x1000_0000_01b3)
                .wrapping_add(u128::from(*name) * 7_919 + u128::from(*size) + 1);
            tokens += size;
            Link { slot: u32::try_from(index).unwrap(), tokens, digest, kind: *kind }
        });
        links.collect()
    }
}

/// Sends blocks with marks behind the n-th of them, counted from 1; the response starts a millisecond later.
fn send(cache: &mut BreakpointCache, blocks: &Blocks, marks: &[(usize, TtlClass)], at_ms: i64) -> CacheUse {
    let links = blocks.links();
    let marks: Vec<CacheMark> = marks
        .iter()
        .map(|(nth, ttl)| CacheMark { link: nth - 1, tokens: links[nth - 1].tokens, ttl: *ttl })
        .collect();
    let prompt = links.last().map_or(0, |it| it.tokens);
    cache.divide(&links, &marks, prompt, Times { request_ms: at_ms, response_ms: at_ms + 1 })
}
