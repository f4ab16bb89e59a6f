//! Fixed blocks in a store of limited size; the least recently used leave first.

use crate::prelude::*;

use super::{CacheRules, HitsFields, InvalidatesFields, qualified};

/// The fields of these rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlocksFields {
    /// Tokens per block.
    pub block_tokens: Option<Tokens>,
    /// Blocks in the store. Default: unlimited.
    pub capacity_blocks: Option<u32>,
    /// Which end of a prompt counts as used first, and so leaves first. Default: its tail.
    pub touch: Option<Touch>,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
    /// How often a request is served by a machine that has the entries. Default: always.
    pub hits: Option<HitsFields>,
}

impl BlocksFields {
    pub(super) fn check(&self, problems: &mut Problems) -> CacheRules {
        let block_tokens = self.block_tokens.unwrap_or(0);
        if block_tokens == 0 {
            let message = "`block_tokens` must be at least 1";
            let help = "write `block_tokens: 16`, or another number of at least 1";
            problems.push_at(Code("block-size-missing"), "block_tokens", message, help);
        }
        if self.capacity_blocks == Some(0) {
            let message = "a store of 0 blocks holds nothing";
            let help = "write `cache: none` for no cache";
            problems.push_at(Code("capacity-zero"), "capacity_blocks", message, help);
        }
        let touch = self.touch.unwrap_or_default();
        let rules = CacheRules::Blocks(Blocks { block_tokens, capacity_blocks: self.capacity_blocks, touch });
        qualified(rules, self.invalidates.as_ref(), self.hits.as_ref(), problems)
    }
}

/// A store of fixed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// Tokens per block, at least 1.
    pub block_tokens: Tokens,
    /// Blocks in the store, at least 1; unlimited if `None`.
    pub capacity_blocks: Option<u32>,
    /// The order in which the blocks of a prompt count as used.
    pub touch: Touch,
}

/// The order in which the blocks of a prompt count as used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// From the head on, so that the head leaves first.
    HeadFirst,
    /// From the tail on, so that the tail leaves first.
    #[default]
    TailFirst,
}
