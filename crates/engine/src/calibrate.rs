//! A recorded session compared with its simulation: predicted cache reads, billed ones, and why they differ.

pub mod compaction;
pub mod forecast;
pub mod scores;
pub mod unforeseen;

use crate::prelude::*;

use crate::measure::missed::{MISS_MIN, MissCause, cause_of};
use crate::price::{self, StepPrices};
use compaction::{Aftermath, HiddenFile, ReadOutcome};
use ctxsim_base::quantity::{Rate, sums};
use ctxsim_timeline::LoggedOutcome;
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
            match (before, usages.get(row.step as usize).copied().flatten()) {
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
    pub fn with_compactions(
        self,
        timeline: &Timeline,
        rows: &Rows,
        prices: &Prices,
        policy: Option<&Policy>,
    ) -> Self {
        Self { compactions: compaction::aftermaths(timeline, &rows.requests, prices, policy), ..self }
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

// The first request of a session that is played among others: whether another session had left tools and system prompt in the cache.

/// First requests of sessions that are played among others, as predicted and as billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FirstRequests {
    /// Their number.
    pub requests: usize,
    /// Of these: requests for which another session is known that had left tools and system prompt, so that they read them.
    pub known: usize,
    /// Of these: requests that read something by their bills.
    pub known_reads: usize,
    /// Of the others: requests that are expected to read tools and system prompt, because somebody unknown had left them.
    pub expected_reads: f64,
    /// The same at the lower end of the interval of that probability.
    pub expected_reads_low: f64,
    /// At the upper end.
    pub expected_reads_high: f64,
    /// Of the others: requests that read something by their bills.
    pub unknown_reads: usize,
    /// Predicted tokens read from the cache, expected ones included.
    pub predicted_read_tokens: f64,
    /// Billed ones.
    pub billed_read_tokens: Tokens,
    /// The predicted cost of input in US dollars, expected changes included.
    pub predicted_usd: f64,
    /// The billed cost of input at the same prices.
    pub billed_usd: f64,
    /// The sum of the differences between the two, request by request.
    pub gross_error_usd: f64,
    /// What it is worth in US dollars that known sessions had left something: what their reads would have cost otherwise, less what
    /// they cost.
    pub known_worth_usd: f64,
}

sums!(FirstRequests: requests, known, known_reads, expected_reads, expected_reads_low, expected_reads_high, unknown_reads,
    predicted_read_tokens, billed_read_tokens, predicted_usd, billed_usd, gross_error_usd, known_worth_usd);

impl FirstRequests {
    /// Compares a session's first request with its bill; nothing of a session that is played alone.
    fn new(timeline: &Timeline, row: &RequestRow, left: f64, billed: Usage, prices: &Prices) -> Option<Self> {
        let shared = timeline.shared.as_ref()?;
        let rates = prices.usual();
        let write = billed.writes(timeline.harness.ttl);
        let as_billed =
            CacheUse { read: billed.cache_read, write, uncached: billed.uncached, broke_at: None };
        let input =
            |usage| price::request(&RequestRow { usage, output: 0, ..*row }, prices).map(|it| it.usd());
        let predicted = input(row.usage)? + price::usd_of_expected(&row.left_tokens(left), rates)?;
        let billed_usd = input(as_billed)?;
        let is_known = row.usage.read > 0;
        let reads = usize::from(billed.cache_read > 0);
        let chances = shared.chance.filter(|_| !is_known);
        let [value, low, high] = chances.map_or([0.0; 3], |it| [it.value, it.interval[0], it.interval[1]]);
        let read = row.usage.read as f64;
        Some(Self {
            requests: 1,
            known: usize::from(is_known),
            known_reads: if is_known { reads } else { 0 },
            expected_reads: value,
            expected_reads_low: low,
            expected_reads_high: high,
            unknown_reads: if is_known { 0 } else { reads },
            predicted_read_tokens: read + left,
            billed_read_tokens: billed.cache_read,
            predicted_usd: predicted,
            billed_usd,
            gross_error_usd: (predicted - billed_usd).abs(),
            known_worth_usd: -price::usd_of_expected(&row.left_tokens(read), rates).unwrap_or_default(),
        })
    }
}

// What pauses cost, by recorded bills alone: how much of what short-lived cache entries write is written again.
//
// It is written again only because entries expired in a pause that long-lived ones outlast.

/// How long short-lived and long-lived entries live, in milliseconds.
const LIVES_MS: [i64; 2] = [300_000, 3_600_000];

/// Writes to the cache, as they are or would be with short-lived entries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pauses {
    /// Tokens that are written.
    pub written: Tokens,
    /// Of these: tokens that are written again after a pause.
    pub again: Tokens,
    /// The written tokens, each times the share from which long-lived entries are cheaper at its price.
    pub worth: f64,
}

sums!(Pauses: written, again, worth);
packed!(Pauses: [written, again, worth]);

impl Pauses {
    /// Counts the writes of a session; none if its log does not tell lifetimes apart, or if the prices of both are not known.
    pub fn recorded(timeline: &Timeline, profile: &Profile) -> Option<Self> {
        let rates = profile.prices.usual();
        let usd = |it: Rate| (1_000_000 * it).usd();
        let [short, long, read] = [usd(rates.write(0)?), usd(rates.write(1)?), usd(rates.read())];
        let recorded = timeline.recorded.as_ref()?;
        let mut sum = Self::default();
        // What the request before had in the cache, and when it ended.
        let mut before: Option<(Tokens, i64)> = None;
        let mut is_long = false;
        for (usage, step) in recorded.usage.iter().zip(&timeline.spine.steps) {
            let usage = (*usage)?;
            let long_lived = usage.cache_write_long?;
            is_long = if usage.cache_write > 0 { long_lived > 0 } else { is_long };
            let paused = before.filter(|it| {
                let pause = step.at_ms - it.1;
                pause > LIVES_MS[0] && pause <= LIVES_MS[1]
            });
            let cached = paused.map_or(0, |it| it.0.min(usage.prompt));
            // What a long-lived entry kept, a short-lived one would have had to write again; what a short-lived one lost, was.
            let kept = if is_long { cached.min(usage.cache_read) } else { 0 };
            let lost =
                if is_long { 0 } else { cached.saturating_sub(usage.cache_read).min(usage.cache_write) };
            sum.written += usage.cache_write + kept;
            sum.again += kept + lost;
            before = Some((usage.cache_read + usage.cache_write, step.end_ms.max(step.at_ms)));
        }
        (sum.written > 0 && long > read)
            .then(|| Self { worth: sum.written as f64 * ((long - short) / (long - read)), ..sum })
    }

    /// Says which lifetime is cheaper.
    pub fn words(&self, lane: &str) -> String {
        let [share, break_even] = [self.again as f64, self.worth].map(|it| it / self.written as f64);
        let cheaper = if share > break_even { "an hour is cheaper" } else { "five minutes are cheaper" };
        format!(
            "5 minutes or 1 hour ({lane}, by the bills alone): {cheaper}. Of what five-minute entries write, {} is written again after pauses of up to an hour; an hour pays from {} on.",
            ctxsim_base::grid::numbers::percent(share),
            ctxsim_base::grid::numbers::percent(break_even)
        )
    }
}
