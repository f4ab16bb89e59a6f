//! A memory's numbers over all streams of a load, each with mean, standard deviation and confidence interval.

mod observe;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::assumed::AgingNumbers;
use super::attribution::{Attribution, Ladder};
use super::generate::Pressure;
use super::metric::mean;
use super::play::AgingLog;
use super::repair::LosingMemory;
use super::stream::AgingStream;
use ctxsim_engine::measure::Statistic;
use ctxsim_engine::measure::statistic::{DIFFERENCE, SHARE};
use ctxsim_engine::take::{MemoryRepair, StageRepair};
use ctxsim_input::Policy;

pub use observe::{LAGS, NAMES};

/// The name of the score that repairs are judged by.
const MEAN: &str = "mean";

/// Numbers by name; a dot parts a group from its member.
pub type Numbered = IndexMap<String, Statistic>;

/// A memory's results over one stream, with their context.
#[derive(Clone, Copy)]
pub struct StreamResult<'a> {
    pub stream: &'a AgingStream,
    /// The numbers that hold in it.
    pub numbers: &'a AgingNumbers,
    /// The memory.
    pub log: &'a AgingLog,
    /// The same memory without what happens to it, where something does.
    pub control: Option<&'a AgingLog>,
    /// The session of the first event.
    pub event: Option<u32>,
}

/// What a number is called before it is summed up: some are noted for each question, so nothing is written out yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NumberName {
    Alone(&'static str),
    Of(&'static str, &'static str),
    Nth(&'static str, u32),
}

impl From<&'static str> for NumberName {
    fn from(name: &'static str) -> Self {
        Self::Alone(name)
    }
}

impl fmt::Display for NumberName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone(name) => to.write_str(name),
            Self::Of(group, member) => write!(to, "{group}.{member}"),
            Self::Nth(group, nth) => write!(to, "{group}.{nth}"),
        }
    }
}

/// What was observed over streams, before it is summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgingObserved {
    /// Numbers by name, one a stream or one a question.
    values: IndexMap<NumberName, Vec<f64>, FxBuildHasher>,
    curve: Scores,
    /// The same of violated constraints, where a profile states any.
    violations: Scores,
    /// By session: how many questions there were, and how many were answered with each oracle.
    ladders: BTreeMap<u32, ([f64; 3], u32)>,
    /// How many half-lives are infinite.
    infinite: u64,
    /// By stage: the share of questions that it loses, one a stream.
    losses: [Vec<f64>; 4],
}

/// By place in the curve: the scores of the streams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores(Vec<Vec<f64>>);

impl Scores {
    /// Takes the scores of one stream.
    pub fn of(log: &AgingLog) -> Self {
        log.scores().into_iter().collect()
    }

    /// Adds those of other streams.
    pub fn add(&mut self, other: Self) {
        let n = self.0.len().max(other.0.len());
        self.0.resize_with(n, Vec::new);
        self.0.iter_mut().zip(other.0).for_each(|(own, more)| own.extend(more));
    }

    /// Returns the mean score by session.
    pub fn means(&self) -> Vec<Option<f64>> {
        self.0.iter().map(|it| mean(it.iter().copied())).collect()
    }

    /// Returns the mean score by session with its interval.
    fn statistics(&self) -> Vec<Option<Statistic>> {
        self.0.iter().map(|it| Some(Statistic::new(it.iter().copied())?.within(SHARE))).collect()
    }
}

impl FromIterator<Option<f64>> for Scores {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(scores: I) -> Self {
        Self(scores.into_iter().map(|it| it.into_iter().collect()).collect())
    }
}

/// The numbers of a memory over all streams.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgingSummary {
    /// What makes the sessions.
    pub generator: String,
    /// How many sessions there are.
    pub sessions: u64,
    /// The model that answers.
    pub model: String,
    /// What the score is called.
    pub metric: String,
    /// How hard the load presses.
    pub pressure: Pressure,
    /// How many half-lives are infinite; the mean is of the others.
    pub half_life_infinite: u64,
    #[serde(flatten, serialize_with = "nested")]
    pub numbers: Numbered,
    /// The score by session.
    pub curve: Vec<Option<Statistic>>,
    /// The share of answers that violate a constraint, by session; empty where no profile states any.
    pub violations: Vec<Option<Statistic>>,
    /// The curve of a memory that keeps nothing: the floor.
    pub floor: Vec<Option<f64>>,
    /// The curve of one that keeps everything: the ceiling.
    pub ceiling: Vec<Option<f64>>,
    /// Which stage is a candidate for repair.
    pub attribution: Option<Attribution>,
    /// Which stage loses most answers, what a perfect one would recover, and what to change.
    pub repair: Option<MemoryRepair>,
    /// Dollars of a session, under the run's profile, or none if a price is unknown.
    pub usd_per_session: Option<f64>,
    /// Tokens of a session's requests.
    pub tokens_per_session: f64,
    /// Requests of the whole stream, and those of them that make summaries.
    pub calls: u64,
    /// Requests that make summaries.
    pub compaction_calls: u64,
    /// By another policy: how much more this one has of each number, stream by stream.
    #[serde(skip)]
    pub paired: IndexMap<String, Numbered>,
}

impl AgingObserved {
    fn note(&mut self, name: impl Into<NumberName>, value: f64) {
        self.values.entry(name.into()).or_default().push(value);
    }

