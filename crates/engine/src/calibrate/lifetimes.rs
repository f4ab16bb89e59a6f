//! What pauses cost, by recorded bills alone: how much of what short-lived cache entries write is written again.
//!
//! It is written again only because entries expired in a pause that long-lived ones outlast.

use crate::prelude::*;
use ctxsim_base::quantity::{Rate, sums};

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
    pub fn of(timeline: &Timeline, profile: &Profile) -> Option<Self> {
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
        (sum.written > 0 && long > read).then(|| {
            let break_even = (long - short) / (long - read);
            Self { worth: sum.written as f64 * break_even, ..sum }
        })
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
