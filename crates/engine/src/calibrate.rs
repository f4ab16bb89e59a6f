//! A recorded session compared with its simulation: predicted cache reads, billed ones, and why they differ.

pub mod compaction;
pub mod first;
pub mod forecast;
pub mod lifetimes;
pub mod scores;
pub mod unforeseen;

use crate::prelude::*;

use crate::ledger::Rows;
use crate::measure::missed::{MISS_MIN, MissCause, cause_of};
use crate::price::{self, StepPrices};
use compaction::{Aftermath, HiddenFile, ReadOutcome};
use ctxsim_base::quantity::or_unlimited;
use ctxsim_input::{Prices, Setting};
use ctxsim_timeline::{LoggedOutcome, Usage};
use first::FirstRequests;
use forecast::Chance;
use scores::ForecastScores;
use unforeseen::{BillMoment, Unforeseen};

/// Reads that differ by no more than this are close.
pub const CLOSE_TOKENS: Tokens = 64;
/// Reads that differ by no more than this share of the billed ones are close, in thousandths.
const CLOSE_PER_MILLE: Tokens = 5;

/// How a predicted read compares with the billed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadClass {
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
pub struct BillPair {
    pub step: StepIx,
    /// The simulated cache's division of its prompt.
    pub predicted: CacheUse,
    /// The provider's bill.
    pub billed: Usage,
    /// The class of the difference.
    pub class: ReadClass,
    /// The probable reason; empty if they are equal.
    pub reason: &'static str,
}

/// A recorded session compared with its simulation.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The session.
    pub name: String,
    /// Every request but the first, before which the cache's contents are unknown to the session itself.
    pub pairs: Vec<BillPair>,
    /// The first request, of a session that is played among others.
    pub first: FirstRequests,
    /// The predicted cost of these requests' input; requests with unpriced tokens are excluded from both
    /// sums.
    pub predicted_cost: Cost,
    /// The billed cost of their input at the same prices.
    pub billed_cost: Cost,
    /// The sum of the differences between the two, request by request, so that none hides another.
    pub gross_error: Cost,
    /// What no record tells: how often it was expected, and how often it happened.
    pub unforeseen: Unforeseen,
    /// Its compactions, each with its predictions and what followed.
    pub compactions: Vec<Aftermath>,
    /// What became of its task, if its log tells.
    pub outcome: Option<LoggedOutcome>,
    /// The profile that stands for its model, which neither the log nor anybody named.
    pub assumed_profile: Option<String>,
}

