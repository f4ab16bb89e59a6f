//! Conditions as a program holds them, and the sizes that they ask about.

use super::{Arrived, Reach, ScopeTotals, SlotIx, StageMark};
use crate::prelude::*;
use ctxsim_input::policy::given;
use ctxsim_input::{Cond, Count, HarnessNumber, Relation, Stage, WindowKind};
use ctxsim_timeline::HarnessLimits;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Holds.
    Always,
    Tokens(Measure, Relation, Num),
    /// Units that have come since a stage last acted.
    Since(usize, Unit, Relation, u64),
    /// Units taken by this activation.
    Taken(Reach),
    /// The running count has passed a multiple.
    Every(Unit, u64),
    /// Units in the scope.
    Count(Unit, Relation, u64),
    /// A pause.
    Idle(u64),
    /// A pause longer than the cache's lifetime.
    CacheCold,
    /// Every part holds.
    All(Vec<Test>),
    /// Some part holds.
    Any(Vec<Test>),
    /// The part does not hold.
    Not(Box<Test>),
}

/// A number of tokens that a condition may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Prompt,
    /// What is after the stable prefix.
    Body,
    /// The prompt as received.
    Raw,
    /// What is after the stable prefix, as the harness counts it.
    Counted,
    /// By how much the prompt has grown since a stage last acted.
    Grown(usize),
    Scope,
    /// What the stage would free.
    Reclaimable,
    /// What this activation has freed.
    Freed,
}

/// How far an activation has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActivationProgress {
    /// Items taken.
    pub items: u64,
    /// Tool results taken.
    pub tool_uses: u64,
    /// Messages, groups, steps and turns taken from.
    pub gathered: [u64; 4],
    /// Tokens taken.
    pub tokens: Tokens,
    /// Items that the scope had when the activation began.
    pub of: u64,
    /// Those last taken from, counted from 1.
    pub last: [usize; 4],
}

/// What stays the same during one activation.
#[derive(Clone, Copy, Debug)]
pub struct Activation<'a> {
    /// The prompt when the stage fired.
    pub env: Env,
    /// What had come when the stage was last considered, and what has come now.
    pub arrived: [Arrived; 2],
    /// Where the session begins.
    pub session: SlotIx,
    /// By stage: how it last left the prompt; of those that some condition asks after.
    pub marks: &'a [Option<StageMark>],
    /// Time and cache facts.
    pub ambient: &'a Ambient,
}

impl Activation<'_> {
    /// Returns how a stage last left a prompt of this session.
    fn mark(&self, stage: usize) -> Option<&StageMark> {
        self.marks.get(stage)?.as_ref().filter(|it| it.session == self.session)
    }
}

/// What a condition may look at.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Tokens of the prompt, as it is or as it would be.
    pub prompt: Tokens,
    /// Of these, the stable prefix.
    pub stable: Tokens,
    /// What a size may ask.
    pub env: Env,
    /// Tokens of the prompt as received, where a condition asks.
    pub raw: Tokens,
    /// What is after the stable prefix, as the harness counts it.
    pub counted: Tokens,
    pub scope: ScopeTotals,
    /// Messages, groups, steps and turns that have an item in the scope.
    pub units: [u64; 4],
    /// How far the activation has come.
    pub progress: ActivationProgress,
    /// What stays the same.
    pub activation: &'a Activation<'a>,
}

impl Look<'_> {
    fn tokens(&self, measure: Measure) -> Tokens {
        match measure {
            Measure::Prompt => self.prompt,
            Measure::Body => self.prompt.saturating_sub(self.stable),
            Measure::Raw => self.raw,
            Measure::Counted => self.counted,
            Measure::Grown(stage) => {
                let left = self.activation.mark(stage).map_or(self.stable, |it| it.tokens);
                self.prompt.saturating_sub(left)
            }
            Measure::Scope => self.scope.tokens,
            Measure::Reclaimable => self.scope.reclaimable,
            Measure::Freed => self.env.start.saturating_sub(self.prompt),
        }
    }

    /// Returns the look at a prompt with so many tokens more; all of them may be in the scope.
    pub fn with_more(mut self, tokens: Tokens) -> Self {
        for size in [&mut self.prompt, &mut self.raw, &mut self.counted, &mut self.scope.tokens] {
            *size = size.saturating_add(tokens);
        }
        self
    }
}

