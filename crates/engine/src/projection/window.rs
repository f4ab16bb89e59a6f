//! A policy that only drops the oldest items: the beginning of its prompt is all that it decides.

use super::{Context, Known, Measure, Num, Test};
use crate::prelude::*;
use ctxsim_input::{Action, Cond, Relation, Scope};

/// When the oldest items are dropped, and until when.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// By moment: whether it is one at which anything is dropped.
    moments: [bool; 4],
    when: WindowSizes,
    until: WindowSizes,
}

/// The sizes of a prompt, or of what is after its stable prefix, from one up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WindowSizes {
    from: Tokens,
    to: Tokens,
    is_of_body: bool,
}

impl Window {
    /// Reads a policy as a window; nothing, if it does anything else than drop its oldest items one by one.
    ///
    /// A policy without stages is a window, too: one that never moves.
    pub fn new(policy: &Policy, known: &Known) -> Option<Self> {
        let [stage] = policy.stages() else {
            let never = WindowSizes { from: 1, to: 0, is_of_body: false };
            let still = Self { moments: [false; 4], when: never, until: never };
            return policy.stages().is_empty().then_some(still);
        };
        let is_plain = stage.lasts == EditsLast::History
            && policy.rungs(stage).count() == 1
            && stage.apply == Action::Drop
            && is_oldest_first(&stage.scope)
            && stage.at.iter().all(|it| matches!(it, Moment::TurnStart | Moment::Request | Moment::TurnEnd));
        if !is_plain {
            return None;
        }
        Some(Self {
            moments: [Moment::Entry, Moment::TurnStart, Moment::Request, Moment::TurnEnd]
                .map(|it| stage.at.contains(&it)),
            when: WindowSizes::new(stage.when.as_ref()?, known)?,
            until: WindowSizes::new(stage.until.as_ref()?, known).filter(|it| it.from == 0)?,
        })
    }

    /// Returns whether the window is about to move at a moment, with so many tokens after so many of the
    /// stable prefix.
    #[inline]
    pub fn moves(&self, moment: Moment, body: Tokens, stable: Tokens) -> bool {
        self.moments[moment as usize] && self.when.holds(body, stable)
    }

    /// Returns with how many tokens after so many of the stable prefix a window that moves may stop.
    #[inline]
    pub fn rest(&self, stable: Tokens) -> Tokens {
        self.until.to.saturating_sub(if self.until.is_of_body { 0 } else { stable })
    }
}

impl WindowSizes {
    fn new(cond: &Cond, known: &Known) -> Option<Self> {
        let (comparison, size, is_of_body) = match Test::new(cond, &Context::alone(known)) {
            Test::Tokens(Measure::Prompt, comparison, Num::Const(size)) => (comparison, size, false),
            Test::Tokens(Measure::Body, comparison, Num::Const(size)) => (comparison, size, true),
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

/// Returns whether a scope is all of the history, item by item from the oldest on.
fn is_oldest_first(scope: &Scope) -> bool {
    let by_item = scope.by.as_ref().is_none_or(|it| it.units() == Some((Unit::Items, 1)));
    by_item && Scope { by: None, ..scope.clone() } == Scope::default()
}