impl Calibration {
    /// Compares the agent's requests with their records, up to where the harness's own resets are undone.
    pub fn new<'p>(
        timeline: &Timeline,
        rows: &Rows,
        prices: impl Into<StepPrices<'p>>,
        rules: &CacheRules,
    ) -> Self {
        let prices = prices.into();
        let outcome = timeline.recorded.as_ref().and_then(|it| it.outcome.clone());
        let mut calibration = Self { name: timeline.name.clone(), outcome, ..Self::default() };
        let usages = timeline.recorded.as_ref().filter(|it| !it.is_spread);
        let usages = usages.map_or(&[] as &[Option<Usage>], |it| it.usage.as_slice());
        let mut before: Option<&RequestRow> = None;
        let undone_from = or_unlimited(timeline.recorded.as_ref().and_then(|it| it.undone_from));
        for row in rows.requests.iter().filter(|it| it.role == Role::Main && it.step < undone_from) {
            let usage = usages.get(row.step as usize).copied().flatten();
            match (before, usage) {
                (Some(before), Some(billed)) => {
                    calibration.add(timeline, before, row, billed, prices.at(row.step), rules);
                }
                (None, Some(billed)) => {
                    let left = rows.expected.first().map_or(0.0, |(_, it)| it.left[0]);
                    let first = FirstRequests::new(timeline, row, left, billed, prices.at(row.step));
                    calibration.first = first.unwrap_or_default();
                }
                _ => {}
            }
            before = Some(row);
        }
        calibration
    }

    /// Adds what followed the session's compactions, with predictions; the policy [compacts](compaction::compacting) as its harness does.
    #[must_use]
    pub fn with_compactions(
        self,
        timeline: &Timeline,
        rows: &Rows,
        prices: &Prices,
        policy: Option<&Policy>,
    ) -> Self {
        let compactions = compaction::aftermaths(timeline, &rows.requests, prices, policy);
        Self { compactions, ..self }
    }

    fn add(
        &mut self,
        timeline: &Timeline,
        before: &RequestRow,
        row: &RequestRow,
        billed: Usage,
        prices: &Prices,
        rules: &CacheRules,
    ) {
        let class = class(row.usage.read, billed.cache_read);
        let reason = match class {
            ReadClass::Exact => "",
            _ => named(timeline, rules, row, billed)
                .unwrap_or_else(|| reason(timeline, rules, before, row, billed)),
        };
        self.pairs.push(BillPair { step: row.step, predicted: row.usage, billed, class, reason });
        let write = billed.writes(timeline.harness.ttl);
        let as_billed =
            CacheUse { read: billed.cache_read, write, uncached: billed.uncached, broke_at: None };
        let input = |usage| price::request(&RequestRow { usage, output: 0, ..*row }, prices);
        if let (Some(predicted), Some(actual)) = (input(row.usage), input(as_billed)) {
            self.predicted_cost += predicted;
            self.billed_cost += actual;
            self.gross_error += predicted.apart(actual);
            let difference_usd = actual.usd() - predicted.usd();
            self.unforeseen.add(&BillMoment { timeline, before, row, billed, difference_usd, prices });
        }
    }

    /// Adds the pairs of another session.
    pub fn merge(&mut self, other: &Self) {
        self.pairs.extend(&other.pairs);
        self.predicted_cost += other.predicted_cost;
        self.billed_cost += other.billed_cost;
        self.gross_error += other.gross_error;
        self.unforeseen.merge(&other.unforeseen);
        self.compactions.extend_from_slice(&other.compactions);
        self.first += other.first;
    }

    /// Scores the compactions that can be scored: the predictions of hidden files, and a baseline that
    /// ignores the compaction.
    pub fn scores(&self, outcome: ReadOutcome) -> [ForecastScores; 2] {
        let probabilities: [fn(&Chance) -> f64; 2] = [|it| it.after[0], |it| it.baseline];
        probabilities.map(|probability| {
            let file = |it: &HiddenFile| {
                let (chance, happened) = outcome.of(it);
                (probability(&chance), happened)
            };
            let scored = self.compactions.iter().filter(|it| it.is_scored());
            ForecastScores::new(&scored.map(|it| it.files.iter().map(file).collect()).collect::<Vec<_>>())
        })
    }

    /// Returns the predictions of the compactions that can be scored, at either end of the interval.
    pub fn predicted_interval(&self, outcome: ReadOutcome) -> [f64; 2] {
        let scored = || self.compactions.iter().filter(|it| it.is_scored());
        [1, 2].map(|bound| scored().map(|it| it.predicted(outcome)[bound]).sum())
    }

    /// Returns how many pairs are of a class.
    pub fn count(&self, class: ReadClass) -> usize {
        self.pairs.iter().filter(|it| it.class == class).count()
    }

    /// Returns the sum of the differences between predicted and billed reads, divided by the billed reads.
    pub fn token_error(&self) -> f64 {
        let difference = |it: &BillPair| it.predicted.read.abs_diff(it.billed.cache_read);
        let differences: Tokens = self.pairs.iter().map(difference).sum();
        let billed: Tokens = self.pairs.iter().map(|it| it.billed.cache_read).sum();
        differences as f64 / (billed.max(1)) as f64
    }

    /// Returns how many pairs there are by class and reason, most first.
    pub fn reasons(&self) -> Vec<(ReadClass, &'static str, usize)> {
        let mut counts: IndexMap<(ReadClass, &'static str), usize> = IndexMap::new();
        for pair in self.pairs.iter().filter(|it| it.class != ReadClass::Exact) {
            *counts.entry((pair.class, pair.reason)).or_default() += 1;
        }
        let mut reasons: Vec<_> = counts.into_iter().map(|((class, reason), n)| (class, reason, n)).collect();
        reasons.sort_by_key(|it| std::cmp::Reverse(it.2));
        reasons
    }
}

