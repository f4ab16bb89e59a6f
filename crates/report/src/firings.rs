//! What stages did: those that never fired, or fired and changed nothing, and why the cost of a policy differs from the first one's.

use super::contrast::times_in_words;
use super::sections::TableLine;
use crate::prelude::*;
use ctxsim_base::quantity::UNLIMITED;
use ctxsim_engine::ledger::Firing;
use ctxsim_engine::projection::Threshold;
use ctxsim_engine::take::StageFacts;
use std::sync::Arc;

/// The most profile names in a sentence.
const NAMES_SHOWN: usize = 3;

/// What the stages of one policy did, gathered run by run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StageActivity {
    /// Those of the first run.
    facts: Arc<[StageFacts]>,
    /// The number of those that all runs with stages have.
    n: Option<usize>,
    by_profile: IndexMap<String, Vec<StageFirings>>,
}

/// What a stage did under one profile.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StageFirings {
    firing: Firing,
    /// Whether it had a condition in some run.
    has_trigger: bool,
    /// The run that came closest to its condition, if that is known in advance and no run met it.
    nearest: Option<NearestMiss>,
}

/// A run that did not meet a stage's condition.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NearestMiss {
    threshold: Threshold,
    longest: Tokens,
    is_swayed: bool,
}

impl StageActivity {
    /// Adds what the stages of a run did.
    pub(super) fn add_run(&mut self, run: &Run) {
        let firings = &run.tally.outcome.firings;
        if self.n.is_none() {
            self.facts = Arc::clone(&run.stages);
        }
        if firings.is_empty() {
            return;
        }
        let stages = run.stages.iter().zip(firings);
        let watched = stages.map(|(facts, firing)| StageFirings::new(facts, *firing, run));
        let n = run.stages.len().min(firings.len());
        self.n = Some(self.n.map_or(n, |it| it.min(n)));
        match self.by_profile.get_mut(&run.profile) {
            Some(all) => all.iter_mut().zip(watched).for_each(|(it, more)| it.add(&more)),
            None => _ = self.by_profile.insert(run.profile.clone(), watched.listed()),
        }
    }

    /// Says of each stage that never fired or never changed anything under which profiles, and why.
    pub(super) fn describe_idle_stages(&self) -> impl Iterator<Item = (&str, String)> {
        let n = self.n.unwrap_or_default();
        (0..n).filter_map(|nth| Some((self.facts[nth].name.as_str(), self.describe_idle_stage(nth)?)))
    }

    /// Describes under which profiles a stage never fired or never changed anything, and why.
    pub(super) fn describe_idle_stage(&self, stage: usize) -> Option<String> {
        let by_profile = || self.by_profile.iter().map(|(profile, it)| (profile.as_str(), &it[stage]));
        let chosen = |is: fn(&Firing) -> bool| by_profile().filter(move |it| is(&it.1.firing));
        let place = |is| under_profiles_clause(&chosen(is).map(|it| it.0).listed(), self.by_profile.len());
        if let Some(place) = place(|it| it.fired == 0) {
            let mut stages = chosen(|it| it.fired == 0).map(|it| it.1);
            let mut all = *stages.next()?;
            stages.for_each(|more| all.add(more));
            return Some(format!("never fired{place}: {}", all.explain_never_fired()));
        }
        let place = place(|it| it.acted == 0)?;
        let n_fired: u64 = chosen(|it| it.acted == 0).map(|stage| stage.1.firing.fired).sum();
        Some(format!("fired {}{place} but changed nothing", times_in_words(n_fired)))
    }
}

impl StageFirings {
    fn new(facts: &StageFacts, firing: Firing, run: &Run) -> Self {
        let longest = run.tally.sums.main.prompt_max;
        let is_reached = |it: &Threshold| longest > it.tokens || (longest == it.tokens && it.is_inclusive);
        let is_swayed = run.tally.outcome.is_swayed;
        let threshold = facts.threshold.filter(|it| it.is_of_body || !is_reached(it));
        Self {
            firing,
            has_trigger: facts.has_trigger,
            nearest: threshold.map(|threshold| NearestMiss { threshold, longest, is_swayed }),
        }
    }

    /// Adds other runs.
    fn add(&mut self, more: &Self) {
        self.firing += more.firing;
        self.has_trigger |= more.has_trigger;
        // How near it came, as a share of the condition; of equal ones the last counts.
        let reached = |it: NearestMiss| it.longest as f64 / it.threshold.tokens.max(1) as f64;
        let both = self.nearest.zip(more.nearest);
        self.nearest = both.map(|(own, more)| if reached(more) >= reached(own) { more } else { own });
    }

    /// Explains why it never fired, from the run that came closest to its condition.
    fn explain_never_fired(&self) -> String {
        if !self.has_trigger {
            return "its moment never came".to_owned();
        }
        let Some(NearestMiss { threshold, longest, is_swayed }) = self.nearest else {
            return "its condition never held".to_owned();
        };
        if threshold.tokens == UNLIMITED {
            return "it needs a limit that the profile does not have".to_owned();
        }
        let verb = if threshold.is_inclusive { "reached" } else { "exceeded" };
        let tokens = thousands(threshold.tokens);
        if threshold.is_of_body {
            return format!("no prompt {verb} {tokens} without its stable prefix");
        }
        // What may be fetched might reach it.
        let without = if is_swayed { " without fetched results" } else { "" };
        format!("no prompt {verb} {tokens}; the longest was {}{without}", thousands(longest))
    }
}

