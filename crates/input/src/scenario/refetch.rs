//! The cost of fetching something again: declared in `assumptions/recovery.toml`, with an interval for each number.

use crate::prelude::*;

/// The defaults, with their sources.
const DEFAULTS: &str = ctxsim_assumptions::RECOVERY;

/// What an agent needs to fetch something again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refetch {
    /// The share of calls, 0 to 1, with a request of their own; the others share the step's own request.
    pub own_request: Option<AssumedNumber<Decimal>>,
    /// The most tokens that a call returns of one result.
    pub fetched_tokens_max: Option<AssumedNumber<u32>>,
    /// Tokens of the call itself, in the prompt and in the output.
    pub call_tokens: Option<u32>,
    /// The upper end, 0 to 1, of an inferred weight if no request has shown the result in full: measured
    /// weights are of results that the agent had seen.
    pub unseen_weight_high: Option<Decimal>,
    /// How often needs are sampled and played if a policy edits fetched results.
    pub played_trials: Option<u64>,
    /// What an agent looks up anew after context was removed. Default: as measured for recorded sessions, nothing for other loads.
    pub exploration: Option<Exploration>,
}

/// What an agent looks up anew after context was removed, beyond the results that it needs again. Each field that is left out is as
/// `assumptions/recovery.toml` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Exploration {
    /// Calls that each request makes more while all of the working context is missing, from 0.
    pub calls_per_request: Option<AssumedNumber<Decimal>>,
    /// The number of requests, from 1, in which what was removed fades from all of it to nothing, evenly.
    pub fades_in_requests: Option<u32>,
    /// How much more than its proportion a part of the context counts, from -1 to 1: a missing share `h` has the effect `h (1 + b (1 - h))`.
    pub bend: Option<AssumedNumber<f64>>,
    /// Ten equally likely sizes of what a call returns, in tokens.
    pub fetched_tokens: Option<[u32; 10]>,
    /// How many times these sizes a call returns, from 0.
    pub fetched_scale: Option<AssumedNumber<Decimal>>,
}

/// An assumed number and its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AssumedNumber<T> {
    /// The number that is used.
    pub value: T,
    /// The lower end of its interval.
    pub low: T,
    /// The upper end.
    pub high: T,
}

/// The end of the intervals to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The declared values.
    #[default]
    Value,
    /// The lower ends.
    Low,
    /// The upper ends.
    High,
}

impl End {
    /// Every bound, the declared values first.
    pub const ALL: [Self; 3] = [Self::Value, Self::Low, Self::High];

    /// Picks one of three numbers.
    #[inline]
    pub fn pick<T>(self, value: T, [low, high]: [T; 2]) -> T {
        match self {
            Self::Value => value,
            Self::Low => low,
            Self::High => high,
        }
    }
}

/// An assumption about recovery that has an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The probability that a later call needs a result.
    Weights,
    /// The same, if no request has shown the result in full.
    UnseenWeights,
    /// The share of calls with a request of their own.
    OwnRequest,
    /// The most tokens that a call returns of one result.
    FetchedTokens,
    /// How often something is looked up anew after context was removed.
    ExploredCalls,
    /// How that grows with the share of the context that is missing.
    ExploredBend,
    /// The sizes of what is looked up anew.
    ExploredSizes,
}

impl Assumption {
    /// Every assumption.
    pub const ALL: [Self; Self::N] = [
        Self::Weights,
        Self::UnseenWeights,
        Self::OwnRequest,
        Self::FetchedTokens,
        Self::ExploredCalls,
        Self::ExploredBend,
        Self::ExploredSizes,
    ];

    /// How many there are.
    pub const N: usize = 7;

