//! Recovery that is played instead of computed, if a policy edits fetched results or if fetching may change its edits.
//!
//! The closed form does not know the prompts there: needs are sampled several times, and the mean cost of
//! these runs is used instead.

use std::sync::Arc;

use super::detail::KeptDetail;
use super::play::FoldedLedger;
use super::simulations::{Ledgers, Simulations};
use super::threads::in_order;
use super::{Cell, Progress};
use crate::ledger::{ExploredSums, NeedSums, Outcome, Sink, Sums};
use crate::measure::{Beside, PlayedRecovery, Tally};
use crate::price::{Models, PriceRows};
use ctxsim_base::quantity::{Amount, Expected, ix};

/// By simulation and ledger: the results of runs with sampled needs; `None` if the closed form applies.
pub(super) struct DrawnRuns(Vec<Vec<Vec<FoldedLedger>>>);

impl DrawnRuns {
    /// Plays what the ledgers require.
    pub(super) fn of(
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<KeptDetail>,
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
        ledgers: &Ledgers<KeptDetail>,
        fold: impl Fn(S, Outcome) -> FoldedLedger + Sync,
        progress: Progress<'_>,
    ) -> Self {
        let n_all = simulations.n_distinct();
        Self(in_order(n_all, |index| {
            let played = ledgers.of_simulation(index).iter().enumerate().map(|(ledger, it)| {
                let is_open = it.folded.2.hangs_on_fetched();
                let runs = if is_open { simulations.draw::<S>(index, ledger) } else { Vec::new() };
                runs.into_iter().map(|(sink, outcome)| fold(sink, outcome)).collect()
            });
            let played = played.collect();
            progress(n_all, n_all);
            played
        }))
    }

    /// Returns what is known beside a run's ledger once recovery was played; the same where the closed form applies.
    pub(super) fn beside(
        &self,
        simulations: &Simulations<'_>,
        cell: Cell,
        models: Models<'_>,
        closed: &Tally,
        beside: Beside,
    ) -> Beside {
        let runs = simulations.ledger_of(cell).map_or(&[][..], |it| &self.0[it.0][it.1]);
        if let Some(fault) = runs.iter().find_map(|(.., outcome)| outcome.fault.as_ref()) {
            return Beside { fault: Some(Arc::clone(fault)), ..beside };
        }
        let finished =
            runs.iter().filter(|(.., outcome)| outcome.failure.is_none() || closed.outcome.failure.is_some());
        let drawn: Vec<Tally> = finished
            .map(|(sums, index, outcome)| Tally::new(sums, index.as_ref(), outcome, true, models))
            .collect();
        let total = closed.costs.exact().filter(|_| !drawn.is_empty());
        let Some(played) = total.map(|it| mean_of(&drawn, closed, it)) else { return beside };
        Beside { played: Some(played), ..beside }
    }
}

/// Returns what drawn runs come to on average, beside what the closed form says.
fn mean_of(drawn: &[Tally], closed: &Tally, total: Amount) -> PlayedRecovery {
    let n = ix(drawn.len());
    let mean = |of: &dyn Fn(&Tally) -> Expected| drawn.iter().map(of).sum::<Expected>().over(n);
    let share = |of: &dyn Fn(&Tally) -> f64| drawn.iter().map(of).sum::<f64>() / n as f64;
    let cost: Amount = drawn.iter().filter_map(|it| it.costs.exact()).sum();
    PlayedRecovery {
        cost: cost.over(n) - total,
        tokens: mean(&Tally::expected_total_tokens) - closed.expected_total_tokens(),
        needs: NeedSums {
            calls: mean(&|it| it.sums.needs.calls),
            repeats: mean(&|it| it.sums.needs.repeats),
            fetched: mean(&|it| it.sums.needs.fetched),
            failed: mean(&|it| it.sums.needs.failed),
            weight: share(&|it| it.sums.needs.weight),
            met: share(&|it| it.sums.needs.met),
            refetched: closed.sums.needs.refetched,
            told: closed.sums.needs.told,
            users: closed.sums.needs.users,
            ..NeedSums::default()
        },
        explored: ExploredSums {
            calls: mean(&|it| it.sums.explored.calls),
            fetched: mean(&|it| it.sums.explored.fetched),
            tokens: closed.sums.explored.tokens,
            ..ExploredSums::default()
        },
        n: ix(drawn.len()),
    }
}
