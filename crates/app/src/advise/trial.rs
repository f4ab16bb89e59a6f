//! Settings on trial: chosen on some sessions, held against others by time and by project.

use indexmap::IndexMap;

use super::AdviceVariant;
use super::agents::{Agent, Wish};
use super::play::PlayedSession;
use super::states::{ByLane, SettingValues};
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::measure::limits::sum_of_pairs;
use ctxsim_engine::measure::month::Calendar;
use ctxsim_report::advise::saved::{Bills, SCHEMA, Saved, SessionKind};
use ctxsim_report::advise::{Candidate, MonthCost};
use ctxsim_report::distinct;
use ctxsim_report::tune::{SplitBy, Tried, Tuned, TunedPoint, TunedSession, result_on_all};

/// The sessions of an agent, ready to be tried.
pub(super) struct AgentTrial<'a> {
    pub(super) agent: &'a Agent,
    pub(super) calendar: &'a Calendar,
    pub(super) played: &'a [PlayedSession],
    /// The policies of what is in force.
    pub(super) base: ByLane,
    pub(super) min_evidence: f64,
}

/// What a trial found.
#[derive(Debug, Default)]
pub(super) struct TrialResult {
    pub(super) advised: Option<Candidate>,
    /// What is advised, by key; empty if nothing is.
    pub(super) set: Vec<(String, String)>,
    by_lane: ByLane,
    pub(super) reason: Option<String>,
    pub(super) rejected: Option<Candidate>,
    pub(super) tried: Vec<Candidate>,
    /// How sessions were split.
    pub(super) split: Option<SplitBy>,
}

/// The settings in force before advice, and the policies that play them.
pub(super) struct SettingsBefore {
    pub(super) state: SettingValues,
    pub(super) by_lane: ByLane,
}

/// Returns settings to try together: of each that saves on the older sessions the best value, two by two and all of them.
pub(super) fn joint(
    variants: &[AdviceVariant],
    played: &[PlayedSession],
    base: ByLane,
) -> Vec<Vec<(String, String)>> {
    /// Two by two, more settings would be more variants than single values.
    const MOST: usize = 4;
    let older = older(played);
    let cost = |lanes: ByLane| -> Option<f64> { older.iter().map(|it| it.run(lanes).costs.total()).sum() };
    let Some(in_force) = cost(base) else { return Vec::new() };
    let mut best: IndexMap<&String, (f64, &String)> = IndexMap::new();
    for it in variants {
        let [(key, value)] = it.set.as_slice() else { continue };
        let Some(usd) = cost(it.by_lane).filter(|it| *it < in_force) else { continue };
        let own = best.entry(key).or_insert((usd, value));
        if usd < own.0 {
            *own = (usd, value);
        }
    }
    best.sort_by(|_, one, _, other| one.0.total_cmp(&other.0));
    let best: Vec<(String, String)> =
        best.into_iter().take(MOST).map(|(key, (_, value))| (key.clone(), value.clone())).listed();
    let pairs = (0..best.len()).flat_map(|one| (one + 1..best.len()).map(move |other| [one, other]));
    let pairs: Vec<_> = pairs.map(|it| it.map(|it| best[it].clone()).to_vec()).listed();
    let is_more = best.len() > 2;
    pairs.into_iter().chain(is_more.then_some(best)).listed()
}

/// Returns the older half of some sessions, on which settings are chosen.
fn older(played: &[PlayedSession]) -> Vec<&PlayedSession> {
    let mut all: Vec<&PlayedSession> = played.iter().listed();
    all.order_by_key(|it| it.seen.span_ms.map(|it| it[1]));
    all.truncate(played.len() / 2);
    all
}

