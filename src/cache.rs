//! What a provider's cache makes of a prompt: how many tokens it reads, writes, or bills as plain input.

mod blocks;
pub mod lru;
mod none;
mod prefix_cap;
mod prefix_interval;

use crate::ledger::CacheUse;
use crate::model::CacheRules;
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
    /// The chained prefixes; empty for rules that do not ask for them.
    pub chain: &'a Chain,
    /// The policy's passes since the last request.
    pub visits: &'a [Visit],
    /// Milliseconds since the trace began.
    pub now_ms: i64,
}

/// The rules of a provider's cache, with what it holds.
pub trait CacheRule {
    /// Returns whether requests must bring their chained prefixes.
    fn needs_chain(&self) -> bool;

    /// Takes a request and divides its prompt.
    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse;
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
    }
}
