//! What one stream says of a memory: its curve, its answers, and what an event did to it.

use super::{AgingObserved, NumberName, Scores, StreamResult};
use crate::aging::metric::chain::{self, Chained};
use crate::aging::metric::curve::ScoreCurve;
use crate::aging::metric::interference::{self, Binding};
use crate::aging::metric::{mean, shock, totals};
use crate::aging::play::{AgingLog, AnsweredQuestion, Oracle};
use crate::aging::repair;
use crate::aging::stream::{AgingStream, Ask, Scoring};
use crate::graph::{FactRelation, Says};

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
        observed.ladder(played);
        observed.shock(played);
        observed.saturated(played);
        observed.lost(played);
        observed
    }

    /// Notes the share of questions that each stage loses.
    fn lost(&mut self, played: StreamResult<'_>) {
        for (nth, loss) in repair::losses(played.stream, &played.log.asked).into_iter().flatten().enumerate()
        {
            self.losses[nth].push(loss);
        }
    }

    /// Notes the scores that other benchmarks would take and that say little here: violated constraints (CVR), which only a
    /// profile has, and whether anything was looked up at all (LA).
    fn saturated(&mut self, played: StreamResult<'_>) {
        let StreamResult { stream, log, numbers, .. } = played;
        let share = numbers.assumed.violation_share;
        let scored: Vec<&AnsweredQuestion> =
            log.asked.iter().filter(|it| stream.probes[it.probe].is_scored).collect();
        if stream.profile_records > 0 {
            let draws = stream.seed.stream("aging violation", 0);
            let violates =
                |it: &&AnsweredQuestion| draws.nth(it.session.into(), it.probe as u64).unit() < share;
            let rate = |it: &[&AnsweredQuestion]| mean(it.iter().map(|it| f64::from(u8::from(violates(it)))));
            self.note_some("violation_rate", rate(&scored));
            let by_session = scored.chunk_by(|one, other| one.session == other.session);
            self.violations = by_session.map(rate).collect();
        }
        if stream.scoring == Scoring::Dependencies {
            let of_session =
                |it: &[&AnsweredQuestion]| f64::from(u8::from(it.iter().any(|it| it.answers[0].is_right)));
            let sessions = scored.chunk_by(|one, other| one.session == other.session);
            self.note_some("lookup_accuracy", mean(sessions.map(of_session)));
        }
    }

    fn curve(&mut self, log: &AgingLog) {
        let curve = ScoreCurve::of(&log.scores());
        self.curve = Scores::of(log);
        self.note_some("m0", curve.first());
        self.note_some("final", curve.last());
        self.note_some("mean", curve.mean());
        self.note("slope", curve.slope());
        let half_life = curve.half_life();
        self.note("half_life_infinite_share", f64::from(u8::from(half_life.is_infinite())));
        if half_life.is_finite() {
            self.note("half_life", half_life);
        } else {
            self.infinite += 1;
        }
        self.note("hazard", curve.hazard());
        self.note("hazard_of_paper", curve.hazard_of_paper());
        let sessions = &log.sessions;
        self.note_some("memory_tokens", mean(sessions.iter().map(|it| it.memory_tokens as f64)));
        self.note_some("forget_accuracy", mean(sessions.iter().filter_map(|it| it.forgotten)));
        let controlled = sessions.iter().position(|it| it.is_controlled);
        self.note_some("controlled_at", controlled.map(|it| it as f64));
    }

    fn totals(&mut self, played: StreamResult<'_>) {
        for (oracle, name) in
            ["accumulator_error", "accumulator_error_p2", "accumulator_error_p3"].into_iter().enumerate()
        {
            let stated = stated(played, oracle);
            self.note_some(name, totals::error(&stated));
            if oracle == Oracle::None as usize && !stated.is_empty() {
                let flag = |it: Option<bool>| it.map(|it| f64::from(u8::from(it)));
                self.note_some("relative_error", totals::relative_error(&stated));
                self.note("error_growth", totals::growth(&stated));
                self.note_some("compounding", flag(totals::compounds(&stated)));
                self.note_some("compounding_of_paper", flag(totals::compounds_of_paper(&stated)));
            }
        }
    }

    fn chains(&mut self, played: StreamResult<'_>) {
        let all = chained(played);
        for it in &all {
            self.note("chain_recall", it.share());
            let is_whole = f64::from(u8::from(it.is_whole()));
            self.note("chain_recall_all_hops", is_whole);
            self.note(NumberName::Nth("span", it.span), it.share());
            self.note(NumberName::Nth("span_all_hops", it.span), is_whole);
            self.note(NumberName::Nth("depth", it.depth.into()), it.share());
            for (name, ..) in SPANS.iter().filter(|(_, from, to)| (*from..=*to).contains(&it.span)) {
                self.note(NumberName::Of("span_all_hops", name), is_whole);
                self.note(NumberName::Of("span", name), it.share());
            }
            for (hop, is_stated) in (0..).zip(it.hops) {
                self.note(NumberName::Nth("hop", hop), f64::from(u8::from(*is_stated)));
            }
        }
        let n_long = all.iter().filter(|it| it.span >= 5).count();
        self.note(NumberName::Of("probes", "chain"), all.len() as f64);
        self.note(NumberName::Of("probes", "long_span"), n_long as f64);
        self.note_some("version_accuracy", chain::version_accuracy(&all));
    }

    fn recall(&mut self, played: StreamResult<'_>) {
        let StreamResult { stream, log, .. } = played;
        let (mut revised, mut asked_last) = (Vec::new(), Vec::new());
        for asked in &log.asked {
            let Ask::Any { facts, .. } = &stream.probes[asked.probe].ask else { continue };
            let Some(fact) = facts.first().and_then(|it| stream.graph.current(*it, asked.session)) else {
                continue;
            };
            let is_right = f64::from(u8::from(asked.answers[0].is_right));
            let fact = &stream.graph.facts[fact as usize];
            let lag = asked.session.saturating_sub(fact.session);
            for (name, ..) in LAGS.iter().filter(|(_, from, to)| (*from..=*to).contains(&lag)) {
                self.note(NumberName::Of("lag", name), is_right);
            }
            if fact.version > 1 {
                revised.push(is_right);
            }
            if matches!(fact.says, Says::Value(_) | Says::Subject) {
                asked_last.push(asked);
            }
        }
        self.note_some("rev_ex", mean(revised.into_iter()));
        let held = asked_last.iter().map(|it| f64::from(u8::from(it.answers[1].is_right)));
        self.note_some("ws_fid", mean(held));
    }

    fn bindings(&mut self, played: StreamResult<'_>) {
        let StreamResult { stream, log, .. } = played;
        let of = |asked: &&AnsweredQuestion| matches!(stream.probes[asked.probe].ask, Ask::Binding { .. });
        let asked: Vec<&AnsweredQuestion> = log.asked.iter().filter(of).collect();
        let bindings: Vec<Binding> = asked.iter().map(|it| binding(it)).collect();
        self.note_some("binding", interference::rate(&bindings, Binding::Correct));
        self.note_some("confusion_rate", interference::rate(&bindings, Binding::Confused));
        self.note_some("miss_rate", interference::rate(&bindings, Binding::Miss));
        // The code's proxy asks whether the session's own questions of that kind came out above a half.
        let sessions: std::collections::BTreeSet<u32> = asked.iter().map(|it| it.session).collect();
        let score = |session: u32| {
            let own = asked.iter().filter(|it| it.session == session);
            mean(own.map(|it| f64::from(u8::from(it.answers[0].is_right)))).unwrap_or(0.0)
        };
        let scores: Vec<f64> = sessions.into_iter().map(score).collect();
        self.note_some("interference_resistance", interference::resistance(&scores));
    }

    fn ladder(&mut self, played: StreamResult<'_>) {
        for (session, (right, n)) in ladder(played.stream, played.log) {
            self.ladders.insert(session, (right, n));
        }
    }

    fn shock(&mut self, played: StreamResult<'_>) {
        let (Some(control), Some(event)) = (played.control, played.event) else { return };
        let scores =
            |log: &AgingLog| -> Vec<Option<f64>> { log.sessions.iter().map(|it| it.score).collect() };
        let (own, control_scores) = (scores(played.log), scores(control));
        let end = |it: &[Option<f64>]| ScoreCurve::of(it).last();
        self.note_some("shock", shock::against_control(end(&own), end(&control_scores)));
        let at = event as usize;
        self.note_some("shock_window", shock::window(&own, at));
        let before = at.checked_sub(1).and_then(|it| own.get(it).copied().flatten());
        let after: Vec<f64> = own.get(at..).unwrap_or_default().iter().copied().flatten().collect();
        let recovery = before.and_then(|it| shock::recovery(&after, it));
        self.note_some("shock_recovery_sessions", recovery.map(|it| it as f64));
        let at_floor = end(&control_scores).is_some_and(|it| it < shock::FLOOR);
        self.note("shock_at_floor", f64::from(u8::from(at_floor)));
        let ladders = ladder(played.stream, played.log);
        let error = |session: u32| {
            let (right, n) = ladders.iter().find(|it| it.0 == session)?.1;
            Some((right[2] - right[1]).max(0.0) / f64::from(n.max(1)))
        };
        let change = event.checked_sub(1).and_then(|before| Some(error(event)? - error(before)?));
        self.note_some("shock_write_error", change);
    }
}

