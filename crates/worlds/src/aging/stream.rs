//! A stream of sessions: what each states and asks, and how its scenario is scored; generated from a seed,
//! before any policy.

use crate::prelude::*;

use super::assumed::{AgingNumbers, Model};
use super::read::ReadStreams;
use super::{assumed, generate, written};
use ctxsim_input::ScenarioFile;
use ctxsim_input::scenario::{AgingEvent, BeforeFirst, LoadSpec};
use ctxsim_input::text::set::Override;

pub use ctxsim_input::scenario::StreamScore;

/// Sessions with what they say and ask.
#[derive(Clone, Debug)]
pub struct AgingStream {
    /// What is said, and when.
    pub graph: Graph,
    pub sessions: Vec<AgingSession>,
    /// What is asked, in the order in which it is first asked.
    pub probes: Vec<AgingProbe>,
    /// How a session is scored.
    pub scoring: StreamScore,
    /// Records that are in the profile that the agent was given at the start.
    pub profile_records: u32,
    /// Where its draws come from.
    pub seed: Seed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgingSession {
    /// Tasks that it brings.
    pub tasks: u32,
    /// What its environment says, in tokens.
    pub tokens: u32,
}

/// A question that is asked in one session or in many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgingProbe {
    /// The first session that asks it.
    pub from: u32,
    /// The session from which it is no longer asked.
    pub until: u32,
    pub ask: Ask,
    /// Whether its answer counts in the session's score.
    pub is_scored: bool,
}

/// What a question asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Any one of these facts, in its current version.
    Any {
        facts: Vec<FactIx>,
        /// Whether the question's own text holds the answer.
        is_echoed: bool,
    },
    /// All facts of an edge of the graph.
    Chain(u32),
    /// One of two facts that could be confused.
    Binding {
        /// The one that is asked for.
        fact: FactIx,
    },
    /// A running total as it was at the end of a session.
    Total {
        /// Which total.
        accumulator: u32,
        /// The session.
        at: u32,
    },
}

impl Ask {
    /// Asks for one fact.
    pub fn fact(fact: FactIx) -> Self {
        Self::Any { facts: vec![fact], is_echoed: false }
    }
}

impl AgingStream {
    /// Begins a stream without sessions.
    pub fn new(graph: Graph, scoring: StreamScore, seed: Seed) -> Self {
        Self { graph, sessions: Vec::new(), probes: Vec::new(), scoring, profile_records: 0, seed }
    }

    /// Returns what the benchmark calls the score of a scenario.
    pub(super) fn metric(&self, generator: &str) -> &'static str {
        match (self.scoring, generator) {
            (StreamScore::Keywords, _) => "keyword_m",
            (StreamScore::Fidelity, _) => "summarization_fidelity",
            (StreamScore::Dependencies, _) => "dep_recall",
            (StreamScore::Answers, "lifestyle") => "constraint_precision",
            (StreamScore::Answers, "self_management" | "self_planning") => "recall_accuracy",
            (StreamScore::Answers, _) => "recall_rate",
        }
    }

    /// Returns how many sessions there are.
    pub fn n_sessions(&self) -> u32 {
        ix(self.sessions.len())
    }

    /// Returns how many questions are never asked, because what they ask for has been retracted before.
    pub(super) fn n_over(&self) -> usize {
        let is_over = |it: &&AgingProbe| match &it.ask {
            Ask::Any { facts, .. } => facts.iter().all(|fact| self.graph.current(*fact, it.from).is_none()),
            _ => false,
        };
        self.probes.iter().filter(is_over).count()
    }
}

/// Streams of one scenario, answered by one model.
#[derive(Clone, Debug)]
pub struct Aging {
    /// Its name; a scenario that several models answer has each model's after it.
    pub name: String,
    /// What it was made from.
    pub load: AgingLoad,
    /// The model that answers.
    pub model: Arc<Model>,
    /// The numbers that hold in them.
    pub numbers: Arc<AgingNumbers>,
    /// The streams of a file; a generator makes its own.
    written: Arc<[AgingStream]>,
    /// Questions of the file about something that was never said or had been retracted, which are left out.
    n_left_out: usize,
    seed: Seed,
}

