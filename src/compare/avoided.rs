//! Recorded compactions that policies would have avoided.
//!
//! The session is rebuilt with them undone, and played for these policies only.

use std::sync::Arc;

use super::simulations::Simulations;
use super::{Cell, Load};
use crate::input::Policy;
use crate::ledger::{NeedRow, RequestRow, Role, Sink};
use crate::measure::{Resets, Tally};
use crate::quantity::Tokens;
use crate::report::Run;
use crate::timeline::{Recorded, StepIx};

/// The agent's prompts, one per step.
#[derive(Debug, Default)]
struct Prompts(Vec<(StepIx, Tokens)>);

impl Sink for Prompts {
    fn request(&mut self, row: &RequestRow) {
        if row.role == Role::Main && self.0.last().is_none_or(|it| it.0 != row.step) {
            self.0.push((row.step, row.prompt));
        }
    }

    fn need(&mut self, _row: &NeedRow) {}
}

/// The recorded compactions of each run of a load.
pub(super) struct Avoided<'l> {
    recorded: &'l Recorded,
    /// By run, in the order of the load's cells.
    all: Vec<(Cell, Resets)>,
    /// The runs with the compactions undone, of policies that avoid all of them.
    undone: Vec<Run>,
}

impl Load {
    /// Finds the compactions that its policies would have avoided; `None` if there were none, or if needs are
    /// sampled.
    pub(super) fn avoided(&self, simulations: &Simulations<'_>) -> Option<Avoided<'_>> {
        let timeline = self.workload.items().filter(|_| !self.is_sampled)?;
        let recorded = timeline.recorded.as_ref().filter(|it| !it.compactions.is_empty())?;
        let ledgers = simulations.run::<Prompts>(&|_, _| {});
        let all = self.cells().map(|cell| {
            let prompts = ledgers.of(simulations, cell).next().map_or(&[] as &[_], |it| it.0.0.as_slice());
            (cell, Resets::new(recorded, timeline.spine.steps.len(), prompts))
        });
        let all: Vec<(Cell, Resets)> = all.collect();
        let avoids = |nth: usize| all.iter().any(|it| it.0.policy == nth && it.1.are_all_avoided());
        let policies = self.policies.iter().enumerate().filter(|it| avoids(it.0));
        let policies: Vec<Arc<Policy>> = policies.map(|it| Arc::clone(it.1)).collect();
        let undone = if policies.is_empty() { None } else { self.with_resets_undone(policies) };
        let undone = undone.map_or_else(Vec::new, |it| it.runs(&|_, _| {}));
        Some(Avoided { recorded, all, undone })
    }
}

impl Avoided<'_> {
    /// Returns what a run has of them, with both bills where it avoids all of them.
    pub(super) fn of(&self, cell: Cell, names: [&str; 2], tally: &Tally) -> Option<Resets> {
        let mut resets = self.all.iter().find(|it| it.0 == cell)?.1;
        if resets.are_all_avoided() {
            let [profile, policy] = names;
            let undone = self.undone.iter().find(|it| it.profile == profile && it.policy == policy);
            let undone = undone.filter(|it| it.tally.outcome.fault.is_none());
            resets.bills = undone.and_then(|it| Some([bill(tally)?, bill(&it.tally)?]));
            resets.n_open = u32::from(resets.bills.is_none());
            let reaches = |it: &&Run| it.tally.sums.main.prompt_max >= self.recorded.avoided_below;
            resets.n_reached = u32::from(undone.filter(reaches).is_some());
        }
        Some(resets)
    }
}

/// Returns what a run costs, if no limit stopped it.
fn bill(tally: &Tally) -> Option<f64> {
    tally.costs.total().filter(|_| tally.outcome.failure.is_none())
}
