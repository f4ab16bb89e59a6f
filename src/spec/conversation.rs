//! A load of synthetic conversations with planted facts, as written.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Conversations of several lengths, each drawn many times, with facts planted in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConversationSpec {
    /// Messages of a conversation; each length is drawn `trials` times.
    pub lengths: Vec<u64>,
    /// How many conversations of each length.
    pub trials: u64,
    /// Where the draws come from.
    #[serde(default)]
    pub random: RandomSpec,
    /// The `PYTHONHASHSEED` under which `cpython` hashes strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_seed: Option<u32>,
    /// The share of messages that say a fact, above 0 and at most 1.
    pub needle_density: f64,
    /// The share of facts that are said in passing, 0 to 1.
    pub implicit_ratio: f64,
    /// The share of a conversation's tokens that a prompt may have, above 0 and at most 1.
    pub context_budget_ratio: f64,
    /// Seconds from one message to the next; none, when silent.
    #[serde(default)]
    pub message_seconds: u64,
    /// What conversations are about, one word each.
    pub domains: Vec<String>,
    /// Keys of facts with their values, by category.
    pub categories: IndexMap<String, IndexMap<String, ValueSpec>>,
}

/// Where the draws of conversations come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RandomSpec {
    /// From named streams: a draw in one place never shifts a draw in another.
    #[default]
    Named,
    /// From CPython's `random.Random`, one after the other, as a published Python benchmark draws them.
    Cpython,
}

/// The values that a fact may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ValueSpec {
    /// A whole number.
    Between {
        /// The least.
        first: u64,
        /// The greatest.
        last: u64,
        /// What stands before it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        prefix: String,
    },
    /// A number with decimals.
    Uniform {
        /// The least.
        from: f64,
        /// The greatest.
        to: f64,
        /// How many decimals are written.
        decimals: u8,
        /// What stands behind it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        suffix: String,
    },
    /// One of several words.
    OneOf(Vec<String>),
}
