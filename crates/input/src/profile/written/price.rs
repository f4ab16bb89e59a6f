//! Prices as written, in US dollars per million tokens; a missing price is not a price of zero.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use ctxsim_base::quantity::{Decimal, Tokens};

/// Prices from a date on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PriceSpec {
    /// The date from which these prices hold, `YYYY-MM-DD`. Default: always.
    pub from: Option<String>,
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
