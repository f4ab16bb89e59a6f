//! What a provider's cache makes of a prompt: how many tokens it reads, writes, or bills as plain input.

mod blocks;
pub mod breakpoints;
mod explicit_cache;
pub mod finding;
pub mod lru;
pub mod marks;
mod none;
pub mod own;
mod prefix_cap;
mod prefix_interval;
mod prefixes;
mod qualified;
mod units;

use crate::input::profile::written::Readable;
use crate::input::{CacheRules, Layout, Settings, TtlClass};
use crate::ledger::{CacheUse, ExplicitCacheRow};
use crate::projection::chain::Chain;
use crate::quantity::Tokens;

pub use finding::{EntryFound, Fate, Finding, MarkFound};
pub use qualified::HitDraws;

/// What a cache learns of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestView<'a> {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// How many tokens at its front are the same as in the prompt before, as far as the policy's passes tell: what came since
    /// is taken to be no change, and any number where nothing was worked on. Rules that compare content ask the chain.
    pub intact_tokens: Tokens,
    /// The chained prefixes; empty for rules that do not ask for them. What the prompt has beyond them is new.
    pub chain: &'a Chain,
    /// Where the prompt asks for breakpoints.
    pub layout: &'a Layout,
    /// How long the harness asks entries to live, where the layout does not say.
    pub ttl: Option<TtlClass>,
    /// Tokens at the prompt's end that stand behind its last breakpoint.
    pub tail: Tokens,
    /// Milliseconds since the timeline began at which the request starts.
    pub now_ms: i64,
    /// Milliseconds since the timeline began at which its response starts.
    pub response_ms: i64,
    /// Milliseconds since the timeline began at which its response ends.
    pub end_ms: i64,
    /// What the request says beside its content.
    pub settings: Settings,
}

impl<'a> RequestView<'a> {
    /// A request of which no more is known than its prompt and when it starts; its response is over at once.
    #[must_use]
    pub fn of(prompt: Tokens, chain: &'a Chain, layout: &'a Layout, now_ms: i64) -> Self {
        Self {
            prompt,
            intact_tokens: Tokens::MAX,
            chain,
            layout,
            ttl: None,
            tail: 0,
            now_ms,
            response_ms: now_ms,
            end_ms: now_ms,
            settings: Settings::default(),
        }
    }
}

/// The rules of a provider's cache, with what it holds.
pub trait CacheRule {
    /// Returns whether requests must bring their chained prefixes.
    fn needs_chain(&self) -> bool;

    /// Takes a request and divides its prompt.
    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse;

    /// Returns what the request just taken is billed if the machine that serves it has no entries: all that was read is
    /// plain input, unless the rules bill writes.
    fn unserved(&self, usage: &CacheUse) -> CacheUse {
        CacheUse { read: 0, uncached: usage.uncached + usage.read, ..*usage }
    }

    /// Returns what the cache knows of a request's prompt, before it takes it; rules without entries know nothing.
    fn look(&self, _request: &RequestView<'_>) -> Finding {
        Finding::default()
    }

    /// Returns why its last answer is none, in words; rules of this house always answer.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Returns what was stored for a price by the hour, up to the end of its time.
    fn stored(&self) -> &[ExplicitCacheRow] {
        &[]
    }
}

/// Returns an empty cache that follows these rules.
#[must_use]
pub fn cache(rules: &CacheRules) -> Box<dyn CacheRule> {
    match rules {
        CacheRules::Blocks(rules) => Box::new(blocks::Blocks::new(rules)),
        CacheRules::None => Box::new(none::None),
        CacheRules::PrefixCap(steps) => Box::new(prefix_cap::PrefixCap::new(*steps)),
        CacheRules::PrefixInterval { steps, ttl_ms } => {
            Box::new(prefix_interval::PrefixInterval::new(*steps, *ttl_ms))
        }
        CacheRules::Breakpoints(rules) => Box::new(breakpoints::Cache::new(*rules)),
        CacheRules::Units(rules) => Box::new(units::Units::new(*rules)),
        CacheRules::ExplicitCache(rules) => Box::new(explicit_cache::ExplicitCache::new(*rules)),
        CacheRules::Qualified(rules) => Box::new(qualified::Qualified::new(rules)),
        CacheRules::Own(code, _) => own::cache(code),
    }
}

/// Returns an empty cache for a timeline whose requests change their settings.
#[must_use]
pub fn cache_with_settings(rules: &CacheRules) -> Box<dyn CacheRule> {
    Box::new(qualified::with_settings(rules))
}

/// Returns from when on what a request leaves can be read.
fn readable_ms(at: Readable, after_ms: u64, request: &RequestView<'_>) -> i64 {
    readable_from(at, after_ms, [request.now_ms, request.response_ms, request.end_ms])
}

/// The same, by when the request, its response and its end are.
fn readable_from(at: Readable, after_ms: u64, [now_ms, response_ms, end_ms]: [i64; 3]) -> i64 {
    let from_ms = match at {
        Readable::RequestStart => now_ms,
        Readable::ResponseStart => response_ms.max(now_ms),
        Readable::ResponseEnd => end_ms.max(response_ms).max(now_ms),
    };
    from_ms.saturating_add_unsigned(after_ms)
}

/// Returns the time from one moment to another; none where the other comes first.
fn elapsed_ms(from_ms: i64, to_ms: i64) -> u64 {
    u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0)
}
