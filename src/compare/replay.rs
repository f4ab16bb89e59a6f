//! The requests of memories: what each made of the first trial, laid out for the engine and priced.

use super::Load;
use super::play::Folded;
use super::threads::in_order;
use crate::aging::cost::Requests;
use crate::aging::{self, Model, Player};
use crate::engine;
use crate::input::{CacheRules, Limits, Policy, Profile};
use crate::ledger::Sums;
use crate::measure::Tally;
use crate::memory::requests::Replayed;
use crate::price::{Models, PriceRows};
use crate::quantity::Cost;
use crate::runner::{self, cost};

/// What a memory requested over the first trial.
pub(super) struct Replay {
    /// Its requests.
    pub(super) requests: Replayed,
    /// What its calls to a service cost, if its service has prices of its own.
    pub(super) service: Option<Cost>,
    /// How many of the requests made summaries between sessions.
    pub(super) n_compactions: u64,
    /// What its runner did; empty without one.
    pub(super) log: runner::Log,
}

impl Replay {
    /// Prices the requests; calls to a service take what its file says.
    pub(super) fn tally(&self, policy: &Policy, profile: &Profile, is_flat: bool) -> Tally {
        let (sums, index, outcome) = self.folded(policy, (&profile.limits, &profile.cache), is_flat);
        let models = Models::new(profile, policy.summariser());
        let mut tally = Tally::new(&sums, index.as_ref(), &outcome, false, models);
        tally.costs.memory = self.service.unwrap_or(tally.costs.memory);
        tally
    }

    /// Plays the requests and folds them to what prices ask for.
    pub(super) fn folded(
        &self,
        policy: &Policy,
        (limits, cache): (&Limits, &CacheRules),
        is_flat: bool,
    ) -> Folded {
        let mut sink: (Sums, PriceRows) = Default::default();
        let memory = |_| self.requests.memory();
        let timeline = &self.requests.timeline;
        let outcome = engine::simulate_with_memory(timeline, policy, limits, cache, memory, &mut sink);
        let (sums, rows) = sink;
        (sums, (!is_flat).then(|| rows.into()), outcome)
    }
}

impl Load {
    /// Returns what its policies requested as memories, in their order; nothing where the engine plays policies itself.
    pub(super) fn replays(&self) -> Option<Vec<Replay>> {
        let n = self.policies.len();
        if self.policies.iter().any(|it| self.is_written_by(it)) {
            let chats = self.chats(0);
            let player = runner::Player { chats: &chats, numbers: self.runner_numbers() };
            return Some(in_order(n, |at| written(&player, &self.policies[at])));
        }
        let aging = self.workload.aging()?;
        let stream = aging.stream(0);
        let player = Player::new(aging, &stream, true).telling_contents();
        Some(in_order(n, |at| aged(&player, &self.policies[at], aging.model)))
    }
}

/// Returns what a memory runner requested.
fn written(player: &runner::Player<'_>, policy: &Policy) -> Replay {
    let log = player.play(policy.service_memory());
    Replay {
        requests: cost::requests(&log, policy, player.numbers),
        service: Some(cost::of_service(&log, policy)),
        n_compactions: 0,
        log,
    }
}

/// Returns what an ageing memory requested.
fn aged(player: &Player<'_>, policy: &Policy, model: &'static Model) -> Replay {
    let log = player.policy(policy, model);
    let Requests { replayed, n_compactions } =
        Requests::new(player.stream, &log, policy, aging::Numbers::declared());
    Replay { requests: replayed, service: None, n_compactions, log: runner::Log::default() }
}