impl Report {
    /// Returns a sentence for each policy with stages that never fired on any scenario, or never changed anything.
    pub fn idle_stage_notes(&self) -> Vec<String> {
        let all = self.policy_sums(None);
        let notes = all.iter().filter_map(|(policy, sum)| {
            // Stages that wait for the same stand together.
            let idle = sum.stages.describe_idle_stages();
            let told = grouped(idle.map(|(stage, why)| (why, format!("`{stage}`"))));
            let n_told: usize = told.values().map(Vec::len).sum();
            let sentence = |(why, stages): (String, Vec<String>)| format!("{} {why}", listed(&stages));
            let is_whole = sum.stages.n == Some(n_told);
            let lead = if is_whole { format!("{policy} changed nothing") } else { policy.to_owned() };
            (n_told > 0).then(|| format!("{lead}: {}.", told.into_iter().map(sentence).listed().join(". ")))
        });
        notes.listed()
    }
}

/// Names the profiles, if not all; nothing where there is none.
fn under_profiles_clause(profiles: &[&str], n_all: usize) -> Option<String> {
    let shown = first_few(profiles.iter().map(|it| (*it).to_owned()), NAMES_SHOWN);
    (!profiles.is_empty()).then_some(text_if(profiles.len() != n_all, || format!(" under {shown}")))
}

/// Parts that change the cost by less than this share are omitted.
const TOLD_FROM: f64 = 0.000_5;

/// The most parts listed, largest first.
const TOLD: usize = 4;

/// Explains why a line's cost differs from the first line's; `None` if the two cannot be compared.
pub(super) fn explain_change(line: &TableLine, first: &TableLine, stages: &StageActivity) -> Option<String> {
    let parts = bill_part_change_shares(&line.tally, &first.tally);
    let acted: u64 = line.tally.outcome.firings.iter().map(|it| it.acted).sum();
    if acted == 0 && parts.as_ref().is_none_or(Vec::is_empty) {
        if stages.facts.is_empty() {
            return Some("it has no stages".to_owned());
        }
        let idle = stages.describe_idle_stages().map(|(stage, why)| format!("`{stage}` {why}"));
        let why = idle.listed().join("; ");
        return (!why.is_empty()).then_some(why);
    }
    // What moved then is due to its layout or its memory.
    let lead =
        if acted == 0 { "no stage acted".to_owned() } else { format!("acted {}", times_in_words(acted)) };
    let shown = parts?.iter().take(TOLD).map(|(name, share)| format!("{name} {}", signed(*share))).listed();
    let said = if shown.is_empty() { "no part of the bill changed".to_owned() } else { listed(&shown) };
    Some(format!("{lead}: {said}"))
}

/// Returns whether no stage of a line ever acted, and its bill is the first line's.
pub(super) fn has_no_effect(line: &TableLine, first: &TableLine) -> bool {
    line.tally.outcome.firings.iter().all(|it| it.acted == 0)
        && bill_part_change_shares(&line.tally, &first.tally).is_some_and(|it| it.is_empty())
}

/// Returns the parts of the bill that moved, as shares of the first one's cost, the largest first, or nothing
/// if the two did not do the same work, or some cost is not known.
fn bill_part_change_shares(tally: &Tally, first: &Tally) -> Option<Vec<(String, f64)>> {
    let whole = first.costs.total().filter(|it| *it > 0.0)?;
    tally.costs.total().filter(|_| tally.outcome.did_as_much_as(&first.outcome))?;
    let summaries = match tally.sums.summariser.n {
        0 => "no summaries".to_owned(),
        n => counted(n as usize, "summary request"),
    };
    let (own, other) = (&tally.costs, &first.costs);
    let parts = [
        ("cache reads", own.main.read.usd() - other.main.read.usd()),
        ("cache writes", own.main.write.usd() - other.main.write.usd()),
        ("uncached input", own.main.uncached.usd() - other.main.uncached.usd()),
        ("output", own.main.output.usd() - other.main.output.usd()),
        (summaries.as_str(), own.compaction.usd() - other.compaction.usd()),
        ("keep-alive requests", own.keep_alive.usd() - other.keep_alive.usd()),
        ("recovery", (own.recovery - other.recovery).usd()),
        ("exploration", (own.exploration - other.exploration).usd()),
        ("reaction to what is fetched", (own.reaction - other.reaction).usd()),
        ("stored contents", own.storage.usd() - other.storage.usd()),
        ("memory", own.memory.usd() - other.memory.usd()),
        ("penalties", own.penalty.usd() - other.penalty.usd()),
    ];
    let parts = parts.into_iter().map(|(name, usd)| (name.to_owned(), usd / whole));
    let mut moved: Vec<(String, f64)> = parts.filter(|it| it.1.abs() >= TOLD_FROM).listed();
    moved.order_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    Some(moved)
}
