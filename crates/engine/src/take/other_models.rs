//! Requests answered by another model than most of their session: each is billed at its own model's prices.

use std::collections::BTreeMap;

use super::{Cell, Load};
use crate::ledger::{RequestSums, Role, Rows};
use crate::measure::waiting::Waited;
use crate::price::{Bill, StepPrices};
use ctxsim_input::Profile;
use ctxsim_input::profile::cache::Setting;
use ctxsim_timeline::{EventKind, StepIx, Timeline};

/// Which model answered which request of a load, by step: a place among the models of the load.
pub(super) struct OtherModels(Vec<usize>);

impl Load {
    /// Finds which models answered; `None` if there is only one, or if needs are sampled several times.
    pub(super) fn other_models(&self) -> Option<OtherModels> {
        self.other_models_in(self.timeline()?)
    }

    /// The same of a layout of it.
    pub(super) fn other_models_in(&self, timeline: &Timeline) -> Option<OtherModels> {
        (self.models.len() > 1 && self.trials == 1).then(|| OtherModels(models(timeline)))
    }
}

impl Load {
    /// Returns the prices at which the requests of its session were billed under one of its profiles: each of its own model.
    pub fn step_prices<'l>(&'l self, timeline: &Timeline, profile: &'l Profile) -> StepPrices<'l> {
        let others = if self.models.len() > 1 { models(timeline) } else { Vec::new() };
        let own = |model: usize| self.models.get(model).unwrap_or(profile);
        StepPrices::new(&profile.prices, others.into_iter().map(|it| &own(it).prices).collect())
    }
}

impl OtherModels {
    /// Returns the model that answered a step.
    pub(super) fn of<'l>(&self, load: &'l Load, step: StepIx) -> Option<&'l Profile> {
        load.models.get(*self.0.get(step as usize)?)
    }

    /// Bills the agent's requests of a run, each at its own model's prices, and says how long they take.
    pub(super) fn bill(&self, load: &Load, cell: Cell, rows: &Rows) -> (Bill, Waited) {
        let mut bill = Bill::default();
        let mut sums: BTreeMap<Option<usize>, RequestSums> = BTreeMap::new();
        for row in rows.requests.iter().filter(|it| it.role == Role::Main) {
            let profile = self.of(load, row.step).unwrap_or(&load.profiles[cell.profile]);
            bill += Bill::of_request(profile.prices.at(row.at_ms), &row.tokens());
            let of_model = sums.entry(self.0.get(row.step as usize).copied()).or_default();
            of_model.n += 1;
            of_model.tokens += row.tokens();
        }
        let mut waited = Waited::default();
        for (model, sums) in &sums {
            let profile = model.and_then(|it| load.models.get(it)).unwrap_or(&load.profiles[cell.profile]);
            waited += Waited::of(profile.waiting, sums);
        }
        (bill, waited)
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
