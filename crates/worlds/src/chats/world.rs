//! Chats of many sessions, and questions about what was said in them.
//!
//! The facts of every world are told to a memory service as chats: each trial's are generated once, written by every memory runner, and dropped.

use crate::prelude::*;
use std::fmt;

use super::assumed::{ChatNumbers, check, check_policy};
use super::log::ChatLog;
use super::rows::{self, actions, answers, calls, swept};
use super::run::ChatPlayer;
use super::summary::{ChatObserved, ChatSummary, OVERALL, changes, of_service, requests};
use super::tables;
use super::users::{ChatOrigin, ChatSession, Chats, User, long_mem_eval};
use crate::trial::{self, Ordering, Replay};
use crate::{NamedFile, Registered};
use ctxsim_engine::take::{RunName, in_order_telling};
use ctxsim_input::policy::memory::MemorySpec;
use ctxsim_input::scenario::{ChatLoad, ChatSource, LoadSpec as Form};
use ctxsim_input::text::set::Override;

/// Where a scenario names a file of chats.
const PATH: &str = "load.chats.from.long_mem_eval.path";

/// What chats read of a policy.
pub(super) static KIND: LoadKind = LoadKind {
    service: true,
    is_of_memories: true,
    words: ["reads `memory.service`", "memory_runners/entries"],
    ..LoadKind::NOTHING
};

/// Chats.
pub(crate) const WORLD: Registered = Registered {
    kind: |load| matches!(load, Form::Chats(_)).then_some(&KIND),
    check: |load| if let Form::Chats(load) = load { check(&load.numbers) } else { Vec::new() },
    check_memory: |memory| {
        if let MemorySpec::Service(it) = memory { check_policy(it) } else { Vec::new() }
    },
    make: |scenario, files| {
        let Form::Chats(load) = &scenario.load else { return None };
        let read = |it: &mut NamedFile| {
            let users = long_mem_eval::read(it.reader.as_mut(), ChatNumbers::declared());
            users.map_err(|problems| it.placed(problems))
        };
        let users = files.first_mut().map(read).transpose();
        Some(users.map(|users| vec![Arc::new(ChatScenario::new(scenario, load, users)) as _]))
    },
    of_file: |front, name| long_mem_eval::is_one(front).then(|| Form::Chats(of_file(name).into())),
    beside: |load| {
        let path = if matches!(load, Form::Chats(_)) { load.path() } else { None };
        path.map(|it| (it.to_owned(), PATH.to_owned())).into_iter().collect()
    },
    numbers: || ChatNumbers::declared().names().iter().map(|it| format!("runner.{it}")).collect(),
    rows: rows::kinds,
    findings: Some(&tables::KIND),
    ..Registered::NEW
};

/// How often the losses of a file of chats are drawn where no scenario says it.
const TRIALS: u64 = 5;

/// Returns the load of a file that is named itself: its conversations have dates.
fn of_file(name: &str) -> ChatLoad {
    ChatLoad {
        trials: TRIALS,
        conversation_time: true,
        session_seconds: 0,
        numbers: IndexMap::new(),
        from: ChatSource::LongMemEval { path: name.to_owned() },
    }
}

impl World for ChatScenario {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static LoadKind {
        &KIND
    }

    fn trials(&self) -> Option<u64> {
        Some(self.trials)
    }

    fn premises(&self) -> Option<[&'static str; 2]> {
        Some([
            "Memory losses are sampled with the numbers in `assumptions/memory_runners`; no model \
                ran.",
            "Costs, calls and times are of the first trial. Each request starts with the system \
                prompt and the document; a request for an entry contains only its message.",
        ])
    }

    fn service(self: Arc<Self>, _seed: u64) -> Option<Arc<dyn World>> {
        Some(Arc::new(Writing::of_chats(self)))
    }

    fn without_rows(&self, _of_needs: bool) -> Option<Diagnostic> {
        let message = format!("{} has no request rows: it reports totals of its trials", self.name);
        let help = "use `--rows calls`, `--rows log` or `--rows probes`";
        Some(Diagnostic::at(Code("rows-aging"), "", message).help(help))
    }
}

/// Chats of one scenario, made trial by trial.
#[derive(Clone, Debug)]
pub struct ChatScenario {
    pub name: String,
    /// How many trials there are.
    pub trials: u64,
    /// The numbers that hold in it.
    pub numbers: ChatNumbers,
    conversation_time: bool,
    session_ms: u64,
    source: ChatOrigin,
    seed: Seed,
}

impl ChatScenario {
    /// Takes a scenario whose numbers have been checked; `users` are those of its file, if it has one.
    pub fn new(scenario: &Scenario, load: &ChatLoad, users: Option<Arc<[User]>>) -> Self {
        let source = match &load.from {
            ChatSource::Generated(made) => ChatOrigin::Generated(*made),
            ChatSource::LongMemEval { .. } => ChatOrigin::Read(users.unwrap_or_default()),
        };
        Self {
            name: scenario.name.clone(),
            trials: load.trials,
            numbers: ChatNumbers::declared()
                .with(&load.numbers)
                .unwrap_or_else(|_| ChatNumbers::declared().clone()),
            conversation_time: load.conversation_time,
            session_ms: load.session_seconds.saturating_mul(1_000),
            source,
            seed: Seed(scenario.seed),
        }
    }

