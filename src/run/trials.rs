//! Conversations are played trial by trial: each is made once, played under every policy, and forgotten.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Keys, Load, Progress, on_threads};
use crate::engine;
use crate::ledger::{Outcome, Sums};
use crate::metrics::retention::{Trial, TrialSink};
use crate::model::Limits;
use crate::price::{PriceIndex, PriceRows};
use crate::trace::Conversation;

/// What a trial came to under one policy.
#[derive(Clone, Debug)]
pub(super) struct Played {
    /// What is priced.
    pub(super) sums: Sums,
    /// Its requests by length, where prices are not flat.
    pub(super) index: Option<PriceIndex>,
    /// What it came to beside.
    pub(super) outcome: Outcome,
    /// What was kept.
    pub(super) trial: Trial,
}

/// Plays every trial of a load; by pair of limits and cache rules, then by policy, then by trial.
pub(super) fn play(
    load: &Load,
    conversation: &Conversation,
    keys: &Keys<'_>,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Vec<Vec<Played>> {
    let n_trials = conversation.n_trials();
    let n_done = AtomicUsize::new(0);
    let one = |index: usize| {
        let played = play_one(load, conversation, keys, index);
        progress(n_done.fetch_add(1, Ordering::Relaxed) + 1, n_trials);
        played
    };
    let by_trial: Vec<Vec<Played>> = on_threads(threads, n_trials, one);
    let mut by_run: Vec<Vec<Played>> =
        (0..keys.distinct.len() * load.policies.len()).map(|_| Vec::with_capacity(n_trials)).collect();
    for played in by_trial {
        for (run, played) in by_run.iter_mut().zip(played) {
            run.push(played);
        }
    }
    by_run
}

/// Makes one conversation and plays it under every policy, its budget being the prompt limit.
fn play_one(load: &Load, conversation: &Conversation, keys: &Keys<'_>, index: usize) -> Vec<Played> {
    let made = conversation.trial(index);
    let mut all = Vec::with_capacity(keys.distinct.len() * load.policies.len());
    for (limits, cache) in &keys.distinct {
        let limits = Limits { prompt: limits.prompt.min(made.budget_tokens), ..**limits };
        for policy in &load.policies {
            let (sink, index, outcome) = if keys.is_flat {
                let mut sink = TrialSink::default();
                let outcome = engine::simulate(&made.trace, policy, &limits, cache, &mut sink);
                (sink, None, outcome)
            } else {
                let mut sinks = (TrialSink::default(), PriceRows::default());
                let outcome = engine::simulate(&made.trace, policy, &limits, cache, &mut sinks);
                (sinks.0, Some(sinks.1.into()), outcome)
            };
            let trial = sink.trial.of(made.length, made.trial, made.total_tokens, &outcome);
            all.push(Played { sums: sink.sums, index, outcome, trial });
        }
    }
    all
}
