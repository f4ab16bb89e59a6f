//! A variant on one part of the sessions: its savings and retention,
//! with limits for later sessions of the same projects, which decide, and for other projects.

use ctxsim_engine::measure::Spread;
use ctxsim_engine::measure::assumed::{AssumedCost, AssumedReach};
use ctxsim_engine::measure::floor::Floor;
use ctxsim_engine::measure::limits::{
    BLOCKS_MIN, Limit, Over, RatioSample, SampleBlock, for_later, interval_for_later, ratio_limits,
    sample_blocks, sum_of_pairs, unit_of_blocks,
};

use super::TunedSession;
use crate::decide::SessionEffect;
use crate::decide::beside::{ComparedSession, judge_compared_sessions};
use crate::lever::Lever;
use crate::prelude::*;

/// A variant on one part of the sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunePart {
    pub sessions: usize,
    pub projects: usize,
    /// Its cost in US dollars; `None` if it stops elsewhere than the base in a session, or if a price is unknown.
    pub cost: Option<f64>,
    /// The base's cost, likewise.
    pub base_cost: Option<f64>,
    /// The relative difference of its cost from the base's; the interval is that of `cost_limits` for later sessions.
    pub spread: Option<Spread>,
    /// The 95% intervals of that difference: over sessions, over blocks of time where times are known, and for other projects.
    pub cost_limits: Vec<Limit>,
    /// The share of what is needed that it keeps.
    pub evidence_kept: Option<f64>,
    /// The share of turns' requests that still show what the user asked, where it is not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_kept: Option<f64>,
    /// For memories, which declare no needs: the number that is used as that share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_of: Option<String>,
    /// The lower end of `evidence_limits` for later sessions.
    pub evidence_low: Option<f64>,
    /// The 95% intervals of that share, as those of the cost.
    pub evidence_limits: Vec<Limit>,
    /// The share of needed evidence that the base keeps.
    pub base_kept: Option<f64>,
    /// The difference without the project (or, for a single project, the session) that saves most.
    pub without_best: Option<f64>,
    /// The lowest and the highest difference where everything that is assumed is wrong in one direction.
    pub bound: Option<[f64; 2]>,
}

/// A block that limits rest on: a project, or a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockPart {
    /// What it is one of.
    pub over: Over,
    /// Its name: the working folder, or the month, the week or the day, UTC.
    pub name: String,
    pub sessions: usize,
    /// What the base costs in it, in US dollars.
    pub base_cost: f64,
    /// The relative difference of the variant's cost.
    pub change: Option<f64>,
    /// The share of needed evidence that the variant keeps in it.
    pub evidence_kept: Option<f64>,
}

/// A session under the variant that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionUnderVariant<'s> {
    pub(super) session: &'s TunedSession,
    /// The variant; none is the base.
    pub(super) nth: Option<usize>,
}

impl<'s> SessionUnderVariant<'s> {
    /// Puts sessions under one variant.
    pub(super) fn under_variant(sessions: &[&'s TunedSession], nth: usize) -> Vec<Self> {
        sessions.iter().map(|session| Self { session, nth: Some(nth) }).listed()
    }

    fn variant_tally(&self) -> &'s Tally {
        self.nth.map_or(&self.session.base, |it| &self.session.variants[it])
    }

    /// Returns the costs of the variant and the base; `None` if one of them stops earlier, or a price is unknown.
    fn variant_and_base_usd(&self) -> Option<NumberPair> {
        let (own, base) = (self.variant_tally(), &self.session.base);
        let did_as_much = own.outcome.did_as_much_as(&base.outcome);
        own.costs.total().zip(base.costs.total()).filter(|_| did_as_much)
    }

    /// Returns what is kept, and what is needed.
    fn kept_and_needed_evidence(&self) -> Option<NumberPair> {
        self.session.evidence_kept_and_needed(self.variant_tally(), self.nth.map_or(0, |it| it + 1))
    }

