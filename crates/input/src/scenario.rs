//! A scenario: the load to play and its settings.

mod check;
pub mod refetch;
pub mod summaries;
pub mod user_messages;
pub mod written;

pub use self::written::*;
use crate::Checked;
use crate::prelude::*;
use ctxsim_base::quantity::or_unlimited;

/// The largest item, so that sums of a few items fit into 32 bits.
pub const ITEM_TOKENS_MAX: Tokens = (1 << 31) - 1;

/// A scenario that has passed every rule.
pub type Scenario = Checked<ScenarioFile>;

impl Scenario {
    /// Checks a scenario.
    ///
    /// # Errors
    /// Every problem of the scenario and its load, each with its field path.
    pub fn new(file: &ScenarioFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        check::scenario(file, &mut problems);
        problems.into_result(Self(file.clone()))
    }
}

impl Assume {
    /// Checks the assumptions about a recording without a scenario.
    ///
    /// # Errors
    /// Every problem, each with its field path in a scenario.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let mut problems = Problems::default();
        problems.within("load.recorded.assume", |to| check::check_assumptions(self, to));
        problems.into_result(())
    }
}

// The totals of written turns: how many there are of each, and the sizes at their places.

impl Generate {
    /// Returns the patterns with their numbers of turns: repeated `scale` times, or the smallest scale that
    /// yields enough turns, cut to that number.
    pub fn taken(&self) -> impl Iterator<Item = (&TurnSpec, u64)> {
        let n_turns = self.patterns.iter().fold(0_u64, |sum, it| sum.saturating_add(it.times));
        let mut left = or_unlimited(self.turns);
        let scale = self.turns.map_or(self.scale.unwrap_or(1), |turns| turns.div_ceil(n_turns.max(1)));
        self.patterns.iter().map(move |pattern| {
            let taken = left.min(pattern.times.saturating_mul(scale));
            left -= taken;
            (pattern, taken)
        })
    }
}

impl Amount {
    /// Returns the number for a turn of a pattern and a call of that turn, both from 0; `draw` returns a
    /// random number below its argument.
    pub fn at(&self, turn: u64, call: u64, draw: impl FnOnce(u64) -> u64) -> u64 {
        match self {
            Self::Fixed(tokens) => *tokens,
            Self::Range(range) => {
                let count = range.last.saturating_sub(range.first).saturating_add(1);
                range.first.saturating_add(draw(count))
            }
            Self::Choice(ListChoice { one_of }) => {
                let place = draw(one_of.len() as u64);
                usize::try_from(place).ok().and_then(|it| one_of.get(it)).copied().unwrap_or_default()
            }
            Self::Cycle(cycle) => {
                let by_turn = turn.saturating_mul(cycle.per_turn);
                let grown = by_turn.saturating_add(call.saturating_mul(cycle.per_call));
                cycle.base.saturating_add(grown.checked_rem(cycle.modulo).unwrap_or(0))
            }
        }
    }

    /// Returns its upper bound.
    pub fn most(&self) -> u64 {
        match self {
            Self::Fixed(tokens) => *tokens,
            Self::Cycle(cycle) => cycle.base.saturating_add(cycle.modulo.saturating_sub(1)),
            Self::Range(range) => range.last,
            Self::Choice(ListChoice { one_of }) => one_of.iter().copied().max().unwrap_or_default(),
        }
    }

    /// Returns its lower bound.
    pub fn least(&self) -> u64 {
        match self {
            Self::Fixed(tokens) => *tokens,
            Self::Cycle(cycle) => cycle.base,
            Self::Range(range) => range.first,
            Self::Choice(ListChoice { one_of }) => one_of.iter().copied().min().unwrap_or_default(),
        }
    }
}

impl ScriptedCall {
    /// Returns whether the call is made in a turn of its pattern, from 0.
    pub fn is_made_in(&self, turn: u64) -> bool {
        self.turns.as_ref().is_none_or(|it| it.has(turn))
    }
}

impl PatternPlaces {
    /// Returns how many of the first turns are among them.
    pub fn among(&self, turns: u64) -> u64 {
        let at = |place: &u64| turns.saturating_sub(*place).div_ceil(self.every.max(1));
        self.at.iter().map(at).fold(0, u64::saturating_add)
    }

    fn has(&self, turn: u64) -> bool {
        turn.checked_rem(self.every).is_some_and(|place| self.at.contains(&place))
    }
}