    /// Notes a number, if there is one.
    fn note_some(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.note(name, value);
        }
    }

    /// Adds what was observed over other streams.
    pub fn add(&mut self, other: Self) {
        for (name, values) in other.values {
            self.values.entry(name).or_default().extend(values);
        }
        self.curve.add(other.curve);
        self.violations.add(other.violations);
        for (session, (right, n)) in other.ladders {
            let own = self.ladders.entry(session).or_default();
            own.0.iter_mut().zip(right).for_each(|(own, more)| *own += more);
            own.1 += n;
        }
        self.infinite += other.infinite;
        self.losses.iter_mut().zip(other.losses).for_each(|(own, more)| own.extend(more));
    }

    /// Returns how much more this has than another, of the numbers that both have once a stream.
    pub fn less(&self, other: &Self) -> Numbered {
        // A session before anything is asked has no score in any stream.
        let n_streams = self.curve.0.iter().map(Vec::len).max().unwrap_or(0);
        let of = |(name, own): (&NumberName, &Vec<f64>)| {
            let base = other.values.get(name).filter(|it| [it.len(), own.len()] == [n_streams; 2])?;
            let differences: Vec<f64> = own.iter().zip(base).map(|(own, base)| own - base).collect();
            Some((name.to_string(), Statistic::new(differences.into_iter())?))
        };
        self.values.iter().filter_map(of).collect()
    }

    /// Returns what the memory of a policy loses.
    pub(super) fn losing(&self, policy: &Arc<Policy>) -> LosingMemory {
        let score = self.values.get(&NumberName::from(MEAN)).and_then(|it| mean(it.iter().copied()));
        LosingMemory { policy: Arc::clone(policy), losses: self.losses.clone(), score: score.unwrap_or(0.0) }
    }

    /// Returns the accuracies by session.
    pub fn ladders(&self) -> Vec<Ladder> {
        let one = |(session, (right, n)): (&u32, &([f64; 3], u32))| Ladder {
            session: *session,
            accuracy: right.map(|it| it / f64::from((*n).max(1))),
            n: *n,
        };
        self.ladders.iter().map(one).collect()
    }

    /// Sums up; the numbers are in the order of [`NAMES`], those of groups after them.
    pub fn summary(&self, has_retrieval: bool) -> AgingSummary {
        let statistic = |it: &Vec<f64>| Statistic::new(it.iter().copied());
        let named = |(name, it): (&NumberName, &Vec<f64>)| {
            let name = name.to_string();
            let number = ranged(&name, statistic(it)?);
            Some((name, number))
        };
        let mut numbers: Numbered = self.values.iter().filter_map(named).collect();
        let place = |name: &String| NAMES.iter().position(|it| it == name).unwrap_or(NAMES.len());
        numbers.sort_by(|one, _, other, _| place(one).cmp(&place(other)).then_with(|| one.cmp(other)));
        AgingSummary {
            half_life_infinite: self.infinite,
            numbers,
            curve: self.curve.statistics(),
            violations: self.violations.statistics(),
            attribution: Attribution::new(&self.ladders(), has_retrieval),
            ..AgingSummary::default()
        }
    }
}

/// Cuts the interval of a number to what it can be: most are shares.
fn ranged(name: &str, number: Statistic) -> Statistic {
    match name {
        "shock" | "shock_window" => number.within(DIFFERENCE),
        "slope" | "half_life" | "hazard" | "hazard_of_paper" | "relative_error" | "error_growth" => number,
        "shock_write_error" | "shock_recovery_sessions" | "controlled_at" | "memory_tokens" => number,
        _ if name.starts_with("accumulator_error") || name.starts_with("probes.") => number,
        _ => number.within(SHARE),
    }
}

impl AgingSummary {
    /// Returns numbers that have all that such numbers can have.
    pub fn sample() -> Self {
        let groups = ["span.1", "span_all_hops.1", "depth.1", "hop.0", "probes.chain", "probes.long_span"];
        let lags = LAGS.iter().map(|it| format!("lag.{}", it.0));
        let names = NAMES.iter().chain(&groups).map(|it| (*it).to_owned()).chain(lags);
        let numbers = names.filter_map(|it| Some((it, Statistic::new([0.0].into_iter())?))).collect();
        let attribution = Attribution {
            write_error: Some(0.0),
            read_error: Some(0.0),
            write_or_read_error: Some(0.0),
            use_share: Some(0.0),
            ..Attribution::default()
        };
        let repair = MemoryRepair::each(1, || vec![StageRepair::sample()]).pop();
        Self {
            numbers,
            attribution: Some(attribution),
            repair,
            usd_per_session: Some(0.0),
            ..Self::default()
        }
    }

    /// Returns a number by its name.
    pub fn number(&self, name: &str) -> Option<&Statistic> {
        self.numbers.get(name)
    }

    pub fn mean(&self, name: &str) -> Option<f64> {
        self.number(name).map(|it| it.mean)
    }
}

/// Writes numbers, those of a group within it.
fn nested<S: serde::Serializer>(numbers: &Numbered, to: S) -> Result<S::Ok, S::Error> {
    let mut all: IndexMap<&str, Nested<'_>> = IndexMap::new();
    for (name, number) in numbers {
        match name.split_once('.') {
            None => {
                all.insert(name, Nested::Number(number));
            }
            Some((group, member)) => {
                let entry = all.entry(group).or_insert_with(|| Nested::Group(IndexMap::new()));
                if let Nested::Group(members) = entry {
                    members.insert(member, number);
                }
            }
        }
    }
    all.serialize(to)
}

/// A number, or a group of them.
#[derive(Serialize)]
#[serde(untagged)]
enum Nested<'a> {
    Number(&'a Statistic),
    Group(IndexMap<&'a str, &'a Statistic>),
}