    /// Returns the samples of a ratio that are known.
    fn ratio_samples(sessions: &[Self], pair: fn(&Self) -> Option<NumberPair>) -> Vec<RatioSample<'s>> {
        let sample = |it: &Self| {
            let TunedSession { project, last_ms, .. } = it.session;
            Some(RatioSample { pair: pair(it).filter(|it| it.1 > 0.0)?, project, at_ms: *last_ms })
        };
        sessions.iter().filter_map(sample).listed()
    }

    /// Returns what the variant and the base cost, if it is known of every session.
    fn variant_and_base_usd_sum(sessions: &[Self]) -> Option<NumberPair> {
        let costs: Option<Vec<_>> = sessions.iter().map(Self::variant_and_base_usd).collect();
        costs.map(|it| sum_of_pairs(it.into_iter()))
    }
}

/// Returns the relative difference in cost, if it is known for every session.
pub(super) fn cost_change_share(sessions: &[SessionUnderVariant<'_>]) -> Option<f64> {
    let (own, base) = SessionUnderVariant::variant_and_base_usd_sum(sessions)?;
    (base > 0.0).then(|| own / base - 1.0)
}

/// Returns the share of turns' requests that still show what the user asked; `None` where all do, or nothing is needed of it.
fn task_shown_share(sessions: &[SessionUnderVariant<'_>]) -> Option<f64> {
    let users = sessions.iter().map(|it| &it.variant_tally().sums.needs.users);
    let (met, needed) = sum_of_pairs(users.map(|it| (it.running_met, it.running)));
    (met < needed).then(|| met / needed)
}

/// Returns what the rule says of the variant that sessions are under, on these alone: it was chosen elsewhere, so nothing is tried beside it.
pub(super) fn judge_variant<'s>(all: &[SessionUnderVariant<'s>], min_evidence: f64) -> Option<Lever> {
    let effect = |run: &Tally, kept| SessionEffect { kept, ..SessionEffect::from_tally(run) };
    let session = |picked: &SessionUnderVariant<'s>| ComparedSession {
        project: &picked.session.project,
        last_ms: picked.session.last_ms,
        base: effect(&picked.session.base, picked.session.evidence_kept_and_needed(&picked.session.base, 0)),
        others: vec![effect(picked.variant_tally(), picked.kept_and_needed_evidence())],
    };
    let sessions = all.iter().map(session).listed();
    judge_compared_sessions(&sessions, &[String::new()], min_evidence).pop().filter(|_| !all.is_empty())
}

