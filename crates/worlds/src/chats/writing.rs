//! Facts as a memory service is told them: each trial's chats are generated once, written by every memory runner, and dropped.

use std::fmt;
use std::sync::Arc;

use super::rows::{Runner, actions, answers, calls, orderings};
use super::summary::changes;
use crate::chats::{
    self, ChatLog, ChatNumbers, ChatObserved, ChatPlayer, ChatScenario, ChatSummary, Chats, Ordering, cost,
};
use crate::replay::{self, Replay};
use ctxsim_base::quantity::saturated;
use ctxsim_engine::take::{
    Cell, Load, LoadKind, MemoryRepair, Progress, RowsOf, Run, Sinks, StageRepair, Take, World, in_order,
    in_order_telling,
};
use ctxsim_input::Policy;
use ctxsim_input::text::set::Override;
use ctxsim_timeline::row::Rows;

/// The facts of a world, written to memory services.
pub struct Writing {
    of: Arc<dyn World>,
    n_trials: u64,
    chats: Arc<dyn Fn(u64) -> Chats + Send + Sync>,
    /// The chats themselves, where they are all that the world has.
    own: Option<Arc<ChatScenario>>,
}

impl fmt::Debug for Writing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Writing").field("of", &self.of).finish_non_exhaustive()
    }
}

impl Writing {
    /// Tells a world's facts as chats, trial by trial.
    pub(crate) fn new(
        of: Arc<dyn World>,
        n_trials: u64,
        chats: impl Fn(u64) -> Chats + Send + Sync + 'static,
    ) -> Self {
        Self { of, n_trials, chats: Arc::new(chats), own: None }
    }

    /// Writes chats.
    pub(super) fn of_chats(own: Arc<ChatScenario>) -> Self {
        let chats = Arc::clone(&own);
        let of = Arc::clone(&own);
        Self { own: Some(own), ..Self::new(of, chats.trials, move |trial| chats.chats(trial)) }
    }

    /// Returns the numbers that hold in it.
    fn numbers(&self) -> &ChatNumbers {
        self.own.as_ref().map_or(ChatNumbers::declared(), |it| &it.numbers)
    }

    /// Plays the first trial under every policy, for its requests.
    fn replays(&self, load: &Load) -> Vec<(Replay, ChatLog)> {
        let chats = (self.chats)(0);
        let player = ChatPlayer { chats: &chats, numbers: self.numbers() };
        in_order(load.policies.len(), |at| {
            let policy = &load.policies[at];
            let log = player.play(policy.service_memory());
            let requests = cost::requests(&log, policy, player.numbers);
            let service = Some(cost::of_service(&log, policy));
            (Replay { requests, service, latency_ms: Some(log.wall_ms as f64) }, log)
        })
    }

    /// Plays every trial under every policy.
    fn observed(&self, load: &Load, progress: Progress<'_>) -> Vec<ChatObserved> {
        let of_trials = in_order_telling(saturated(self.n_trials), progress, |trial| {
            let chats = (self.chats)(trial as u64);
            let player = ChatPlayer { chats: &chats, numbers: self.numbers() };
            let one = |it: &Arc<Policy>| ChatObserved::new(&player.play(it.service_memory()));
            load.policies.iter().map(one).collect::<Vec<_>>()
        });
        let mut sums = vec![ChatObserved::default(); load.policies.len()];
        for all in of_trials {
            sums.iter_mut().zip(all).for_each(|(sum, one)| sum.add(one));
        }
        sums
    }

    /// Returns what to repair in each memory, found by playing what could be changed over all trials.
    fn repairs(&self, load: &Load, observed: &[ChatObserved]) -> Vec<MemoryRepair> {
        let (chats, n_trials, numbers) = (Arc::clone(&self.chats), self.n_trials, self.numbers().clone());
        let memories: Vec<(Arc<Policy>, ChatObserved)> =
            load.policies.iter().cloned().zip(observed.iter().cloned()).collect();
        let find = move |at: usize| {
            let (policy, observed) = &memories[at];
            let memory = policy.service_memory()?;
            let play = |change: &str| {
                let changed = policy.setting(&Override::parse(change).ok()?)?;
                let mut all = ChatObserved::default();
                for trial in 0..n_trials {
                    let player = ChatPlayer { chats: &chats(trial), numbers: &numbers };
                    all.add(ChatObserved::new(&player.play(changed.service_memory())));
                }
                all.score()
            };
            StageRepair::find(
                |nth| observed.lost_in(nth),
                observed.score()?,
                |nth| changes(nth, memory),
                play,
            )
        };
        let n = load.policies.len();
        MemoryRepair::each(n, move || in_order(n, find))
    }

