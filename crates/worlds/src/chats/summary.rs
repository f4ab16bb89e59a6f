//! The numbers of a runner over all chats of a load: calls and time of the first, accuracy with its confidence over all.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;

use super::ChatNumbers;
use super::assumed::{ModelNumbers, ServiceSpec};
use super::log::{ChatEvent, ChatLog, ChatPhase, ModelRole, Occurrence, Storage};
use super::users::QuestionKind;
use ctxsim_base::quantity::Cost;
use ctxsim_engine::ledger::Loss;
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::measure::statistic::{DIFFERENCE, SHARE};
use ctxsim_engine::take::{MemoryRepair, StageRepair};
use ctxsim_input::policy::memory::{Cap, ServiceCall, ServiceMemory};

/// How many times as much of something is tried.
const MORE: u64 = 4;

/// The accuracy over all types of questions.
const OVERALL: &str = "overall";

/// What was observed over several chats, before it is summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatObserved {
    /// By chats, then by type: the share of right answers, or nothing if no such question was asked.
    accuracy: Vec<BTreeMap<&'static str, f64>>,
    /// What lost the wrong answers.
    lost: LostAnswers,
    /// By chats: the shares of all questions that writing, keeping, finding and using lose.
    losses: Vec<[f64; 4]>,
    /// How often what is protected was larger than the cap.
    overflows: u64,
}

/// What lost wrong answers, over all chats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LostAnswers {
    /// It was never written, or its date was not.
    pub write: u64,
    /// It was written, and what is read does not hold it any more.
    pub store: u64,
    /// It is held and was not found.
    pub read: u64,
    /// It was read and not used, or something else was.
    pub r#use: u64,
    /// An answer was given where there is none.
    pub invented: u64,
}

/// The requests to models, of the first chats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModelCalls {
    /// By what they are for.
    #[serde(flatten)]
    pub by_role: IndexMap<&'static str, u64>,
    /// All.
    pub total: u64,
    pub prompt_tokens: u64,
    /// Tokens that they write.
    pub output_tokens: u64,
}

/// An estimate of the time that the first chats take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Writing sessions, over all users, in milliseconds.
    pub ingestion: u64,
    /// Answering questions.
    pub qa: u64,
    /// Both.
    pub total: u64,
    /// Of these, waiting for the index.
    pub waiting: u64,
    /// From the beginning to the end of the user who was done last.
    pub wall: u64,
}

/// The numbers of a runner.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChatSummary {
    /// Whether one document is all that is kept, or nothing if there is no runner.
    pub context_only: Option<bool>,
    pub service: String,
    /// Users of the first chats.
    pub users: u64,
    pub sessions: u64,
    pub messages: u64,
    /// Questions that they were asked.
    pub questions: u64,
    /// Calls of writing sessions, by kind, of the first chats.
    pub ingestion: IndexMap<&'static str, u64>,
    /// Calls of answering questions.
    pub qa: IndexMap<&'static str, u64>,
    /// Requests to models.
    pub model_calls: ModelCalls,
    /// Time, in milliseconds.
    pub latency_ms: Latency,
    /// The time of writing sessions and of everything under each speed of the model that is possible, in milliseconds.
    #[serde(skip)]
    pub ms_at_speeds: Vec<[f64; 2]>,
    /// What the service holds at the end.
    pub storage: Storage,
    /// Words that it holds after each session.
    pub storage_words_by_session: Vec<u64>,
    /// What its calls cost, in dollars.
    pub service_usd: f64,
    /// By type of question: the share of right answers.
    pub accuracy: IndexMap<&'static str, Statistic>,
    /// What lost the others.
    pub lost_in: LostAnswers,
    /// Which stage loses most of them, what a perfect one would recover, and what to change.
    pub repair: Option<MemoryRepair>,
    /// How often what is protected was larger than the document's cap, in all chats.
    pub protected_over_cap: u64,
    /// By another policy: how much more accurate this one is by type of question, chat by chat.
    pub paired: IndexMap<String, IndexMap<&'static str, Statistic>>,
}

