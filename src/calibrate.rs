//! A recorded session against its simulation: what the cache should have read, what the provider billed, and why they differ.

pub mod compaction;
mod files;
pub mod forecast;
pub mod scores;

use indexmap::IndexMap;
use serde::Serialize;

use crate::input::profile::cache::Setting;
use crate::input::profile::price::Prices;
use crate::ledger::{CacheUse, RequestRow, Role};
use crate::price;
use crate::quantity::{Cost, Tokens};
use crate::timeline::{EventKind, StepIx, Timeline, Usage};

use compaction::{Aftermath, HiddenFile, Outcome};
use forecast::Chance;
use scores::Scores;

/// Reads that differ by no more than this are close.
pub const CLOSE_TOKENS: Tokens = 64;
/// Reads that differ by no more than this share of the billed ones are close, in thousandths.
const CLOSE_PER_MILLE: Tokens = 5;

/// How a predicted read compares with the billed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Equal.
    Exact,
    /// Within 64 tokens or 0.5% of what was billed.
    Within,
    /// More was billed than predicted.
    Exceeded,
    /// Less was billed than predicted.
    Missed,
}

/// A request with its prediction and its bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The step.
    pub step: StepIx,
    /// What the simulated cache makes of it.
    pub predicted: CacheUse,
    /// What the provider billed.
    pub billed: Usage,
    /// How the reads compare.
    pub class: Class,
    /// Why they differ, as far as can be told; empty when they are equal.
    pub reason: &'static str,
}

/// A recorded session against its simulation.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The session.
    pub name: String,
    /// Every request but the first, of which the session does not say what was cached before.
    pub pairs: Vec<Pair>,
    /// What the predicted input of these requests costs; those with a token that has no price are left out of both sums.
    pub predicted_cost: Cost,
    /// What their billed input costs at the same prices.
    pub billed_cost: Cost,
    /// Its compactions, each with what was predicted of it and what followed.
    pub compactions: Vec<Aftermath>,
}

impl Calibration {
    /// Compares the agent's requests with what was recorded of them, up to where the harness's own resets are undone.
    #[must_use]
    pub fn new(timeline: &Timeline, rows: &[RequestRow], prices: &Prices) -> Self {
        let compactions = compaction::aftermaths(timeline, rows, prices);
        let mut calibration = Self { name: timeline.name.clone(), compactions, ..Self::default() };
        let usages = timeline.recorded.as_ref().map_or(&[] as &[Option<Usage>], |it| it.usage.as_slice());
        let mut before: Option<&RequestRow> = None;
        let undone_from = timeline.recorded.as_ref().and_then(|it| it.undone_from).unwrap_or(StepIx::MAX);
        for row in rows.iter().filter(|it| it.role == Role::Main && it.step < undone_from) {
            let usage = usages.get(row.step as usize).copied().flatten();
            if let (Some(before), Some(billed)) = (before, usage) {
                calibration.add(timeline, before, row, billed, prices);
            }
            before = Some(row);
        }
        calibration
    }

    fn add(
        &mut self,
        timeline: &Timeline,
        before: &RequestRow,
        row: &RequestRow,
        billed: Usage,
        prices: &Prices,
    ) {
        let class = class(row.usage.read, billed.cache_read);
        let reason = if class == Class::Exact { "" } else { reason(timeline, before, row, billed) };
        self.pairs.push(Pair { step: row.step, predicted: row.usage, billed, class, reason });
        let write = billed.writes(timeline.harness.ttl);
        let as_billed =
            CacheUse { read: billed.cache_read, write, uncached: billed.uncached, broke_at: None };
        let input = |usage| price::request(&RequestRow { usage, output: 0, ..*row }, prices);
        if let (Some(predicted), Some(billed)) = (input(row.usage), input(as_billed)) {
            self.predicted_cost += predicted;
            self.billed_cost += billed;
        }
    }

    /// Takes the pairs of another session in.
    pub fn merge(&mut self, other: &Self) {
        self.pairs.extend(&other.pairs);
        self.predicted_cost += other.predicted_cost;
        self.billed_cost += other.billed_cost;
        self.compactions.extend_from_slice(&other.compactions);
    }

