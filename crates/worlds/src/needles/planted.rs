//! Facts that are planted in a load of items: what its prompts, and its memory, still say of them when they are asked for.

use crate::prelude::*;

use super::Retention;
use super::conversation::FactInWords;
use super::trial::{LoadTrial, QUARTILES, loss_name, state_name};
use crate::chats::{Chats, Writing};
use ctxsim_engine::ledger::{ProbeRow, Rows as Ledger};
use ctxsim_engine::take::{TrialQuestion, of_run};
use ctxsim_timeline::ItemIx;
use ctxsim_timeline::facts::FactPlane;

/// A timeline with planted facts, which memories keep and questions ask for.
#[derive(Debug)]
pub(super) struct Planted(pub(super) Arc<Timeline>);

/// What it reads of a policy.
pub(super) static KIND: LoadKind = LoadKind {
    prompt: true,
    facts: true,
    service: true,
    words: [
        "reads `stages`, `code`, `process`, `memory.facts` or `memory.service`",
        "context_decay/memory_banks",
    ],
    ..LoadKind::NOTHING
};

impl Planted {
    /// Returns whether any question asks for its facts.
    fn is_asked(&self) -> bool {
        self.0.facts.as_ref().is_some_and(|it| !it.probes.is_empty())
    }
}

impl World for Planted {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn kind(&self) -> &'static LoadKind {
        &KIND
    }

    fn plays(&self) -> Plays<'_> {
        Plays::Items(&self.0)
    }

    fn play(&self, load: &Load, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
        if self.is_asked() { play(load, &self.0, sinks, progress) } else { load.played(sinks, progress) }
    }

    fn rows(&self, load: &Load, which: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        if self.is_asked() && which == RowsOf::Questions {
            questions(load, &self.0, progress)
        } else {
            Vec::new()
        }
    }

    fn laid_out(&self, timeline: Arc<Timeline>) -> Option<Arc<dyn World>> {
        Some(Arc::new(Self(timeline)))
    }

    fn assumptions(&self) -> &[String] {
        &self.0.assumptions
    }

    fn service(self: Arc<Self>, seed: u64) -> Option<Arc<dyn World>> {
        let own = Arc::clone(&self.0);
        let chats = move |trial| Chats::of_timeline(&own, Seed(seed).child("runner trial", trial));
        Some(Arc::new(Writing::new(self, 1, chats)))
    }
}

/// Plays a load of items whose questions ask for planted facts; its runs say what is left of them.
fn play(load: &Load, timeline: &Timeline, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
    let found = |mut take: Take| {
        if let Some(rows) = take.rows.take() {
            let trial = trial(&rows, timeline, &take.run.tally.outcome);
            take.run.findings = Some(Arc::new(Retention { is_planted: true, ..Retention::new(&[trial]) }));
            if sinks.answers {
                take.answers = rows.probes.iter().map(|it| asked(it, timeline)).collect();
            }
            take.rows = Some(rows).filter(|_| sinks.rows);
        }
        take
    };
    load.played(&Sinks { rows: true, ..*sinks }, progress).into_iter().map(found).collect()
}

/// Returns one row for each question of each run.
fn questions(load: &Load, timeline: &Timeline, progress: Progress<'_>) -> Vec<Rows> {
    let of = |rows: &Ledger| {
        rows.probes.iter().map(|it| AskedLoad::new(timeline).probe(it, None)).collect::<Vec<_>>()
    };
    load.rows(progress).iter().map(|(cell, rows)| of_run(load.run_name(*cell), &of(rows))).collect()
}

/// Adds up what became of the facts.
fn trial(rows: &Ledger, timeline: &Timeline, outcome: &Outcome) -> LoadTrial {
    let mut trial = LoadTrial::default();
    rows.probes.iter().for_each(|it| trial.probe(it));
    let total_tokens = timeline.spine.items.iter().map(|it| u64::from(it.raw)).sum();
    trial.ended(length(timeline), 0, total_tokens, outcome)
}

/// Returns how many items follow the stable prefix.
fn length(timeline: &Timeline) -> u64 {
    (timeline.spine.items.len() as u64).saturating_sub(timeline.spine.n_stable.into())
}

