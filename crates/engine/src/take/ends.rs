//! How the agents of a load recover: as it is declared, and at the ends of what is assumed of recovery.

use crate::prelude::*;

use crate::recovery::{Assumption, CompiledRecovery, End, Ends, Terms};
use ctxsim_input::{RecoveryPrice, Refetch};

/// Something at the ends of what is assumed of recovery.
#[derive(Clone, Copy, Debug)]
pub struct AtEnds<T> {
    /// At the lower ends of all intervals, and at the upper ends.
    pub all: [T; 2],
    /// At the ends of one interval each, in the order of [`Assumption::ALL`].
    pub each: [[AloneAtEnd<T>; 2]; Assumption::N],
}

/// Something at the end of one assumption's interval.
#[derive(Clone, Copy, Debug)]
pub struct AloneAtEnd<T> {
    /// What was played.
    pub played: T,
    /// How many times the change of what was played that at this end is: not once where a cost is linear in an assumption, so that one end is
    /// enough.
    pub share: f64,
}

impl<T: Copy> AtEnds<T> {
    /// Makes something else of each.
    pub fn map<U>(&self, mut make: impl FnMut(T) -> U) -> AtEnds<U> {
        let all = self.all.map(&mut make);
        let mut end = |it: AloneAtEnd<T>| AloneAtEnd { played: make(it.played), share: it.share };
        AtEnds { all, each: self.each.map(|it| it.map(&mut end)) }
    }
}

/// On which terms the agents of a load recover.
pub(super) enum RecoveryTerms {
    /// Every call is priced alike.
    Flat,
    /// As the policy says, where needs are drawn.
    AsDeclared,
    /// As declared, and where that is asked for at the ends of what is assumed.
    Requests(Terms, Option<Box<AtEnds<Terms>>>),
}

impl RecoveryTerms {
    pub(super) fn new(timeline: &Timeline, price: RecoveryPrice, is_drawn: bool, has_ends: bool) -> Self {
        let refetch = &timeline.refetch;
        let at_ends = || {
            let all = [End::Low, End::High].map(|end| refetch.terms(end));
            let each = |it| {
                let at =
                    |it: AloneAtEnd<Ends>| AloneAtEnd { played: refetch.terms(it.played), share: it.share };
                alone(refetch, it).map(at)
            };
            Box::new(AtEnds { all, each: Assumption::ALL.map(each) })
        };
        match (price, is_drawn) {
            (RecoveryPrice::Flat, _) => Self::Flat,
            (RecoveryPrice::Requests, true) => Self::AsDeclared,
            (RecoveryPrice::Requests, false) => {
                Self::Requests(refetch.terms(Ends::default()), has_ends.then(at_ends))
            }
        }
    }

    /// Returns how a policy's agent recovers: as declared, and at the ends.
    pub(super) fn recoveries(
        &self,
        declared: CompiledRecovery,
    ) -> (CompiledRecovery, Option<AtEnds<CompiledRecovery>>) {
        let at = |it: Terms| declared.under(Some(it));
        match self {
            Self::Flat => (declared.under(None), None),
            Self::AsDeclared => (declared, None),
            Self::Requests(terms, ends) => (at(*terms), ends.as_ref().map(|it| it.map(at))),
        }
    }
}

/// Returns what is played for the lower and the upper end of an assumption's interval: where a cost is linear in it, the farther end for both.
fn alone(refetch: &Refetch, assumption: Assumption) -> [AloneAtEnd<Ends>; 2] {
    let ends = [End::Low, End::High].map(|it| Ends::only(assumption, it));
    let numbers = refetch.number(assumption).filter(|_| assumption.is_linear());
    let Some([value, low, high]) = numbers else {
        return ends.map(|played| AloneAtEnd { played, share: 1.0 });
    };
    let (played, far) = if high - value >= value - low { (ends[1], high) } else { (ends[0], low) };
    let share = |end: f64| if far == value { 0.0 } else { (end - value) / (far - value) };
    [low, high].map(|end| AloneAtEnd { played, share: share(end) })
}
