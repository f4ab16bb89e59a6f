//! Automatic prefix caching: the longest common prefix with any earlier prompt, from a minimum on in whole steps.
//!
//! Sources: OpenAI's prompt caching guide (1,024 tokens, steps of 128) and DeepSeek's context caching guide (steps of
//! 64), as of 2026-10. Nothing is billed as written. Where a lifetime is given, a pause longer than it empties the cache.

use indexmap::IndexSet;

use super::{CacheRule, RequestView};
use crate::ledger::CacheUse;
use crate::model::profile::Steps;
use crate::units::Tokens;

/// The prefixes of every earlier prompt.
pub(super) struct PrefixInterval {
    steps: Steps,
    ttl_ms: Option<u64>,
    known: IndexSet<u128>,
    /// How many prefixes of the last prompt are known.
    last_ms: Option<i64>,
}

impl PrefixInterval {
    pub(super) fn new(steps: Steps, ttl_ms: Option<u64>) -> Self {
        Self { steps, ttl_ms, known: IndexSet::new(), last_ms: None }
    }

    /// Empties the cache after too long a pause; returns whether it did.
    fn expire(&mut self, now_ms: i64) -> bool {
        let idle = self.last_ms.map(|last| now_ms.saturating_sub(last));
        self.last_ms = Some(now_ms);
        let expired = match (self.ttl_ms, idle) {
            (Some(ttl), Some(idle)) => u64::try_from(idle).is_ok_and(|idle| idle > ttl),
            _ => false,
        };
        if expired {
            self.known.clear();
        }
        expired
    }
}

impl CacheRule for PrefixInterval {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        let expired = self.expire(request.now_ms);
        let links = request.chain.links();
        let unchanged = if expired { 0 } else { request.chain.n_unchanged() };
        let common = unchanged
            + links[unchanged..].iter().take_while(|link| self.known.contains(&link.digest)).count();
        self.known.extend(links[common..].iter().map(|link| link.digest));
        let tokens: Tokens = common.checked_sub(1).map_or(0, |last| links[last].tokens);
        let read = self.steps.floor(tokens).min(request.prompt);
        let broke_at = links.get(common).map(|link| link.slot);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at }
    }
}
