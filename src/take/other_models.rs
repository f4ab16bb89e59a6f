//! Requests answered by another model than most of their session: each is billed at its own model's prices.

use std::sync::Arc;

use super::simulations::{Ledgers, Simulations};
use super::{Cell, Load};
use crate::input::profile::cache::Setting;
use crate::ledger::{Role, Rows};
use crate::measure::Tally;
use crate::price::Bill;
use crate::timeline::{EventKind, StepIx, Timeline};

/// The requests of every run, and which model answered which.
pub(super) struct OtherModels<'l> {
    load: &'l Load,
    ledgers: Ledgers<Arc<Rows>>,
    /// By step, a place among the models of the load.
    models: Vec<usize>,
}

impl Load {
    /// Replays a load answered by several models, for its individual requests; `None` if there is only one
    /// model, or if needs are sampled several times.
    pub(super) fn other_models(&self, simulations: &Simulations<'_>) -> Option<OtherModels<'_>> {
        let timeline = self.timeline().filter(|_| self.models.len() > 1 && self.trials == 1)?;
        let ledgers = simulations.run::<Rows>(&|_, _| {}).map(|(rows, _)| Arc::new(rows));
        Some(OtherModels { load: self, ledgers, models: models(timeline) })
    }
}

impl OtherModels<'_> {
    /// Replaces the cost of a run's requests at one model's prices by their cost at their own models' prices.
    pub(super) fn replace(&self, simulations: &Simulations<'_>, cell: Cell, tally: &mut Tally) {
        let Some(rows) = self.ledgers.of(simulations, cell).next() else { return };
        let mut bill = Bill::default();
        for row in rows.requests.iter().filter(|it| it.role == Role::Main) {
            let model = self.models.get(row.step as usize).and_then(|it| self.load.models.get(*it));
            let profile = model.unwrap_or(&self.load.profiles[cell.profile]);
            bill += Bill::of_request(profile.prices.at(row.at_ms), &row.tokens());
        }
        tally.costs.main = bill;
        tally.costs.is_unknown |= bill.is_incomplete;
    }
}

/// Returns by step which model answered.
fn models(timeline: &Timeline) -> Vec<usize> {
    let mut models = vec![0; timeline.spine.steps.len()];
    for event in &timeline.events {
        if let EventKind::Change(Setting::Model, model) = event.kind {
            let from = StepIx::min(timeline.spine.step_at(event.at), models.len() as StepIx) as usize;
            models[from..].fill(model as usize);
        }
    }
    models
}