impl AgentTrial<'_> {
    /// Returns how many projects the sessions are of; 0 where they are not known.
    pub(super) fn n_projects(&self) -> usize {
        distinct(self.played.iter().map(|it| it.seen.project.as_str()).filter(|it| !it.is_empty())).len()
    }

    /// Returns the share of needed evidence that prompts hold as things are.
    pub(super) fn evidence_kept(&self) -> Option<f64> {
        let (met, all) = sum_of_pairs(self.played.iter().map(|it| it.run(self.base).sums.needs.evidence()));
        (all > 0.0).then(|| met / all)
    }

    /// Returns what a month costs with what is in force.
    pub(super) fn month(&self) -> MonthCost {
        let usd = self.calendar.usd(self.played, |it| it.run(self.base).costs.total());
        MonthCost { usd, basis: self.calendar.basis, days: self.calendar.days }
    }

    /// Chooses on one part of the sessions and holds the choice against the other, then against each project.
    pub(super) fn found(&self, variants: &[AdviceVariant]) -> TrialResult {
        if variants.is_empty() {
            let reason = Some(format!("{} has no other setting that can be played", self.agent.name));
            return TrialResult { reason, ..TrialResult::default() };
        }
        let lanes: Vec<ByLane> = variants.iter().map(|it| it.by_lane).listed();
        let sets: Vec<Vec<String>> = variants.iter().map(|it| texts(&it.set)).listed();
        let tuned = self.tuned(&lanes, &sets);
        let candidate = |point: &TunedPoint| {
            let nth = sets.iter().position(|it| *it == point.set).unwrap_or_default();
            (nth, self.candidate(&variants[nth], point))
        };
        let mut tried: Vec<(usize, Candidate)> = tuned.points.iter().map(candidate).listed();
        let Some((nth, mut best)) = tried.first().cloned() else { return TrialResult::default() };
        tried.order_by(|one, other| order(&one.1).total_cmp(&order(&other.1)));
        let all_projects = result_on_all(&self.sessions(&lanes[nth..=nth]), 0);
        best.by_project = tuned.by_project.into_iter().flat_map(|it| [all_projects.clone(), it]).listed();
        best.held_out_blocks = tuned.held_out_blocks;
        best.by_project_blocks = tuned.by_project_blocks;
        best.cautions = tuned.cautions;
        let reason = tuned.reason;
        let split = Some(tuned.split);
        let tried = tried.into_iter().map(|it| it.1).listed();
        match reason {
            None => TrialResult {
                set: variants[nth].set.clone(),
                by_lane: variants[nth].by_lane,
                advised: Some(best),
                split,
                tried,
                ..TrialResult::default()
            },
            Some(reason) => {
                best.why_not = Some(reason.clone());
                TrialResult {
                    reason: Some(reason),
                    rejected: Some(best),
                    split,
                    tried,
                    ..TrialResult::default()
                }
            }
        }
    }

    /// Puts runs together as the sessions of a search.
    fn sessions(&self, lanes: &[ByLane]) -> Vec<TunedSession> {
        let session = |it: &PlayedSession| TunedSession {
            project: it.seen.project.clone(),
            last_ms: it.seen.span_ms.map(|it| it[1]),
            base: it.run(self.base).clone(),
            variants: lanes.iter().map(|lanes| it.run(*lanes).clone()).listed(),
            remembered: None,
        };
        self.played.iter().map(session).listed()
    }

    /// Chooses and tests the choice by the rule of `tune`.
    fn tuned(&self, lanes: &[ByLane], sets: &[Vec<String>]) -> Tuned {
        let tried = Tried { points: sets.to_vec(), ..Tried::default() };
        let names = ["what you have", self.agent.name.as_str()];
        Tuned::new(names, &self.sessions(lanes), tried, self.min_evidence, 0)
    }

    /// Returns what settings come to over all sessions, beside their results by time.
    fn candidate(&self, variant: &AdviceVariant, point: &TunedPoint) -> Candidate {
        let effects =
            variant.set.iter().filter_map(|it| self.agent.setting(&it.0)).map(|it| it.effects.clone());
        Candidate {
            by_time: point.parts.clone(),
            effects: effects.listed(),
            ..self.numbers(texts(&variant.set), variant.by_lane)
        }
    }

    /// Returns what only maintainers can change.
    pub(super) fn wish(&self, wish: &Wish, by_lane: ByLane) -> Candidate {
        Candidate { why_not: Some(wish.reason.clone()), ..self.numbers(vec![wish.about.clone()], by_lane) }
    }

    /// Returns the numbers over all sessions.
    fn numbers(&self, set: Vec<String>, by_lane: ByLane) -> Candidate {
        let all = result_on_all(&self.sessions(&[by_lane]), 0);
        let base = self.month().usd;
        let own = self.calendar.usd(self.played, |it| it.run(by_lane).costs.total());
        let sum = |lanes: ByLane, of: &dyn Fn(&ctxsim_engine::measure::Tally) -> f64| -> f64 {
            self.played.iter().map(|it| of(it.run(lanes))).sum()
        };
        let saved = sum(self.base, &|it| it.costs.total().unwrap_or(f64::NAN))
            - sum(by_lane, &|it| it.costs.total().unwrap_or(f64::NAN));
        let recovery =
            sum(by_lane, &|it| it.costs.assumed().usd()) - sum(self.base, &|it| it.costs.assumed().usd());
        Candidate {
            set,
            usd_month: own,
            saved_month: base.zip(own).map(|it| it.0 - it.1),
            change: all.change(),
            interval: all.spread.and_then(|it| it.interval),
            bound: all.bound,
            recovery_factor: (recovery > 0.0 && saved > 0.0).then(|| 1.0 + saved / recovery),
            evidence_kept: all.evidence_kept,
            evidence_low: all.evidence_low,
            ..Candidate::default()
        }
    }

    /// Returns what to write down, so that later sessions can be held against it.
    pub(super) fn saved(&self, found: &TrialResult, before: Option<&SettingsBefore>) -> Option<Saved> {
        let (lanes, advised) = (found.by_lane, found.advised.as_ref()?);
        let before_lanes = before.map(|it| it.by_lane);
        let mut members: IndexMap<String, Vec<&PlayedSession>> = IndexMap::new();
        self.played.iter().for_each(|it| members.entry(it.seen.kind()).or_default().push(it));
        let kind = |(name, members): (String, Vec<&PlayedSession>)| {
            let cost =
                |lanes: ByLane| -> f64 { members.iter().filter_map(|it| it.run(lanes).costs.total()).sum() };
            let bill = |it: &&PlayedSession| Some((it.size(before_lanes)?, it.seen.billed_usd?));
            let bills: Vec<(f64, f64)> = members.iter().filter_map(bill).listed();
            SessionKind { name, bills: Bills::new(&bills), change: cost(lanes) / cost(self.base) - 1.0 }
        };
        Some(Saved {
            schema: SCHEMA.to_owned(),
            agent: self.agent.name.clone(),
            set: texts(&found.set),
            until_ms: self.played.iter().filter_map(|it| it.seen.span_ms).map(|it| it[1]).max(),
            versions: distinct(
                self.played.iter().map(|it| it.seen.version.clone()).filter(|it| !it.is_empty()),
            ),
            change: advised.change?,
            interval: advised.interval?,
            before: before.iter().flat_map(|it| &it.state).map(|it| format!("{}={}", it.0, it.1)).listed(),
            kinds: members.into_iter().map(kind).listed(),
        })
    }
}

/// Returns settings as texts.
fn texts(set: &[(String, String)]) -> Vec<String> {
    set.iter().map(|it| format!("{}={}", it.0, it.1)).listed()
}

/// Returns the place of a candidate: the cheapest first, what cannot be compared last.
fn order(it: &Candidate) -> f64 {
    it.change.unwrap_or(f64::INFINITY)
}
