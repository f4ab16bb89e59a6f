//! What is known of a run beside its ledger: intervals of recovery, recovery that was played, bills of other models and services.

use crate::prelude::*;

use super::assumed::AssumedChanges;
use super::waiting::{Waited, Waiting};
use crate::ledger::{ExploredSums, NeedSums, RunFault, TokenUse};
use crate::price::{Bill, Costs, PaidAtRates};

/// What is known of a run beside its ledger; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Whether the load has needs.
    pub has_needs: bool,
    /// The cost of recovery at the lower and upper ends of all assumptions.
    pub interval: Option<[Amount; 2]>,
    /// The change in cost at either end of each assumption of recovery alone.
    pub assumed: AssumedChanges,
    /// The ends of its sizes' interval as shares of them, if they were counted anew for other models.
    pub counted: Option<[f64; 2]>,
    /// Recovery as it was played, where the closed form does not know the prompts.
    pub played: Option<PlayedRecovery>,
    /// Why a play of recovery came to no result.
    pub fault: Option<Arc<RunFault>>,
    /// The agent's requests, each billed at the prices of the model that answered it, where these were several.
    pub own_models: Option<Bill>,
    /// What these requests take, each with its own model.
    pub own_waiting: Option<Waited>,
    /// The share of recovery calls that share a request with others.
    pub shared_calls: f64,
    /// What the calls of a memory to its service cost, if the service has prices of its own.
    pub service: Option<Cost>,
    /// Milliseconds, if a world counts them itself.
    pub latency_ms: Option<f64>,
    /// The turns of the session as recorded: without a compaction, two of them may be one.
    pub turns: Option<u32>,
    /// The lowest cost, in US dollars, of anything that keeps every needed item.
    pub bound: Option<f64>,
    /// Whether each trial has a prompt limit of its own.
    pub has_own_budgets: bool,
}

/// Means over runs with sampled needs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedRecovery {
    /// The cost of the runs, less the closed form's.
    pub cost: Amount,
    /// What they pay at each rate, where that was asked for.
    pub paid: Option<PaidAtRates>,
    /// Tokens of their requests, less the closed form's.
    pub tokens: Expected,
    /// What became of the needs.
    pub needs: NeedSums,
    /// What was looked up anew.
    pub explored: ExploredSums,
    /// The number of runs.
    pub n: u32,
}

impl Beside {
    /// Returns the costs of a run, from those of its ledger.
    pub(super) fn costs(&self, ledger: Costs) -> Costs {
        Costs {
            main: self.own_models.unwrap_or(ledger.main),
            memory: self.service.unwrap_or(ledger.memory),
            reaction: self.played.as_ref().map_or(Amount::ZERO, |it| it.cost),
            is_unknown: ledger.is_unknown || self.own_models.is_some_and(|it| it.is_incomplete),
            ..ledger
        }
    }

    /// Returns what a run takes, from what its ledger does.
    pub(super) fn waiting(&self, ledger: Waiting) -> Waiting {
        Waiting { main: self.own_waiting.unwrap_or(ledger.main), ..ledger }
    }

    /// Returns the outcome of a run, from that of its ledger.
    pub(super) fn outcome(&self, ledger: &Outcome) -> Outcome {
        let mut outcome = ledger.clone();
        if let Some(fault) = &self.fault {
            outcome.fault = Some(Arc::clone(fault));
        }
        if let Some(turns) = self.turns.filter(|_| outcome.turns_completed == outcome.turns_requested) {
            [outcome.turns_requested, outcome.turns_started, outcome.turns_completed] = [turns; 3];
        }
        outcome
    }
}

// What a run owes to cache hits that its provider calls likely, not sure.

/// What reads from a best-effort cache save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitStake {
    /// What they would cost more as plain input, at the standard prices of short prompts.
    pub saved: Cost,
}

packed!(HitStake: [saved]);

impl HitStake {
    /// Returns what a run's reads save, if its provider promises no hit.
    pub(super) fn new(tokens: &TokenUse, profile: &Profile) -> Option<Self> {
        let rates = profile.prices.usual();
        let saved = rates.input.0.saturating_sub(rates.read().0);
        let saved = Cost(u128::from(tokens.read) * u128::from(saved));
        profile.is_best_effort.then_some(Self { saved })
    }

    /// Returns that of two runs together.
    pub fn sum(both: [Option<Self>; 2]) -> Option<Self> {
        both.into_iter().flatten().reduce(|one, other| Self { saved: one.saved + other.saved })
    }
}
