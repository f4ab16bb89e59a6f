//! The cheapest parameters under a floor of evidence, chosen on one part of the sessions and held against the other.
//!
//! `tune` and `advise` share this rule.

pub mod design;
mod drawn;
mod goal;
mod part;
mod verdict;

use std::borrow::Cow;

use ctxsim_base::rng::Seed;
use ctxsim_input::profile::calendar;
use goal::GoalSearch;

use crate::lever::{Lever, Word};
use crate::prelude::*;

pub use drawn::{html_page, terminal_text};
pub use goal::{GoalNumber, GoalPoint, GoalResult, TuneGoal};
pub use part::TunePart;
pub use verdict::{Reason, WhyNot};

/// So many sessions have to be held out: were saving and losing equally likely, fewer of them would all save once in sixteen times.
const HELD_OUT_MIN: usize = 5;

/// The stream that parts projects.
const PURPOSE: &str = "projects held out";

/// A session under the base and under each variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TunedSession {
    /// Its working folder, where the log tells it, else the folder of its recording.
    pub project: String,
    /// When its last request was, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// The base's result.
    pub base: Tally,
    /// Each variant's result.
    pub variants: Vec<Tally>,
    /// For memories, which declare no needs: the name of the number that is used as the evidence kept, and its value as a share of all
    /// questions, for the base and then for each variant.
    pub remembered: Option<(String, Vec<f64>)>,
    /// The numbers of the goal, objectives before guards: of the base and then of each variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Vec<Option<f64>>>,
}

/// A path that is varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariedPath {
    /// The path, as in `--set`.
    pub path: String,
    /// The values that are tried, as in `--set`.
    pub values: Vec<String>,
    /// Where the values come from.
    pub rule: Cow<'static, str>,
}

/// A parameter that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedParam {
    /// Its name.
    pub param: String,
    /// Why it is not varied.
    pub reason: String,
}

/// What is tried.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TriedVariants {
    /// The paths that are varied.
    pub varied: Vec<VariedPath>,
    /// The parameters that are left as they are.
    pub fixed: Vec<FixedParam>,
    /// The overrides of each variant.
    pub points: Vec<Vec<String>>,
    /// The names of the policy's stages.
    pub stages: Vec<String>,
    /// What is looked for, if it is not the lowest cost.
    #[serde(default)]
    pub goal: TuneGoal,
}

/// How sessions were split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitBy {
    /// Whole projects are held out.
    Project,
    /// The newest sessions are held out.
    #[default]
    Time,
}

/// A variant and its results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunedPoint {
    /// Its overrides; none for the policy as it is.
    pub set: Vec<String>,
    /// Its results on the part that is chosen on, and on the part that is held out, if there is one.
    pub parts: Vec<TunePart>,
}

/// The result of tuning.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tuned {
    /// The base.
    pub base: String,
    /// The policy whose parameters were looked for.
    pub policy: String,
    /// The share of evidence that has to be kept.
    pub min_evidence: f64,
    /// How many variants were played.
    pub variants: usize,
    /// The paths that were varied.
    pub varied: Vec<VariedPath>,
    /// The parameters that were left as they are.
    pub fixed: Vec<FixedParam>,
    /// How the sessions were split.
    pub split: SplitBy,
    /// The overrides of the best variant: the cheapest, on the part that it was chosen on, of those that are certain
    /// to keep enough evidence; where none is, the cheapest.
    pub chosen: Vec<String>,
    /// Its results on the part that it was chosen on, and on the part that was held out, if there is one.
    pub parts: Vec<TunePart>,
    /// By how much its saving was smaller on what was held out.
    pub optimism: Option<f64>,
    /// What the rule says of the best variant on what was held out (of all sessions, where none was), as a word and in a sentence.
    pub word: Option<Word>,
    pub word_rests_on: Option<String>,
    pub is_recommended: bool,
    /// Why it is not, as a word.
    pub why_not: Option<WhyNot>,
    /// Why it is not, in a sentence.
    pub reason: Option<String>,
    /// Stages that fired in no variant, on no session.
    pub never_fired: Vec<String>,
    /// The longest prompt under the base.
    pub prompt_tokens_max: u64,
    /// All variants, the best first.
    pub points: Vec<TunedPoint>,
    /// The result by what was asked for, if that is not the lowest cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalResult>,
    /// The recommended policy as a RON file; `None` if none is, or nobody asked for it. It is no part of the JSON.
    #[serde(skip)]
    pub file: Option<String>,
    /// The date of the newest session. It is no part of the JSON.
    #[serde(skip)]
    pub day: Option<String>,
}

