//! Facts that are planted in a load of items: what its prompts, and its memory, still say of them when they are asked for.

use std::sync::Arc;

use super::Retention;
use super::probe::NeedleProbe;
use super::trial::{LoadTrial, QUARTILES, TrialSink, loss_name, state_name};
use crate::chats::{ChatNumbers, ChatOrigin, Chats, Writing};
use ctxsim_base::rng::Seed;
use ctxsim_engine::ledger::{Outcome, ProbeRow, Rows as Ledger, Sink};
use ctxsim_engine::take::{
    Load, LoadKind, Plays, Progress, RowsOf, Sinks, Take, TrialQuestion, World, of_run,
};
use ctxsim_timeline::Timeline;
use ctxsim_timeline::row::Rows;

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

    fn rows(&self, load: &Load, of: RowsOf, progress: Progress<'_>) -> Vec<Rows> {
        if self.is_asked() && of == RowsOf::Questions {
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
        let numbers = ChatNumbers::declared();
        let own = Arc::clone(&self.0);
        let chats = move |trial| {
            Chats::new(&ChatOrigin::Plane(&own), Seed(seed).child("runner trial", trial), numbers)
        };
        Some(Arc::new(Writing::new(self, 1, chats)))
    }
}

/// Plays a load of items whose questions ask for planted facts; its runs say what is left of them.
fn play(load: &Load, timeline: &Timeline, sinks: &Sinks<'_>, progress: Progress<'_>) -> Vec<Take> {
    let found = |mut take: Take| {
        if let Some(rows) = take.rows.take() {
            let trial = trial(&rows, timeline, &take.run.tally.outcome);
            take.run.findings = Some(Arc::new(Retention { is_planted: true, ..Retention::new(&[trial]) }));
            let asked = rows.probes.iter().filter(|_| sinks.answers).map(|it| asked(it, timeline));
            take.answers = asked.collect();
            take.rows = Some(rows).filter(|_| sinks.rows);
        }
        take
    };
    load.played(&Sinks { rows: true, ..*sinks }, progress).into_iter().map(found).collect()
}

/// Returns one row for each question of each run.
fn questions(load: &Load, timeline: &Timeline, progress: Progress<'_>) -> Vec<Rows> {
    let of = |rows: &Ledger| rows.probes.iter().map(|it| probe(it, timeline)).collect::<Vec<_>>();
    load.rows(progress).iter().map(|(cell, rows)| of_run(load.run_name(*cell), &of(rows))).collect()
}

/// Adds up what became of the facts.
fn trial(rows: &Ledger, timeline: &Timeline, outcome: &Outcome) -> LoadTrial {
    let mut sink = TrialSink::default();
    rows.probes.iter().for_each(|it| sink.probe(it));
    let total_tokens = timeline.spine.items.iter().map(|it| u64::from(it.raw)).sum();
    sink.trial.of(length(timeline), 0, total_tokens, outcome)
}

/// Returns how many items follow the stable prefix.
fn length(timeline: &Timeline) -> u64 {
    (timeline.spine.items.len() as u64).saturating_sub(timeline.spine.n_stable.into())
}

/// Describes a question; its fact is called by its category, and has no value of its own.
fn probe(row: &ProbeRow, timeline: &Timeline) -> NeedleProbe {
    let (length, message) = (length(timeline), row.item.saturating_sub(timeline.spine.n_stable));
    let category = category(row, timeline);
    NeedleProbe {
        conv_length: length,
        trial: 0,
        needle: format!("{category} {}", row.fact),
        value: String::new(),
        category,
        message,
        depth: f64::from(message) / length.max(1) as f64,
        quarter: QUARTILES[usize::from(row.quartile).min(3)],
        implicit: !row.is_explicit,
        state: state_name(row.state),
        found: row.is_found,
        lost_in: row.loss.map(loss_name),
    }
}

/// Returns what became of what a question asks for.
fn asked(row: &ProbeRow, timeline: &Timeline) -> TrialQuestion {
    let what = format!("`{} {}` of item {}", category(row, timeline), row.fact, row.item);
    TrialQuestion { state: state_name(row.state), what }
}

/// Returns the category of the fact that a question asks for; empty if it has none.
fn category(row: &ProbeRow, timeline: &Timeline) -> String {
    let facts = timeline.facts.as_ref();
    let fact = facts.and_then(|it| Some((it, it.facts.get(row.fact as usize)?)));
    let name = fact.and_then(|(plane, it)| plane.categories.get(usize::from(it.category)));
    name.cloned().unwrap_or_default()
}
