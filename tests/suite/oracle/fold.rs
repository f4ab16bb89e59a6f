//! Folds, turn by turn, from what stands of each.

use ctxsim::input::policy::{Fold, Rung, Size};
use ctxsim::timeline::Kind;

use super::Run;
use super::apply::Pool;
use super::ask::{Activation, Taken};
use super::history::{Stands, View};
use super::scope::Place;
use super::size::Env;

/// What a fold would make of one turn.
struct Plan {
    /// What does not stay: the slot, how it is shown from now on, whether the summary tells of it.
    slots: Vec<(usize, View, bool)>,
    before: u64,
    after: u64,
}

impl Run<'_> {
    pub(super) fn fold(
        &mut self,
        rung: &Rung<'_>,
        fold: &Fold,
        place: &Place<'_>,
        activation: &Activation,
        taken: &mut Taken,
    ) -> (u32, u32) {
        let budget = fold.results.as_ref().and_then(|it| it.budget.as_ref());
        let mut pool = budget.map(|it| Pool::new(it, place.region.start));
        let mut n = 0;
        for turn_ix in 0..self.history.turns.len() as u32 {
            let mut unit = place.slots(&self.history, &self.world);
            unit.retain(|it| self.history.item(*it).turn_ix == turn_ix);
            if self.is_done(rung, activation, taken) {
                break;
            }
            let is_meant =
                |slot: &usize| fold.having.is_empty() || fold.having.contains(&self.history.kind(*slot));
            if !unit.iter().any(is_meant) {
                continue;
            }
            let before = pool.clone();
            let plan = self.plan(fold, place, &unit, pool.as_mut());
            let is_item = |it: &(usize, View, bool)| it.1.stands == Stands::Shown;
            if !plan.slots.iter().any(is_item) || (plan.after >= plan.before && !fold.grows) {
                pool = before;
                continue;
            }
            unit.iter().for_each(|it| self.take(taken, *it));
            n += plan.slots.len() as u32;
            self.carry_out(plan, activation);
        }
        (n, n)
    }

    fn plan(&self, fold: &Fold, place: &Place<'_>, unit: &[usize], mut pool: Option<&mut Pool<'_>>) -> Plan {
        let size = |size: &Option<Size>| size.as_ref().map_or(0, |it| self.world.size(it, Env::default()));
        let rows = fold.results.as_ref().map_or(&[][..], |it| self.policy.table(&it.rows));
        let mut plan = Plan { slots: Vec::new(), before: 0, after: size(&fold.frame) };
        for slot in unit.iter().copied() {
            let kind = self.history.kind(slot);
            if fold.copy.contains(&kind) {
                continue;
            }
            let mut view = self.history.slots[slot].view;
            plan.before += view.tokens;
            let is_told = kind == Kind::ToolResult || fold.quote.contains(&kind);
            if kind == Kind::ToolResult {
                let smaller = self.view(rows, place, slot, pool.as_deref_mut());
                view = smaller.filter(|it| it.tokens < view.tokens).unwrap_or(view);
                plan.after += size(&fold.each);
            }
            if is_told {
                plan.after += view.tokens;
            }
            plan.slots.push((slot, view, is_told));
        }
        plan
    }

    fn carry_out(&mut self, plan: Plan, activation: &Activation) {
        for (slot, view, _) in &plan.slots {
            if *view != self.history.slots[*slot].view {
                self.history.edit(*slot, *view, &activation.manner);
            }
        }
        let told = |(slot, view, is_told): &(usize, View, bool)| {
            (self.history.said(*slot, view), view.tokens, view.rendition, *is_told)
        };
        let says = plan.slots.iter().map(told).collect();
        let number = self.history.number_fold(says);
        let host = plan.slots[0].0;
        for (slot, view, is_told) in plan.slots {
            let was_behind = match view.stands {
                Stands::Summary(_) => true,
                Stands::Fold(_) => !is_told,
                _ => false,
            };
            let stands = match (slot == host, was_behind, is_told) {
                (true, true, _) => Stands::Summary(u64::MAX - number),
                (true, false, _) => Stands::Fold(number),
                (false, true, _) => Stands::Behind,
                (false, false, true) => Stands::Told,
                (false, false, false) => Stands::Dropped,
            };
            let tokens = if slot == host { plan.after } else { 0 };
            self.history.edit(slot, View { tokens, stands, ..view }, &activation.manner);
        }
    }
}
