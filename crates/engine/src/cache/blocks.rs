//! Fixed blocks in a store of limited size: a prompt reads its first blocks as far as the store has them.
//!
//! Sources: vLLM's design page on automatic prefix caching (a block is identified by its content and
//! everything before it; only full blocks are kept; the tail leaves first) and kvcache-ai/Mooncake's traces.
//! Nothing is billed as written. The model's output enters the store with the next prompt that shows it.

use super::lru::Lru;
use super::{CacheRule, EntryFound, Fate, Finding, RequestView};
use crate::prelude::*;
use ctxsim_input::profile;

/// A store of blocks, known by the digest of the shortest chained prefix that covers them.
pub(super) struct BlockStore {
    block_tokens: Tokens,
    store: Lru,
    known: IndexSet<(u128, u64)>,
    /// The blocks of the current prompt.
    prompt: Vec<u32>,
}

impl BlockStore {
    pub(super) fn new(rules: &profile::Blocks) -> Self {
        Self {
            block_tokens: rules.block_tokens,
            store: Lru::new(rules),
            known: IndexSet::new(),
            prompt: Vec::new(),
        }
    }
}

impl CacheRule for BlockStore {
    fn needs_chain(&self) -> bool {
        true
    }

    fn submit(&mut self, request: &RequestView<'_>) -> CacheUse {
        self.prompt.clear();
        let mut n_blocks = 0;
        for link in request.chain.links() {
            while (n_blocks + 1) * self.block_tokens <= link.tokens {
                let (number, _) = self.known.insert_full((link.digest, n_blocks));
                self.prompt.push(ix(number));
                n_blocks += 1;
            }
        }
        self.store.reserve(ix(self.known.len()));
        let read = (self.store.submit(&self.prompt) as Tokens * self.block_tokens).min(request.prompt);
        let broke_at = request.chain.links().iter().find(|it| it.tokens > read).map(|it| it.slot);
        CacheUse { read, write: [0; 2], uncached: request.prompt - read, broke_at }
    }

    fn look(&self, request: &RequestView<'_>) -> Finding {
        let links = request.chain.links();
        let ends = (1..).map(|n| n * self.block_tokens);
        let mut n_known = 0;
        let mut n_held = None;
        for end in ends.take_while(|end| links.last().is_some_and(|it| *end <= it.tokens)) {
            let at = links.partition_point(|it| it.tokens < end);
            let Some(number) = self.known.get_index_of(&(links[at].digest, n_known)) else { break };
            if n_held.is_none() && !self.store.holds(ix(number)) {
                n_held = Some(n_known);
            }
            n_known += 1;
        }
        let n_held = n_held.unwrap_or(n_known);
        let read = (n_held * self.block_tokens).min(request.prompt);
        let found = |n_blocks: u64, fate| {
            let tokens = n_blocks * self.block_tokens;
            let slot = links.iter().find(|it| it.tokens >= tokens).map(|it| it.slot);
            EntryFound { slot, tokens, age_ms: None, life_ms: None, fate }
        };
        let evicted = (n_known > n_held).then(|| found(n_known, Fate::Evicted));
        let held = (read > 0).then(|| found(n_held, Fate::Read(read)));
        Finding { marks: Vec::new(), entries: evicted.into_iter().chain(held).collect() }
    }
}
