//! How far a cost, and a difference of two, hangs on what is assumed.
//!
//! An assumption is a number with a 95% interval. Alone, it changes a cost by so much at either end; between the ends the change is taken as
//! proportional on either side of the number, so that the assumption's distribution is two halves of normal ones. Assumptions are
//! independent, and their changes add up: the 95% interval of all together reaches as far as the root of the sum of the squares, below and
//! above for themselves. Two policies live under the same numbers, so the changes are those of their ratio.
//! `tests/suite/tune/coverage.rs` holds the interval against joint draws, `tests/suite/recovery.rs` the sum of changes against plays. All ends at once, where everything that is assumed is wrong in one direction, is a bound, no interval.

use std::ops::AddAssign;

use crate::prelude::*;

use crate::recovery::Assumption;
use ctxsim_base::quantity::sums;

/// A number that a cost depends on, and that is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumed {
    /// A number of recovery.
    Recovery(Assumption),
    /// What a world assumes of its own, all of it together.
    World,
    /// Whether other sessions left tools and system prompt in the cache.
    LeftByOthers,
    /// How other models count the tokens that were recorded.
    Counting,
    /// How many times the turns the agent takes, where a run asks for that.
    Turns,
}

impl Assumed {
    /// All of them.
    pub const ALL: [Self; Self::N] = {
        let mut all = [Self::World; Self::N];
        let mut nth = 0;
        while nth < Assumption::N {
            all[nth] = Self::Recovery(Assumption::ALL[nth]);
            nth += 1;
        }
        all[Assumption::N + 1] = Self::LeftByOthers;
        all[Assumption::N + 2] = Self::Counting;
        all[Assumption::N + 3] = Self::Turns;
        all
    };

    /// How many there are.
    pub const N: usize = Assumption::N + 4;

    /// Returns its description.
    pub fn about(self) -> &'static str {
        match self {
            Self::Recovery(it) => it.about(),
            Self::World => "what is assumed of this kind of load",
            Self::LeftByOthers => "what other sessions left in the cache",
            Self::Counting => "how the model counts tokens",
            Self::Turns => "how many times the turns the agent takes",
        }
    }

    fn place(self) -> usize {
        match self {
            Self::Recovery(it) => it as usize,
            Self::World => Assumption::N,
            Self::LeftByOthers => Assumption::N + 1,
            Self::Counting => Assumption::N + 2,
            Self::Turns => Assumption::N + 3,
        }
    }
}

/// By how much a cost changes at the lower and at the upper end of each assumption alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssumedChanges {
    by: [[Amount; 2]; Assumed::N],
}

packed!(AssumedChanges: [by]);

impl AssumedChanges {
    /// The same with the changes of one assumption.
    pub fn with(mut self, of: Assumed, changes: [Amount; 2]) -> Self {
        self.by[of.place()] = changes;
        self
    }

    /// Returns all of them so many times.
    pub fn times(mut self, factor: f64) -> Self {
        self.by.iter_mut().flatten().for_each(|it| *it = Amount((it.0 as f64 * factor).round() as i128));
        self
    }

    /// Returns the changes of one assumption in US dollars.
    pub fn of(&self, assumed: Assumed) -> [f64; 2] {
        self.by[assumed.place()].map(Amount::usd)
    }
}

impl AddAssign for AssumedChanges {
    fn add_assign(&mut self, other: Self) {
        let ends = self.by.iter_mut().flatten().zip(other.by.into_iter().flatten());
        ends.for_each(|(own, more)| *own += more);
    }
}

/// A cost in US dollars, with what each assumption changes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AssumedCost {
    pub usd: f64,
    /// With everything at its lower ends, and at its upper ends.
    pub all_ends: [f64; 2],
    pub changes: AssumedChanges,
}

sums!(AssumedCost: usd, changes; each all_ends);

impl AssumedCost {
    /// Returns the relative difference from another cost.
    pub fn change_from(&self, base: &Self) -> f64 {
        self.usd / base.usd - 1.0
    }

    /// Returns that difference at the ends of one assumption, under which both costs stand.
    pub fn change_at(&self, base: &Self, assumed: Assumed) -> [f64; 2] {
        let (own, other) = (self.changes.of(assumed), base.changes.of(assumed));
        [0, 1].map(|end| (self.usd + own[end]) / (base.usd + other[end]) - 1.0)
    }

