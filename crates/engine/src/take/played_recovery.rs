//! Recovery that is played instead of computed, if a policy edits fetched results or if fetching may change its edits.
//!
//! The closed form does not know the prompts there: needs are sampled several times, and the mean cost of
//! these runs is used instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::detail::KeptDetail;
use super::play::FoldedLedger;
use super::simulations::{Ledgers, Simulations};
use super::{Cell, Progress};
use crate::ledger::{ExploredSums, NeedSums};
use crate::measure::{Beside, PlayedRecovery, Tally};
use crate::price::{Models, PaidAtRates};
use ctxsim_base::quantity::{Amount, Expected, ix};

/// By simulation and ledger: the results of runs with sampled needs; none where the closed form applies.
pub(super) struct DrawnRuns(BTreeMap<(usize, usize), Vec<Arc<FoldedLedger>>>);

impl DrawnRuns {
    /// Plays what the ledgers require.
    pub(super) fn of(
        simulations: &Simulations<'_>,
        ledgers: &Ledgers<KeptDetail>,
        progress: Progress<'_>,
    ) -> Self {
        let is_open = |simulation, ledger: usize| {
            ledgers.of_simulation(simulation).get(ledger).is_some_and(|it| it.folded.2.hangs_on_fetched())
        };
        Self(simulations.drawn(is_open, progress))
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
        let Some(runs) = simulations.ledger_of(cell).and_then(|it| self.0.get(&it)) else { return beside };
        if let Some(fault) = runs.iter().find_map(|it| it.2.fault.as_ref()) {
            return Beside { fault: Some(Arc::clone(fault)), ..beside };
        }
        let mut drawn: Vec<Tally> = Vec::with_capacity(runs.len());
        for (sums, index, outcome) in runs.iter().map(|it| &**it) {
            if outcome.failure.is_none() || closed.outcome.failure.is_some() {
                drawn.push(Tally::new(sums, index.as_ref(), outcome, true, models));
            }
        }
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
    let paid: Option<Vec<PaidAtRates>> = drawn.iter().map(|it| it.paid.as_deref().copied()).collect();
    PlayedRecovery {
        cost: cost.over(n) - total,
        paid: paid.map(|it| PaidAtRates::mean(&it)),
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