    /// Returns the log of its first chats, run by run; nothing for policies that no runner plays.
    fn logs(&self, load: &Load, chats: &Chats) -> Vec<(Cell, ChatLog)> {
        let player = ChatPlayer { chats, numbers: self.numbers() };
        let cells =
            load.cells().filter(|it| it.profile == 0 && load.is_written_by(&load.policies[it.policy]));
        cells.map(|it| (it, player.play(load.policies[it.policy].service_memory()))).collect()
    }

    /// Returns which runner answers more when each declared number has other values: the first runner with entries, or one of
    /// those without; nothing where these are not chats, or where either is missing.
    pub fn orderings(&self, load: &Load, progress: Progress<'_>) -> Vec<Ordering> {
        let Some(chats) = &self.own else { return Vec::new() };
        let runners: Vec<_> =
            load.policies.iter().filter_map(|it| Some((it.name.as_str(), it.service_memory()?))).collect();
        let Some((_, entries)) = runners.iter().find(|it| it.1.write.entries) else { return Vec::new() };
        let others: Vec<_> = runners.iter().filter(|it| !it.1.write.entries).copied().collect();
        let numbers = chats::swept();
        let of = |at: usize| chats::orderings(chats, &numbers[at], entries, &others);
        in_order_telling(numbers.len(), progress, of).concat()
    }
}

/// Returns the runner of a run.
fn runner_of(load: &Load, cell: Cell) -> Runner<'_> {
    let runner = load.policies[cell.policy].service_memory();
    Runner {
        context_only: runner.map(|it| !it.write.entries),
        service: runner.map_or("", |it| it.service.as_str()),
    }
}

impl World for Writing {
    fn name(&self) -> &str {
        self.of.name()
    }

    fn kind(&self) -> &'static LoadKind {
        self.of.kind()
    }

    fn play(&self, load: &Load, _: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        let observed = self.observed(load, progress);
        let chats = (self.chats)(0);
        let replays = self.replays(load);
        let tallies = replay::tallies(&replays, load);
        let repairs = self.repairs(load, &observed);
        let count = |of: fn(&chats::ChatSession) -> u64| -> u64 {
            chats.users.iter().flat_map(|it| &it.sessions).map(of).sum()
        };
        let assumed = load.assumed();
        let cells: Vec<Cell> = load.cells().collect();
        in_order(cells.len(), |at| {
            let cell = cells[at];
            let policy = &load.policies[cell.policy];
            let own = &observed[cell.policy];
            let others = load.policies.iter().zip(&observed).enumerate().filter(|it| it.0 != cell.policy);
            let summary = ChatSummary {
                users: chats.users.len() as u64,
                sessions: count(|_| 1),
                messages: count(|it| it.messages.into()),
                repair: repairs.get(cell.policy).cloned(),
                paired: others.map(|(_, (other, it))| (other.name.clone(), own.less(it))).collect(),
                ..ChatSummary::new(policy.service_memory(), &replays[cell.policy].1, own, self.numbers())
            };
            let run = load.run(cell, tallies[at].clone(), &assumed);
            Take::of(cell, Run { trials: self.n_trials, findings: Some(Arc::new(summary)), ..run })
        })
    }

    fn rows(&self, load: &Load, of: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        let chats = (self.chats)(0);
        let logs = || self.logs(load, &chats).into_iter();
        let name = |cell| (load.run_name(cell), runner_of(load, cell));
        match of {
            RowsOf::Orderings => vec![orderings(&load.name, &self.orderings(load, progress))],
            RowsOf::Log => logs().map(|(cell, log)| actions(name(cell), &log)).collect(),
            RowsOf::Calls => logs().map(|(cell, log)| calls(name(cell), &log)).collect(),
            RowsOf::Questions => logs().map(|(cell, log)| answers(name(cell), &chats, &log)).collect(),
            RowsOf::Trials | RowsOf::Published | RowsOf::Facts => Vec::new(),
        }
    }
}
