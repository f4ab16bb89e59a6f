//! A variant on one part of the sessions: its savings and retention,
//! with intervals that do not count sessions of one project as independent.

use serde::Serialize;

use super::TunedSession;
use crate::grid::numbers::{interval, percent, signed};
use crate::measure::{Spread, Tally};

/// A variant on one part of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The number of sessions.
    pub sessions: usize,
    /// The number of projects.
    pub projects: usize,
    /// Its cost in US dollars; `None` if it stops elsewhere than the base in a session, or if a price is unknown.
    pub cost: Option<f64>,
    /// The base's cost, likewise.
    pub base_cost: Option<f64>,
    /// The relative difference of its cost from the base's; the interval is the wider of those over sessions
    /// and over projects.
    pub spread: Option<Spread>,
    /// The share of needed evidence that it keeps.
    pub evidence_kept: Option<f64>,
    /// The lower end of that share's interval.
    pub evidence_low: Option<f64>,
    /// The share of needed evidence that the base keeps.
    pub base_kept: Option<f64>,
    /// The difference without the project (or, for a single project, the session) that saves most.
    pub without_best: Option<f64>,
}

impl Part {
    /// Returns a variant's results on some sessions.
    pub(super) fn new(sessions: &[&TunedSession], nth: usize) -> Self {
        let costs = |it: &&TunedSession| it.costs(nth);
        let met =
            |it: &Tally| (it.sums.needs.weight > 0.0).then_some((it.sums.needs.met, it.sums.needs.weight));
        let kept = spread(sessions, |it| it.remembers(nth + 1).or_else(|| met(&it.variants[nth])));
        let base = summed(sessions.iter().filter_map(|it| it.remembers(0).or_else(|| met(&it.base))));
        let cost = sessions.iter().map(costs).collect::<Option<Vec<_>>>().map(|it| summed(it.into_iter()));
        Self {
            sessions: sessions.len(),
            projects: projects(sessions).len(),
            cost: cost.map(|it| it.0),
            base_cost: cost.map(|it| it.1),
            spread: spread(sessions, costs),
            evidence_kept: kept.map(|it| 1.0 + it.change),
            evidence_low: kept.map(|it| 1.0 + it.interval.map_or(it.change, |it| it[0])),
            base_kept: (base.1 > 0.0).then(|| base.0 / base.1),
            without_best: without_best(sessions, costs),
        }
    }

    /// Returns the relative difference of its cost from the base's, if both are known for every session.
    pub fn change(&self) -> Option<f64> {
        let (own, base) = self.cost.zip(self.base_cost)?;
        (base > 0.0).then(|| own / base - 1.0)
    }

    /// Returns whether it keeps a share of the evidence at the lower end of the interval.
    pub(super) fn surely_keeps(&self, floor: f64) -> bool {
        self.evidence_low.is_none_or(|it| it >= floor)
    }

    /// Describes a variant's savings and retention.
    pub fn words(&self) -> String {
        let saved = self.spread.map_or_else(String::new, |it| {
            let ends =
                it.interval.map_or_else(String::new, |it| format!(" (95% interval {}%)", interval(it)));
            format!("cost {}{ends}", signed(it.change))
        });
        let kept = self.kept_words().map_or_else(String::new, |it| format!(", {it} of the evidence kept"));
        if saved.is_empty() { "not comparable".to_owned() } else { format!("{saved}{kept}") }
    }

    /// Describes how much evidence it keeps.
    pub(super) fn kept_words(&self) -> Option<String> {
        let low = self.evidence_low.map_or_else(String::new, |it| format!(" (at least {})", percent(it)));
        self.evidence_kept.map(|it| format!("{}{low}", percent(it)))
    }
}

impl TunedSession {
    /// Returns what is remembered, and what the base remembers: of the base itself, or of the variants after it.
    fn remembers(&self, nth: usize) -> Option<Pair> {
        let all = self.remembered.as_ref()?;
        let base = all.first().copied().filter(|it| *it > 0.0)?;
        Some((*all.get(nth)?, base))
    }

    /// Returns the costs of a variant and the base; `None` if one of them stops earlier, or a price is
    /// unknown.
    pub(super) fn costs(&self, nth: usize) -> Option<(f64, f64)> {
        let own = &self.variants[nth];
        let is_same = own.outcome.turns_completed == self.base.outcome.turns_completed;
        cost(own).zip(cost(&self.base)).filter(|_| is_same)
    }
}

/// Returns what a run costs: the one place where tuning reads it.
fn cost(run: &Tally) -> Option<f64> {
    run.costs.total()
}

/// Adds up pairs.
fn summed(pairs: impl Iterator<Item = Pair>) -> Pair {
    pairs.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
}

/// Returns the projects of sessions, sorted.
pub(super) fn projects<'s>(sessions: &[&'s TunedSession]) -> Vec<&'s str> {
    let mut all: Vec<&str> = sessions.iter().map(|it| it.project.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A number of a session, and its baseline.
type Pair = (f64, f64);

/// Adds up what the sessions of each project have.
fn by_project(sessions: &[&TunedSession], pair: impl Fn(&&TunedSession) -> Option<Pair>) -> Vec<Pair> {
    let of = |project: &&str| summed(sessions.iter().filter(|it| it.project == *project).filter_map(&pair));
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
    let all = summed(pairs.iter().copied());
    let rest = pairs.iter().map(|it| (all.0 - it.0) / (all.1 - it.1) - 1.0).filter(|it| it.is_finite());
    rest.max_by(f64::total_cmp)
}