impl ChatObserved {
    /// Observes one log.
    pub fn new(log: &ChatLog) -> Self {
        let mut counts: BTreeMap<&'static str, [f64; 2]> = BTreeMap::new();
        let mut lost = LostAnswers::default();
        for it in &log.answers {
            for name in [it.kind.name(), OVERALL] {
                let [right, all] = counts.entry(name).or_default();
                *right += f64::from(u8::from(it.is_right));
                *all += 1.0;
            }
            match it.loss {
                _ if it.is_right => {}
                Some(Loss::Write | Loss::Stopped) => lost.write += 1,
                Some(Loss::Store) => lost.store += 1,
                Some(Loss::Read) => lost.read += 1,
                Some(Loss::Use) => lost.r#use += 1,
                None => lost.invented += 1,
            }
        }
        let n = log.answers.len().max(1) as f64;
        let losses = vec![[lost.write, lost.store, lost.read, lost.r#use].map(|it| it as f64 / n)];
        let accuracy = counts.into_iter().map(|(name, [right, all])| (name, right / all)).collect();
        let is_over = |it: &&ChatEvent| matches!(it.what, Occurrence::ProtectedOverCap { .. });
        let overflows = log.events.iter().filter(is_over).count() as u64;
        Self { accuracy: vec![accuracy], lost, losses, overflows }
    }

    /// Adds what was observed over later chats.
    pub fn add(&mut self, other: Self) {
        self.accuracy.extend(other.accuracy);
        self.losses.extend(other.losses);
        self.overflows += other.overflows;
        let (own, more) = (&mut self.lost, other.lost);
        own.write += more.write;
        own.store += more.store;
        own.read += more.read;
        own.r#use += more.r#use;
        own.invented += more.invented;
    }

    /// Returns the names of the types, in the order of tables, with all of them last.
    fn names() -> impl Iterator<Item = &'static str> {
        QuestionKind::ALL.iter().map(|it| it.name()).chain([OVERALL])
    }

    /// Returns the accuracy by type.
    pub fn accuracy(&self) -> IndexMap<&'static str, Statistic> {
        let of = |name: &'static str| {
            let values: Vec<f64> = self.accuracy.iter().filter_map(|it| it.get(name).copied()).collect();
            Some((name, Statistic::new(values.into_iter())?.within(SHARE)))
        };
        Self::names().filter_map(of).collect()
    }

    /// Returns how much more accurate this is than another by type, chat by chat.
    pub fn less(&self, other: &Self) -> IndexMap<&'static str, Statistic> {
        let of = |name: &'static str| {
            let pairs = self.accuracy.iter().zip(&other.accuracy);
            let values: Vec<f64> =
                pairs.filter_map(|(one, two)| Some(one.get(name)? - two.get(name)?)).collect();
            Some((name, Statistic::new(values.into_iter())?.within(DIFFERENCE)))
        };
        Self::names().filter_map(of).collect()
    }
}

impl ChatObserved {
    /// Returns the share of questions that a stage loses, one a trial.
    pub(super) fn lost_in(&self, stage: usize) -> Vec<f64> {
        self.losses.iter().map(|it| it[stage]).collect()
    }

    /// Returns the mean share of right answers.
    pub(super) fn score(&self) -> Option<f64> {
        self.accuracy().get(OVERALL).map(|it| it.mean)
    }
}

impl ChatSummary {
    /// Sums up the first log and what was observed over all.
    pub fn new(
        spec: Option<&ServiceMemory>,
        first: &ChatLog,
        observed: &ChatObserved,
        numbers: &ChatNumbers,
    ) -> Self {
        let service = spec.and_then(|it| ServiceSpec::named(&it.service));
        let last = first.storage.last().copied().unwrap_or_default();
        Self {
            context_only: spec.map(|it| !it.write.entries),
            service: spec.map(|it| it.service.clone()).unwrap_or_default(),
            questions: first.answers.len() as u64,
            ingestion: calls(first, ChatPhase::Ingestion),
            qa: calls(first, ChatPhase::Qa),
            model_calls: ModelCalls::new(first, numbers),
            latency_ms: Latency::new(first),
            ms_at_speeds: numbers.speeds().iter().map(|it| at_speed(first, numbers, it)).collect(),
            storage: last,
            storage_words_by_session: first.storage.iter().map(Storage::words).collect(),
            service_usd: service.map_or(0.0, |it| cost(first, it).usd()),
            accuracy: observed.accuracy(),
            lost_in: observed.lost,
            protected_over_cap: observed.overflows,
            ..Self::default()
        }
    }