/// Names the numbers that stand for the evidence that is kept; loads of several kinds have several.
fn evidence_measure_names(sessions: &[SessionUnderVariant<'_>]) -> Option<String> {
    let names = sessions.iter().filter_map(|it| it.session.remembered.as_ref()).map(|it| it.0.as_str());
    let names = crate::distinct(names).join(" and ");
    (!names.is_empty()).then_some(names)
}

impl TunePart {
    /// Returns the results of several variants on the same sessions.
    pub(super) fn of_variants(sessions: &[&TunedSession], n_variants: usize) -> Vec<Self> {
        (0..n_variants).map(|nth| Self::new(&SessionUnderVariant::under_variant(sessions, nth))).listed()
    }

    /// Returns the results on some sessions.
    pub(super) fn new(all: &[SessionUnderVariant<'_>]) -> Self {
        let of_costs = SessionUnderVariant::ratio_samples(all, SessionUnderVariant::variant_and_base_usd);
        let of_kept = SessionUnderVariant::ratio_samples(all, SessionUnderVariant::kept_and_needed_evidence);
        let assumed = variant_and_base_assumed_costs(all);
        let reach = assumed.map(|[own, base]| own.reach_from(&base)).unwrap_or_default();
        let cost_limits = ratio_limits(&of_costs, reach);
        // Limits of a share, rather than of a change.
        let share = |it: Limit| Limit { interval: it.interval.map(|it| it.map(|end| 1.0 + end)), ..it };
        let evidence_limits = ratio_limits(&of_kept, AssumedReach::default()).into_iter().map(share).listed();
        let kept_low = interval_for_later(&evidence_limits).map(|ends| ends[0]);
        let cost = SessionUnderVariant::variant_and_base_usd_sum(all);
        let pairs: Vec<NumberPair> = of_costs.iter().map(|it| it.pair).listed();
        let kept = sum_of_pairs(of_kept.iter().map(|it| it.pair));
        let needs = all.iter().filter_map(|it| it.session.evidence_kept_and_needed(&it.session.base, 0));
        let base = sum_of_pairs(needs);
        let evidence_kept = (kept.1 > 0.0).then(|| kept.0 / kept.1);
        Self {
            sessions: all.len(),
            projects: super::distinct_projects(&all.iter().map(|it| it.session).listed()).len(),
            cost: cost.map(|it| it.0),
            base_cost: cost.map(|it| it.1),
            spread: Spread::new(&pairs, interval_for_later(&cost_limits)),
            cost_limits,
            evidence_kept,
            task_kept: task_shown_share(all),
            kept_of: evidence_measure_names(all),
            evidence_low: evidence_kept.map(|kept| kept_low.unwrap_or(kept)),
            evidence_limits,
            base_kept: (base.1 > 0.0).then(|| base.0 / base.1),
            without_best: change_without_best_block(&of_costs),
            bound: assumed.and_then(|[own, base]| own.bound_from(&base)),
        }
    }

    /// Returns the relative difference of its cost from the base's, if both are known for every session.
    pub fn cost_change_share(&self) -> Option<f64> {
        let (own, base) = self.cost.zip(self.base_cost)?;
        (base > 0.0).then(|| own / base - 1.0)
    }

    /// Returns whether it keeps a share of what is needed at the lower end of every interval.
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

    /// Describes its limits, each with the number of blocks that it rests on.
    pub fn intervals_text(&self) -> Option<String> {
        let decisive = for_later(&self.cost_limits);
        let words = |limit: &Limit| {
            let ends = limit.interval?;
            let kept = self.evidence_limits.iter().find(|kept| kept.over == limit.over);
            let kept = kept.and_then(|it| it.interval);
            let kept = kept.map_or_else(String::new, |it| format!(", at least {} kept", percent(it[0])));
            let decides = if Some(limit) == decisive { " (this decides)" } else { "" };
            Some(format!("{} {}%{kept}{decides}", interval_scope_text(limit), interval(ends)))
        };
        let limits = self.cost_limits.iter().filter_map(words);
        let bound = self.bound.map(|it| format!("if every assumption erred the same way {}%", interval(it)));
        let all = limits.chain(bound).listed().join("; ");
        (!all.is_empty()).then_some(all)
    }
}

/// Says where limits rest on too few blocks to tell how these differ.
pub(super) fn too_few_blocks_cautions(sessions: &[SessionUnderVariant<'_>]) -> Vec<String> {
    let samples = SessionUnderVariant::ratio_samples(sessions, SessionUnderVariant::variant_and_base_usd);
    // What is generated has neither projects nor times, and what is remembered is played under seeds.
    let is_recorded = sessions.iter().all(|it| it.session.remembered.is_none())
        && samples.iter().any(|it| it.at_ms.is_some() || !it.project.is_empty());
    if samples.is_empty() || !is_recorded {
        return Vec::new();
    }
    let n_projects = sample_blocks(Over::Projects, &samples).len();
    let known = if samples[0].project.is_empty() { "no project is known" } else { "they are of one project" };
    let of_projects = (n_projects == 1).then(|| format!("{known}, so how projects differ is assumed"));
    let Some(unit) = unit_of_blocks(&samples) else {
        let of_time = "not all tell their times, so how months differ is not known";
        return of_projects.into_iter().chain([of_time.to_owned()]).listed();
    };
    let n = sample_blocks(unit, &samples).len();
    let of_time = match (n, unit) {
        (1, _) => Some("they are of one day, so how the saving differs over time is assumed".to_owned()),
        (n, Over::Months) if n >= BLOCKS_MIN => None,
        (n, Over::Months) => Some(format!("how {} differ is mostly assumed", counted(n, Over::Months.one()))),
        (n, unit) => Some(format!(
            "they span one month, so months cannot be compared: the limit is over {} instead",
            counted(n, unit.one())
        )),
    };
    of_projects.into_iter().chain(of_time).listed()
}

/// Names what a limit is for.
pub(super) fn interval_scope_text(limit: &Limit) -> String {
    match limit.over {
        Over::Projects => "in other projects".to_owned(),
        over => format!("over {}", counted(limit.blocks, over.one())),
    }
}

/// Returns the projects and the blocks of time that limits rest on.
pub(super) fn parts_by_project_and_time(all: &[SessionUnderVariant<'_>]) -> Vec<BlockPart> {
    let samples = SessionUnderVariant::ratio_samples(all, SessionUnderVariant::variant_and_base_usd);
    let needs = SessionUnderVariant::ratio_samples(all, SessionUnderVariant::kept_and_needed_evidence);
    let parts_over = |over: Over| {
        let kept = sample_blocks(over, &needs);
        let part = |block: &SampleBlock<'_, '_>| {
            let (own, base) = block.pair();
            let kept = kept.iter().find(|kept| kept.name == block.name).map(|it| it.pair());
            BlockPart {
                over,
                name: block.name.clone(),
                sessions: block.samples.len(),
                base_cost: base,
                change: (base > 0.0).then(|| own / base - 1.0),
                evidence_kept: kept.map(|it| it.0 / it.1),
            }
        };
        sample_blocks(over, &samples).iter().map(part).listed()
    };
    let all = [Over::Projects].into_iter().chain(unit_of_blocks(&samples)).flat_map(parts_over);
    all.filter(|it| !it.name.is_empty()).listed()
}

/// Returns the costs of the variant and of the base, with what is assumed of them, on the sessions that can be compared.
fn variant_and_base_assumed_costs(sessions: &[SessionUnderVariant<'_>]) -> Option<[AssumedCost; 2]> {
    let [mut own, mut base] = [AssumedCost::default(); 2];
    for it in sessions.iter().filter(|it| it.variant_and_base_usd().is_some()) {
        own += it.variant_tally().assumed_cost().unwrap_or_default();
        base += it.session.base.assumed_cost().unwrap_or_default();
    }
    (base.usd > 0.0).then_some([own, base])
}

impl TunedSession {
    /// Returns the evidence that a run keeps, and that is needed; of memories, the share that the run at a place remembers (the base is at
    /// 0), of all that it is asked.
    fn evidence_kept_and_needed(&self, run: &Tally, run_ix: usize) -> Option<NumberPair> {
        let remembered = self.remembered.as_ref().and_then(|it| Some((*it.1.get(run_ix)?, 1.0)));
        remembered.or_else(|| Some(run.sums.needs.evidence()).filter(|it| it.1 > 0.0))
    }
}

/// A number of a session, and its baseline.
type NumberPair = (f64, f64);

/// Returns the change in a ratio without the project (or, for a single project, the session) without which it
/// is largest; `None` for a single one.
fn change_without_best_block(samples: &[RatioSample<'_>]) -> Option<f64> {
    let mut blocks = sample_blocks(Over::Projects, samples);
    if blocks.len() < 2 {
        blocks = sample_blocks(Over::Sessions, samples);
    }
    let pairs = || blocks.iter().map(|it| it.pair());
    let all = sum_of_pairs(pairs());
    let rest = pairs().map(|(own, base)| (all.0 - own) / (all.1 - base) - 1.0);
    rest.filter(|it| it.is_finite()).max_by(f64::total_cmp)
}
