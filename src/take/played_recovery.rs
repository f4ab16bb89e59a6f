//! Recovery that is played instead of computed, if a policy edits fetched results or if fetching may change its edits.
//!
//! The closed form does not know the prompts there: needs are sampled several times, and the mean cost of
//! these runs is used instead.

use std::sync::Arc;

use super::play::Folded;
use super::simulations::{Ledgers, Simulations};
use super::threads::in_order;
use super::{Cell, Progress};
use crate::ledger::{NeedSums, Outcome, Sink, Sums};
use crate::measure::Tally;
use crate::price::{Models, PriceRows};

/// By simulation and ledger: the results of runs with sampled needs; `None` if the closed form applies.
pub(super) struct PlayedRecovery(Vec<Vec<Vec<Folded>>>);

impl PlayedRecovery {
    /// Plays what the ledgers require.
    pub(super) fn of(
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<Folded>,
        progress: Progress<'_>,
    ) -> Self {
        if simulations.keys.is_flat {
            let fold = |sums: Sums, outcome| (sums, None, outcome);
            return Self::new(simulations, ledgers, fold, progress);
        }
        let fold = |(sums, rows): (Sums, PriceRows), outcome| (sums, Some(rows.into()), outcome);
        Self::new(simulations, ledgers, fold, progress)
    }

    fn new<S: Sink + Default + Send>(
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<Folded>,
        fold: impl Fn(S, Outcome) -> Folded + Sync,
        progress: Progress<'_>,
    ) -> Self {
        let n_all = simulations.n_distinct();
        Self(in_order(n_all, |index| {
            let played = ledgers.of_simulation(index).iter().enumerate().map(|(ledger, (.., outcome))| {
                let is_open = outcome.hangs_on_fetched();
                let runs = if is_open { simulations.draw::<S>(index, ledger) } else { Vec::new() };
                runs.into_iter().map(|(sink, outcome)| fold(sink, outcome)).collect()
            });
            let played = played.collect();
            progress(n_all, n_all);
            played
        }))
    }

    /// Replaces a run's expected recovery by the played one.
    pub(super) fn replace(
        &self,
        simulations: &Simulations<'_>,
        cell: Cell,
        models: Models<'_>,
        tally: &mut Tally,
    ) {
        let Some((simulation, ledger)) = simulations.ledger_of(cell) else { return };
        let runs = &self.0[simulation][ledger];
        if let Some(fault) = runs.iter().find_map(|(.., outcome)| outcome.fault.as_ref()) {
            tally.outcome.fault = Some(Arc::clone(fault));
            return;
        }
        let finished =
            runs.iter().filter(|(.., outcome)| outcome.failure.is_none() || tally.outcome.failure.is_some());
        let drawn: Vec<Tally> = finished
            .map(|(sums, index, outcome)| Tally::new(sums, index.as_ref(), outcome, true, models))
            .collect();
        let Some(n) = u32::try_from(drawn.len()).ok().filter(|it| *it > 0) else { return };
        let mean = |of: &dyn Fn(&Tally) -> f64| drawn.iter().map(of).sum::<f64>() / f64::from(n);
        let Some(total) = tally.costs.total() else { return };
        let expected = tally.costs.recovery;
        let base = total - expected;
        let played = mean(&|it| it.costs.total().unwrap_or_default()) - base;
        let main = tally.sums.main.tokens;
        tally.costs.recovery = played;
        tally.recovery_interval = tally.recovery_interval.map(|it| it.map(|end| end - expected + played));
        tally.recovery_input = mean(&|it| it.sums.main.tokens.prompt() as f64) - main.prompt() as f64;
        tally.recovery_output = mean(&|it| it.sums.main.tokens.output as f64) - main.output as f64;
        tally.sums.needs = NeedSums {
            calls: mean(&|it| it.sums.needs.calls),
            repeats: mean(&|it| it.sums.needs.repeats),
            fetched: mean(&|it| it.sums.needs.fetched),
            failed: mean(&|it| it.sums.needs.failed),
            weight: mean(&|it| it.sums.needs.weight),
            met: mean(&|it| it.sums.needs.met),
            ..NeedSums::default()
        };
        tally.n_played = n;
    }
}