    /// Makes the chats of one trial; the same for every policy.
    pub fn chats(&self, trial: u64) -> Chats {
        let seed = self.seed.child("runner trial", trial);
        let chats = Chats::new(&self.source, seed, &self.numbers);
        Chats { conversation_time: self.conversation_time, session_ms: self.session_ms, ..chats }
    }
}

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
        world: Arc<dyn World>,
        n_trials: u64,
        chats: impl Fn(u64) -> Chats + Send + Sync + 'static,
    ) -> Self {
        Self { of: world, n_trials, chats: Arc::new(chats), own: None }
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
            let requests = requests(&log, policy, player.numbers);
            let service = Some(of_service(&log, policy));
            (Replay { requests, service, latency_ms: Some(log.wall_ms as f64) }, log)
        })
    }

    /// Plays every trial under every policy.
    fn observed(&self, load: &Load, progress: Progress<'_>) -> Vec<ChatObserved> {
        let one = |trial| {
            let chats = (self.chats)(trial);
            let player = ChatPlayer { chats: &chats, numbers: self.numbers() };
            let one = |it: &Arc<Policy>| ChatObserved::new(&player.play(it.service_memory()));
            load.policies.iter().map(one).collect::<Vec<_>>()
        };
        trial::over_trials(self.n_trials, progress, one, |all: &mut Vec<ChatObserved>, one| {
            all.iter_mut().zip(one).for_each(|(sum, it)| sum.add(it));
        })
    }

    /// Returns what to repair in each memory, found by playing what could be changed over all trials.
    fn repairs(&self, load: &Load, observed: &[ChatObserved]) -> Vec<MemoryRepair> {
        let (chats, n_trials, numbers) = (Arc::clone(&self.chats), self.n_trials, self.numbers().clone());
        let accuracies = observed.iter().map(|it| &it.accuracy);
        trial::repairs(load, accuracies, OVERALL, move |losing| {
            let memory = losing.policy.service_memory()?;
            let play = |change: &str| {
                let changed = losing.policy.setting(&Override::parse(change).ok()?)?;
                let mut all = ChatObserved::default();
                for trial in 0..n_trials {
                    let player = ChatPlayer { chats: &chats(trial), numbers: &numbers };
                    all.add(ChatObserved::new(&player.play(changed.service_memory())));
                }
                all.accuracy.mean(OVERALL)
            };
            losing.repair(|nth| changes(nth, memory), play)
        })
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
        let numbers = swept();
        let of = |at: usize| rows::orderings(chats, &numbers[at], entries, &others);
        in_order_telling(numbers.len(), progress, of).concat()
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
        let tallies = trial::tallies(&replays, load);
        let repairs = self.repairs(load, &observed);
        let count = |of: fn(&ChatSession) -> u64| -> u64 {
            chats.users.iter().flat_map(|it| &it.sessions).map(of).sum()
        };
        let assumed = load.assumed();
        let cells: Vec<Cell> = load.cells().collect();
        in_order(cells.len(), |at| {
            let cell = cells[at];
            let policy = &load.policies[cell.policy];
            let own = &observed[cell.policy];
            let summary = ChatSummary {
                users: chats.users.len() as u64,
                sessions: count(|_| 1),
                messages: count(|it| it.messages.into()),
                repair: repairs.get(cell.policy).cloned(),
                paired: trial::paired(load, cell.policy, |other| Some(own.less(&observed[other]))),
                ..ChatSummary::new(policy.service_memory(), &replays[cell.policy].1, own, self.numbers())
            };
            let run = load.run(cell, tallies[at].clone(), &assumed);
            Take::new(cell, Run { trials: self.n_trials, findings: Some(Arc::new(summary)), ..run })
        })
    }

    fn rows(&self, load: &Load, which: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        let chats = (self.chats)(0);
        let each = |rows: &dyn Fn(RunName<'_>, Option<&ServiceMemory>, &ChatLog) -> Rows| {
            let runner = |cell: Cell| load.policies[cell.policy].service_memory();
            let logs = self.logs(load, &chats).into_iter();
            logs.map(|(cell, log)| rows(load.run_name(cell), runner(cell), &log)).collect()
        };
        match which {
            RowsOf::Orderings => vec![Rows::new::<Ordering>(Vec::new(), self.orderings(load, progress))],
            RowsOf::Log => each(&actions),
            RowsOf::Calls => each(&calls),
            RowsOf::Questions => each(&|run, of, log| answers(run, of, &chats, log)),
            RowsOf::Trials | RowsOf::Published | RowsOf::Facts => Vec::new(),
        }
    }
}
