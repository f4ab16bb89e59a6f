//! What it takes to fetch something again: declared in `assumptions/recovery.toml`, with the interval that each number has.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::input::text::decode::{Format, decode};
use crate::quantity::Decimal;

/// What holds where no scenario says anything, with its sources.
const DEFAULTS: &str = include_str!("../../../assumptions/recovery.toml");

/// What it takes an agent to fetch something again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refetch {
    /// The share of calls, 0 to 1, that have a request of their own; the others ride along with the step that is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_request: Option<Assumed<Decimal>>,
    /// The most tokens that a call brings of one result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_tokens_max: Option<Assumed<u32>>,
    /// Tokens of the call itself, in the prompt and in the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_tokens: Option<u32>,
    /// The upper end, 0 to 1, of an inferred weight where no request has shown the result whole: measured weights are of
    /// results that the agent had seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen_weight_high: Option<Decimal>,
    /// How often needs are drawn and played where a policy edits what was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played_trials: Option<u64>,
}

/// A number that is assumed, and between which others it lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Assumed<T> {
    /// The number that is used.
    pub value: T,
    /// The lower end of its interval.
    pub low: T,
    /// The upper end.
    pub high: T,
}

/// Which end of the intervals is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// The declared values.
    #[default]
    Value,
    /// The lower ends.
    Low,
    /// The upper ends.
    High,
}

impl Bound {
    /// Every bound, the declared values first.
    pub const ALL: [Self; 3] = [Self::Value, Self::Low, Self::High];

    /// Picks one of three numbers.
    #[inline]
    #[must_use]
    pub fn pick<T>(self, value: T, [low, high]: [T; 2]) -> T {
        match self {
            Self::Value => value,
            Self::Low => low,
            Self::High => high,
        }
    }
}

/// Something that is assumed of recovery and has an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// How probably a later call needs a result.
    Weights,
    /// The same, where no request has shown the result whole.
    UnseenWeights,
    /// The share of calls that have a request of their own.
    OwnRequest,
    /// The most tokens that a call brings of one result.
    FetchedTokens,
}

impl Assumption {
    /// Every assumption.
    pub const ALL: [Self; 4] = [Self::Weights, Self::UnseenWeights, Self::OwnRequest, Self::FetchedTokens];

    /// Returns what it says, for people.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Weights => "how likely a result is needed again",
            Self::UnseenWeights => "how likely a result never shown whole is needed",
            Self::OwnRequest => "how many recovery calls have a request of their own",
            Self::FetchedTokens => "how many tokens a recovery call brings back",
        }
    }
}

/// Which end of each interval is used; the declared values, when silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends([Bound; 4]);

impl Ends {
    /// The declared values but for one assumption.
    #[must_use]
    pub fn only(assumption: Assumption, bound: Bound) -> Self {
        let mut ends = Self::default();
        ends.0[assumption as usize] = bound;
        ends
    }

    /// Returns which end of an assumption's interval is used.
    #[inline]
    #[must_use]
    pub fn of(self, assumption: Assumption) -> Bound {
        self.0[assumption as usize]
    }
}

impl From<Bound> for Ends {
    /// The same end of every interval.
    fn from(bound: Bound) -> Self {
        Self([bound; 4])
    }
}

/// What it takes to fetch something again, at some ends of the intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Which ends these are; weights of needs follow theirs.
    pub ends: Ends,
    /// The share of calls that have a request of their own.
    pub own_request: f64,
    /// The most tokens that a call brings of one result.
    pub fetched_max: u32,
    /// Tokens of the call itself.
    pub call_tokens: u32,
    /// The upper end of an inferred weight where no request has shown the result whole.
    pub unseen_high: f64,
}

impl Refetch {
    /// Returns whether nothing is said.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what is used at some ends of the intervals; what is silent here stands in `assumptions/recovery.toml`.
    #[must_use]
    pub fn terms(&self, ends: impl Into<Ends>) -> Terms {
        let ends = ends.into();
        let default = Self::defaults();
        let share = self.own_request.or(default.own_request).unwrap_or_default();
        let fetched = self.fetched_tokens_max.or(default.fetched_tokens_max).unwrap_or_default();
        Terms {
            ends,
            own_request: ends
                .of(Assumption::OwnRequest)
                .pick(share.value, [share.low, share.high])
                .to_f64()
                .clamp(0.0, 1.0),
            fetched_max: ends.of(Assumption::FetchedTokens).pick(fetched.value, [fetched.low, fetched.high]),
            call_tokens: self.call_tokens.or(default.call_tokens).unwrap_or_default(),
            unseen_high: self
                .unseen_weight_high
                .or(default.unseen_weight_high)
                .unwrap_or_default()
                .to_f64()
                .clamp(0.0, 1.0),
        }
    }

    /// Returns how often needs are drawn and played where a policy edits what was fetched.
    #[must_use]
    pub fn played_trials(&self) -> u64 {
        self.played_trials.or(Self::defaults().played_trials).unwrap_or_default()
    }

    fn defaults() -> &'static Self {
        static READ: OnceLock<Refetch> = OnceLock::new();
        READ.get_or_init(|| decode(DEFAULTS, Format::Toml).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_every_number_and_intervals_hold_their_values() {
        let file: Refetch = decode(DEFAULTS, Format::Toml).unwrap();

        let share = file.own_request.unwrap();
        let fetched = file.fetched_tokens_max.unwrap();
        assert!(share.low <= share.value && share.value <= share.high && share.high <= Decimal::ONE);
        assert!(fetched.low <= fetched.value && fetched.value <= fetched.high);
        assert!(file.call_tokens.is_some());
    }

    #[test]
    fn what_a_scenario_says_wins_field_by_field() {
        let own = Refetch { call_tokens: Some(7), ..Refetch::default() };

        let terms = own.terms(Bound::High);

        assert_eq!(terms.call_tokens, 7);
        assert_eq!(terms.fetched_max, Refetch::default().terms(Bound::High).fetched_max);
    }
}
