//! A model profile as written.

use crate::prelude::*;

use super::cache::Cache;

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
    /// Model ids that this profile covers, as recordings write them; `*` matches anything, and `{revision}` at the end a date or another name of
    /// a build, or nothing. The longest match wins.
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

// Prices as written, in US dollars per million tokens; a missing price is not a price of zero.

/// Prices from a date on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PriceSpec {
    /// The date from which these prices hold, `YYYY-MM-DD`. Default: always.
    pub from: Option<String>,
    /// The last day on which they hold, `YYYY-MM-DD`, where a promotion ends and nobody has published what follows.
    pub until: Option<String>,
    /// Input neither read from the cache nor written to it.
    pub input: Decimal,
    /// Output. Default: unknown.
    pub output: Option<Decimal>,
    /// Input read from the cache. Default: the price of input.
    pub cache_read: Option<Decimal>,
    /// Input written to the cache, by the entry's lifetime. Default: the price of input if no lifetime is
    /// listed; unknown for a lifetime missing from the list.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
    /// Storing a million tokens for an hour. Default: unknown.
    pub storage: Option<Decimal>,
    /// Other prices for longer prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierSpec>,
    /// Other prices at certain hours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowSpec>,
    /// Other prices under certain services; `assumptions.services` names those in use.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub services: IndexMap<String, ServicePrices>,
}

/// Prices of longer prompts; omitted prices stay as they are below the tier.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TierSpec {
    /// The tier holds for prompts longer than this, not for prompts of exactly this length.
    pub above_prompt_tokens: Option<Tokens>,
    /// The tier holds for prompts of at least this length.
    pub from_prompt_tokens: Option<Tokens>,
    /// The tokens of such a request to which it applies.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub reach: TierReach,
    /// As in [`PriceSpec`].
    pub input: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub output: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub cache_read: Option<Decimal>,
    /// As in [`PriceSpec`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
}

/// The tokens of a request to which a tier applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TierReach {
    /// All tokens, including output.
    #[default]
    WholeRequest,
    /// Only tokens beyond the threshold; reads come first, then writes, plain input and output.
    Bracket,
}

/// Prices at certain hours: a factor on all prices, or replacement prices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PriceWindow"))]
#[serde(deny_unknown_fields)]
pub struct WindowSpec {
    /// The days, in UTC. Default: every day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weekdays: Vec<Weekday>,
    /// The hours, in UTC, such as `"01:00-04:00"`. Default: all day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hours: Vec<String>,
    /// The factor on all prices.
    pub factor: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub input: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub output: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub cache_read: Option<Decimal>,
    /// As in [`PriceSpec`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the days are named after themselves")]
pub enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// Prices under a service: a factor on all prices, or replacement prices with their own tiers.
///
/// If it prices input, its other prices do not fall back to the standard ones: cache reads cost as much as
/// its input; output and writes with a standard price are unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServicePrices {
    /// The factor on all prices.
    pub factor: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub input: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub output: Option<Decimal>,
    /// As in [`PriceSpec`].
    pub cache_read: Option<Decimal>,
    /// As in [`PriceSpec`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
    /// As in [`PriceSpec`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierSpec>,
}
