//! The requests of memories: what each made of the first trial, laid out for the engine and priced.

use ctxsim_base::quantity::Cost;
use ctxsim_engine::engine::Simulation;
use ctxsim_engine::ledger::Sums;
use ctxsim_engine::measure::{Beside, Remembered, Tally};
use ctxsim_engine::memory::requests::Replayed;
use ctxsim_engine::price::{Models, PriceRows};
use ctxsim_engine::take::{FoldedLedger, Keys, Load, Unpriced, in_order};
use ctxsim_input::{CacheRules, Limits, Policy, Profile};

/// What a memory requested over the first trial.
pub(super) struct Replay {
    pub(super) requests: Replayed,
    /// What its calls to a service cost, if its service has prices of its own.
    pub(super) service: Option<Cost>,
    /// How many milliseconds it took, if its world counts them itself.
    pub(super) latency_ms: Option<f64>,
}

impl Replay {
    /// Prices the requests; calls to a service take what its file says.
    pub(super) fn tally(&self, policy: &Policy, profile: &Profile, is_flat: bool) -> Tally {
        let (sums, index, outcome) = self.folded(policy, &profile.limits, &profile.cache, is_flat);
        let models = Models::new(profile, policy.summariser());
        let beside = Beside { service: self.service, latency_ms: self.latency_ms, ..Beside::default() };
        Tally::beside(&sums, index.as_ref(), &outcome, models, &beside)
    }

    /// Plays the requests and folds them to what prices ask for.
    fn folded(&self, policy: &Policy, limits: &Limits, cache: &CacheRules, is_flat: bool) -> FoldedLedger {
        let mut sink: (Sums, PriceRows) = Default::default();
        let play = Simulation::new(&self.requests.timeline, policy, limits, cache);
        let outcome = play.with_memory(self.requests.memory()).run(&mut sink);
        let (sums, rows) = sink;
        (sums, (!is_flat).then(|| rows.into()), outcome)
    }
}

/// Prices what each memory requested under every pair of limits and cache rules, with the first that it remembers.
pub(super) fn folded(
    replays: &[Replay],
    remembered: &[Option<Remembered>],
    load: &Load,
    keys: &Keys<'_>,
) -> Vec<Unpriced> {
    let n = load.policies.len();
    in_order(keys.distinct.len() * n, |at| {
        let (key, policy) = (&keys.distinct[at / n], at % n);
        let one = &replays[policy];
        Unpriced {
            trials: vec![one.folded(&load.policies[policy], key.limits, key.cache, keys.is_flat)],
            service: one.service,
            // What is remembered does not depend on a profile.
            remembered: remembered[policy].clone(),
        }
    })
}
