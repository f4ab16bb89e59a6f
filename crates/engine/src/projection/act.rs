//! Actions of stages. Each is one file below `act/`, which says what it does otherwise than [`Act`] has it, and one line of [`CompiledAction::new`].

mod drop;
mod fold;
mod in_order;
mod ping;
pub(super) mod pool;
mod show;
mod stay;
mod summarise;

use crate::prelude::*;
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::Deref;

use self::drop::Drop;
use self::fold::CompiledFold;
use self::in_order::{in_order, ranked};
use self::ping::Ping;
use self::pool::{CompiledBudget, OpenPool};
use self::show::Show;
use self::summarise::CompiledSummary;
use super::tracker::unit_of;
use super::{
    Activation, ActivationProgress, CompiledRung, Editor, Left, Pool, Prompt, Region, RungParts, SlotIx,
    TableRows, scope,
};
use ctxsim_input::{Action, Order, PromptPart};

/// An action as a program holds it.
#[derive(Clone, Debug)]
pub(super) struct CompiledAction(Arc<dyn Act>);

impl CompiledAction {
    pub(super) fn new(action: &Action, of: &RungParts<'_>) -> Self {
        Self(match action {
            Action::Show(_) | Action::Table { .. } => Arc::new(Show::new(action, of)),
            Action::Drop => Arc::new(Drop),
            Action::Summarise(it) => Arc::new(CompiledSummary::new(it, of)),
            Action::Fold(it) => Arc::new(CompiledFold::new(it, of)),
            Action::Ping { output } => Arc::new(Ping::new(output.as_ref(), of)),
        })
    }
}

impl Deref for CompiledAction {
    type Target = dyn Act;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for CompiledAction {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(&**other)
    }
}

/// What a stage does to its scope; unless it says otherwise, it takes slot by slot, and what it leaves of them is unknown.
pub(super) trait Act: Debug + Send + Sync + Same {
    /// Changes one slot, whose exact tokens come out of a pool; returns how many slots changed.
    fn touch(&self, _slot: SlotIx, _pool: Option<&mut Pool>, _edit: &mut Editor<'_, '_>) -> u32 {
        0
    }

    /// Applies its rung to a region: to the shortest run of units that meets the goal, or to all units.
    fn apply(
        &self,
        rung: &mut CompiledRung,
        region: Region,
        activation: &Activation<'_>,
        edit: &mut Editor<'_, '_>,
    ) {
        let (n_visited, n_changed) = match rung.scope.order {
            Order::Oldest => in_order(self, rung, region, activation, edit),
            Order::Newest | Order::Largest => ranked(self, rung, region, activation, edit),
        };
        edit.note_pass(rung.scope.part == PromptPart::Active, n_visited, n_changed);
    }

    /// Applies its rung to the item that is entering.
    fn enter(&self, rung: &CompiledRung, edit: &mut Editor<'_, '_>) {
        let region = scope::part(edit.prompt(), PromptPart::Entering);
        if rung.scope.has(edit.prompt(), region.from) {
            let mut pool = self.budget().map(|it| OpenPool::new(it, region));
            let pool = pool.as_mut().map(|it| it.at(region.from, rung, edit));
            self.touch(region.from, pool, edit);
        }
    }

    /// Returns whether it takes slot by slot, so that a single item tells what it does to it.
    fn takes_slots(&self) -> bool {
        true
    }

    /// Returns the pool of exact tokens, if it has one.
    fn budget(&self) -> Option<CompiledBudget> {
        None
    }

    /// Returns whether what an earlier pass has settled would come out the same again, whatever others did meanwhile.
    fn only_shrinks(&self) -> bool {
        true
    }

    /// Returns whether it adds up what stands of a unit, so that any edit of it counts.
    fn adds_up(&self) -> bool {
        false
    }

    /// Returns whether it would change a slot, as far as that is known in advance.
    fn would_change(&self, _prompt: &Prompt<'_>, _slot: SlotIx) -> bool {
        true
    }

    /// Returns the rows that determine its savings, if these are known in advance.
    fn rows(&self) -> Option<&TableRows> {
        None
    }

    /// Renders a slot that it changed, if a template writes it.
    fn text(&self, _prompt: &Prompt<'_>, _slot: SlotIx) -> Option<String> {
        None
    }

    /// Returns how much is left of an item that it showed in part, or that it summed up.
    fn left(&self, _prompt: &Prompt<'_>, _slot: SlotIx) -> Option<Left> {
        None
    }
}

/// Tells whether two actions are the same.
pub(super) trait Same: Any {
    fn is_same(&self, other: &dyn Act) -> bool;
}

impl<T: Act + PartialEq> Same for T {
    fn is_same(&self, other: &dyn Act) -> bool {
        (other as &dyn Any).downcast_ref::<T>() == Some(self)
    }
}

impl ActivationProgress {
    /// Counts a slot about to be changed.
    fn take(&mut self, prompt: &Prompt<'_>, index: SlotIx) {
        self.items += 1;
        self.tool_uses += u64::from(prompt.kind(index) == Kind::ToolResult);
        self.tokens += Tokens::from(prompt.slot(index).tokens);
        let now = Unit::GATHERED.map(|unit| unit_of(prompt, index, unit) + 1);
        for (n, counted) in self.gathered.iter_mut().enumerate() {
            *counted += u64::from(self.last[n] != now[n]);
        }
        self.last = now;
    }

    /// Counts messages, groups, steps and turns once each where slots are not taken in order.
    fn recount(&mut self, prompt: &Prompt<'_>, index: SlotIx, seen: &mut [BTreeSet<usize>; 4]) {
        for (unit, seen) in Unit::GATHERED.into_iter().zip(seen.iter_mut()) {
            seen.insert(unit_of(prompt, index, unit));
        }
        self.gathered = std::array::from_fn(|n| seen[n].len() as u64);
    }
}
