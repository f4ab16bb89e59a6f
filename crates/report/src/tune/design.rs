//! What a search over policies came to: the choice, what it beat on sessions that it was not chosen on, the front, and the ceiling.

use ctxsim_engine::measure::floor::Floor;

use super::drawn::{COLUMNS, recommendation_sentence};
use super::{SessionSplit, TriedVariants, TunePart, Tuned, TunedSession};
use crate::blocks::{Block, ListBlock};
use crate::found::{SearchResultText, candidates_grid};
use crate::prelude::*;

/// The search's method, as reports name it.
pub const DESIGN_METHOD: &str = "successive halving over sessions, then coordinate search";

/// The most policies of the front that a terminal shows.
const DESIGNS_SHOWN: usize = 10;

/// What a search over policies came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesignSearchResult {
    /// The best policy: its name as a preset, its stages, or both.
    pub name: String,
    /// The preset that is the best policy as it is, if one is.
    pub preset: Option<String>,
    /// What each of its stages does.
    pub stages: Vec<String>,
    /// What the rule of `tune` says of it.
    pub tuned: Tuned,
    /// The cheapest preset by the same rule; none where only the base keeps the floor.
    pub best_preset: Option<DesignedPolicy>,
    /// Of the presets that were tried on the sessions held out: those that keep the floor there, and how many of these cost more than the choice.
    pub presets_keeping: usize,
    pub presets_beaten: usize,
    /// The policies that no other beats in both cost and evidence on the sessions that were chosen on, the cheapest first.
    pub front: Vec<DesignedPolicy>,
    /// On each part of the sessions: how much `hindsight` changes the cost, and the most that any policy that keeps every needed item can.
    pub ceiling: Vec<DesignCeiling>,
    pub search: DesignedSearch,
}

/// A policy on both parts of the sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesignedPolicy {
    pub name: String,
    pub is_preset: bool,
    pub parts: Vec<TunePart>,
}

/// How much there is to gain: changes of the base's cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DesignCeiling {
    pub hindsight: Option<f64>,
    pub bound: Option<f64>,
}

/// What a search tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DesignedSearch {
    pub method: &'static str,
    pub seed: u64,
    /// The most plays of one policy on one session.
    pub budget: usize,
    pub plays: usize,
    /// How many policies were played, and how many presets there are.
    pub policies: usize,
    pub presets: usize,
    /// Whether the budget ended it.
    pub is_cut: bool,
}

/// What is played on all sessions once a search has ended: variants of each session in this order.
#[derive(Clone, Debug, Default)]
pub struct DesignTested {
    /// The names of the variants, and whether each is a preset as it is; the choice is the first.
    pub names: Vec<(String, bool)>,
    /// What each of the choice's stages does.
    pub stages: Vec<String>,
    /// The variants of the front, and the cheapest preset, by their places.
    pub front: Vec<usize>,
    pub best_preset: Option<usize>,
    /// By session: the cost of `hindsight`, and the least that any policy that keeps everything needed costs, in US dollars.
    pub ceiling: Vec<[Option<f64>; 2]>,
    pub min_evidence: f64,
    pub search: DesignedSearch,
}

impl DesignSearchResult {
    /// Judges a choice on the sessions that it was not chosen on.
    pub fn new(base: &str, sessions: &[TunedSession], tested: DesignTested) -> Self {
        let DesignTested { names, stages, front, best_preset, ceiling, min_evidence, search } = tested;
        let halves = SessionSplit::new(sessions, search.seed).part_indices();
        let parts = halves.iter().map(|half| half.iter().map(|it| &sessions[*it]).listed());
        let by_part = parts.map(|it| TunePart::of_variants(&it, names.len(), min_evidence)).listed();
        let policy = |nth: usize| DesignedPolicy {
            name: names[nth].0.clone(),
            is_preset: names[nth].1,
            parts: by_part.iter().map(|it| it[nth].clone()).listed(),
        };
        let (name, is_preset) = names.first().cloned().unwrap_or_default();
        let mut chosen = sessions.to_vec();
        chosen.iter_mut().for_each(|it| it.variants.truncate(1));
        let tried = TriedVariants { points: vec![vec![name.clone()]], ..TriedVariants::default() };
        let tuned = Tuned::new([base, &name], &chosen, tried, min_evidence, search.seed);
        let judged = by_part.last().map_or(&[][..], Vec::as_slice);
        let own = judged.first().and_then(TunePart::cost_change_share);
        // Changes of the other presets that keep the floor.
        let presets = names.iter().zip(judged).filter(|it| it.0.1 && it.0.0 != name);
        let keeping = presets.filter(|it| Floor(min_evidence).keeps(it.1.evidence_kept, it.1.task_kept));
        let keeping = keeping.filter_map(|it| it.1.cost_change_share()).listed();
        let of_ceiling = |half: &Vec<usize>| {
            let base: f64 = half.iter().filter_map(|it| sessions[*it].base.costs.total()).sum();
            let change = |nth: usize| {
                let sum: Option<f64> = half.iter().map(|it| ceiling.get(*it)?[nth]).sum();
                sum.filter(|_| base > 0.0).map(|it| it / base - 1.0)
            };
            DesignCeiling { hindsight: change(0), bound: change(1) }
        };
        Self {
            preset: is_preset.then(|| name.clone()),
            name,
            stages,
            tuned,
            best_preset: best_preset.map(policy),
            presets_keeping: keeping.len(),
            presets_beaten: keeping.iter().filter(|other| own.is_some_and(|own| own < **other)).count(),
            front: front.into_iter().map(policy).listed(),
            ceiling: halves.iter().map(of_ceiling).listed(),
            search,
        }
    }

