//! What a search over policies came to: the choice, what it beat on sessions that it was not chosen on, the front, and the ceiling.

use std::fmt::Write as _;

use serde::Serialize;

use super::{HELD_OUT_MIN, SplitBy, Tried, TunePart, Tuned, TunedSession, held_out};
use ctxsim_base::grid::numbers::{self, counted, fixed_or_none, or_none, percent, signed, thousands};
use ctxsim_base::grid::terminal::draw_with_note;
use ctxsim_base::grid::tint::{ROWS_LEAST, Terminal, Tint};
use ctxsim_base::grid::{Grid, Hue};
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::floor::Floor;

/// The search's method, as reports name it.
pub const DESIGN_METHOD: &str = "successive halving over sessions, then coordinate search";

/// The most policies of the front that a terminal shows.
const DESIGNS_SHOWN: usize = 10;

/// What a search over policies came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Designed {
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

/// Returns which sessions are held out of a search; none where they are too few to test a choice.
pub fn design_held_out(sessions: &[TunedSession], seed: u64) -> Vec<bool> {
    let all: Vec<&TunedSession> = sessions.iter().listed();
    let out = held_out(SplitBy::of(&all), &all, seed);
    let n = out.iter().filter(|it| **it).count();
    if n >= HELD_OUT_MIN && n < all.len() { out } else { vec![false; all.len()] }
}

impl Designed {
    /// Judges a choice on the sessions that it was not chosen on.
    pub fn new(base: &str, sessions: &[TunedSession], tested: DesignTested) -> Self {
        let DesignTested { names, stages, front, best_preset, ceiling, min_evidence, search } = tested;
        let is_out = design_held_out(sessions, search.seed);
        let is_split = is_out.contains(&true);
        let of_part =
            |out: bool| sessions.iter().zip(&is_out).filter(move |it| *it.1 == out).map(|it| it.0).listed();
        let parts: Vec<Vec<&TunedSession>> =
            if is_split { vec![of_part(false), of_part(true)] } else { vec![of_part(false)] };
        let by_part: Vec<Vec<TunePart>> =
            parts.iter().map(|it| TunePart::of_variants(it, names.len())).listed();
        let policy = |nth: usize| DesignedPolicy {
            name: names[nth].0.clone(),
            is_preset: names[nth].1,
            parts: by_part.iter().map(|it| it[nth].clone()).listed(),
        };
        let (name, is_preset) = names.first().cloned().unwrap_or_default();
        let alone = |it: &TunedSession| TunedSession {
            variants: it.variants.iter().take(1).cloned().listed(),
            ..it.clone()
        };
        let tried = Tried { points: vec![vec![name.clone()]], ..Tried::default() };
        let chosen = sessions.iter().map(alone).listed();
        let tuned = Tuned::new([base, &name], &chosen, tried, min_evidence, search.seed);
        let last = |it: &DesignedPolicy| it.parts.last().cloned();
        let own = policy(0).parts.last().and_then(TunePart::change);
        let presets: Vec<TunePart> = (0..names.len())
            .map(policy)
            .filter(|it| it.is_preset && it.name != name)
            .filter_map(|it| last(&it))
            .listed();
        let keeping = |it: &&TunePart| {
            it.change().is_some() && Floor(min_evidence).keeps(it.evidence_kept, it.task_kept)
        };
        let beaten = |it: &&TunePart| own.zip(it.change()).is_some_and(|(own, other)| own < other);
        let of_ceiling = |out: bool| {
            let own =
                || sessions.iter().zip(&ceiling).zip(&is_out).filter(move |it| *it.1 == out).map(|it| it.0);
            let base: f64 = own().filter_map(|it| it.0.base.costs.total()).sum();
            let change = |nth: usize| {
                let sum: Option<f64> = own().map(|it| it.1[nth]).sum();
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
            presets_keeping: presets.iter().filter(keeping).count(),
            presets_beaten: presets.iter().filter(keeping).filter(beaten).count(),
            front: front.into_iter().map(policy).listed(),
            ceiling: if is_split {
                vec![of_ceiling(false), of_ceiling(true)]
            } else {
                vec![of_ceiling(false)]
            },
            search,
        }
    }

    /// Returns where a policy file has its numbers from.
    pub fn source(&self) -> String {
        let on = self.tuned.parts.last().map_or_else(String::new, TunePart::words);
        let what = if self.tuned.parts.len() > 1 { "the sessions held out" } else { "all sessions" };
        format!("ctxsim tune --design, on {what}: {on}")
    }

    /// Returns what a policy file says of how it was found: one paragraph each.
    pub fn evidence(&self) -> Vec<String> {
        let mut lines = vec![self.best(), self.answer()];
        lines.extend(self.on_parts().map(|(head, words)| format!("{head} {words}.")));
        lines.extend(self.beat());
        lines.extend(self.ceiling_words());
        lines.push(self.searched());
        lines
    }

    /// Names the choice.
    fn best(&self) -> String {
        match &self.preset {
            Some(preset) => format!("Best policy: the preset {preset}, as it is."),
            None => format!("Best policy: {}.", self.name),
        }
    }

    /// Says whether the rule recommends it.
    fn answer(&self) -> String {
        match &self.tuned.reason {
            Some(reason) => format!("Nothing is recommended: {reason}."),
            None => "Recommended: the held-out sessions confirm it.".to_owned(),
        }
    }

    /// Says how it did on each part of the sessions.
    fn on_parts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let heads: &[&str] = if self.tuned.parts.len() > 1 { &["Chosen on", "Held out:"] } else { &["All"] };
        let words = |part: &TunePart| format!("{}: {}", counted(part.sessions, "session"), part.words());
        heads.iter().copied().zip(self.tuned.parts.iter().map(words))
    }