/// Returns what became of what a question asks for.
fn asked(row: &ProbeRow, timeline: &Timeline) -> TrialQuestion {
    let NeedleProbe { needle, state, .. } = AskedLoad::new(timeline).probe(row, None);
    TrialQuestion { state, what: format!("`{needle}` of item {}", row.item) }
}

/// A load whose facts are asked for.
pub(super) struct AskedLoad<'a> {
    pub(super) facts: Option<&'a FactPlane>,
    /// The items of its stable prefix.
    pub(super) n_stable: ItemIx,
    /// How many messages, or items, follow.
    pub(super) length: u64,
    /// The index of the load among those of that length, from 0.
    pub(super) trial: u64,
}

impl<'a> AskedLoad<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        let n_stable = timeline.spine.n_stable;
        Self { facts: timeline.facts.as_ref(), n_stable, length: length(timeline), trial: 0 }
    }

    /// Describes a question; a fact without words is called by its category, and has no value of its own.
    pub(super) fn probe(&self, row: &ProbeRow, said: Option<FactInWords>) -> NeedleProbe {
        let message = row.item.saturating_sub(self.n_stable);
        let category = self.category(row).cloned().unwrap_or_default();
        let (needle, value) =
            said.map_or_else(|| (format!("{category} {}", row.fact), String::new()), |it| (it.key, it.value));
        NeedleProbe {
            conv_length: self.length,
            trial: self.trial,
            needle,
            value,
            category,
            message,
            depth: f64::from(message) / self.length.max(1) as f64,
            quarter: QUARTILES[usize::from(row.quartile).min(3)],
            implicit: !row.is_explicit,
            state: state_name(row.state),
            found: row.is_found,
            lost_in: row.loss.map(loss_name),
        }
    }

    /// Returns the category of the fact that a question asks for, if it has one.
    fn category(&self, row: &ProbeRow) -> Option<&String> {
        let facts = self.facts?;
        facts.categories.get(usize::from(facts.facts.get(row.fact as usize)?.category))
    }
}

/// A probe of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedleProbe {
    /// Messages of the conversation.
    pub conv_length: u64,
    /// Index of the conversation among those of that length, from 0.
    pub trial: u64,
    /// The key of the needle.
    pub needle: String,
    pub value: String,
    pub category: String,
    /// The message that states it, from 0.
    pub message: u32,
    /// That message divided by the number of messages, from 0 to below 1.
    pub depth: f64,
    /// The quarter of the conversation.
    pub quarter: &'static str,
    /// Whether it was implicit, said in passing.
    pub implicit: bool,
    /// Its state: `exact`, `preview`, `summarised`, `recoverable` or `lost`.
    pub state: &'static str,
    /// Whether that state answers.
    pub found: bool,
    /// What lost it: `write`, `store`, `read`, `use` or `stopped`; null where it was found.
    pub lost_in: Option<&'static str>,
}

columns! { NeedleProbe;
    /// Messages of the conversation.
    "conv_length": Count = |it| it.conv_length,
    /// The index of the conversation among those of that length, from 0.
    "trial": Count = |it| it.trial,
    /// The key of the needle.
    "needle": Text = |it| it.needle.clone(),
    /// Its value.
    "value": Text = |it| it.value.clone(),
    /// Its category.
    "category": Text = |it| it.category.clone(),
    /// The message that states it, from 0.
    "message": Count = |it| it.message,
    /// That message divided by the number of messages, from 0 to below 1.
    "depth": Share = |it| it.depth,
    /// The quarter of the conversation.
    "quarter": Text = |it| it.quarter,
    /// Whether it was said in passing.
    "implicit": Flag = |it| it.implicit,
    /// What became of it: `exact`, `preview`, `summarised`, `recoverable` or `lost`.
    "state": Text = |it| it.state,
    /// Whether that answers.
    "found": Flag = |it| it.found,
    /// What lost it: `write`, `store`, `read`, `use` or `stopped`; null where it was found.
    "lost_in": Text = |it| it.lost_in,
}