impl Aging {
    /// Returns the loads of a scenario: one for each model that answers, which is declared or was read from a user's file.
    /// Names that are of neither are left out. The streams are those of the file that the load names, if it names one.
    pub fn all(scenario: &Scenario, load: &AgingLoad, own: &[Arc<Model>], streams: ReadStreams) -> Vec<Self> {
        let inline = load.stream.iter().map(|it| written::read(it, Seed(scenario.seed)));
        let n_left_out = streams.n_left_out;
        let streams: Arc<[AgingStream]> = inline.chain(streams.streams).collect();
        let mut read = own.iter().cloned();
        let of = |it: &String| if Model::is_path(it) { read.next() } else { Model::named(it) };
        let models: Vec<_> = load.models.iter().filter_map(of).collect();
        let is_one = models.len() == 1;
        let one = |model: Arc<Model>| {
            let name =
                if is_one { scenario.name.clone() } else { format!("{}/{}", scenario.name, model.name) };
            let declared = Self {
                name,
                load: load.clone(),
                model,
                numbers: Arc::new(AgingNumbers::declared().clone()),
                written: Arc::clone(&streams),
                n_left_out,
                seed: Seed(scenario.seed),
            };
            // What cannot be changed was refused when the files were checked.
            declared.answered(&declared.model, &load.numbers).unwrap_or(declared)
        };
        models.into_iter().map(one).collect()
    }

    /// Returns the same streams answered by a model, some of whose numbers are changed; none if that is not possible.
    fn answered(&self, model: &Model, changes: &IndexMap<String, f64>) -> Option<Self> {
        let (model, numbers) = model.answering(changes).ok()?;
        Some(Self { model: Arc::new(model), numbers: Arc::new(numbers), ..self.clone() })
    }

    /// Returns the same streams with one number changed; with no name, as they are.
    pub(super) fn with(&self, number: &str, value: f64) -> Self {
        let mut changes = self.load.numbers.clone();
        if !number.is_empty() {
            changes.insert(number.to_owned(), value);
        }
        self.answered(&self.model, &changes).unwrap_or_else(|| self.clone())
    }

    /// Returns the load with a field of its scenario set as `--set` sets it; none if that does not take it, or has it already.
    pub(super) fn setting(&self, change: &Override) -> Option<Self> {
        let load = LoadSpec::Aging(Box::new(self.load.clone()));
        let mut files = [ScenarioFile { load, ..ScenarioFile::named("") }];
        change.apply(&mut files, |_| true).ok()?;
        let [ScenarioFile { load: LoadSpec::Aging(load), .. }] = files else { return None };
        if *load == self.load || !assumed::check(&load).is_empty() {
            return None;
        }
        let model =
            if load.models == self.load.models { &self.model } else { &Model::named(load.models.first()?)? };
        let answered = self.answered(model, &load.numbers)?;
        Some(Self { load: *load, ..answered })
    }

    /// Makes one stream; the same for every model and policy.
    pub fn stream(&self, trial: u64) -> AgingStream {
        let seed = self.seed.child("aging stream", trial);
        let nth = usize::try_from(trial % (self.written.len() as u64).max(1)).unwrap_or_default();
        match self.written.get(nth) {
            Some(written) => AgingStream { seed, ..written.clone() },
            None => generate::stream(&self.load, seed, &self.numbers),
        }
    }

    /// Returns how many streams there are.
    pub fn n_trials(&self) -> u64 {
        self.load.trials.saturating_mul((self.written.len() as u64).max(1))
    }

    /// Returns what made its sessions: a generator, or `stream` for sessions that a file has.
    pub fn generator(&self) -> &str {
        if self.written.is_empty() { &self.load.generator } else { "stream" }
    }

    /// Returns how many sessions its longest stream has.
    pub fn n_sessions(&self) -> u64 {
        let written = self.written.iter().map(|it| u64::from(it.n_sessions())).max();
        written.unwrap_or(self.load.sessions)
    }

    /// Returns what happens to the memory.
    pub fn events(&self) -> &[AgingEvent] {
        &self.load.events
    }

    /// Returns whether a score is 1 before anything is asked.
    pub fn begins_at_one(&self) -> bool {
        self.load.before_first == BeforeFirst::One
    }

    /// Returns what is worth knowing of the load: metrics that its pressure leaves without coverage.
    pub fn notes(&self) -> Vec<String> {
        if self.n_left_out > 0 {
            let n = self.n_left_out;
            let left_out = if n == 1 { "1 question".to_owned() } else { format!("{n} questions") };
            return vec![format!(
                "{}: left out: {left_out} about what was never said or had been retracted.",
                self.name
            )];
        }
        if !self.written.is_empty() {
            return Vec::new();
        }
        let vacuous = generate::Pressure::of_load(&self.load).vacuous();
        vacuous.into_iter().map(|it| format!("{}: {it}", self.name)).collect()
    }
}