impl Tuned {
    /// Chooses on one part of the sessions and holds the choice against the other: the newest sessions are held out where times are
    /// known, else whole projects where there are several.
    pub fn new(
        [base, policy]: [&str; 2],
        sessions: &[TunedSession],
        tried: TriedVariants,
        min_evidence: f64,
        seed: u64,
    ) -> Self {
        let split = SessionSplit::new(sessions, seed);
        let part = |of: Vec<usize>| of.into_iter().map(|it| &sessions[it]).listed();
        let parts: Vec<Vec<&TunedSession>> = split.part_indices().into_iter().map(part).listed();
        let n_variants = tried.points.len();
        let by_part = parts.iter().map(|it| TunePart::of_variants(it, n_variants, min_evidence)).listed();
        let point = |(nth, set): (usize, Vec<String>)| TunedPoint {
            set,
            parts: by_part.iter().map(|it| it[nth].clone()).listed(),
        };
        let points: Vec<TunedPoint> = tried.points.into_iter().enumerate().map(point).listed();
        let search = GoalSearch { goal: &tried.goal, parts: &parts, n: n_variants };
        let order = if tried.goal.has_objectives() {
            search.variants_best_first()
        } else {
            variants_by_cost(&points, min_evidence)
        };
        let points: Vec<TunedPoint> = order.iter().map(|it| points[*it].clone()).listed();
        let never_fired = stages_never_fired(&tried.stages, sessions);
        // What was chosen elsewhere is tried alone; what was chosen on these very sessions, beside all others.
        let tried_here = if parts.len() > 1 { order[..order.len().min(1)].to_vec() } else { order.clone() };
        let found = parts.last().map(|part| part::judge_variants(part, &tried_here, min_evidence));
        let found = found.and_then(|it| it.into_iter().next()).unwrap_or_default();
        let mut tuned = Self {
            base: base.to_owned(),
            policy: policy.to_owned(),
            min_evidence,
            variants: points.len(),
            varied: tried.varied,
            fixed: tried.fixed,
            split: split.by,
            chosen: points.first().map(|it| it.set.clone()).unwrap_or_default(),
            parts: points.first().map(|it| it.parts.clone()).unwrap_or_default(),
            prompt_tokens_max: sessions.iter().map(|it| it.base.sums.main.prompt_max).max().unwrap_or(0),
            never_fired,
            goal: tried.goal.has_objectives().then(|| search.goal_result(&order, &points)).flatten(),
            points,
            day: sessions.iter().filter_map(|it| it.last_ms).max().map(calendar::date_text),
            ..Self::default()
        };
        let all_idle = !tried.stages.is_empty() && tuned.never_fired.len() == tried.stages.len();
        tuned.set_recommendation(all_idle, [sessions.len(), split.n_held_out()], found);
        tuned
    }

    /// Takes what the goal, or else the rule of costs, says of the best variant; `n` is how many sessions there are, and how many are held out.
    fn set_recommendation(&mut self, is_all_idle: bool, n: [usize; 2], found: Lever) {
        let reason = if let Some(goal) = &self.goal {
            (self.word, self.word_rests_on) = (Some(goal.word), Some(goal.why.clone()));
            (goal.word != Word::Do).then(|| Reason { why: WhyNot::Word, text: goal.why.clone() })
        } else {
            if let [own, out] = self.parts.as_slice() {
                self.optimism = own.spread.zip(out.spread).map(|(own, out)| out.change - own.change);
            }
            (self.word, self.word_rests_on) = (found.word, found.verdict_sentence());
            let too_few = || (self.parts.len() < 2).then(|| self.too_few_sessions_reason(n[0], n[1]));
            let reason = self.why_nothing_chosen(is_all_idle).or_else(too_few);
            let name = variant_name(&self.chosen);
            let reason = reason.or_else(|| verdict::reason_unless_word_is_do(&found, &name));
            if let Some(part) = self.parts.last_mut() {
                part.take_judgement(&found);
            }
            reason
        };
        self.is_recommended = reason.is_none();
        (self.why_not, self.reason) = reason.map(|it| (it.why, it.text)).unzip();
    }

    /// Returns what a policy file says of where its numbers come from.
    pub fn provenance_sentence(&self) -> String {
        let [own, out] = self.parts.as_slice() else { return String::new() };
        let until = self.day.as_ref().map_or_else(String::new, |it| format!(" up to {it}"));
        let (variants, sessions) = (counted(self.variants, "variant"), counted(own.sessions, "session"));
        let (n, how, words) = (out.sessions, self.split_description(), out.result_clause());
        format!(
            "Chosen from {variants} by ctxsim tune on {sessions} and tested on {n} others{until} ({how}): {words}"
        )
    }

    /// Counts the sessions of its parts.
    fn n_sessions(&self) -> usize {
        self.parts.iter().map(|it| it.sessions).sum()
    }

