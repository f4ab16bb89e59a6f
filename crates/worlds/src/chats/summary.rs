//! The numbers of a runner over all chats of a load: calls and time of the first, accuracy with its confidence over all.

use std::fmt;

use crate::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::assumed::{ChatNumbers, ModelNumbers, ServiceSpec};
use super::log::{ChatEvent, ChatLog, ChatPhase, ModelRole, Occurrence, Storage};
use super::rows::is_context_only;
use crate::trial::{Numbered, Observed};
use ctxsim_base::quantity::{Cost, sums};
use ctxsim_engine::ledger::{CallRow, Loss, MemoryKind};
use ctxsim_engine::measure::statistic::{DIFFERENCE, SHARE};
use ctxsim_engine::memory::Recalled;
use ctxsim_engine::memory::{ITEM_MAX, Replayed, RequestWriter};
use ctxsim_input::policy::memory::Cap;

/// How many times as much of something is tried.
const MORE: u64 = 4;

/// The types of questions, in the order of tables, with all of them last.
pub(super) const TYPES: [&str; 7] =
    ["single_fact", "knowledge_update", "counting", "timeline", "abstention", "audit", OVERALL];

/// The accuracy over all types of questions.
pub(super) const OVERALL: &str = "overall";

/// What was observed over several chats, before it is summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatObserved {
    /// By type, chats after chats: the share of right answers, where such a question was asked; and the shares of all questions that
    /// writing, keeping, finding and using lose.
    pub(super) accuracy: Observed,
    /// What lost the wrong answers.
    lost: LostAnswers,
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
    pub accuracy: Numbered,
    /// What lost the others.
    pub lost_in: LostAnswers,
    /// Which stage loses most of them, what a perfect one would recover, and what to change.
    pub repair: Option<MemoryRepair>,
    /// How often what is protected was larger than the document's cap, in all chats.
    pub protected_over_cap: u64,
    /// By another policy: how much more accurate this one is by type of question, chat by chat.
    pub paired: IndexMap<String, Numbered>,
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
        let mut accuracy = Observed::default();
        let n = log.answers.len().max(1) as f64;
        accuracy.lose([lost.write, lost.store, lost.read, lost.r#use].map(|it| it as f64 / n));
        counts.into_iter().for_each(|(name, [right, all])| accuracy.note(name, right / all));
        let is_over = |it: &&ChatEvent| matches!(it.what, Occurrence::ProtectedOverCap { .. });
        let overflows = log.events.iter().filter(is_over).count() as u64;
        Self { accuracy, lost, overflows }
    }

    /// Adds what was observed over later chats.
    pub fn add(&mut self, other: Self) {
        self.accuracy.add(other.accuracy);
        self.overflows += other.overflows;
        self.lost += other.lost;
    }

    /// Returns the accuracy by type.
    pub fn accuracy(&self) -> Numbered {
        within(self.accuracy.statistics(&TYPES), SHARE)
    }

    /// Returns how much more accurate this is than another by type, chat by chat; what is asked is the same for every policy.
    pub fn less(&self, other: &Self) -> Numbered {
        let mut differences = self.accuracy.less(&other.accuracy, |_| true);
        differences.sort_by_cached_key(|name, _| TYPES.iter().position(|it| *it == name.as_str()));
        within(differences, DIFFERENCE)
    }
}

/// Cuts the intervals of numbers to what they can be.
fn within(mut numbers: Numbered, range: [f64; 2]) -> Numbered {
    numbers.values_mut().for_each(|it| *it = it.within(range));
    numbers
}

sums!(LostAnswers: write, store, read, r#use, invented);

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
            context_only: is_context_only(spec),
            service: super::rows::service(spec),
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
        let counts = || calls(&ChatLog::default(), ChatPhase::Ingestion);
        let accuracy =
            TYPES.iter().filter_map(|it| Some(((*it).to_owned(), Statistic::new([0.0].into_iter())?)));
        let model_calls = ModelCalls::new(&ChatLog::default(), &ChatNumbers::default());
        Self {
            context_only: Some(true),
            ingestion: counts(),
            qa: counts(),
            model_calls,
            accuracy: accuracy.collect(),
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
                all.prompt_tokens += numbers.prompt(said, document_words);
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
                speed.ms(numbers.prompt(said, document_words), output)
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
fn cost(log: &ChatLog, service: &ServiceSpec) -> Cost {
    let all = log.events.iter().filter_map(|it| match it.what {
        Occurrence::Call(call, _) => Some(service.cost(call)),
        _ => None,
    });
    let mut sum = Cost::default();
    all.for_each(|it| sum += it);
    sum
}

/// Counts the calls of a phase by kind; kinds that are not made stand with 0.
fn calls(log: &ChatLog, phase: ChatPhase) -> IndexMap<&'static str, u64> {
    ServiceCall::ALL.iter().map(|it| (it.name(), log.calls(phase, *it))).collect()
}

/// Lays out the requests of a log; each is a session of its own after the same system prompt.
pub(super) fn requests(log: &ChatLog, policy: &Policy, numbers: &ChatNumbers) -> Replayed {
    let service = policy.service_memory().map(|it| it.service.clone()).unwrap_or_default();
    let mut writer = RequestWriter::new(&policy.name, numbers.sizes.system_tokens, false);
    for event in &log.events {
        match event.what {
            Occurrence::Call(call, tokens) => {
                let kind = MemoryKind::Service(call);
                writer.call(CallRow { turn_ix: 0, kind, service: service.clone(), calls: 1, tokens });
            }
            Occurrence::Model { said, document_words, version, output, .. } => {
                let tokens = short(numbers.tokens(document_words));
                let id = (u64::from(event.user) << 32) | u64::from(version);
                let digest = xxh3_64(&id.to_le_bytes());
                let memory = (tokens > 0).then_some(Recalled { tokens, digest });
                writer.request(short(said), short(output), memory);
            }
            Occurrence::Initialised | Occurrence::Message(_) | Occurrence::ProtectedOverCap { .. } => {}
        }
    }
    writer.finish()
}

/// Returns what the calls of a log cost under a policy's service.
pub(super) fn of_service(log: &ChatLog, policy: &Policy) -> Cost {
    let service = policy.service_memory().and_then(|it| ServiceSpec::named(&it.service));
    service.map(|it| cost(log, it)).unwrap_or_default()
}

fn short(tokens: u64) -> u32 {
    saturated::<u32>(tokens).min(ITEM_MAX)
}