    /// Says what the choice beat on the sessions that it was not chosen on.
    fn beat(&self) -> Option<String> {
        let place = if self.tuned.parts.len() > 1 { "On the sessions held out" } else { "On these sessions" };
        let of_presets = match self.presets_keeping {
            0 => "no other preset that was tried keeps the floor".to_owned(),
            n => format!("it costs less than {} of {n} presets that keep the floor", self.presets_beaten),
        };
        let best = self.best_preset.as_ref().filter(|it| it.name != self.name);
        let best = best.and_then(|it| {
            let [own, other] = [&self.tuned.parts, &it.parts].map(|it| it.last().and_then(TunePart::change));
            let change = (1.0 + own?) / (1.0 + other?) - 1.0;
            Some(format!(
                "; against {}, which would have been chosen from the presets, {}",
                it.name,
                signed(change)
            ))
        });
        Some(format!("{place}, {of_presets}{}.", best.unwrap_or_default()))
    }

    /// Says how much there is to gain.
    fn ceiling_words(&self) -> Option<String> {
        let it = self.ceiling.last()?;
        let hindsight =
            format!("Ceiling there: hindsight, which knows the future, {}", signed(it.hindsight?));
        let bound = it.bound.map_or_else(String::new, |it| {
            format!("; no policy that keeps every needed item can save more than {}", percent(-it))
        });
        Some(format!("{hindsight}{bound}."))
    }

    /// Says what was tried.
    fn searched(&self) -> String {
        let DesignedSearch { method, seed, budget, plays, policies, presets, is_cut } = &self.search;
        let cut = if *is_cut { ", which ended it" } else { "" };
        format!(
            "Tried {} ({} presets) in {} of {} simulations{cut}: {method}; seed {seed}.",
            counted(*policies, "policy").replace("policys", "policies"),
            thousands(*presets as u64),
            thousands(*plays as u64),
            thousands(*budget as u64),
        )
    }
}

/// Returns what was found as text.
pub fn designed(it: &Designed, on: impl Into<Terminal>) -> String {
    let on = on.into();
    on.fitted(ROWS_LEAST..=DESIGNS_SHOWN, |on, n_shown| text(it, n_shown, on))
}

fn text(it: &Designed, n_shown: usize, on: Terminal) -> String {
    let mut text = String::new();
    on.paragraph(Tint::Strong, "", &it.answer(), &mut text);
    on.paragraph(Tint::Plain, "", &it.best(), &mut text);
    on.paragraphs(Tint::Plain, "  ", &it.stages, &mut text);
    for (head, words) in it.on_parts() {
        on.paragraph(Tint::Plain, &format!("  {head} "), &words, &mut text);
    }
    on.paragraphs(Tint::Plain, "", it.beat().into_iter().chain(it.ceiling_words()), &mut text);
    text.push('\n');
    let _ = writeln!(text, "{}", draw_with_note(&front(it, n_shown), on));
    if !on.is_quiet {
        on.paragraph(Tint::Faint, "", &it.searched(), &mut text);
    }
    text
}

/// Returns the front as a table.
fn front(it: &Designed, n_shown: usize) -> Grid {
    let heads: &[&str] = if it.tuned.parts.len() > 1 { &["chosen-on", "held-out"] } else { &["all"] };
    let of_parts = heads.iter().flat_map(|head| ["USD", "Δ cost", "kept"].map(|it| format!("{head} {it}")));
    let headings: Vec<String> = std::iter::once(String::new()).chain(of_parts).listed();
    let costs = it.tuned.parts.iter().filter_map(|part| part.base_cost);
    let decimals = numbers::decimals(costs.fold(0.0, f64::max));
    let own = |part: &TunePart| {
        [
            fixed_or_none(part.cost, decimals),
            or_none(part.change(), signed),
            or_none(part.evidence_kept, percent),
        ]
    };
    let row = |policy: &DesignedPolicy| {
        let best = if policy.name == it.name { " (best)" } else { "" };
        let cells = policy.parts.iter().flat_map(own);
        std::iter::once(format!("{}{best}", policy.name)).chain(cells).listed()
    };
    let rows = it.front.iter().take(n_shown).map(row).listed();
    let changes = headings.iter().filter(|it| it.ends_with("Δ cost")).map(String::as_str).listed();
    Grid::new("Policies that no other beats in both cost and evidence", 1, &headings, rows)
        .hued(Hue::Less, &changes)
        .leaving_out(it.front.len().saturating_sub(n_shown), "ctxsim tune --design --json")
}
