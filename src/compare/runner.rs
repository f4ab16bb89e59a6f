//! Loads with sessions and facts under memory runners: each trial's chats are generated once,
//! written by every runner, and dropped.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::load::Workload;
use super::simulations::Keys;
use super::threads::in_order;
use super::world::World;
use super::{Cell, Load, Progress};
use crate::input::Policy;
use crate::quantity::saturated;
use crate::report::{Assumed, Run};
use crate::rng::Seed;
use crate::runner::{self, Chats, Log, Numbers, Observed, Ordering, Player, Source, Summary};

impl Load {
    /// Returns whether a policy writes it through a memory runner.
    pub(super) fn is_written_by(&self, policy: &Policy) -> bool {
        World::of(&self.workload).is_written_by(policy)
    }

    /// Plays it under all of its policies, those with a runner by it and the others as ever.
    pub(super) fn runs_as_laid_out(&self, progress: Progress<'_>) -> Vec<Run> {
        let n_policies = self.policies.len();
        let (written, others): (Vec<usize>, Vec<usize>) =
            (0..n_policies).partition(|it| self.is_written_by(&self.policies[*it]));
        if written.is_empty() {
            return self.ordinary_runs(progress);
        }
        if others.is_empty() {
            return self.written_runs(progress);
        }
        let mut runs: Vec<Option<Run>> = vec![None; n_policies * self.profiles.len()];
        let mut place = |made: Vec<Run>, of: &[usize]| {
            for (nth, run) in made.into_iter().enumerate() {
                let (profile, policy) = (nth / of.len(), of[nth % of.len()]);
                runs[profile * n_policies + policy] = Some(run);
            }
        };
        let part = |of: &[usize]| Self {
            policies: of.iter().map(|it| Arc::clone(&self.policies[*it])).collect(),
            ..self.clone()
        };
        place(part(&written).written_runs(progress), &written);
        place(part(&others).ordinary_runs(progress), &others);
        runs.into_iter().flatten().collect()
    }

    /// Plays every trial under every runner and sums up.
    fn written_runs(&self, progress: Progress<'_>) -> Vec<Run> {
        let observed = self.observed_by_runners(progress);
        let numbers = self.runner_numbers();
        let chats = self.chats(0);
        let replays = self.replays().unwrap_or_default();
        let keys = Keys::new(&self.profiles, &self.policies);
        let count = |of: fn(&runner::Session) -> u64| -> u64 {
            chats.users.iter().flat_map(|it| &it.sessions).map(of).sum()
        };
        let of = |cell: Cell| {
            let (policy, profile) = (&self.policies[cell.policy], &self.profiles[cell.profile]);
            let replay = &replays[cell.policy];
            let mut tally = replay.tally(policy, profile, keys.is_flat);
            tally.latency_ms = replay.log.wall_ms as f64;
            let own = &observed[cell.policy];
            let others = self.policies.iter().zip(&observed).enumerate();
            let paired = others
                .filter(|(at, _)| *at != cell.policy)
                .map(|(_, (other, it))| (other.name.clone(), own.less(it)));
            let summary = Summary {
                users: chats.users.len() as u64,
                sessions: count(|_| 1),
                messages: count(|it| it.messages.into()),
                paired: paired.collect(),
                ..Summary::new(policy.service_memory(), &replay.log, own, numbers)
            };
            Run {
                policy: policy.name.clone(),
                scenario: self.name.clone(),
                profile: profile.name.clone(),
                seed: self.seed,
                trials: self.n_chats(),
                looks_ahead: false,
                tally,
                retention: None,
                aging: None,
                runner: Some(Arc::new(summary)),
                assumed: Arc::new(Assumed::new(&self.facts(), profile)),
                stages: self.stages(cell),
                apply: self.applied(cell),
            }
        };
        let cells: Vec<Cell> = self.cells().collect();
        in_order(cells.len(), |at| of(cells[at]))
    }

    /// Plays every trial under every runner.
    fn observed_by_runners(&self, progress: Progress<'_>) -> Vec<Observed> {
        let n_trials = saturated(self.n_chats());
        let n_done = AtomicUsize::new(0);
        let of_trials = in_order(n_trials, |trial| {
            let chats = self.chats(trial as u64);
            let player = Player { chats: &chats, numbers: self.runner_numbers() };
            let one = |it: &Arc<Policy>| Observed::new(&player.play(it.service_memory()));
            let all: Vec<Observed> = self.policies.iter().map(one).collect();
            progress(n_done.fetch_add(1, Relaxed) + 1, n_trials);
            all
        });
        let mut sums = vec![Observed::default(); self.policies.len()];
        for all in of_trials {
            sums.iter_mut().zip(all).for_each(|(sum, one)| sum.add(one));
        }
        sums
    }

    /// Returns the log of its first chats, run by run; nothing for policies that no runner plays.
    #[must_use]
    pub fn runner_logs(&self) -> Vec<(Cell, Chats, Log)> {
        let chats = self.chats(0);
        let player = Player { chats: &chats, numbers: self.runner_numbers() };
        let cells =
            self.cells().filter(|it| it.profile == 0 && self.is_written_by(&self.policies[it.policy]));
        cells.map(|it| (it, chats.clone(), player.play(self.policies[it.policy].service_memory()))).collect()
    }

    /// Returns which runner answers more when each declared number has other values: the first runner with
    /// entries, or one of those without; `None` if these are not chats, or if either is missing.
    #[must_use]
    pub fn orderings(&self, progress: Progress<'_>) -> Vec<Ordering> {
        let Workload::Chats(chats) = &self.workload else { return Vec::new() };
        let runners: Vec<_> =
            self.policies.iter().filter_map(|it| Some((it.name.as_str(), it.service_memory()?))).collect();
        let Some((_, entries)) = runners.iter().find(|it| it.1.write.entries) else { return Vec::new() };
        let others: Vec<_> = runners.iter().filter(|it| !it.1.write.entries).copied().collect();
        let numbers = runner::swept();
        let n_done = AtomicUsize::new(0);
        let all = in_order(numbers.len(), |at| {
            let one = runner::orderings(chats, &numbers[at], entries, &others);
            progress(n_done.fetch_add(1, Relaxed) + 1, numbers.len());
            one
        });
        all.concat()
    }

    /// Returns the numbers that hold in it.
    pub(super) fn runner_numbers(&self) -> &Numbers {
        if let Workload::Chats(chats) = &self.workload { &chats.numbers } else { Numbers::declared() }
    }

    /// Returns how many chats are drawn of it.
    fn n_chats(&self) -> u64 {
        match &self.workload {
            Workload::Chats(chats) => chats.trials,
            Workload::Aging(aging) => aging.n_trials(),
            Workload::Conversations(all) => all.n_trials() as u64,
            Workload::Items(_) | Workload::Blocks(_) => 1,
        }
    }

    /// Makes the chats of one trial.
    pub(super) fn chats(&self, trial: u64) -> Chats {
        let seed = Seed(self.seed).child("runner trial", trial);
        let of = |source: Source<'_>| Chats::new(&source, seed, Numbers::declared());
        match &self.workload {
            Workload::Chats(chats) => chats.chats(trial),
            Workload::Aging(aging) => of(Source::Stream(Cow::Owned(aging.stream(trial)))),
            Workload::Conversations(all) => {
                let nth = saturated(trial);
                of(Source::Plane(&all.timeline(&all.trial(nth))))
            }
            Workload::Items(timeline) => of(Source::Plane(timeline)),
            Workload::Blocks(_) => of(Source::Read(Arc::new([]))),
        }
    }
}