/// What a condition is compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What a run knows beforehand.
    pub known: &'a Known,
    /// The stages of the policy.
    pub stages: &'a [Stage],
    /// The one that asks.
    pub own: usize,
}

impl<'a> Context<'a> {
    /// That of a condition by itself, which can ask after no stage.
    pub fn alone(known: &'a Known) -> Self {
        Self { known, stages: &[], own: 0 }
    }

    /// Returns the place of a stage; of the one that asks, if none is named.
    fn stage(&self, name: Option<&String>) -> usize {
        let named = name.and_then(|name| self.stages.iter().position(|it| it.name == *name));
        named.unwrap_or(self.own)
    }
}

impl Test {
    /// Prepares a condition.
    pub fn new(cond: &Cond, context: &Context<'_>) -> Self {
        let known = context.known;
        let tokens = |measure, given: Option<(Relation, &Size)>| {
            let (relation, size) = given.unwrap_or((Relation::Above, &Size::Limit));
            Self::Tokens(measure, relation, Num::new(size, known))
        };
        let all = |parts: &[Cond]| parts.iter().map(|it| Self::new(it, context)).collect();
        match cond {
            Cond::Always => Self::Always,
            Cond::Prompt(bound) => tokens(Measure::Prompt, bound.given()),
            Cond::Body(bound) => tokens(Measure::Body, bound.given()),
            Cond::Raw(bound) => tokens(Measure::Raw, bound.given()),
            Cond::Grown { stage, above, at_least, below, at_most } => {
                let measure = Measure::Grown(context.stage(stage.as_ref()));
                tokens(measure, given([above, at_least, below, at_most]))
            }
            Cond::Since { stage, of, above, at_least, below, at_most } => {
                let given = given([above, at_least, below, at_most]);
                let (relation, count) = given.unwrap_or((Relation::AtLeast, &Count::Fixed(0)));
                Self::Since(context.stage(stage.as_ref()), *of, relation, count.get())
            }
            Cond::Counted(bound) => tokens(Measure::Counted, bound.given()),
            Cond::Scope(bound) => tokens(Measure::Scope, bound.given()),
            Cond::Reclaimable(bound) => tokens(Measure::Reclaimable, bound.given()),
            Cond::Freed(bound) => tokens(Measure::Freed, bound.given()),
            Cond::Taken(extent) => Self::Taken(Reach::new(extent, known)),
            Cond::Every(extent) => {
                extent.units().map_or(Self::Always, |(unit, count)| Self::Every(unit, count.max(1)))
            }
            Cond::Count { of, above, at_least, below, at_most } => {
                let given = given([above, at_least, below, at_most]);
                given.map_or(Self::Always, |(relation, it)| Self::Count(*of, relation, it.get()))
            }
            Cond::Idle { longer_than } => Self::Idle(longer_than.0),
            Cond::CacheCold => Self::CacheCold,
            Cond::All(parts) => Self::All(all(parts)),
            Cond::Any(parts) => Self::Any(all(parts)),
            Cond::Not(part) => Self::Not(Box::new(Self::new(part, context))),
        }
    }

    /// Returns the size that a bound compares with, if the condition is one.
    pub fn size(&self) -> Option<&Num> {
        match self {
            Self::Tokens(_, _, size) | Self::Taken(Reach::Tokens(size)) => Some(size),
            _ => None,
        }
    }