    /// Returns whether a cost is linear in it, so that playing one end of its interval is enough.
    ///
    /// Weights are not: the more probable a call, the more probable that one before it brought the same.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::OwnRequest | Self::ExploredCalls | Self::ExploredBend | Self::ExploredSizes)
    }

    /// Returns its description.
    pub fn about(self) -> &'static str {
        match self {
            Self::Weights => "the probability that a result is needed again",
            Self::UnseenWeights => "the probability that a result never shown in full is needed",
            Self::OwnRequest => "the number of recovery calls with their own request",
            Self::FetchedTokens => "the number of tokens a recovery call returns",
            Self::ExploredCalls => "how often things are looked up anew after context was removed",
            Self::ExploredBend => "how that grows with the share that is missing",
            Self::ExploredSizes => "the number of tokens of what is looked up anew",
        }
    }
}

/// The end of each interval to use. Default: the declared values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends([End; Assumption::N]);

impl Ends {
    /// The declared values, except for one assumption.
    pub fn only(assumption: Assumption, bound: End) -> Self {
        let mut ends = Self::default();
        ends.0[assumption as usize] = bound;
        ends
    }

    /// Returns those of the weights alone.
    fn of_weights(self) -> Self {
        let mut ends = Self::default();
        for it in [Assumption::Weights, Assumption::UnseenWeights] {
            ends.0[it as usize] = self.of(it);
        }
        ends
    }

    /// Returns the end of an assumption's interval to use.
    #[inline]
    pub fn of(self, assumption: Assumption) -> End {
        self.0[assumption as usize]
    }
}

impl From<End> for Ends {
    /// The same end of every interval.
    fn from(bound: End) -> Self {
        Self([bound; Assumption::N])
    }
}

/// What an agent needs to fetch something again, at chosen ends of the intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// The ends of what stands with each need: its weight.
    pub ends: Ends,
    /// Whether everything is as assumed, at no end of an interval.
    pub is_declared: bool,
    /// The share of calls with a request of their own.
    pub own_request: f64,
    /// The most tokens that a call returns of one result.
    pub fetched_max: u32,
    /// Tokens of the call itself.
    pub call_tokens: u32,
    /// The upper end of an inferred weight if no request has shown the result in full.
    pub unseen_high: f64,
    /// What is looked up anew after context was removed; `None` where nothing is assumed.
    pub explores: Option<Explores>,
}

/// What an agent looks up anew, at chosen ends of the intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Explores {
    /// Calls per request while all of the working context is missing.
    pub calls_per_request: f64,
    /// The number of requests in which what was removed fades.
    pub fades_in_requests: u32,
    /// How much more than its proportion a part of the context counts.
    pub bend: f64,
    /// Equally likely sizes of what a call returns, in tokens.
    pub fetched_tokens: [u32; 10],
}

impl Explores {
    /// Returns the calls that a request is expected to make more, of removed tokens, faded, and of those that still stand.
    #[inline]
    pub fn calls(&self, removed: f64, stand: f64) -> f64 {
        if removed <= 0.0 {
            return 0.0;
        }
        let share = removed / (removed + stand.max(0.0));
        self.calls_per_request * share * (1.0 + self.bend * (1.0 - share))
    }

    /// Returns the mean size of what a call returns, and the mean of its square.
    pub fn moments(&self) -> [f64; 2] {
        [1, 2]
            .map(|power| self.fetched_tokens.iter().map(|it| f64::from(*it).powi(power)).sum::<f64>() / 10.0)
    }
}

impl Refetch {
    /// Returns a number as assumed, and at the lower and upper ends of its interval; defaults come from `assumptions/recovery.toml`.
    /// Weights have none here: they stand with each need. Nor has exploration where nothing is assumed of it.
    pub fn number(&self, assumption: Assumption) -> Option<[f64; 3]> {
        let default = Self::defaults();
        let usual = default.exploration.unwrap_or_default();
        let shares = |it: AssumedNumber<Decimal>| [it.value, it.low, it.high].map(Decimal::to_f64);
        match assumption {
            Assumption::Weights | Assumption::UnseenWeights => None,
            Assumption::OwnRequest => {
                self.own_request.or(default.own_request).map(|it| shares(it).map(|it| it.clamp(0.0, 1.0)))
            }
            Assumption::FetchedTokens => self
                .fetched_tokens_max
                .or(default.fetched_tokens_max)
                .map(|it| [it.value, it.low, it.high].map(f64::from)),
            Assumption::ExploredCalls => {
                self.exploration?.calls_per_request.or(usual.calls_per_request).map(shares)
            }
            Assumption::ExploredBend => {
                let bend = self.exploration?.bend.or(usual.bend)?;
                Some([bend.value, bend.low, bend.high].map(|it| it.clamp(-1.0, 1.0)))
            }
            Assumption::ExploredSizes => self.exploration?.fetched_scale.or(usual.fetched_scale).map(shares),
        }
    }