    fn split_description(&self) -> &'static str {
        if self.split == SplitBy::Time { "the newest held out" } else { "whole projects held out" }
    }
}

/// Returns the order of variants by what they cost: those that are certain to keep enough first, then the others, then those that cannot be
/// compared. Points that cost the same stay in the order in which they were tried.
fn variants_by_cost(points: &[TunedPoint], min_evidence: f64) -> Vec<usize> {
    let key = |nth: usize| match points[nth].parts.first().and_then(|it| Some((it, it.cost_change_share()?)))
    {
        Some((own, change)) => (u8::from(!own.surely_keeps(min_evidence)), change),
        None => (2, 0.0),
    };
    let mut order = (0..points.len()).listed();
    order.order_by(|one, other| {
        let (one, other) = (key(*one), key(*other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    order
}

/// Returns a variant's results on all sessions.
pub fn variant_on_all_sessions(sessions: &[TunedSession], nth: usize, min_evidence: f64) -> TunePart {
    let n_variants = sessions.first().map_or(0, |it| it.variants.len());
    TunePart::of_variants(&sessions.iter().listed(), n_variants, min_evidence).swap_remove(nth)
}

/// Returns the projects of sessions, sorted.
fn distinct_projects<'s>(sessions: &[&'s TunedSession]) -> BTreeSet<&'s str> {
    sessions.iter().map(|it| it.project.as_str()).collect()
}

/// Names a variant by its overrides.
pub fn variant_name(overrides: &[String]) -> String {
    if overrides.is_empty() { "as it is".to_owned() } else { super::sweep::short_overrides(overrides) }
}

/// Returns the stages that fired in no variant, on no session.
fn stages_never_fired(stages: &[String], sessions: &[TunedSession]) -> Vec<String> {
    let fired = |stage: usize| {
        let mut all = sessions.iter().flat_map(|it| &it.variants);
        all.any(|it| it.outcome.firings.get(stage).is_some_and(|firing| firing.fired > 0))
    };
    stages.iter().enumerate().filter(|(nth, _)| !fired(*nth)).map(|(_, name)| name.clone()).listed()
}

/// Sessions to choose on, and sessions to test the choice on.
pub struct SessionSplit {
    by: SplitBy,
    /// Whether each session is held out.
    is_out: Vec<bool>,
}

impl SessionSplit {
    /// Splits sessions: by time where times are known, else by projects where there are several.
    pub fn new(sessions: &[TunedSession], seed: u64) -> Self {
        let all = sessions.iter().listed();
        if !sessions.iter().all(|it| it.last_ms.is_some()) && distinct_projects(&all).len() > 1 {
            return Self { by: SplitBy::Project, is_out: sessions_in_held_out_projects(&all, seed) };
        }
        let mut order: Vec<usize> = (0..sessions.len()).listed();
        order.order_by_key(|it| (sessions[*it].last_ms, *it));
        let mut is_out = vec![false; sessions.len()];
        order.iter().skip(sessions.len() / 2).for_each(|it| is_out[*it] = true);
        Self { by: SplitBy::Time, is_out }
    }

    /// Counts the sessions that are held out.
    fn n_held_out(&self) -> usize {
        self.is_out.iter().filter(|it| **it).count()
    }

    /// Returns the sessions to choose on and those held out, by their places; too few to test a choice are one part, which still shows what it
    /// would be.
    pub fn part_indices(&self) -> Vec<Vec<usize>> {
        let n = self.is_out.len();
        if !(HELD_OUT_MIN..n).contains(&self.n_held_out()) {
            return vec![(0..n).listed()];
        }
        let (out, own) = (0..n).partition(|it| self.is_out[*it]);
        vec![own, out]
    }
}

/// Draws which projects are held out; returns it by session.
fn sessions_in_held_out_projects(sessions: &[&TunedSession], seed: u64) -> Vec<bool> {
    let stream = Seed(seed).stream(PURPOSE, 0);
    let draw = |(nth, project)| (stream.nth(0, nth).next_between(0, u64::MAX), project);
    let mut drawn: Vec<(u64, &str)> = (0..).zip(distinct_projects(sessions)).map(draw).listed();
    drawn.sort_unstable();
    // Each project goes to the smaller part, so that both have as many sessions as can be.
    let (mut n, mut held_out) = ([0_usize; 2], Vec::new());
    for (_, project) in drawn {
        let size = sessions.iter().filter(|it| it.project == project).count();
        let part = usize::from(n[1] < n[0]);
        n[part] += size;
        if part == 1 {
            held_out.push(project);
        }
    }
    sessions.iter().map(|it| held_out.contains(&it.project.as_str())).listed()
}