    /// Returns where a policy file has its numbers from.
    pub fn provenance_sentence(&self) -> String {
        let on = self.tuned.parts.last().map_or_else(String::new, TunePart::result_clause);
        let what = if self.tuned.parts.len() > 1 { "the sessions held out" } else { "all sessions" };
        format!("ctxsim tune --design, on {what}: {on}")
    }

    /// Returns what a policy file says of how it was found: one paragraph each.
    pub fn provenance_paragraphs(&self) -> Vec<String> {
        let mut lines = vec![self.choice_sentence(), recommendation_sentence(&self.tuned)];
        lines.extend(self.part_sentences().map(|words| words + ".").chain([self.beaten_presets_sentence()]));
        lines.extend(self.ceiling_sentence().into_iter().chain([self.search_sentence()]));
        lines
    }

    /// Names the choice.
    fn choice_sentence(&self) -> String {
        match &self.preset {
            Some(preset) => format!("Best policy: the preset {preset}, as it is."),
            None => format!("Best policy: {}.", self.name),
        }
    }

    /// Says how it did on each part of the sessions.
    fn part_sentences(&self) -> impl Iterator<Item = String> {
        let parts = &self.tuned.parts;
        let heads: &[&str] = if parts.len() > 1 { &["Chosen on ", "Held out: "] } else { &["All "] };
        heads.iter().zip(parts).map(|(head, part)| {
            format!("{head}{}: {}", counted(part.sessions, "session"), part.result_clause())
        })
    }

    /// Says what the choice beat on the sessions that it was not chosen on.
    fn beaten_presets_sentence(&self) -> String {
        let place = if self.tuned.parts.len() > 1 { "On the sessions held out" } else { "On these sessions" };
        let of_presets = match self.presets_keeping {
            0 => "no other preset that was tried keeps the floor".to_owned(),
            n => format!("it costs less than {} of {n} presets that keep the floor", self.presets_beaten),
        };
        let last = |parts: &[TunePart]| parts.last().and_then(TunePart::cost_change_share);
        let best = self.best_preset.as_ref().filter(|it| it.name != self.name);
        let best = best.zip(last(&self.tuned.parts)).and_then(|(preset, own)| {
            let change = signed((1.0 + own) / (1.0 + last(&preset.parts)?) - 1.0);
            let which = "which would have been chosen from the presets";
            Some(format!("; against {}, {which}, {change}", preset.name))
        });
        format!("{place}, {of_presets}{}.", best.unwrap_or_default())
    }

    /// Says how much there is to gain.
    fn ceiling_sentence(&self) -> Option<String> {
        let ceiling = self.ceiling.last()?;
        let hindsight = signed(ceiling.hindsight?);
        let bound = ceiling.bound.map_or_else(String::new, |it| {
            format!("; no policy that keeps every needed item can save more than {}", percent(-it))
        });
        Some(format!("Ceiling there: hindsight, which knows the future, {hindsight}{bound}."))
    }

    /// Says what was tried.
    fn search_sentence(&self) -> String {
        let DesignedSearch { method, seed, budget, plays, policies, presets, is_cut } = &self.search;
        let cut = if *is_cut { ", which ended it" } else { "" };
        let policies = counted(*policies, "policy");
        let [presets, plays, budget] = [presets, plays, budget].map(|it| thousands(*it as u64));
        format!(
            "Tried {policies} ({presets} presets) in {plays} of {budget} simulations{cut}: {method}; seed {seed}."
        )
    }
}

/// Returns what was found as text.
pub fn terminal_text(designed: &DesignSearchResult, terminal: impl Into<Terminal>) -> String {
    let stages = designed.stages.clone();
    let best = ListBlock { heading: designed.choice_sentence(), lines: stages, most: Some(usize::MAX) };
    let mut answer = vec![Block::Answer(recommendation_sentence(&designed.tuned)), Block::List(best)];
    answer.extend(designed.part_sentences().map(Block::Text));
    answer.push(Block::Text(designed.beaten_presets_sentence()));
    answer.extend(designed.ceiling_sentence().map(Block::Text));
    SearchResultText {
        answer,
        table: front_grid(designed),
        has_base: false,
        most: DESIGNS_SHOWN,
        shows_all_by: "ctxsim tune --design --json",
        notes: vec![designed.search_sentence()],
    }
    .draw(false, terminal.into())
}

/// Returns the front as a table.
fn front_grid(designed: &DesignSearchResult) -> Grid {
    let costs = designed.tuned.parts.iter().filter_map(|part| part.base_cost);
    let decimals = numbers::decimals(costs.fold(0.0, f64::max));
    let row = |policy: &DesignedPolicy| {
        let best = if policy.name == designed.name { " (best)" } else { "" };
        (policy.name.clone() + best, policy.parts.iter().map(|it| it.format_cells(decimals)).listed())
    };
    candidates_grid(&COLUMNS, designed.tuned.parts.len(), designed.front.iter().map(row).listed())
}
