//! Loads of many sessions: each stream is generated once, played under every policy, and dropped.

mod trace;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::simulations::Keys;
use super::threads::in_order;
use super::{Cell, Load, Progress};
use crate::aging::generate::Pressure;
use crate::aging::{Aging, Log, Observed, Played, Player, Rules, Stream, Summary};
use crate::input::Policy;
use crate::input::policy::memory::{SessionRead, SessionStore};
use crate::quantity::saturated;
use crate::report::{Assumed, Run};

/// The results of all streams of a load: by policy, and at the lower and upper bounds.
struct Observations {
    policies: Vec<Observed>,
    floor: Observed,
    ceiling: Observed,
}

impl Load {
    /// Plays its streams and sums up its runs, or nothing if it has none.
    pub(super) fn aged(&self, progress: Progress<'_>) -> Option<Vec<Run>> {
        let aging = self.workload.aging()?;
        let observed = self.observed(aging, progress);
        let stream = aging.stream(0);
        let replays = self.replays()?;
        let keys = Keys::new(&self.profiles, &self.policies);
        let of = |cell: Cell| {
            let (policy, profile) = (&self.policies[cell.policy], &self.profiles[cell.profile]);
            let one = &replays[cell.policy];
            let tally = one.tally(policy, profile, keys.is_flat);
            let summary = self.summary(aging, &observed, cell.policy);
            let n_sessions = stream.sessions.len().max(1) as f64;
            let summary = Summary {
                metric: stream.scoring.metric(&aging.load.generator).to_owned(),
                usd_per_session: tally.costs.total().map(|it| it / n_sessions),
                tokens_per_session: tally.expected_total_tokens() / n_sessions,
                calls: one.requests.timeline.spine.steps.len() as u64,
                compaction_calls: one.n_compactions,
                ..summary
            };
            Run {
                policy: policy.name.clone(),
                scenario: self.name.clone(),
                profile: profile.name.clone(),
                seed: self.seed,
                trials: self.trials,
                looks_ahead: false,
                tally,
                retention: None,
                aging: Some(Arc::new(summary)),
                runner: None,
                assumed: Arc::new(Assumed::new(&self.facts(), profile)),
                stages: self.stages(cell),
                apply: self.applied(cell),
            }
        };
        let cells: Vec<Cell> = self.cells().collect();
        Some(in_order(cells.len(), |at| of(cells[at])))
    }

    /// Plays every stream under every policy.
    fn observed(&self, aging: &Aging, progress: Progress<'_>) -> Observations {
        let n_trials = saturated(aging.n_trials());
        let n_done = AtomicUsize::new(0);
        let of_trials = in_order(n_trials, |trial| {
            let one = self.observe(aging, &aging.stream(trial as u64));
            progress(n_done.fetch_add(1, Ordering::Relaxed) + 1, n_trials);
            one
        });
        let mut all = Observations {
            policies: vec![Observed::default(); self.policies.len()],
            floor: Observed::default(),
            ceiling: Observed::default(),
        };
        for one in of_trials {
            all.policies.iter_mut().zip(one.policies).for_each(|(own, more)| own.add(more));
            all.floor.add(one.floor);
            all.ceiling.add(one.ceiling);
        }
        all
    }

    /// Plays one stream under every policy, and beside them with no memory and with all of it.
    fn observe(&self, aging: &Aging, stream: &Stream) -> Observations {
        let player = Player::new(aging, stream, true);
        let calm = (!aging.events().is_empty()).then(|| Player::new(aging, stream, false));
        let first = aging.events().iter().map(|it| it.session).min();
        let event = first.and_then(|it| u32::try_from(it).ok());
        let played = |log: &Log, control: Option<&Log>| Observed::new(Played { stream, log, control, event });
        let of_policy = |policy: &Arc<Policy>| {
            let control = calm.as_ref().map(|it| it.policy(policy, aging.model));
            played(&player.policy(policy, aging.model), control.as_ref())
        };
        let quiet = Player::new(aging, stream, false);
        Observations {
            policies: self.policies.iter().map(of_policy).collect(),
            floor: played(&quiet.play(Rules::new(None, aging.model)), None),
            ceiling: played(&quiet.play(Rules::ceiling(aging.model)), None),
        }
    }

    /// Sums up a policy's results.
    fn summary(&self, aging: &Aging, observed: &Observations, policy: usize) -> Summary {
        let spec = self.policies[policy].session_memory();
        let has_retrieval = spec.is_some_and(|it| {
            matches!(it.store, SessionStore::Entries { .. } | SessionStore::Files)
                && it.read != SessionRead::All
        });
        let own = &observed.policies[policy];
        let others = self.policies.iter().zip(&observed.policies).enumerate().filter(|it| it.0 != policy);
        Summary {
            paired: others.map(|(_, (other, it))| (other.name.clone(), own.less(it))).collect(),
            generator: aging.load.generator.clone(),
            sessions: aging.load.sessions,
            model: aging.model.name.clone(),
            pressure: Pressure::of(&aging.load),
            floor: observed.floor.means(),
            ceiling: observed.ceiling.means(),
            ..own.summary(has_retrieval)
        }
    }
}
