//! Prices as written, in US dollars per million tokens; a price that is absent is not a price of zero.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::quantity::{Decimal, Tokens};

/// What tokens cost from some day on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The day from which these prices hold, `YYYY-MM-DD`; always, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Input that is neither read from the cache nor written to it.
    pub input: Decimal,
    /// Output; unknown, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Decimal>,
    /// Input read from the cache; as dear as input, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Decimal>,
    /// Input written to the cache, by the entry's lifetime; as dear as input when none is given, unknown for one that
    /// is missing among others.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
    /// Keeping a million tokens for an hour; unknown, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Decimal>,
    /// Other prices for longer prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
    /// Other prices at some hours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// Other prices for other ways to be served, of which `assumptions.services` names those that are used.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub services: IndexMap<String, Service>,
}

/// Prices of longer prompts; what a tier does not say stays as it is below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// It holds for prompts longer than this; a prompt of exactly as many tokens is below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above_prompt_tokens: Option<Tokens>,
    /// It holds for prompts of at least this length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_prompt_tokens: Option<Tokens>,
    /// Which tokens of such a request it is for.
    #[serde(default, skip_serializing_if = "Reach::is_whole")]
    pub reach: Reach,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
}

/// Which tokens of a request a tier is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// All of them, output too.
    #[default]
    WholeRequest,
    /// Those that stand behind the threshold: reads stand first, then writes, then plain input, then output.
    Bracket,
}

impl Reach {
    /// Returns whether it is the usual reach.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        *self == Self::WholeRequest
    }
}

/// Prices at some hours: a factor on everything, or prices that stand instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(rename = "PriceWindow"))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// On which days, in UTC; every day, when silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weekdays: Vec<Weekday>,
    /// At which hours, in UTC, `"01:00-04:00"`; all day, when silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hours: Vec<String>,
    /// What everything is multiplied with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
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

/// Prices of a way to be served: a factor on everything, or prices that stand instead, with tiers of their own.
///
/// Where it has a price for input, what it does not price is not at the usual price: cache reads are as dear as its input, output
/// and writes that are usually priced are unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// What everything is multiplied with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub cache_write: IndexMap<String, Decimal>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
}