    /// Scores the compactions that can be: what was predicted of hidden files, and the baseline as if nothing were compacted.
    #[must_use]
    pub fn scores(&self, outcome: Outcome) -> [Scores; 2] {
        let probabilities: [fn(&Chance) -> f64; 2] = [|it| it.after[0], |it| it.baseline];
        probabilities.map(|probability| {
            let file = |it: &HiddenFile| {
                let (chance, happened) = outcome.of(it);
                (probability(&chance), happened)
            };
            let scored = self.compactions.iter().filter(|it| it.is_scored());
            Scores::new(&scored.map(|it| it.files.iter().map(file).collect()).collect::<Vec<_>>())
        })
    }

    /// Returns what was predicted of the compactions that can be scored, at either end of the interval.
    #[must_use]
    pub fn predicted_interval(&self, outcome: Outcome) -> [f64; 2] {
        let scored = || self.compactions.iter().filter(|it| it.is_scored());
        [1, 2].map(|bound| scored().map(|it| it.predicted(outcome)[bound]).sum())
    }

    /// Returns how many pairs are of a class.
    #[must_use]
    pub fn count(&self, class: Class) -> usize {
        self.pairs.iter().filter(|it| it.class == class).count()
    }

    /// Returns the sum of the differences between predicted and billed reads, over the billed reads.
    #[must_use]
    pub fn token_error(&self) -> f64 {
        let difference = |it: &Pair| it.predicted.read.abs_diff(it.billed.cache_read);
        let differences: Tokens = self.pairs.iter().map(difference).sum();
        let billed: Tokens = self.pairs.iter().map(|it| it.billed.cache_read).sum();
        differences as f64 / (billed.max(1)) as f64
    }

    /// Returns how many pairs there are by class and reason, most first.
    #[must_use]
    pub fn reasons(&self) -> Vec<(Class, &'static str, usize)> {
        let mut counts: IndexMap<(Class, &'static str), usize> = IndexMap::new();
        for pair in self.pairs.iter().filter(|it| it.class != Class::Exact) {
            *counts.entry((pair.class, pair.reason)).or_default() += 1;
        }
        let mut reasons: Vec<_> = counts.into_iter().map(|((class, reason), n)| (class, reason, n)).collect();
        reasons.sort_by_key(|it| std::cmp::Reverse(it.2));
        reasons
    }
}

/// Compares two reads.
fn class(predicted: Tokens, billed: Tokens) -> Class {
    let difference = predicted.abs_diff(billed);
    if difference == 0 {
        Class::Exact
    } else if difference <= CLOSE_TOKENS
        || difference.saturating_mul(1_000) <= billed.saturating_mul(CLOSE_PER_MILLE)
    {
        Class::Within
    } else if billed > predicted {
        Class::Exceeded
    } else {
        Class::Missed
    }
}

/// Says what may be behind a difference.
fn reason(timeline: &Timeline, before: &RequestRow, row: &RequestRow, billed: Usage) -> &'static str {
    let mut events = timeline.events.iter().filter(|it| timeline.spine.step_at(it.at) == row.step);
    let is_reset = events.clone().any(|it| matches!(it.kind, EventKind::Reset(_)));
    let is_rewritten =
        events.any(|it| matches!(it.kind, EventKind::Change(Setting::Preamble | Setting::System, _)));
    let begins = row.turn_ix != before.turn_ix;
    let plain = before.prompt.saturating_sub(timeline.tail(before.step));
    let predicted = row.usage.read;
    if is_reset {
        return "the harness took history out, and the record does not say how much of the prompt stayed the same";
    }
    if is_rewritten {
        return "the messages were taken to be written anew; they were not, or tools and system prompt have another size";
    }
    if billed.cache_read > predicted {
        return match (predicted, begins) {
            (0, _) => "it was read although the entry should have expired",
            (_, true) => "a request that is in no record had cached more of the prompt",
            (_, false) => "more was cached than the record explains",
        };
    }
    if predicted > plain {
        return if billed.cache_read >= plain {
            "a side request was predicted that did not come, or cached less"
        } else {
            "the prompt had changed since the request before, which the record does not show"
        };
    }
    if billed.cache_read == 0 {
        "nothing was read although the entry should have lived"
    } else if billed.cache_read <= timeline.stable_tokens() {
        "only tools and system prompt were read: the messages had changed, which the record does not show"
    } else {
        "only an earlier part was read: the prompt had changed, which the record does not show"
    }
}

/// Returns all sessions together.
#[must_use]
pub fn together(sessions: &[Calibration]) -> Calibration {
    let mut all = Calibration { name: "ALL".to_owned(), ..Calibration::default() };
    for session in sessions {
        all.merge(session);
    }
    all
}
