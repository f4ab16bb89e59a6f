//! A variant on one part of the sessions: its savings and retention,
//! with intervals that do not count sessions of one project as independent.

use serde::Serialize;

use super::super::numbers::{interval, percent, signed};
use super::TunedSession;
use crate::measure::Spread;

/// A variant on one part of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The number of sessions.
    pub sessions: usize,
    /// The number of projects.
    pub projects: usize,
    /// The relative difference of its cost from the base's; the interval is the wider of those over sessions
    /// and over projects.
    pub spread: Option<Spread>,
    /// The share of needed evidence that it keeps.
    pub evidence_kept: Option<f64>,
    /// The lower end of that share's interval.
    pub evidence_low: Option<f64>,
    /// The difference without the project (or, for a single project, the session) that saves most.
    pub without_best: Option<f64>,
}

impl Part {
    /// Returns a variant's results on some sessions.
    pub(super) fn new(sessions: &[&TunedSession], nth: usize) -> Self {
        let costs = |it: &&TunedSession| it.costs(nth);
        let evidence = |it: &&TunedSession| {
            let needs = &it.variants[nth].sums.needs;
            (needs.weight > 0.0).then_some((needs.met, needs.weight))
        };
        let kept = spread(sessions, evidence);
        Self {
            sessions: sessions.len(),
            projects: projects(sessions).len(),
            spread: spread(sessions, costs),
            evidence_kept: kept.map(|it| 1.0 + it.change),
            evidence_low: kept.map(|it| 1.0 + it.interval.map_or(it.change, |it| it[0])),
            without_best: without_best(sessions, costs),
        }
    }

    /// Returns whether it keeps a share of the evidence at the lower end of the interval.
    pub(super) fn surely_keeps(&self, floor: f64) -> bool {
        self.evidence_low.is_none_or(|it| it >= floor)
    }

    /// Describes a variant's savings and retention.
    pub(super) fn words(&self) -> String {
        let saved = self.spread.map_or_else(String::new, |it| {
            let ends =
                it.interval.map_or_else(String::new, |it| format!(" (95% interval {}%)", interval(it)));
            format!("cost {}{ends}", signed(it.change))
        });
        let low = self.evidence_low.map_or_else(String::new, |it| format!(" (at least {})", percent(it)));
        let kept = self
            .evidence_kept
            .map_or_else(String::new, |it| format!(", {}{low} of the evidence kept", percent(it)));
        format!("{saved}{kept}")
    }
}

impl TunedSession {
    /// Returns the costs of a variant and the base; `None` if one of them stops earlier, or a price is
    /// unknown.
    pub(super) fn costs(&self, nth: usize) -> Option<(f64, f64)> {
        let own = &self.variants[nth];
        let is_same = own.outcome.turns_completed == self.base.outcome.turns_completed;
        own.costs.total().zip(self.base.costs.total()).filter(|_| is_same)
    }
}

/// Returns the projects of sessions, sorted.
fn projects<'s>(sessions: &[&'s TunedSession]) -> Vec<&'s str> {
    let mut all: Vec<&str> = sessions.iter().map(|it| it.project.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A number of a session, and its baseline.
type Pair = (f64, f64);

/// Adds up what the sessions of each project have.
fn by_project(sessions: &[&TunedSession], pair: impl Fn(&&TunedSession) -> Option<Pair>) -> Vec<Pair> {
    let of = |project: &&str| {
        let own = sessions.iter().filter(|it| it.project == *project).filter_map(&pair);
        own.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    };
    projects(sessions).iter().map(of).filter(|it| it.1 > 0.0).collect()
}

/// Computes the interval of a ratio. Sessions of one project are alike, so it is the wider of those over
/// sessions and over projects.
fn spread(sessions: &[&TunedSession], pair: impl Fn(&&TunedSession) -> Option<Pair>) -> Option<Spread> {
    let pairs: Vec<Pair> = sessions.iter().filter_map(&pair).collect();
    let mut spread = Spread::new(&pairs)?;
    let over_projects = Spread::new(&by_project(sessions, pair)).and_then(|it| it.interval);
    if let (Some(own), Some(wider)) = (&mut spread.interval, over_projects) {
        *own = [own[0].min(wider[0]), own[1].max(wider[1])];
    }
    Some(spread)
}

/// Returns the change in a ratio without the project (or, for a single project, the session) without which it
/// is largest; `None` for a single one.
fn without_best(sessions: &[&TunedSession], pair: impl Fn(&&TunedSession) -> Option<Pair>) -> Option<f64> {
    let mut pairs = by_project(sessions, &pair);
    if pairs.len() < 2 {
        pairs = sessions.iter().filter_map(&pair).collect();
    }
    let all = pairs.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let rest = pairs.iter().map(|it| (all.0 - it.0) / (all.1 - it.1) - 1.0).filter(|it| it.is_finite());
    rest.max_by(f64::total_cmp)
}
