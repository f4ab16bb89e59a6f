//! A model profile as written.

use serde::{Deserialize, Serialize};

mod price;

use super::cache::Cache;
use ctxsim_base::quantity::{Decimal, Tokens};

pub use self::price::*;

crate::decoded_here!(ProfileFile);
crate::encoded_here!(ProfileFile);

/// A profile: one model at one provider at one date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// The name: the file's path below `profiles/` without its extension.
    pub name: String,
    /// What it is, in one sentence.
    pub about: String,
    /// The date on which the sources were read, `YYYY-MM-DD`.
    pub as_of: String,
    /// Where its numbers come from.
    pub sources: Vec<String>,
    /// Model ids that this profile covers, as recordings write them; `*` matches anything. The longest match
    /// wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The family of models whose tokens its own are, by its name in `assumptions/tokenizers.toml`. Default: by the model ids that it
    /// covers, else by its name.
    pub tokenizer: Option<String>,
    /// Whether its provider calls its cache best effort: what is cached may be missed at any time, so savings that rest on it are not sure.
    /// Default: false, also where nobody says so.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub best_effort: bool,
    /// The model's token limits.
    #[serde(default)]
    pub limits: LimitsSpec,
    /// The provider's prompt cache.
    pub cache: Cache,
    /// Prices in US dollars per million tokens.
    pub prices: Vec<PriceSpec>,
    /// Assumptions, as opposed to known values.
    #[serde(default)]
    pub assumptions: AssumptionsSpec,
}

impl ProfileFile {
    /// Returns it at the prices of one more service, with the service in its name.
    #[must_use]
    pub fn under(mut self, service: &str) -> Self {
        self.name = format!("{}@{service}", self.name);
        self.assumptions.services.push(service.to_owned());
        self
    }
}

/// A model's token limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsSpec {
    /// The context window. Default: no limit.
    pub context_tokens: Option<Tokens>,
    /// The longest prompt. Default: the context window.
    pub input_tokens: Option<Tokens>,
    /// The longest output. Default: no limit.
    pub output_tokens: Option<Tokens>,
}

/// How recovery is priced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecoveryPrice {
    /// As requests: what is resent, fetched and carried is billed as the cache rules say.
    #[default]
    Requests,
    /// Each call costs the same, as plain input: what it fetches, plus `recovery_overhead_tokens`.
    Flat,
}

/// Assumptions of a report about the agent and the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AssumptionsSpec {
    /// How recovery is priced.
    pub recovery: RecoveryPrice,
    /// With `recovery = "flat"`: tokens of a recovery call's prompt, in addition to what it fetches.
    pub recovery_overhead_tokens: Tokens,
    /// With `recovery = "flat"`: tokens that a recovery call writes.
    pub recovery_output_tokens: Tokens,
    /// The assumed cost of one need without a handle, or one request over a limit.
    pub failure_penalty_usd: Decimal,
    /// Milliseconds from a request to its first token.
    pub request_latency_ms: Decimal,
    /// Milliseconds of a recovery call.
    pub recovery_latency_ms: Decimal,
    /// The cost of one call from a memory to its service.
    pub memory_call_usd: Decimal,
    /// Milliseconds of one such call.
    pub memory_latency_ms: Decimal,
    /// Milliseconds per input token not read from the cache.
    pub latency_ms_per_uncached_token: Decimal,
    /// Milliseconds per output token.
    pub latency_ms_per_output_token: Decimal,
    /// When a timeline starts, `YYYY-MM-DD` or `YYYY-MM-DDTHH:MMZ`. Default: the date of the sources.
    pub starts_at: Option<String>,
    /// The services in use, out of those in the price lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
}
