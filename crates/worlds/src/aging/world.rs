//! Sessions over which a memory ages: each stream is generated once, played under every policy, and dropped.

use crate::prelude::*;

use super::found;
use super::orderings::AgedOrdering;
use crate::aging::cost::StreamRequests;
use crate::aging::generate::Pressure;
use crate::aging::{
    Aging, AgingNumbers, AgingObserved, AgingPlayer, AgingQuestion, AgingStream, AgingSummary, MemoryRules,
    Model, ReadStreams, Scores, StreamResult, read, told,
};
use crate::chats::{self, Chats, Writing};
use crate::trial::{self, Replay};
use crate::{MadeWorlds, NamedFile, Registered, aging};
use ctxsim_engine::take::of_run;
use ctxsim_input::policy::memory::MemorySpec;
use ctxsim_input::scenario::LoadSpec as Form;

/// What streams of sessions read of a policy.
pub(super) static KIND: LoadKind = LoadKind {
    sessions: true,
    service: true,
    is_of_memories: true,
    words: ["reads `memory.sessions` or `memory.service`", "aging/lossy"],
    ..LoadKind::NOTHING
};

/// Streams of sessions.
pub(crate) const WORLD: Registered = Registered {
    kind: |load| matches!(load, Form::Aging(_)).then_some(&KIND),
    check: |load| if let Form::Aging(load) = load { aging::check(load) } else { Vec::new() },
    check_memory: |memory| {
        if let MemorySpec::Sessions(it) = memory { MemoryRules::check(it) } else { Vec::new() }
    },
    make: |scenario, files| {
        let Form::Aging(load) = &scenario.load else { return None };
        Some(made(scenario, load, files))
    },
    of_file: |front, name| {
        read::is_graph(front).then(|| Form::Aging(Box::new(AgingLoad::of_file(name, TRIALS, "mid"))))
    },
    beside: |load| if let Form::Aging(load) = load { paths(load) } else { Vec::new() },
    numbers: || AgingNumbers::declared().names().iter().map(|it| format!("aging.{it}")).collect(),
    rows: || {
        vec![
            ("`--rows probes` of session streams: one question", heads::<AgingQuestion>()),
            ("`--rows orderings` of session streams: one changed assumption", heads::<AgedOrdering>()),
        ]
    },
    findings: Some(&found::KIND),
    ..Registered::NEW
};

/// Returns the files that a load names, with the fields that name them: models of a user, then the sessions.
fn paths(load: &AgingLoad) -> Vec<(String, String)> {
    let named = load.models.iter().enumerate().filter(|it| Model::is_path(it.1));
    let models = named.map(|(index, path)| (path.clone(), format!("load.aging.models.{index}")));
    models.chain(load.path.iter().map(|it| (it.clone(), "load.aging.path".to_owned()))).collect()
}

/// Makes the loads of a scenario from the files that it names.
fn made(scenario: &Scenario, load: &AgingLoad, files: &mut [NamedFile]) -> MadeWorlds {
    let paths: Vec<&String> = load.models.iter().filter(|it| Model::is_path(it)).collect();
    let (of_models, others) = files.split_at_mut(paths.len().min(files.len()));
    let mut models = Vec::new();
    for (path, file) in paths.into_iter().zip(of_models) {
        let mut text = String::new();
        let unread = |it: std::io::Error| vec![Diagnostic::at(Code("syntax"), "", it.to_string())];
        file.reader.read_to_string(&mut text).map_err(unread)?;
        models.push(Model::read(path, &text)?);
    }
    let streams = match others.first_mut() {
        Some(file) => read::read(file.reader.as_mut()).map_err(|it| file.placed(it))?,
        None => ReadStreams::default(),
    };
    Ok(Aging::all(scenario, load, &models, streams).into_iter().map(|it| Arc::new(it) as _).collect())
}

/// How often the losses of a file's streams are drawn where no scenario says it.
const TRIALS: u64 = 5;

/// The results of all streams of a load: by policy, and at the lower and upper bounds.
#[derive(Default)]
pub(super) struct Observations {
    pub(super) policies: Vec<AgingObserved>,
    floor: Scores,
    ceiling: Scores,
}

impl World for Aging {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static LoadKind {
        &KIND
    }

    fn trials(&self) -> Option<u64> {
        Some(self.n_trials())
    }

    fn premises(&self) -> Option<[&'static str; 2]> {
        Some([
            "Memory losses are sampled with the numbers in `assumptions/aging`; no model ran.",
            "Costs are of the first stream. Each request starts with the system prompt and the \
                memory; whatever a memory keeps whole is one growing history.",
        ])
    }

    fn notes(&self, load: &Load) -> Vec<String> {
        let is_unreached = !self.events().is_empty() && load.service().is_some();
        let unreached = is_unreached
            .then(|| format!("{}: memory events do not reach the services of memory runners.", self.name));
        self.notes().into_iter().chain(unreached).collect()
    }

    fn service(self: Arc<Self>, seed: u64) -> Option<Arc<dyn World>> {
        let (own, n_trials) = (Arc::clone(&self), self.n_trials());
        let chats = move |trial| {
            let user = told::user(&own.stream(trial), chats::ChatNumbers::declared());
            Chats::of_users([user], Seed(seed).child("runner trial", trial))
        };
        Some(Arc::new(Writing::new(self, n_trials, chats)))
    }

