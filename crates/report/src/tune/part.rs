//! A variant on one part of the sessions: its saving and what it keeps, and how far the rule that gives words trusts both.

use ctxsim_base::grid::numbers::fixed_or_none;
use ctxsim_engine::measure::Spread;
use ctxsim_engine::measure::floor::Floor;
use ctxsim_engine::measure::limits::sum_of_pairs;

use super::TunedSession;
use crate::decide::SessionEffect;
use crate::decide::beside::{ComparedSession, judge_compared_sessions};
use crate::lever::Lever;
use crate::prelude::*;

/// A number of a session, and its baseline.
type NumberPair = (f64, f64);

/// A variant on one part of the sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunePart {
    pub sessions: usize,
    pub projects: usize,
    /// Its cost in US dollars; `None` if it stops elsewhere than the base in a session, or if a price is unknown.
    pub cost: Option<f64>,
    /// The base's cost, likewise.
    pub base_cost: Option<f64>,
    /// The relative difference of its cost from the base's, with the rule's interval: of what is held out and was chosen elsewhere by itself,
    /// else beside all other variants.
    pub spread: Option<Spread>,
    /// The share of what is needed that it keeps.
    pub evidence_kept: Option<f64>,
    /// The share of turns' requests that still show what the user asked, where it is not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_kept: Option<f64>,
    /// For memories, which declare no needs: the number that is used as that share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_of: Option<String>,
    /// The share that it keeps with 95%, by the rule.
    pub evidence_low: Option<f64>,
    /// The share of needed evidence that the base keeps.
    pub base_kept: Option<f64>,
}

/// Returns what the rule says of variants on some sessions, as one family: of those held out, the one that was chosen elsewhere.
pub(super) fn judge_variants(sessions: &[&TunedSession], variants: &[usize], floor: f64) -> Vec<Lever> {
    let effect = |session: &TunedSession, nth| SessionEffect {
        kept: session.evidence_kept_and_needed(nth),
        ..SessionEffect::from_tally(session.run_tally(nth))
    };
    let compared = sessions.iter().map(|session| ComparedSession {
        project: &session.project,
        last_ms: session.last_ms,
        base: effect(session, 0),
        others: variants.iter().map(|it| effect(session, it + 1)).listed(),
    });
    judge_compared_sessions(&compared.listed(), &vec![String::new(); variants.len()], floor)
}

impl TunedSession {
    /// Returns the evidence that a run keeps, and that is needed; of memories, the share that the run at a place remembers (the base is at
    /// 0), of all that it is asked.
    fn evidence_kept_and_needed(&self, run_ix: usize) -> Option<NumberPair> {
        let remembered = self.remembered.as_ref().and_then(|it| Some((*it.1.get(run_ix)?, 1.0)));
        remembered.or_else(|| Some(self.run_tally(run_ix).sums.needs.evidence()).filter(|it| it.1 > 0.0))
    }

    /// Returns the result of the run at a place.
    fn run_tally(&self, run_ix: usize) -> &Tally {
        run_ix.checked_sub(1).map_or(&self.base, |nth| &self.variants[nth])
    }
}

impl TunePart {
    /// Returns the results of several variants on the same sessions, judged as one family.
    pub(super) fn of_variants(sessions: &[&TunedSession], n_variants: usize, min_evidence: f64) -> Vec<Self> {
        let judged = judge_variants(sessions, &(0..n_variants).listed(), min_evidence);
        judged.iter().enumerate().map(|(nth, it)| Self::new(sessions, nth, it)).listed()
    }

    /// Returns the results of a variant on some sessions, and how far the rule trusts them.
    fn new(sessions: &[&TunedSession], nth: usize, judged: &Lever) -> Self {
        // Unknown if one of them stops earlier, or a price is unknown.
        let variant_and_base_usd = |it: &&TunedSession| {
            let (own, base) = (&it.variants[nth], &it.base);
            own.costs.total().zip(base.costs.total()).filter(|_| own.outcome.did_as_much_as(&base.outcome))
        };
        let costs: Option<Vec<NumberPair>> = sessions.iter().map(variant_and_base_usd).collect();
        let known = costs.as_deref().unwrap_or_default();
        let cost = costs.as_ref().map(|it| sum_of_pairs(it.iter().copied()));
        let kept = |run_ix: usize| {
            let known = sessions.iter().filter_map(|it| it.evidence_kept_and_needed(run_ix));
            let (kept, needed) = sum_of_pairs(known);
            (needed > 0.0).then(|| kept / needed)
        };
        let users = sessions.iter().map(|it| &it.variants[nth].sums.needs.users);
        let (met, needed) = sum_of_pairs(users.map(|it| (it.running_met, it.running)));
        let names = sessions.iter().filter_map(|it| it.remembered.as_ref()).map(|it| it.0.as_str());
        let names = crate::distinct(names).join(" and ");
        let mut part = Self {
            sessions: sessions.len(),
            projects: super::distinct_projects(sessions).len(),
            cost: cost.map(|it| it.0),
            base_cost: cost.map(|it| it.1),
            spread: Spread::new(known, None),
            evidence_kept: kept(nth + 1),
            task_kept: (met < needed).then(|| met / needed),
            kept_of: (!names.is_empty()).then_some(names),
            evidence_low: None,
            base_kept: kept(0),
        };
        part.take_judgement(judged);
        part
    }

    /// Takes its intervals from the rule.
    pub(super) fn take_judgement(&mut self, judged: &Lever) {
        if let Some(spread) = &mut self.spread {
            spread.interval = judged.interval;
        }
        self.evidence_low = judged.evidence_low.or(self.evidence_kept);
    }

    /// Returns the relative difference of its cost from the base's, if both are known for every session.
    pub fn cost_change_share(&self) -> Option<f64> {
        let (own, base) = self.cost.zip(self.base_cost)?;
        (base > 0.0).then(|| own / base - 1.0)
    }

    /// Returns whether it keeps a share of what is needed at the lower end of its interval.
    pub fn surely_keeps(&self, min_evidence: f64) -> bool {
        Floor(min_evidence).keeps(self.evidence_low, self.task_kept)
    }

    /// Describes a variant's savings, and how much it keeps: of the evidence, or of the number that is used in its place.
    pub fn result_clause(&self) -> String {
        let Some(spread) = self.spread else { return "not comparable".to_owned() };
        let ends = spread.interval.map(|it| format!(" (95% interval {}%)", interval(it)));
        let kept = self.evidence_kept_text().map(|kept| match &self.kept_of {
            None => format!(", {kept} of the evidence kept"),
            Some(number) => format!(", {number} {kept}"),
        });
        format!("cost {}{}{}", signed(spread.change), ends.unwrap_or_default(), kept.unwrap_or_default())
    }

    /// Describes how much evidence it keeps.
    pub(super) fn evidence_kept_text(&self) -> Option<String> {
        let low = self.evidence_low.map_or_else(String::new, |it| format!(" (at least {})", percent(it)));
        self.evidence_kept.map(|it| format!("{}{low}", percent(it)))
    }
    /// Returns what it shows in the columns of a part of the sessions.
    pub(super) fn format_cells(&self, decimals: usize) -> Vec<String> {
        vec![
            fixed_or_none(self.cost, decimals),
            or_none(self.cost_change_share(), signed),
            or_none(self.evidence_kept, percent),
        ]
    }
}