    /// Returns numbers that have all that such numbers can have.
    pub fn sample() -> Self {
        let counts = || ServiceCall::ALL.iter().map(|it| (it.name(), 0)).collect();
        let statistics =
            || ChatObserved::names().filter_map(|it| Some((it, Statistic::new([0.0].into_iter())?)));
        let model_calls = ModelCalls {
            by_role: ModelRole::ALL.iter().map(|it| (it.name(), 0)).collect(),
            ..ModelCalls::default()
        };
        Self {
            context_only: Some(true),
            ingestion: counts(),
            qa: counts(),
            model_calls,
            accuracy: statistics().collect(),
            repair: MemoryRepair::each(1, || vec![StageRepair::sample()]).pop(),
            ..Self::default()
        }
    }

    /// Returns how many calls there are of writing sessions.
    pub fn n_ingestion(&self) -> u64 {
        self.ingestion.values().sum()
    }

    /// Returns how many calls there are of answering questions.
    pub fn n_qa(&self) -> u64 {
        self.qa.values().sum()
    }
}

impl ModelCalls {
    fn new(log: &ChatLog, numbers: &ChatNumbers) -> Self {
        let mut all =
            Self { by_role: ModelRole::ALL.iter().map(|it| (it.name(), 0)).collect(), ..Self::default() };
        for event in &log.events {
            if let Occurrence::Model { role, said, document_words, output, .. } = event.what {
                *all.by_role.entry(role.name()).or_default() += 1;
                all.total += 1;
                let document = numbers.tokens(document_words);
                all.prompt_tokens += said + document + u64::from(numbers.sizes.system_tokens);
                all.output_tokens += output;
            }
        }
        all
    }
}

impl Latency {
    fn new(log: &ChatLog) -> Self {
        let of =
            |phase| log.events.iter().filter(move |it| it.phase == phase).map(|event| event.ms).sum::<u64>();
        let (ingestion, qa) = (of(ChatPhase::Ingestion), of(ChatPhase::Qa));
        let waiting = log.events.iter().map(|it| it.waited_ms).sum();
        Self { ingestion, qa, total: ingestion + qa, waiting, wall: log.wall_ms }
    }
}

/// Returns what can be changed so that a stage loses less, as `--set` takes it; a model's numbers are not a memory's.
pub(super) fn changes(nth: usize, memory: &ServiceMemory) -> Vec<String> {
    let set = |field: &str, value: &dyn fmt::Display| format!("memory.service.{field}={value}");
    let read = &memory.read;
    match nth {
        0 => vec![set("write.entries", &true), set("write.lists_details", &true)],
        1 => {
            let (unit, size) = match memory.store.cap {
                Cap::Words(it) => ("words", it),
                Cap::Chars(it) => ("chars", it),
            };
            vec![set(&format!("store.cap.{unit}"), &(size * MORE)), set("write.entries", &true)]
        }
        2 => vec![
            set("read.document_alone", &false),
            set("read.first.entries", &(read.first.entries * MORE)),
            set("read.second.entries", &(read.second.entries * MORE)),
        ],
        _ => Vec::new(),
    }
}

/// Returns how long a log would take with a model of another speed: writing sessions, and everything. Waiting for the index is as it was.
fn at_speed(log: &ChatLog, numbers: &ChatNumbers, speed: &ModelNumbers) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for event in &log.events {
        let ms = match event.what {
            Occurrence::Model { said, document_words, output, .. } => {
                let prompt = said + numbers.tokens(document_words) + u64::from(numbers.sizes.system_tokens);
                speed.ms(prompt, output)
            }
            _ => event.ms as f64,
        };
        sums[1] += ms;
        if event.phase == ChatPhase::Ingestion {
            sums[0] += ms;
        }
    }
    sums
}

/// Returns what the calls of a log cost.
pub(super) fn cost(log: &ChatLog, service: &ServiceSpec) -> Cost {
    let all = log.events.iter().filter_map(|it| match it.what {
        Occurrence::Call(call, _) => Some(service.cost(call)),
        _ => None,
    });
    all.fold(Cost::default(), |mut sum, it| {
        sum += it;
        sum
    })
}

/// Counts the calls of a phase by kind; kinds that are not made stand with 0.
fn calls(log: &ChatLog, phase: ChatPhase) -> IndexMap<&'static str, u64> {
    ServiceCall::ALL.iter().map(|it| (it.name(), log.calls(phase, *it))).collect()
}
