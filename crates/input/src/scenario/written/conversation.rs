//! A load of synthetic conversations with planted facts, as written.

use crate::prelude::*;

/// Conversations of several lengths, each drawn many times, with facts planted in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Conversations {
    /// Messages of a conversation; each length is drawn `trials` times.
    pub lengths: Vec<u64>,
    /// Conversations per length.
    pub trials: u64,
    /// The random generator.
    #[serde(default)]
    pub random: Random,
    /// The `PYTHONHASHSEED` under which `cpython` hashes strings.
    pub hash_seed: Option<u32>,
    /// The share of messages that state a fact, above 0 and at most 1.
    pub needle_density: f64,
    /// The share of implicit facts, said in passing, 0 to 1.
    pub implicit_ratio: f64,
    /// The share of a conversation's tokens that fits into a prompt, above 0 and at most 1.
    pub context_budget_ratio: f64,
    /// Seconds between messages. Default: none.
    #[serde(default)]
    pub message_seconds: u64,
    /// The topics of conversations, one word each.
    pub domains: Vec<String>,
    /// Keys of facts with their values, by category.
    pub categories: IndexMap<String, IndexMap<String, FactValues>>,
}

/// The random generator of conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Random {
    /// Named streams: a draw in one place never shifts a draw in another.
    #[default]
    Named,
    /// CPython's `random.Random`, one draw after the other, as in a published Python benchmark.
    Cpython,
}

/// The possible values of a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FactValues {
    /// A whole number.
    Between {
        /// The smallest.
        first: u64,
        /// The largest.
        last: u64,
        /// The prefix.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        prefix: String,
    },
    /// A number with decimals.
    Uniform {
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
        /// The number of decimals.
        decimals: u8,
        /// The suffix.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        suffix: String,
    },
    /// One of several words.
    OneOf(Vec<String>),
}
