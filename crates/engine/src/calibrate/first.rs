//! The first request of a session that is played among others: whether another session had left tools and system prompt in the cache.

use crate::prelude::*;

use crate::price;
use ctxsim_base::quantity::sums;
use ctxsim_input::Prices;
use ctxsim_timeline::Usage;

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
    pub(super) fn new(
        timeline: &Timeline,
        row: &RequestRow,
        left: f64,
        billed: Usage,
        prices: &Prices,
    ) -> Option<Self> {
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
