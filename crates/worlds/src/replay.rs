//! The requests of memories: what each made of the first trial, laid out for the engine and priced.

use ctxsim_base::quantity::Cost;
use ctxsim_engine::engine::Simulation;
use ctxsim_engine::ledger::Sums;
use ctxsim_engine::measure::{Beside, Tally};
use ctxsim_engine::memory::requests::Replayed;
use ctxsim_engine::price::PriceRows;
use ctxsim_engine::take::{FoldedLedger, Keys, Load, in_order};
use ctxsim_input::{CacheRules, Limits, Policy};

/// What a memory requested over the first trial.
pub(super) struct Replay {
    pub(super) requests: Replayed,
    /// What its calls to a service cost, if its service has prices of its own.
    pub(super) service: Option<Cost>,
    /// How many milliseconds it took, if its world counts them itself.
    pub(super) latency_ms: Option<f64>,
}

/// Plays the requests of each policy under every pair of limits and cache rules, and prices them under every profile; calls to a service cost
/// what its file says. The numbers are in the order of the load's runs.
pub(super) fn tallies<T: Sync>(replays: &[(Replay, T)], load: &Load) -> Vec<Tally> {
    let (keys, n) = (Keys::new(&load.profiles, &load.policies), load.policies.len());
    let played = in_order(keys.distinct.len() * n, |at| {
        let key = &keys.distinct[at / n];
        replays[at % n].0.folded(&load.policies[at % n], key.limits, key.cache, keys.is_flat)
    });
    let priced = load.cells().map(|cell| {
        let (sums, index, outcome) = &played[keys.within(cell)];
        let Replay { service, latency_ms, .. } = replays[cell.policy].0;
        let beside = Beside { service, latency_ms, ..Beside::default() };
        Tally::beside(sums, index.as_ref(), outcome, load.models_of(cell), &beside)
    });
    priced.collect()
}

impl Replay {
    /// Plays the requests and folds them to what prices ask for.
    fn folded(&self, policy: &Policy, limits: &Limits, cache: &CacheRules, is_flat: bool) -> FoldedLedger {
        let mut sink: (Sums, PriceRows) = Default::default();
        let play = Simulation::new(&self.requests.timeline, policy, limits, cache);
        let outcome = play.with_memory(self.requests.memory()).run(&mut sink);
        let (sums, rows) = sink;
        (sums, (!is_flat).then(|| rows.into()), outcome)
    }
}
