//! Units are taken from the oldest on; what is settled is not visited again.

use std::collections::BTreeSet;

use super::pool::{OpenPool, Spent};
use crate::prelude::*;
use crate::projection::{Act, Activation, CompiledRung, Region, UnitSize};
use ctxsim_input::{Order, PromptPart};

/// Takes units from the oldest on; returns how many slots were visited and changed.
pub(super) fn in_order<A: Act + ?Sized>(
    act: &A,
    rung: &mut CompiledRung,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) -> (u32, u32) {
    let is_active = rung.scope.part == PromptPart::Active;
    let budget = act.budget();
    let size = if rung.goal.is_none() { UnitSize::All } else { rung.scope.unit_size(edit, region) };
    let resumes = budget.is_none_or(|it| !it.counts_shown)
        && !rung.scope.protects_slots()
        && (!is_active || rung.scope.is_whole_part())
        && size.divides_alike()
        && act.only_shrinks()
        && !rung.counts_progress();
    let mut at = if resumes { rung.resume(region, edit) } else { region.from };
    let mut pool = budget.map(|it| OpenPool::new(it, region));
    if let Some(pool) = pool.as_mut().filter(|_| resumes) {
        pool.resume(rung.settled.spent);
    }
    let mut pass = Pass { pool, ..Pass::default() };
    pass.counts_settled = resumes && is_active;
    let n_settled = if resumes { rung.settled.n_settled } else { 0 };
    if rung.goal.is_none() {
        pass.n_visited = n_settled;
        at = pass.take_all(act, rung, at, region.to, edit);
    } else {
        let mut progress = rung.progress(region, edit);
        let mut units = std::mem::take(&mut rung.units);
        let mut is_done = rung.is_done(activation, progress, edit);
        // What is settled is passed again unless the goal is met before anything is taken.
        pass.n_visited = if is_done { 0 } else { n_settled };
        while !is_done {
            rung.scope.next_unit(edit, &mut at, region.to, &size, &mut units);
            if units.is_empty() {
                break;
            }
            for slot in &units {
                if rung.counts_progress() {
                    progress.take(edit.prompt(), *slot);
                }
                pass.take(act, rung, *slot, edit);
            }
            is_done = rung.is_done(activation, progress, edit);
        }
        rung.units = units;
    }
    if resumes && pass.can_settle() {
        rung.settled.cursor = rung.settled.cursor.max(at);
        rung.settled.spent = pass.pool.as_ref().map_or(Spent::default(), OpenPool::spent);
    } else if resumes {
        rung.settled.forget(region.from);
    }
    (pass.n_visited, pass.n_changed)
}

/// A pass over a scope, from the oldest slot on.
#[derive(Default)]
struct Pass {
    pool: Option<OpenPool>,
    n_visited: u32,
    n_changed: u32,
    counts_settled: bool,
    /// Slots that a change took out of the scope.
    n_left: u32,
}

impl Pass {
    /// Returns whether the same pass would have the same result again: what left the scope would not spend from the pool.
    fn can_settle(&self) -> bool {
        self.pool.is_none() || self.n_left == 0
    }

    /// Takes every slot of the scope from one place to another; returns where it stopped.
    fn take_all<A: Act + ?Sized>(
        &mut self,
        act: &A,
        rung: &mut CompiledRung,
        from: SlotIx,
        to: SlotIx,
        edit: &mut Editor<'_, '_>,
    ) -> SlotIx {
        let mut at = edit.visible_from(from);
        let begin = at;
        while at < to {
            if rung.scope.has(edit.prompt(), at) {
                self.take(act, rung, at, edit);
            }
            at = edit.visible_from(at + 1);
        }
        edit.touch(u64::from(at - begin));
        at.min(to.max(from))
    }

    // The innermost loop of most stages: a call would cost a fifth of it.
    #[inline(always)]
    fn take<A: Act + ?Sized>(
        &mut self,
        act: &A,
        rung: &mut CompiledRung,
        slot: SlotIx,
        edit: &mut Editor<'_, '_>,
    ) {
        let pool = self.pool.as_mut().map(|it| it.at(slot, rung, edit));
        let n_changed = act.touch(slot, pool, edit);
        let is_asked = self.counts_settled || self.pool.is_some();
        let stays = n_changed == 0 || !is_asked || rung.scope.has(edit.prompt(), slot);
        self.n_visited += 1;
        self.n_changed += n_changed;
        self.n_left += u32::from(!stays);
        rung.settled.n_settled += u32::from(stays && self.counts_settled);
    }
}

// Units are taken from the newest or from the largest on: each is looked at again,
// because taking one can take part of another.

/// Takes units from the newest or the largest on.
pub(super) fn ranked<A: Act + ?Sized>(
    act: &A,
    rung: &mut CompiledRung,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) -> (u32, u32) {
    let size = rung.scope.unit_size(edit, region);
    let mut progress = rung.progress(region, edit);
    let mut units: Vec<Vec<SlotIx>> = Vec::new();
    let mut at = region.from;
    loop {
        let mut unit = Vec::new();
        rung.scope.next_unit(edit, &mut at, region.to, &size, &mut unit);
        if unit.is_empty() {
            break;
        }
        units.push(unit);
    }
    let tokens = |unit: &Vec<SlotIx>| {
        unit.iter().map(|it| Tokens::from(edit.prompt().slot(*it).tokens)).sum::<Tokens>()
    };
    match rung.scope.order {
        Order::Largest => units.sort_by_key(|unit| std::cmp::Reverse(tokens(unit))),
        Order::Newest | Order::Oldest => units.reverse(),
    }
    let (mut n_visited, mut n_changed) = (0, 0);
    let mut seen: [BTreeSet<usize>; 4] = Default::default();
    for mut unit in units {
        // What went with its call, or with its result, is no longer there to be taken.
        unit.retain(|slot| rung.scope.has(edit.prompt(), *slot));
        if unit.is_empty() {
            continue;
        }
        if rung.is_done(activation, progress, edit) {
            break;
        }
        for slot in unit {
            n_visited += 1;
            progress.take(edit.prompt(), slot);
            progress.recount(edit.prompt(), slot, &mut seen);
            n_changed += act.touch(slot, None, edit);
        }
    }
    (n_visited, n_changed)
}