/// Returns the totals that were stated, with an oracle.
fn stated(played: StreamResult<'_>, oracle: usize) -> Vec<totals::Stated> {
    let stream = played.stream;
    let of = |asked: &AnsweredQuestion| match stream.probes[asked.probe].ask {
        Ask::Total { accumulator, at } => Some(totals::Stated {
            session: at.into(),
            gold: stream.graph.total(accumulator as usize, at) as f64,
            stated: asked.answers[oracle].total,
        }),
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
fn ladder(stream: &AgingStream, log: &AgingLog) -> Vec<(u32, ([f64; 3], u32))> {
    let has_scored = stream.probes.iter().any(|it| it.is_scored);
    let mut all: Vec<(u32, ([f64; 3], u32))> = Vec::new();
    for asked in &log.asked {
        let probe = &stream.probes[asked.probe];
        if !matches!(probe.ask, Ask::Any { .. }) || has_scored && !probe.is_scored {
            continue;
        }
        if all.last().is_none_or(|it| it.0 != asked.session) {
            all.push((asked.session, ([0.0; 3], 0)));
        }
        if let Some((_, (right, n))) = all.last_mut() {
            *n += 1;
            let answers = asked.answers.iter().map(|it| f64::from(u8::from(it.is_right)));
            right.iter_mut().zip(answers).for_each(|(right, it)| *right += it);
        }
    }
    all
}