    fn play(&self, load: &Load, _: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        let observed = self.observed(load, progress);
        let stream = self.stream(0);
        let replays = self.replays(load, &stream);
        let tallies = trial::tallies(&replays, load);
        let aging = self.clone();
        let of_policies = observed.policies.iter().map(|it| &it.numbers);
        let repairs = trial::repairs(load, of_policies, "mean", move |memory| aging.repair(memory));
        let assumed = load.assumed();
        let cells: Vec<Cell> = load.cells().collect();
        in_order(cells.len(), |at| {
            let cell = cells[at];
            let (replay, n_compactions) = &replays[cell.policy];
            let tally = tallies[at].clone();
            let n_sessions = stream.sessions.len().max(1) as f64;
            let summary = AgingSummary {
                metric: stream.metric(self.generator()).to_owned(),
                usd_per_session: tally.costs.total().map(|it| it / n_sessions),
                tokens_per_session: tally.expected_total_tokens().to_f64() / n_sessions,
                calls: replay.requests.timeline.spine.steps.len() as u64,
                compaction_calls: *n_compactions,
                repair: repairs.get(cell.policy).cloned(),
                ..self.summary(load, &observed, cell.policy)
            };
            Take::new(cell, Run { findings: Some(Arc::new(summary)), ..load.run(cell, tally, &assumed) })
        })
    }

    fn rows(&self, load: &Load, which: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        match which {
            RowsOf::Questions => {
                let all = self.trace(load).into_iter();
                all.map(|(cell, it)| of_run(load.run_name(cell), &it)).collect()
            }
            RowsOf::Facts => vec![Rows::serialised(&[self.fact_graph()])],
            RowsOf::Orderings => vec![self.orderings(load, progress)],
            _ => Vec::new(),
        }
    }

    fn without_rows(&self, _of_needs: bool) -> Option<Diagnostic> {
        let message = format!("{} has no request rows: it reports totals of its session streams", self.name);
        let help = "use `--rows probes` for one row per question, or `--rows runs`";
        Some(Diagnostic::at(Code("rows-aging"), "", message).help(help))
    }
}

impl Aging {
    /// Returns what each policy requested over a stream, and how many of the requests made summaries between sessions.
    fn replays(&self, load: &Load, stream: &AgingStream) -> Vec<(Replay, u64)> {
        let mut player = AgingPlayer::new(self, stream, true);
        player.tells_contents = true;
        in_order(load.policies.len(), |at| {
            let policy = &load.policies[at];
            let log = player.policy(policy, &self.model);
            let StreamRequests { replayed, n_compactions } =
                StreamRequests::new(stream, &log, policy, &self.numbers);
            (Replay { requests: replayed, service: None, latency_ms: None }, n_compactions)
        })
    }

    /// Plays every stream under every policy.
    pub(super) fn observed(&self, load: &Load, progress: Progress<'_>) -> Observations {
        let one = |trial| self.observe(load, &self.stream(trial));
        trial::over_trials(self.n_trials(), progress, one, |all: &mut Observations, one| {
            all.policies.iter_mut().zip(one.policies).for_each(|(own, more)| own.add(more));
            all.floor.add(one.floor);
            all.ceiling.add(one.ceiling);
        })
    }

    /// Plays one stream under every policy, and beside them with no memory and with all of it.
    fn observe(&self, load: &Load, stream: &AgingStream) -> Observations {
        let player = AgingPlayer::new(self, stream, true);
        let calm = (!self.events().is_empty()).then(|| AgingPlayer::new(self, stream, false));
        let first = self.events().iter().map(|it| it.session).min();
        let event = first.and_then(|it| u32::try_from(it).ok());
        let of_policy = |policy: &Arc<Policy>| {
            let control = calm.as_ref().map(|it| it.policy(policy, &self.model));
            let (log, control) = (&player.policy(policy, &self.model), control.as_ref());
            AgingObserved::new(StreamResult { stream, numbers: &self.numbers, log, control, event })
        };
        let quiet = calm.as_ref().unwrap_or(&player);
        Observations {
            policies: load.policies.iter().map(of_policy).collect(),
            floor: Scores::new(&quiet.play(MemoryRules::new(None, Arc::clone(&self.model)))),
            ceiling: Scores::new(&quiet.play(MemoryRules::ceiling(Arc::clone(&self.model)))),
        }
    }

    /// Sums up a policy's results.
    fn summary(&self, load: &Load, observed: &Observations, policy: usize) -> AgingSummary {
        let spec = load.policies[policy].session_memory();
        let has_retrieval = spec.is_some_and(|it| {
            matches!(it.store, SessionStore::Entries { .. } | SessionStore::Files)
                && it.read != SessionRead::All
        });
        let own = &observed.policies[policy];
        AgingSummary {
            paired: trial::paired(load, policy, |other| Some(own.less(&observed.policies[other]))),
            generator: self.generator().to_owned(),
            sessions: self.n_sessions(),
            model: self.model.name.clone(),
            pressure: Pressure::of_load(&self.load),
            floor: observed.floor.means(),
            ceiling: observed.ceiling.means(),
            ..own.summary(has_retrieval)
        }
    }
}
