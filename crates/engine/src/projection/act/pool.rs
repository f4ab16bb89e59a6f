//! A pool of exact tokens is spent slot by slot, from the oldest on.

use crate::prelude::*;
use crate::projection::{CompiledRung, Env, Known, Num, Pool, Region};
use ctxsim_input::{Budget, BudgetCounts};

/// A pool of exact tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::projection) struct CompiledBudget {
    tokens: Tokens,
    pub(super) per_turn: bool,
    pub(super) counts_shown: bool,
}

impl CompiledBudget {
    pub(super) fn new(budget: &Budget, known: &Known) -> Self {
        Self {
            tokens: Num::new(&budget.tokens, known).eval(&Env::default()),
            per_turn: budget.per.units() == Some((Unit::Turns, 1)),
            counts_shown: budget.counts == BudgetCounts::Shown,
        }
    }
}

/// What the settled slots of a scope have spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::projection) struct Spent {
    tokens: u64,
    /// The turn on which they were spent.
    turn_ix: Option<TurnIx>,
}

/// A pool that is being spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenPool {
    budget: CompiledBudget,
    region: Region,
    pool: Pool,
    turn_ix: Option<TurnIx>,
    /// The first slot whose exact tokens have not been charged.
    next: SlotIx,
}

impl OpenPool {
    pub(super) fn new(budget: CompiledBudget, region: Region) -> Self {
        Self {
            budget,
            region,
            pool: Pool { tokens: budget.tokens, used: 0 },
            turn_ix: None,
            next: region.from,
        }
    }

    /// Goes on where settled slots left the pool.
    pub(super) fn resume(&mut self, spent: Spent) {
        (self.pool.used, self.turn_ix) = (spent.tokens, spent.turn_ix);
    }

    /// Returns what has been spent.
    pub(super) fn spent(&self) -> Spent {
        Spent { tokens: self.pool.used, turn_ix: self.turn_ix }
    }

    /// Returns the pool as it is before a slot about to be shown.
    #[inline(always)]
    pub(super) fn at(&mut self, slot: SlotIx, rung: &CompiledRung, edit: &mut Editor<'_, '_>) -> &mut Pool {
        let turn_ix = edit.prompt().item(slot).turn_ix;
        if self.budget.per_turn && self.turn_ix != Some(turn_ix) {
            self.turn_ix = Some(turn_ix);
            self.pool.used = 0;
            self.next = edit.prompt().history().turns()[turn_ix as usize].items.start;
        }
        if self.budget.counts_shown {
            self.charge_up_to(slot, rung, edit);
        }
        self.next = slot + 1;
        &mut self.pool
    }

    /// Charges what is already exact before a slot and is not for the rung to show.
    fn charge_up_to(&mut self, slot: SlotIx, rung: &CompiledRung, edit: &mut Editor<'_, '_>) {
        let mut at = edit.visible_from(self.next);
        let mut n_seen = 0;
        while at < slot {
            n_seen += 1;
            let stands = edit.prompt().slot(at);
            if stands.exact && stands.state == State::Shown {
                let is_visited = at >= self.region.from && rung.scope.has(edit.prompt(), at);
                self.pool.used += if is_visited { 0 } else { u64::from(stands.tokens) };
            }
            at = edit.visible_from(at + 1);
        }
        edit.touch(n_seen);
    }
}
