//! The requests of a run with what each of them costs.

use std::sync::Arc;

use super::{Cell, Load, Plays, Progress, Sinks, Take};
use crate::ledger::{RequestRow, Role, Rows, Sums};
use crate::price::by_request::{RequestCost, by_request};
use crate::price::{Costs, Models, PriceRows};

impl Load {
    /// Plays it and keeps the rows of its first trial, with what they cost; conversations have none, and those of a run that failed say so.
    pub fn priced_rows(&self, progress: Progress<'_>) -> Vec<(Cell, Arc<Rows>, Vec<RequestCost>)> {
        if matches!(self.world.plays(), Plays::Trials) {
            return Vec::new();
        }
        let takes = self.takes(&Sinks { rows: true, ..Sinks::default() }, progress).takes;
        let priced =
            takes.iter().map(|it| Some((it.cell, Arc::clone(it.rows.as_ref()?), self.costs_by_request(it)?)));
        priced.flatten().collect()
    }

    /// Prices the rows of a run, if it has any: they add up to its total, or to that of its first trial where needs are drawn several times.
    pub fn costs_by_request(&self, take: &Take) -> Option<Vec<RequestCost>> {
        let rows = take.rows.as_deref()?;
        let models: Models<'_> = self.models_of(take.cell);
        let others = take.timeline.as_deref().and_then(|it| self.other_models_in(it));
        let model = |row: &RequestRow| {
            let other = others.as_ref().filter(|_| row.role == Role::Main);
            other.and_then(|it| it.of(self, row.step)).unwrap_or_else(|| models.of(row.role))
        };
        if self.trials > 1 {
            return Some(self.costs_of_trial(take.cell, rows, 0));
        }
        Some(by_request(rows, models.session, model, &take.run.tally.costs))
    }

    /// Prices the rows of one trial of a run, whose requests exceeded so many limits.
    pub fn costs_of_trial(&self, cell: Cell, rows: &Rows, limit_violations: u32) -> Vec<RequestCost> {
        let models: Models<'_> = self.models_of(cell);
        let mut sink: (Sums, PriceRows) = Default::default();
        rows.tell(&mut sink);
        let (sums, prices) = sink;
        let whole = Costs::new(&sums, Some(&prices.into()), limit_violations, models);
        by_request(rows, models.session, |row| models.of(row.role), &whole)
    }
}
