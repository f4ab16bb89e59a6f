//! A policy that does nothing but drop the oldest items: where its prompt begins is all that it decides.

use super::num::{Known, Num};
use super::test::Test;
use crate::model::Policy;
use crate::model::action::Action;
use crate::model::policy::{Moment, Rung};
use crate::model::size::{Cond, Extent, Relation, Unit};
use crate::quantity::Tokens;
use crate::spec::policy::{LastsSpec, OrderSpec, PartSpec};

/// When the oldest items are dropped, and until when.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// By moment: whether it is one at which anything is dropped.
    moments: [bool; 4],
    when: Bound,
    until: Bound,
}

/// The sizes of a prompt, or of what stands behind its stable prefix, from one up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    from: Tokens,
    to: Tokens,
    is_of_body: bool,
}

impl Window {
    /// Reads a policy as a window; nothing, if it does anything else than drop its oldest items one by one.
    ///
    /// A policy without stages is a window, too: one that never moves.
    #[must_use]
    pub fn new(policy: &Policy, known: &Known) -> Option<Self> {
        let [stage] = policy.stages.as_slice() else {
            let never = Bound { from: 1, to: 0, is_of_body: false };
            let still = Self { moments: [false; 4], when: never, until: never };
            return policy.stages.is_empty().then_some(still);
        };
        let [rung] = stage.rungs.as_slice() else { return None };
        let is_plain = stage.lasts != LastsSpec::Request
            && rung.when == Cond::Always
            && rung.action == Action::Drop
            && is_oldest_first(rung)
            && !stage.at.contains(&Moment::Entry);
        if !is_plain {
            return None;
        }
        Some(Self {
            moments: [Moment::Entry, Moment::TurnStart, Moment::Request, Moment::TurnEnd]
                .map(|it| stage.at.contains(&it)),
            when: Bound::new(&stage.when, known)?,
            until: Bound::new(rung.until.as_ref()?, known).filter(|it| it.from == 0)?,
        })
    }

    /// Returns whether the window is about to move at a moment, with so many tokens behind so many of the stable prefix.
    #[inline]
    #[must_use]
    pub fn moves(&self, moment: Moment, body: Tokens, stable: Tokens) -> bool {
        self.moments[moment as usize] && self.when.holds(body, stable)
    }

    /// Returns with how many tokens behind so many of the stable prefix a window that moves may stop.
    #[inline]
    #[must_use]
    pub fn rest(&self, stable: Tokens) -> Tokens {
        self.until.to.saturating_sub(if self.until.is_of_body { 0 } else { stable })
    }
}

impl Bound {
    fn new(cond: &Cond, known: &Known) -> Option<Self> {
        let (comparison, size, is_of_body) = match Test::new(cond, known) {
            Test::Prompt(comparison, Num::Const(size)) => (comparison, size, false),
            Test::Body(comparison, Num::Const(size)) => (comparison, size, true),
            _ => return None,
        };
        let (from, to) = match comparison {
            Relation::Above => (size.checked_add(1)?, Tokens::MAX),
            Relation::AtLeast => (size, Tokens::MAX),
            Relation::Below => (0, size.checked_sub(1)?),
            Relation::AtMost => (0, size),
        };
        Some(Self { from, to, is_of_body })
    }

    #[inline]
    fn holds(&self, body: Tokens, stable: Tokens) -> bool {
        let size = if self.is_of_body { body } else { body + stable };
        self.from <= size && size <= self.to
    }
}

/// Returns whether a rung takes all of the history, item by item from the oldest on.
fn is_oldest_first(rung: &Rung) -> bool {
    let scope = &rung.scope;
    scope.part == PartSpec::History
        && scope.order == OrderSpec::Oldest
        && scope.by == Extent::Units(Unit::Items, 1)
        && scope.kinds.is_empty()
        && scope.tools.0.is_empty()
        && scope.except_tools.0.is_empty()
        && scope.preserve.is_empty()
        && scope.shown.is_empty()
        && scope.larger_than.is_none()
        && scope.keep.is_empty()
        && scope.keep_first.is_none()
        && scope.keep_recent.is_none()
        && scope.only_recent.is_none()
}
