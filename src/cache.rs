//! What a provider's cache makes of a prompt: how many tokens it reads, writes, or bills as plain input.

mod blocks;
pub mod breakpoints;
pub mod finding;
pub mod lru;
pub mod marks;
mod none;
mod prefix_cap;
mod prefix_interval;

pub use finding::{EntryFound, Fate, Finding, MarkFound};

use crate::ledger::CacheUse;
use crate::model::{CacheRules, Layout, TtlClass};
use crate::projection::Visit;
use crate::projection::chain::Chain;
use crate::units::Tokens;

/// What a cache learns of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestView<'a> {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// Tokens of the stable prefix.
    pub stable: Tokens,
    /// The chained prefixes; empty for rules that do not ask for them. What the prompt has beyond them is new.
    pub chain: &'a Chain,
    /// The policy's passes since the last request.
    pub visits: &'a [Visit],
    /// Where the prompt asks for breakpoints.
    pub layout: &'a Layout,
    /// How long the harness asks entries to live, where the layout does not say.
    pub ttl: Option<TtlClass>,
    /// Tokens at the prompt's end that stand behind its last breakpoint.
    pub tail: Tokens,
    /// Milliseconds since the trace began at which the request starts.
    pub now_ms: i64,
    /// Milliseconds since the trace began at which its response starts.
    pub response_ms: i64,
}

/// The rules of a provider's cache, with what it holds.
pub trait CacheRule {
    /// Returns whether requests must bring their chained prefixes.
    fn needs_chain(&self) -> bool;

    /// Takes a request and divides its prompt.
    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse;

    /// Returns what the cache knows of a request's prompt, before it takes it; rules without entries know nothing.
    fn look(&self, _request: &RequestView<'_>) -> Finding {
        Finding::default()
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
    }
}
