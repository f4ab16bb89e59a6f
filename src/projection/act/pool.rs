//! A pool of exact tokens is spent slot by slot, from the oldest on.

use super::ReadyBudget;
use crate::projection::edit::Editor;
use crate::projection::program::ReadyRung;
use crate::projection::prompt::{SlotIx, State};
use crate::projection::region::Region;
use crate::projection::rendition::Pool;
use crate::trace::LoopIx;

/// What the settled slots of a scope have spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::projection) struct Spent {
    tokens: u64,
    /// The loop on which they were spent.
    loop_ix: Option<LoopIx>,
}

/// A pool that is being spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenPool {
    budget: ReadyBudget,
    region: Region,
    pool: Pool,
    loop_ix: Option<LoopIx>,
    /// The first slot whose exact tokens have not been charged.
    next: SlotIx,
}

impl OpenPool {
    pub(super) fn new(budget: ReadyBudget, region: Region) -> Self {
        Self {
            budget,
            region,
            pool: Pool { tokens: budget.tokens, used: 0 },
            loop_ix: None,
            next: region.from,
        }
    }

    /// Goes on where settled slots left the pool.
    pub(super) fn resume(&mut self, spent: Spent) {
        (self.pool.used, self.loop_ix) = (spent.tokens, spent.loop_ix);
    }

    /// Returns what has been spent.
    pub(super) fn spent(&self) -> Spent {
        Spent { tokens: self.pool.used, loop_ix: self.loop_ix }
    }

    /// Returns the pool as it stands in front of a slot about to be shown.
    #[inline]
    pub(super) fn at(&mut self, slot: SlotIx, rung: &ReadyRung, edit: &mut Editor<'_, '_>) -> &mut Pool {
        let loop_ix = edit.prompt().item(slot).loop_ix;
        if self.budget.per_loop && self.loop_ix != Some(loop_ix) {
            self.loop_ix = Some(loop_ix);
            self.pool.used = 0;
            self.next = edit.prompt().history().loops()[loop_ix as usize].items.start;
        }
        if self.budget.counts_shown {
            self.charge_up_to(slot, rung, edit);
        }
        self.next = slot + 1;
        &mut self.pool
    }

    /// Charges what is already exact in front of a slot and is not for the rung to show.
    fn charge_up_to(&mut self, slot: SlotIx, rung: &ReadyRung, edit: &mut Editor<'_, '_>) {
        let mut at = edit.visible_from(self.next);
        let mut n_seen = 0;
        while at < slot {
            n_seen += 1;
            let stands = edit.prompt().slot(at);
            if stands.exact && stands.state == State::Shown {
                let is_visited = at >= self.region.from && rung.place.has(edit.prompt(), at);
                self.pool.used += if is_visited { 0 } else { u64::from(stands.tokens) };
            }
            at = edit.visible_from(at + 1);
        }
        edit.touch(n_seen);
    }
}