    /// Returns the lowest and the highest of that difference where everything that is assumed is wrong in one direction: each assumption at its
    /// worse end, or all at the same; nothing where nothing is assumed.
    pub fn bound_from(&self, base: &Self) -> Option<[f64; 2]> {
        let change = self.change_from(base);
        let mut bound = [0, 1].map(|end| self.all_ends[end] / base.all_ends[end] - 1.0);
        bound.sort_by(f64::total_cmp);
        let (mut least, mut most) = (change, change);
        for moved in Assumed::ALL.map(|it| self.change_at(base, it).map(|it| it - change)) {
            least += moved[0].min(moved[1]).min(0.0);
            most += moved[0].max(moved[1]).max(0.0);
        }
        let bound = [bound[0].min(least), bound[1].max(most)];
        (bound[0] < bound[1]).then_some(bound)
    }

    /// Returns how far below and above that difference its 95% interval over all assumptions reaches.
    pub fn reach_from(&self, base: &Self) -> AssumedReach {
        let change = self.change_from(base);
        let mut squares = [0.0; 2];
        if [self, base].iter().all(|it| it.changes == AssumedChanges::default()) {
            return AssumedReach::default();
        }
        for assumed in Assumed::ALL {
            let moved = self.change_at(base, assumed).map(|it| it - change);
            let least = moved[0].min(moved[1]).min(0.0);
            let most = moved[0].max(moved[1]).max(0.0);
            squares[0] += least * least;
            squares[1] += most * most;
        }
        AssumedReach(squares.map(f64::sqrt))
    }
}

/// How far below and above a relative difference its 95% interval over what is assumed reaches; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AssumedReach(pub [f64; 2]);

impl AssumedReach {
    /// Returns the interval around a difference that may be off by something else, too: so much for itself at 95%.
    pub fn interval(self, change: f64, beside: f64) -> [f64; 2] {
        let [down, up] = self.0.map(|it| (it * it + beside * beside).sqrt());
        [change - down, change + up]
    }

    /// Returns whether anything is assumed that could be wrong.
    pub fn is_some(self) -> bool {
        self.0.iter().any(|it| *it > 0.0)
    }

    /// Returns whether a difference may be none, or the opposite, by what is assumed alone.
    pub fn turns(self, change: f64) -> bool {
        let [low, high] = self.interval(change, 0.0);
        self.is_some() && low <= 0.0 && high >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(usd: f64, changes: &[(Assumed, [f64; 2])]) -> AssumedCost {
        let with = |sum: AssumedChanges, it: &(Assumed, [f64; 2])| sum.with(it.0, it.1.map(Amount::of_usd));
        AssumedCost { usd, all_ends: [usd; 2], changes: changes.iter().fold(AssumedChanges::default(), with) }
    }

    const OWN: Assumed = Assumed::Recovery(Assumption::OwnRequest);
    const CALLS: Assumed = Assumed::Recovery(Assumption::ExploredCalls);

    #[test]
    fn every_assumption_has_a_place_of_its_own() {
        for (nth, it) in Assumed::ALL.into_iter().enumerate() {
            assert_eq!((it.place(), cost(1.0, &[(it, [-1.0, 2.0])]).changes.of(it)), (nth, [-1.0, 2.0]));
        }
    }

    #[test]
    fn the_interval_of_one_assumption_is_its_own_and_that_of_two_the_root_of_their_squares() {
        let base = cost(10.0, &[]);
        let one = cost(9.0, &[(OWN, [-0.3, 0.6])]).reach_from(&base);
        let two = cost(9.0, &[(OWN, [-0.3, 0.6]), (CALLS, [-0.4, 0.8])]).reach_from(&base);

        let is =
            |found: [f64; 2], at: [f64; 2]| found.iter().zip(at).all(|(one, it)| (one - it).abs() < 1e-12);
        assert!(is(one.interval(-0.1, 0.0), [-0.13, -0.04]), "{one:?}");
        let both = cost(9.0, &[(OWN, [-0.3, 0.6]), (CALLS, [0.8, -0.4])]);
        assert!(is(both.bound_from(&base).unwrap(), [-0.17, 0.04]), "each at its worse end");
        assert_eq!(cost(9.0, &[]).bound_from(&base), None);
        assert!(is(two.interval(-0.1, 0.0), [-0.15, 0.0]), "{two:?}");
        assert!(is(one.interval(-0.1, 0.04), [-0.15, -0.1 + 0.06_f64.hypot(0.04)]), "{one:?}");
    }

    #[test]
    fn what_both_policies_pay_alike_moves_no_order() {
        let changes = [(OWN, [-1.0, 2.0])];
        let same = cost(10.0, &changes).reach_from(&cost(10.0, &changes));
        assert_eq!((same, same.is_some(), same.turns(0.0)), (AssumedReach::default(), false, false));
        let turns = cost(9.9, &changes).reach_from(&cost(10.0, &[]));
        assert!(turns.turns(-0.01) && !turns.turns(-0.5), "{turns:?}");
    }
}