    /// Calls a function with this condition and every part of it.
    pub fn each(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|it| it.each(visit)),
            Self::Not(part) => part.each(visit),
            _ => {}
        }
    }

    /// Returns whether the condition holds, if the size of the prompt is all it asks.
    #[inline]
    pub fn at_a_glance(&self, prompt: Tokens) -> Option<bool> {
        match self {
            Self::Always => Some(true),
            Self::Tokens(Measure::Prompt, relation, Num::Const(size)) => Some(relation.holds(prompt, *size)),
            _ => None,
        }
    }

    /// Returns the smallest prompt for which the condition may hold, as far as that is known beforehand.
    pub fn least_prompt(&self) -> Tokens {
        match self {
            Self::Tokens(Measure::Prompt, Relation::Above, Num::Const(size)) => size.saturating_add(1),
            Self::Tokens(Measure::Prompt, Relation::AtLeast, Num::Const(size)) => *size,
            _ => 0,
        }
    }

    /// Returns whether this asks for a prompt below a known size, which a prompt of so many tokens is not.
    #[inline]
    pub fn wants_less_than(&self, prompt: Tokens) -> bool {
        matches!(
            self,
            Self::Tokens(Measure::Prompt, Relation::AtMost | Relation::Below, Num::Const(size)) if prompt > *size
        )
    }

    /// Returns whether the condition holds.
    #[inline]
    pub fn holds(&self, look: &Look<'_>) -> bool {
        match self {
            Self::Always => true,
            Self::Tokens(Measure::Prompt, relation, size) => {
                relation.holds(look.prompt, size.eval(&look.env))
            }
            other => other.holds_otherwise(look),
        }
    }

    fn holds_otherwise(&self, look: &Look<'_>) -> bool {
        let ambient = look.activation.ambient;
        match self {
            Self::Always => true,
            Self::Tokens(measure, relation, size) => {
                relation.holds(look.tokens(*measure), size.eval(&look.env))
            }
            Self::Since(stage, unit, relation, count) => relation.holds(since(*stage, *unit, look), *count),
            Self::Taken(reach) => taken(reach, look),
            Self::Every(unit, count) => {
                let [before, now] = look.activation.arrived.map(|it| arrived(&it, *unit) / count);
                now > before
            }
            Self::Count(unit, relation, count) => {
                let n = number(*unit, look.scope.items, look.scope.tool_uses, look.units);
                relation.holds(n, *count)
            }
            Self::Idle(longer_than) => ambient.idle_ms > *longer_than,
            Self::CacheCold => ambient.is_cold(),
            Self::All(parts) => parts.iter().all(|it| it.holds(look)),
            Self::Any(parts) => parts.iter().any(|it| it.holds(look)),
            Self::Not(part) => !part.holds(look),
        }
    }
}

/// Returns how many units have come since a stage last acted; more than any number, if it never has.
fn since(stage: usize, unit: Unit, look: &Look<'_>) -> u64 {
    let now = arrived(&look.activation.arrived[1], unit);
    look.activation.mark(stage).map_or(u64::MAX, |it| now - arrived(&it.arrived, unit))
}

/// Returns how many units have come.
fn arrived(arrived: &Arrived, unit: Unit) -> u64 {
    match unit {
        Unit::Items => arrived.items,
        Unit::ToolUses => arrived.tool_uses,
        Unit::Steps => arrived.steps,
        Unit::Messages => arrived.messages,
        Unit::Groups => arrived.groups,
        Unit::Turns => arrived.turns,
    }
}

/// Returns the number of a unit, of those of items, of tool results, and of units that gather them.
fn number(unit: Unit, items: u64, tool_uses: u64, [messages, groups, steps, turns]: [u64; 4]) -> u64 {
    match unit {
        Unit::Items => items,
        Unit::ToolUses => tool_uses,
        Unit::Messages => messages,
        Unit::Groups => groups,
        Unit::Steps => steps,
        Unit::Turns => turns,
    }
}

/// Returns whether an activation has taken that much.
fn taken(reach: &Reach, look: &Look<'_>) -> bool {
    let progress = &look.progress;
    match reach {
        Reach::Units(unit, count) => {
            number(*unit, progress.items, progress.tool_uses, progress.gathered) >= *count
        }
        Reach::Tokens(size) => progress.tokens >= size.eval(&look.env),
        Reach::Fraction(share) => progress.items >= share.share_of(progress.of),
        Reach::All => progress.items >= progress.of,
    }
}

// Sizes, with everything folded that a run knows in advance.

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
    pub fn new(timeline: &Timeline, limits: Limits) -> Self {
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
