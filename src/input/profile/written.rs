//! A model profile as written.

use serde::{Deserialize, Serialize};

mod cache;
mod price;

use crate::quantity::{Decimal, Tokens};

pub use self::cache::*;
pub use self::price::*;

/// A profile: one model at one provider at one date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// The name: the file's path below `profiles/` without its extension.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// The day on which the sources were read, `YYYY-MM-DD`.
    pub as_of: String,
    /// Where its numbers come from.
    pub sources: Vec<String>,
    /// Model ids that this profile stands for, as recordings write them; `*` stands for anything. The longest match wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// How much the model takes and gives.
    #[serde(default)]
    pub limits: Limits,
    /// The provider's prompt cache.
    pub cache: Cache,
    /// Prices in US dollars per million tokens.
    pub prices: Vec<Price>,
    /// What is assumed rather than known.
    #[serde(default)]
    pub assumptions: Assumptions,
}

/// How much a model takes and gives, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The context window; no limit, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<Tokens>,
    /// The longest prompt; the context window, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<Tokens>,
    /// The longest output; no limit, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<Tokens>,
}

/// How recovery is priced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecoveryPrice {
    /// As the requests that it takes: what is sent again, fetched and carried, by what the cache makes of it.
    #[default]
    Requests,
    /// Each call alike, as plain input: what it fetches, and `recovery_overhead_tokens`.
    Flat,
}

/// What a report assumes about the agent and the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Assumptions {
    /// How recovery is priced.
    #[serde(default)]
    pub recovery: RecoveryPrice,
    /// With `recovery = "flat"`: tokens of a recovery call's prompt beside what it fetches.
    #[serde(default)]
    pub recovery_overhead_tokens: Tokens,
    /// With `recovery = "flat"`: tokens that a recovery call writes.
    #[serde(default)]
    pub recovery_output_tokens: Tokens,
    /// What one need without a handle, or one request over a limit, is taken to cost.
    #[serde(default)]
    pub failure_penalty_usd: Decimal,
    /// Milliseconds of a request before the first token.
    #[serde(default)]
    pub request_latency_ms: Decimal,
    /// Milliseconds of a recovery call.
    #[serde(default)]
    pub recovery_latency_ms: Decimal,
    /// What a call of a memory to the service that holds it costs.
    #[serde(default)]
    pub memory_call_usd: Decimal,
    /// Milliseconds of such a call.
    #[serde(default)]
    pub memory_latency_ms: Decimal,
    /// Milliseconds per input token that is not read from the cache.
    #[serde(default)]
    pub latency_ms_per_uncached_token: Decimal,
    /// Milliseconds per output token.
    #[serde(default)]
    pub latency_ms_per_output_token: Decimal,
    /// When a timeline starts, `YYYY-MM-DD` or `YYYY-MM-DDTHH:MMZ`; on the day of the sources, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<String>,
    /// The ways to be served that are used, of those that the prices list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
}