    /// Returns the numbers at chosen ends of the intervals.
    pub fn terms(&self, ends: impl Into<Ends>) -> Terms {
        let (default, ends) = (Self::defaults(), ends.into());
        let at = |assumption| {
            let [value, low, high] = self.number(assumption).unwrap_or_default();
            ends.of(assumption).pick(value, [low, high])
        };
        let explores = |own: Exploration| {
            let usual = default.exploration.unwrap_or_default();
            let sizes = own.fetched_tokens.or(usual.fetched_tokens).unwrap_or_default();
            let scale = at(Assumption::ExploredSizes);
            let fades = own.fades_in_requests.or(usual.fades_in_requests).unwrap_or_default();
            Explores {
                calls_per_request: at(Assumption::ExploredCalls),
                fades_in_requests: fades.max(1),
                bend: at(Assumption::ExploredBend),
                fetched_tokens: sizes.map(|it| (f64::from(it) * scale).round() as u32),
            }
        };
        let is_declared = |assumption| {
            // Without a number, only the end of a weight says anything.
            let is_weight = matches!(assumption, Assumption::Weights | Assumption::UnseenWeights);
            let is_at_end = || is_weight && ends.of(assumption) != End::Value;
            let differs = |it: [f64; 3]| (at(assumption) - it[0]).abs() > 0.0;
            !self.number(assumption).map_or_else(is_at_end, differs)
        };
        let unseen = self.unseen_weight_high.or(default.unseen_weight_high).unwrap_or_default();
        Terms {
            ends: ends.of_weights(),
            is_declared: ends == Ends::default() || Assumption::ALL.into_iter().all(is_declared),
            own_request: at(Assumption::OwnRequest),
            fetched_max: at(Assumption::FetchedTokens) as u32,
            call_tokens: self.call_tokens.or(default.call_tokens).unwrap_or_default(),
            unseen_high: unseen.to_f64().clamp(0.0, 1.0),
            explores: self.exploration.map(explores),
        }
    }

    /// Returns the same for a load whose needs were inferred: what was measured of exploration holds there.
    pub fn explored(self) -> Self {
        Self { exploration: Some(self.exploration.unwrap_or_default()), ..self }
    }

    /// Returns it with every size written out, as declared or by default.
    pub fn with_sizes(self) -> Self {
        let default = Self::defaults();
        let sizes = |it: Exploration| it.fetched_tokens.or(default.exploration?.fetched_tokens);
        let exploration = self.exploration.map(|it| Exploration { fetched_tokens: sizes(it), ..it });
        Self {
            fetched_tokens_max: self.fetched_tokens_max.or(default.fetched_tokens_max),
            call_tokens: self.call_tokens.or(default.call_tokens),
            exploration,
            ..self
        }
    }

    /// Returns how often needs are sampled and played if a policy edits fetched results.
    pub fn played_trials(&self) -> u64 {
        self.played_trials.or(Self::defaults().played_trials).unwrap_or_default()
    }

    fn defaults() -> &'static Self {
        static READ: LazyLock<Refetch> = LazyLock::new(|| declared(DEFAULTS));
        &READ
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_says_wins_field_by_field() {
        let own = Refetch { call_tokens: Some(7), ..Refetch::default() };

        let terms = own.terms(End::High);

        assert_eq!(terms.call_tokens, 7);
        assert_eq!(terms.fetched_max, Refetch::default().terms(End::High).fetched_max);
    }
}
