//! A memory's numbers over all streams of a load, each with mean, standard deviation and confidence interval.

use crate::prelude::*;

use super::assumed::AgingNumbers;
use super::attribution::{Attribution, Ladder};
use super::generate::Pressure;
use super::metric::{self, Binding, Chained, ScoreCurve, StatedTotal, flag, mean, share};
use super::play::{AgingLog, AnsweredQuestion, Oracle};
use super::repair::losses;
use super::stream::{AgingStream, Ask, StreamScore};
use crate::trial::{NumberName, Numbered, Observed};
use ctxsim_engine::measure::statistic::{DIFFERENCE, SHARE};

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

/// What was observed over streams, before it is summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgingObserved {
    pub(super) numbers: Observed,
    curve: Scores,
    /// The same of violated constraints, where a profile states any.
    violations: Scores,
    /// By session: how many questions there were, and how many were answered with each oracle.
    ladders: BTreeMap<u32, ([f64; 3], u32)>,
    /// How many half-lives are infinite.
    infinite: u64,
}

/// By place in the curve: the scores of the streams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores(Vec<Vec<f64>>);

impl Scores {
    /// Takes the scores of one stream.
    pub fn new(log: &AgingLog) -> Self {
        Self(log.scores().into_iter().map(|it| it.into_iter().collect()).collect())
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
    /// Adds what was observed over other streams.
    pub fn add(&mut self, other: Self) {
        self.numbers.add(other.numbers);
        self.curve.add(other.curve);
        self.violations.add(other.violations);
        for (session, (right, n)) in other.ladders {
            let own = self.ladders.entry(session).or_default();
            own.0.iter_mut().zip(right).for_each(|(own, more)| *own += more);
            own.1 += n;
        }
        self.infinite += other.infinite;
    }

    /// Returns how much more this has than another, of the numbers that both have once a stream.
    pub fn less(&self, other: &Self) -> Numbered {
        // A session before anything is asked has no score in any stream.
        let n_streams = self.curve.0.iter().map(Vec::len).max().unwrap_or(0);
        self.numbers.less(&other.numbers, |it| it == n_streams)
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
        let mut numbers = self.numbers.statistics(&NAMES);
        numbers.iter_mut().for_each(|(name, it)| *it = ranged(name, *it));
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

/// The numbers that are alone, in the order of reports.
pub const NAMES: [&str; 34] = [
    "m0",
    "final",
    "mean",
    "slope",
    "half_life",
    "half_life_infinite_share",
    "hazard",
    "hazard_of_paper",
    "accumulator_error",
    "accumulator_error_p2",
    "accumulator_error_p3",
    "relative_error",
    "error_growth",
    "compounding",
    "compounding_of_paper",
    "version_accuracy",
    "rev_ex",
    "forget_accuracy",
    "chain_recall",
    "chain_recall_all_hops",
    "binding",
    "confusion_rate",
    "miss_rate",
    "interference_resistance",
    "ws_fid",
    "violation_rate",
    "lookup_accuracy",
    "shock",
    "shock_window",
    "shock_write_error",
    "shock_recovery_sessions",
    "shock_at_floor",
    "controlled_at",
    "memory_tokens",
];

/// The groups of lags in sessions, as the paper has them and between.
pub const LAGS: [(&str, u32, u32); 6] =
    [("1", 1, 1), ("2_3", 2, 3), ("4_5", 4, 5), ("6_7", 6, 7), ("8_10", 8, 10), ("11_up", 11, u32::MAX)];

/// Spans of questions over several facts: short and long ones.
const SPANS: [(&str, u32, u32); 3] = [("le_2", 0, 2), ("3_5", 3, 5), ("ge_6", 6, u32::MAX)];

impl AgingObserved {
    /// Observes a memory's results over one stream.
    pub fn new(played: StreamResult<'_>) -> Self {
        let mut observed = Self::default();
        observed.curve(played.log);
        observed.totals(played);
        observed.chains(played);
        observed.recall(played);
        observed.bindings(played);
        observed.ladders = ladders(played.stream, played.log);
        observed.shock(played);
        observed.saturated(played);
        losses(played.stream, &played.log.asked).into_iter().for_each(|it| observed.numbers.lose(it));
        observed
    }

    /// Notes the scores that other benchmarks would take and that say little here: violated constraints (CVR), which only a
    /// profile has, and whether anything was looked up at all (LA).
    fn saturated(&mut self, played: StreamResult<'_>) {
        let StreamResult { stream, log, numbers, .. } = played;
        let scored: Vec<&AnsweredQuestion> =
            log.asked.iter().filter(|it| stream.probes[it.probe].is_scored).collect();
        if stream.profile_records > 0 {
            let draws = stream.seed.stream("aging violation", 0);
            let violates = |it: &&AnsweredQuestion| {
                draws.nth(it.session.into(), it.probe as u64).unit() < numbers.assumed.violation_share
            };
            let rate = |it: &[&AnsweredQuestion]| share(it.iter().map(violates));
            self.numbers.note("violation_rate", rate(&scored));
            let by_session = scored.chunk_by(|one, other| one.session == other.session);
            self.violations = Scores(by_session.map(|it| rate(it).into_iter().collect()).collect());
        }
        if stream.scoring == StreamScore::Dependencies {
            let sessions = scored.chunk_by(|one, other| one.session == other.session);
            let is_any_right = |it: &[&AnsweredQuestion]| it.iter().any(|it| it.answers[0].is_right);
            self.numbers.note("lookup_accuracy", share(sessions.map(is_any_right)));
        }
    }

    fn curve(&mut self, log: &AgingLog) {
        let curve = ScoreCurve::new(&log.scores());
        self.curve = Scores::new(log);
        self.numbers.note("m0", curve.first());
        self.numbers.note("final", curve.last());
        self.numbers.note("mean", curve.mean());
        self.numbers.note("slope", curve.slope());
        let half_life = curve.half_life();
        self.numbers.note("half_life_infinite_share", flag(half_life.is_infinite()));
        if half_life.is_finite() {
            self.numbers.note("half_life", half_life);
        } else {
            self.infinite += 1;
        }
        self.numbers.note("hazard", curve.hazard());
        self.numbers.note("hazard_of_paper", curve.hazard_of_paper());
        let sessions = &log.sessions;
        self.numbers.note("memory_tokens", mean(sessions.iter().map(|it| it.memory_tokens as f64)));
        self.numbers.note("forget_accuracy", mean(sessions.iter().filter_map(|it| it.forgotten)));
        let controlled = sessions.iter().position(|it| it.is_controlled);
        self.numbers.note("controlled_at", controlled.map(|it| it as f64));
    }

    fn totals(&mut self, played: StreamResult<'_>) {
        for (oracle, name) in
            ["accumulator_error", "accumulator_error_p2", "accumulator_error_p3"].into_iter().enumerate()
        {
            let stated = stated(played, oracle);
            self.numbers.note(name, metric::total_error(&stated));
            if oracle == Oracle::None as usize && !stated.is_empty() {
                self.numbers.note("relative_error", metric::relative_total_error(&stated));
                self.numbers.note("error_growth", metric::error_growth(&stated));
                self.numbers.note("compounding", metric::compounds(&stated).map(flag));
                self.numbers.note("compounding_of_paper", metric::compounds_of_paper(&stated).map(flag));
            }
        }
    }

    fn chains(&mut self, played: StreamResult<'_>) {
        let all = chained(played);
        for it in &all {
            self.numbers.note("chain_recall", it.share());
            let is_whole = flag(it.is_whole());
            self.numbers.note("chain_recall_all_hops", is_whole);
            self.numbers.note(NumberName::Nth("span", it.span), it.share());
            self.numbers.note(NumberName::Nth("span_all_hops", it.span), is_whole);
            self.numbers.note(NumberName::Nth("depth", it.depth.into()), it.share());
            for (name, ..) in SPANS.iter().filter(|(_, from, to)| (*from..=*to).contains(&it.span)) {
                self.numbers.note(NumberName::Of("span_all_hops", name), is_whole);
                self.numbers.note(NumberName::Of("span", name), it.share());
            }
            for (hop, is_stated) in (0..).zip(it.hops) {
                self.numbers.note(NumberName::Nth("hop", hop), flag(*is_stated));
            }
        }
        let n_long = all.iter().filter(|it| it.span >= 5).count();
        self.numbers.note(NumberName::Of("probes", "chain"), all.len() as f64);
        self.numbers.note(NumberName::Of("probes", "long_span"), n_long as f64);
        self.numbers.note("version_accuracy", metric::version_accuracy(&all));
    }

    fn recall(&mut self, played: StreamResult<'_>) {
        let StreamResult { stream, log, .. } = played;
        let (mut revised, mut held) = (Vec::new(), Vec::new());
        for asked in &log.asked {
            let Ask::Any { facts, .. } = &stream.probes[asked.probe].ask else { continue };
            let Some(fact) = facts.first().and_then(|it| stream.graph.current(*it, asked.session)) else {
                continue;
            };
            let is_right = asked.answers[0].is_right;
            let fact = &stream.graph.facts[fact as usize];
            let lag = asked.session.saturating_sub(fact.session);
            for (name, ..) in LAGS.iter().filter(|(_, from, to)| (*from..=*to).contains(&lag)) {
                self.numbers.note(NumberName::Of("lag", name), flag(is_right));
            }
            if fact.version > 1 {
                revised.push(is_right);
            }
            held.push(asked.answers[1].is_right);
        }
        self.numbers.note("rev_ex", share(revised.into_iter()));
        self.numbers.note("ws_fid", share(held.into_iter()));
    }

    fn bindings(&mut self, played: StreamResult<'_>) {
        let StreamResult { stream, log, .. } = played;
        let of = |asked: &&AnsweredQuestion| matches!(stream.probes[asked.probe].ask, Ask::Binding { .. });
        let asked: Vec<&AnsweredQuestion> = log.asked.iter().filter(of).collect();
        let bindings: Vec<Binding> = asked.iter().map(|it| binding(it)).collect();
        self.numbers.note("binding", metric::rate(&bindings, Binding::Correct));
        self.numbers.note("confusion_rate", metric::rate(&bindings, Binding::Confused));
        self.numbers.note("miss_rate", metric::rate(&bindings, Binding::Miss));
        // The code's proxy asks whether the session's own questions of that kind came out above a half.
        let sessions: std::collections::BTreeSet<u32> = asked.iter().map(|it| it.session).collect();
        let score = |session: u32| {
            let own = asked.iter().filter(|it| it.session == session);
            share(own.map(|it| it.answers[0].is_right)).unwrap_or(0.0)
        };
        let scores: Vec<f64> = sessions.into_iter().map(score).collect();
        self.numbers.note("interference_resistance", metric::resistance(&scores));
    }

    fn shock(&mut self, played: StreamResult<'_>) {
        let (Some(control), Some(event)) = (played.control, played.event) else { return };
        let scores =
            |log: &AgingLog| -> Vec<Option<f64>> { log.sessions.iter().map(|it| it.score).collect() };
        let (own, control_scores) = (scores(played.log), scores(control));
        let end = |it: &[Option<f64>]| ScoreCurve::new(it).last();
        self.numbers.note("shock", metric::against_control(end(&own), end(&control_scores)));
        let at = event as usize;
        self.numbers.note("shock_window", metric::shock_window(&own, at));
        let before = at.checked_sub(1).and_then(|it| own.get(it).copied().flatten());
        let after: Vec<f64> = own.get(at..).unwrap_or_default().iter().copied().flatten().collect();
        let recovery = before.and_then(|it| metric::recovery(&after, it));
        self.numbers.note("shock_recovery_sessions", recovery.map(|it| it as f64));
        let at_floor = end(&control_scores).is_some_and(|it| it < metric::FLOOR);
        self.numbers.note("shock_at_floor", flag(at_floor));
        let error = |session: u32| {
            let (right, n) = self.ladders.get(&session)?;
            Some((right[2] - right[1]).max(0.0) / f64::from((*n).max(1)))
        };
        let change = event.checked_sub(1).and_then(|before| Some(error(event)? - error(before)?));
        self.numbers.note("shock_write_error", change);
    }
}

/// Returns the totals that were stated, with an oracle.
fn stated(played: StreamResult<'_>, oracle: usize) -> Vec<StatedTotal> {
    let stream = played.stream;
    let of = |asked: &AnsweredQuestion| match stream.probes[asked.probe].ask {
        Ask::Total { accumulator, at } => {
            Some(StatedTotal::new(stream, accumulator, at, &asked.answers[oracle]))
        }
        _ => None,
    };
    played.log.asked.iter().filter_map(of).collect()
}

/// Returns the questions over several facts.
fn chained<'a>(played: StreamResult<'a>) -> Vec<Chained<'a>> {
    let stream = played.stream;
    let of = |asked: &'a AnsweredQuestion| {
        let Ask::Chain(edge) = stream.probes[asked.probe].ask else { return None };
        let edge = &stream.graph.edges[edge as usize];
        let sessions = edge.facts.iter().map(|it| stream.graph.facts[*it as usize].session);
        let span = sessions.clone().max()?.saturating_sub(sessions.min()?);
        Some(Chained {
            relation: edge.relation,
            depth: edge.chain_depth,
            span,
            hops: &asked.answers[0].hops,
            needs_version: edge.relation == FactRelation::Trend && edge.chain_depth > 1,
            is_stale: asked.answers[0].is_stale,
        })
    };
    played.log.asked.iter().filter_map(of).collect()
}

/// Returns how a question for one of two facts was answered.
fn binding(asked: &AnsweredQuestion) -> Binding {
    match (asked.answers[0].is_right, asked.answers[0].is_confused) {
        (true, true) => Binding::Both,
        (true, false) => Binding::Correct,
        (false, true) => Binding::Confused,
        (false, false) => Binding::Miss,
    }
}

/// Returns by session how many questions were answered with each oracle, and how many there were: those that
/// the score counts, or, if it counts none, all that ask for single facts.
fn ladders(stream: &AgingStream, log: &AgingLog) -> BTreeMap<u32, ([f64; 3], u32)> {
    let has_scored = stream.probes.iter().any(|it| it.is_scored);
    let mut all: BTreeMap<u32, ([f64; 3], u32)> = BTreeMap::new();
    for asked in &log.asked {
        let probe = &stream.probes[asked.probe];
        if matches!(probe.ask, Ask::Any { .. }) && (!has_scored || probe.is_scored) {
            let (right, n) = all.entry(asked.session).or_default();
            *n += 1;
            right.iter_mut().zip(&asked.answers).for_each(|(right, it)| *right += flag(it.is_right));
        }
    }
    all
}
