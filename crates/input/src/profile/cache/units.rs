//! Whole units left by earlier requests; a prompt reads the longest with which it begins.

use crate::prelude::*;

use super::{CacheRules, HitsFields, InvalidatesFields, Readable, Steps, Ttls, not_zero, qualified};
use crate::text::duration::Duration;

/// The fields of these rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnitsFields {
    /// Shorter prefixes are not cached.
    pub min_tokens: Option<Tokens>,
    /// The step, in tokens, by which cached prefixes grow beyond the minimum.
    pub step_tokens: Option<Tokens>,
    /// The places at which a request leaves units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitEnd>,
    /// A request also leaves a unit at every multiple of this number of tokens.
    pub interval_tokens: Option<Tokens>,
    /// How long a unit lives after its last use.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub ttl: Ttls,
    /// From when a unit can be read.
    pub readable: Option<Readable>,
    /// How long after that, because a unit must be built first.
    pub readable_after: Option<Duration>,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
    /// How often a request is served by a machine that has the units. Default: always.
    pub hits: Option<HitsFields>,
}

impl UnitsFields {
    pub(super) fn check(&self, problems: &mut Problems) -> CacheRules {
        not_zero(
            "interval_tokens",
            self.interval_tokens,
            "an interval of 0 tokens is not possible",
            problems,
        );
        if self.units.is_empty() && self.interval_tokens.is_none() {
            let message = "without units there is nothing to read later";
            let help = "write `units: [input_end, output_end, common_prefix]`, or `interval_tokens`";
            problems.push_at(Code("units-nowhere"), "units", message, help);
        }
        let leaves = |at: UnitEnd| self.units.contains(&at);
        let rules = UnitRules {
            steps: Steps::of(self.min_tokens, self.step_tokens, problems),
            at_input_end: leaves(UnitEnd::InputEnd),
            at_output_end: leaves(UnitEnd::OutputEnd),
            at_common_prefix: leaves(UnitEnd::CommonPrefix),
            interval_tokens: self.interval_tokens.map(|it| it.max(1)),
            ttl_ms: self.ttl.only(problems),
            readable: self.readable.unwrap_or_default(),
            readable_after_ms: self.readable_after.map_or(0, |it| it.0),
        };
        qualified(CacheRules::Units(rules), self.invalidates.as_ref(), self.hits.as_ref(), problems)
    }
}

/// The numbers of a cache of whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnitRules {
    /// The lengths that units have.
    pub steps: Steps,
    /// Whether a request leaves a unit at the end of its prompt.
    pub at_input_end: bool,
    /// Whether it leaves a unit at the end of the model's output.
    pub at_output_end: bool,
    /// Whether it leaves a unit at the end of the prefix that it shares with an earlier prompt.
    pub at_common_prefix: bool,
    /// A request also leaves a unit at every multiple of this number of tokens, at least 1.
    pub interval_tokens: Option<Tokens>,
    /// How long a unit lives after its last use, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// From when a unit can be read.
    pub readable: Readable,
    /// How long after that, in milliseconds.
    pub readable_after_ms: u64,
}

/// A place at which a request leaves a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnitEnd {
    /// At the end of its prompt.
    InputEnd,
    /// At the end of the model's output.
    OutputEnd,
    /// At the end of the prefix that it shares with an earlier prompt.
    CommonPrefix,
}