/// Compares two reads.
fn class(predicted: Tokens, billed: Tokens) -> ReadClass {
    let difference = predicted.abs_diff(billed);
    if difference == 0 {
        ReadClass::Exact
    } else if difference <= CLOSE_TOKENS
        || difference.saturating_mul(1_000) <= billed.saturating_mul(CLOSE_PER_MILLE)
    {
        ReadClass::Within
    } else if billed > predicted {
        ReadClass::Exceeded
    } else {
        ReadClass::Missed
    }
}

/// Returns what a request is said to have missed the cache for, if it read less than predicted and that is known.
fn named(timeline: &Timeline, rules: &CacheRules, row: &RequestRow, billed: Usage) -> Option<&'static str> {
    let tokens = row.usage.read.saturating_sub(billed.cache_read);
    let cause = (tokens >= MISS_MIN).then(|| cause_of(timeline, rules, row.step))?;
    (cause != MissCause::Untold).then(|| cause.about())
}

/// Returns the probable reason for a difference that no cause of a miss explains.
fn reason(
    timeline: &Timeline,
    rules: &CacheRules,
    before: &RequestRow,
    row: &RequestRow,
    billed: Usage,
) -> &'static str {
    let mut events = timeline.events.iter().filter(|it| timeline.spine.step_at(it.at) == row.step);
    let is_reset = events.clone().any(|it| matches!(it.kind, EventKind::Reset(_)));
    let is_rewritten = events.any(|it| {
        matches!(it.kind, EventKind::Change(Setting::Preamble | Setting::System, _) | EventKind::Front(_))
    });
    let begins = row.turn_ix != before.turn_ix;
    let plain = before.prompt.saturating_sub(timeline.tail(before.step));
    let predicted = row.usage.read;
    if is_reset {
        return "the harness removed history, and the record does not show how much of the prompt stayed the \
            same";
    }
    if is_rewritten {
        return "the messages were assumed to be rewritten, but were not, or tools and system prompt have \
            another size";
    }
    if billed.cache_read > predicted {
        return match (predicted, begins) {
            (0, _) => "it was read although the entry should have expired",
            (_, true) => "an unrecorded request had cached more of the prompt",
            (_, false) => "more was cached than the record explains",
        };
    }
    if predicted > plain {
        return if billed.cache_read >= plain {
            "a predicted side request did not happen, or cached less"
        } else {
            "the prompt had changed since the previous request, which the record does not show"
        };
    }
    if matches!(rules.plain(), CacheRules::PrefixInterval { .. }) {
        return if billed.cache_read == 0 {
            "nothing was read, and nothing says why: such caches work by best effort"
        } else {
            "only an earlier part was read, and nothing says why: such caches work by best effort"
        };
    }
    if billed.cache_read == 0 && begins {
        "a new turn read nothing although the entry should have been alive: a restart with another system prompt, or a missed \
            hit"
    } else if billed.cache_read == 0 {
        "nothing was read although the entry should have been alive"
    } else if billed.cache_read <= timeline.stable_tokens() {
        "only tools and system prompt were read: the messages had changed, which the record does not show"
    } else {
        "only an earlier part was read: the prompt had changed, which the record does not show"
    }
}

/// Returns all sessions together.
pub fn sum_of_sessions(sessions: &[Calibration]) -> Calibration {
    let mut all = Calibration { name: "ALL".to_owned(), ..Calibration::default() };
    for session in sessions {
        all.merge(session);
    }
    all
}
