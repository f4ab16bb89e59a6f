//! Sizes, with everything folded that a run knows in advance.

use crate::prelude::*;
use ctxsim_base::quantity::{Decimal, UNLIMITED};
use ctxsim_input::{HarnessNumber, WindowKind};
use ctxsim_timeline::HarnessLimits;

/// A size as a program holds it: a number, or an expression over the state of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Num {
    /// Known in advance.
    Const(Tokens),
    /// The prompt when the stage fired.
    Start,
    /// What a summary replaces.
    Input,
    /// The size from the first change to the prompt's end.
    Behind,
    /// A size divided by the rank of a result.
    PerRank(Box<Num>),
    Sum(Vec<Num>),
    /// The first less the others, at least 0.
    Minus(Vec<Num>),
    /// The least.
    Min(Vec<Num>),
    /// The greatest.
    Max(Vec<Num>),
    /// A factor times a size, rounded down.
    Times(Decimal, Box<Num>),
}

/// The state of a stage that a size may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Env {
    /// The prompt when the stage fired.
    pub start: Tokens,
    /// What a summary replaces.
    pub input: Tokens,
    /// The size from the first item that the stage would change to the prompt's end.
    pub behind: Tokens,
    /// The place of an item's result among the session's, from 1.
    pub rank: u32,
}

/// What a run knows in advance.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The profile's limits.
    pub limits: Limits,
    /// The timeline's characters per token.
    pub chars_per_token: Decimal,
    /// When the harness that recorded the timeline compacts.
    pub harness: HarnessLimits,
}

impl Known {
    /// Returns what a run of a timeline under a profile's limits knows.
    pub fn of(timeline: &Timeline, limits: Limits) -> Self {
        let recorded = timeline.recorded.as_ref();
        let harness = recorded.map_or_else(HarnessLimits::default, |it| it.harness_limits);
        Self { limits, chars_per_token: timeline.chars_per_token, harness }
    }

    /// Returns what one knows of a load that no harness recorded.
    pub fn unrecorded(limits: Limits, chars_per_token: Decimal) -> Self {
        Self { limits, chars_per_token, harness: HarnessLimits::default() }
    }

    /// Returns a number of the harness, if it is known.
    fn harness(&self, number: HarnessNumber) -> Option<Tokens> {
        match number {
            HarnessNumber::Window => self.harness.window,
            HarnessNumber::OutputReserve => self.harness.output_reserve,
            HarnessNumber::Trigger => self.harness.trigger,
        }
    }
}

impl Num {
    /// Folds a size.
    pub fn new(size: &Size, known: &Known) -> Self {
        let all = |parts: &[Size]| parts.iter().map(|it| Self::new(it, known)).collect();
        let num = match size {
            Size::Tokens(count) | Size::Count(count) => Self::Const(*count),
            Size::Ratio(ratio) => Self::Const(ratio.share_of(known.limits.prompt)),
            Size::Chars(count) => Self::Const(tokens_of_chars(*count, known.chars_per_token)),
            Size::Limit => Self::Const(known.limits.prompt),
            Size::Window => Self::Const(known.limits.window),
            Size::OutputLimit => Self::Const(known.limits.output),
            Size::Harness { number, or } => {
                known.harness(*number).map_or_else(|| Self::new(or, known), Self::Const)
            }
            Size::Start => Self::Start,
            Size::Input => Self::Input,
            Size::Behind => Self::Behind,
            Size::PerRank(part) => Self::PerRank(Box::new(Self::new(part, known))),
            Size::Sum(parts) => Self::Sum(all(parts)),
            Size::Minus(parts) => Self::Minus(all(parts)),
            Size::Min(parts) => Self::Min(all(parts)),
            Size::Max(parts) => Self::Max(all(parts)),
            Size::Times(factor, part) => Self::Times(*factor, Box::new(Self::new(part, known))),
            Size::ByWindow { of, below, then, otherwise } => {
                let of = match of {
                    WindowKind::Limit => known.limits.prompt,
                    WindowKind::Window => known.limits.window,
                };
                Self::new(if of < *below { then } else { otherwise }, known)
            }
            // No parameter is left in a checked policy.
            Size::Param(_) => Self::Const(0),
        };
        if num.is_known() { Self::Const(num.eval(&Env::default())) } else { num }
    }

    /// Folds a size that no state of a stage changes, if there is one.
    pub fn fixed(size: Option<&Size>, known: &Known) -> Option<Tokens> {
        size.map(|it| Self::new(it, known).eval(&Env::default()))
    }

    /// Returns a size that no state of a stage changes and no missing limit leaves open.
    pub fn known(size: &Size, known: &Known) -> Option<Tokens> {
        match Self::new(size, known) {
            Self::Const(count) if count != UNLIMITED => Some(count),
            _ => None,
        }
    }

    /// Returns whether no state of a stage is asked.
    fn is_known(&self) -> bool {
        match self {
            Self::Const(_) => true,
            Self::Start | Self::Input | Self::Behind | Self::PerRank(_) => false,
            Self::Sum(parts) | Self::Minus(parts) | Self::Min(parts) | Self::Max(parts) => {
                parts.iter().all(Self::is_known)
            }
            Self::Times(_, part) => part.is_known(),
        }
    }

    /// Returns whether what is after the first change is asked.
    pub fn asks_behind(&self) -> bool {
        match self {
            Self::Behind => true,
            Self::Const(_) | Self::Start | Self::Input => false,
            Self::Sum(parts) | Self::Minus(parts) | Self::Min(parts) | Self::Max(parts) => {
                parts.iter().any(Self::asks_behind)
            }
            Self::Times(_, part) | Self::PerRank(part) => part.asks_behind(),
        }
    }

    /// Returns the number of tokens.
    #[inline]
    pub fn eval(&self, env: &Env) -> Tokens {
        match self {
            Self::Const(count) => *count,
            other => other.eval_expression(env),
        }
    }

    fn eval_expression(&self, env: &Env) -> Tokens {
        match self {
            Self::Const(count) => *count,
            Self::Start => env.start,
            Self::Input => env.input,
            Self::Behind => env.behind,
            Self::PerRank(part) => part.eval(env) / Tokens::from(env.rank.max(1)),
            Self::Sum(parts) => parts.iter().fold(0, |sum: Tokens, it| sum.saturating_add(it.eval(env))),
            Self::Minus(parts) => {
                let mut parts = parts.iter().map(|it| it.eval(env));
                let first = parts.next().unwrap_or(0);
                if first == UNLIMITED { first } else { parts.fold(first, Tokens::saturating_sub) }
            }
            Self::Min(parts) => parts.iter().map(|it| it.eval(env)).min().unwrap_or(0),
            Self::Max(parts) => parts.iter().map(|it| it.eval(env)).max().unwrap_or(0),
            Self::Times(factor, part) => factor.share_of(part.eval(env)),
        }
    }
}

/// Turns characters into tokens, rounded up.
pub(super) fn tokens_of_chars(chars: u64, chars_per_token: Decimal) -> Tokens {
    let ratio = chars_per_token.to_f64();
    if ratio <= 0.0 {
        return UNLIMITED;
    }
    let (milli, chars) = ((ratio * 1000.0) as u128, u128::from(chars) * 1000);
    saturated(chars.div_ceil(milli.max(1)))
}
