//! Stages that never fired, or fired and changed nothing: a policy that did nothing has not been tested.

use indexmap::IndexMap;
use serde::Serialize;

use super::{Report, Run, distinct};
use crate::grid::numbers::{self, thousands};
use crate::ledger::Firing;
use crate::projection::Threshold;
use crate::quantity::UNLIMITED;

/// The most profile names in a sentence.
const NAMES_SHOWN: usize = 3;

/// How often a stage fired, in JSON.
#[derive(Debug, Serialize)]
pub(super) struct StageJson<'a> {
    stage: &'a str,
    /// How often its trigger held when it was considered.
    fired: u64,
    /// Of these, how often it edited anything.
    acted: u64,
}

impl Run {
    /// Returns how often its stages fired, or nothing if no policy acts.
    pub(super) fn stages_json(&self) -> Vec<StageJson<'_>> {
        let firings = self.tally.outcome.firings.iter();
        let stages = self.stages.iter().zip(firings);
        stages
            .map(|(it, firing)| StageJson { stage: &it.name, fired: firing.fired, acted: firing.acted })
            .collect()
    }

    /// Returns the same as one cell of a table.
    pub(super) fn stages_in_a_cell(&self) -> String {
        let words = self.stages_json().into_iter().map(|it| format!("{} {}", it.stage, it.fired));
        words.collect::<Vec<_>>().join("; ")
    }
}

impl Report {
    /// Returns a sentence for each policy with stages that never fired on any scenario, or never changed anything.
    pub fn notes_on_stages(&self) -> Vec<String> {
        let mut by_policy: IndexMap<&str, Vec<&Run>> = IndexMap::new();
        for run in self.runs.iter().filter(|it| !it.tally.outcome.firings.is_empty()) {
            by_policy.entry(&run.policy).or_default().push(run);
        }
        let notes = by_policy.into_iter().filter_map(|(policy, runs)| {
            let n_stages = runs.iter().map(|it| it.stages.len().min(it.tally.outcome.firings.len())).min()?;
            // Stages that wait for the same stand together.
            let mut told: IndexMap<String, Vec<String>> = IndexMap::new();
            for (stage, why) in (0..n_stages).filter_map(|it| Some((it, idle(it, &runs)?))) {
                told.entry(why).or_default().push(format!("`{}`", runs[0].stages[stage].name));
            }
            let n_told: usize = told.values().map(Vec::len).sum();
            let sentences: Vec<String> =
                told.into_iter().map(|(why, stages)| format!("{} {why}", numbers::listed(&stages))).collect();
            let lead =
                if n_told == n_stages { format!("{policy} changed nothing") } else { policy.to_owned() };
            (n_told > 0).then(|| format!("{lead}: {}.", sentences.join(". ")))
        });
        notes.collect()
    }
}

/// Describes under which profiles a stage never fired or never changed anything, and why.
pub(super) fn idle(stage: usize, runs: &[&Run]) -> Option<String> {
    let profiles = distinct(runs.iter().map(|it| it.profile.as_str()));
    let under =
        |profile: &str| -> Vec<&Run> { runs.iter().copied().filter(|it| it.profile == profile).collect() };
    let sum = |profile: &&str| {
        under(profile).into_iter().fold(Firing::default(), |sum, run| {
            let firing = run.tally.outcome.firings[stage];
            Firing { fired: sum.fired + firing.fired, acted: sum.acted + firing.acted }
        })
    };
    let never: Vec<&str> = profiles.iter().copied().filter(|it| sum(it).fired == 0).collect();
    if !never.is_empty() {
        let mine: Vec<&Run> = never.iter().flat_map(|it| under(it)).collect();
        let place = place(&never, profiles.len());
        return Some(format!("never fired{place}: {}", reason(stage, &mine)));
    }
    let in_vain: Vec<&str> = profiles.iter().copied().filter(|it| sum(it).acted == 0).collect();
    let n_fired: u64 = in_vain.iter().map(|it| sum(it).fired).sum();
    (!in_vain.is_empty()).then(|| {
        let place = place(&in_vain, profiles.len());
        let times = if n_fired == 1 { "once".to_owned() } else { format!("{} times", thousands(n_fired)) };
        format!("fired {times}{place} but changed nothing")
    })
}

/// Names the profiles, if not all.
fn place(profiles: &[&str], n_all: usize) -> String {
    if profiles.len() == n_all {
        return String::new();
    }
    let shown = profiles.iter().take(NAMES_SHOWN).copied().collect::<Vec<_>>().join(", ");
    match profiles.len().saturating_sub(NAMES_SHOWN) {
        0 => format!(" under {shown}"),
        more => format!(" under {shown} and {more} more"),
    }
}

/// Explains why a stage never fired, from the run that came closest to its condition.
fn reason(stage: usize, runs: &[&Run]) -> String {
    let facts = |run: &Run| run.stages[stage].clone();
    if runs.iter().all(|it| !facts(it).has_trigger) {
        return "its moment never came".to_owned();
    }
    let longest = |run: &Run| run.tally.sums.main.prompt_max;
    let falls_short = |it: &Threshold, run: &Run| {
        it.is_of_body || longest(run) < it.tokens || (longest(run) == it.tokens && !it.is_inclusive)
    };
    let known: Option<Vec<(Threshold, &Run)>> = runs
        .iter()
        .map(|run| facts(run).threshold.filter(|it| falls_short(it, run)).map(|it| (it, *run)))
        .collect();
    let share = |(it, run): &(Threshold, &Run)| longest(run) as f64 / it.tokens.max(1) as f64;
    let nearest =
        known.and_then(|it| it.into_iter().max_by(|left, right| share(left).total_cmp(&share(right))));
    let Some((threshold, run)) = nearest else { return "its condition never held".to_owned() };
    if threshold.tokens == UNLIMITED {
        return "it needs a limit that the profile does not have".to_owned();
    }
    let verb = if threshold.is_inclusive { "reached" } else { "exceeded" };
    let tokens = thousands(threshold.tokens);
    if threshold.is_of_body {
        return format!("no prompt {verb} {tokens} without its stable prefix");
    }
    // What may be fetched might reach it.
    let without = if run.tally.outcome.is_swayed { " without fetched results" } else { "" };
    format!("no prompt {verb} {tokens}; the longest was {}{without}", thousands(longest(run)))
}
