//! Predictions of what follows a compaction: the numbers of `assumptions/compactions.toml`,
//! made without looking ahead.

use crate::prelude::*;

use ctxsim_base::quantity::Rate;
use ctxsim_input::{End, PriceList, TtlClass};
use ctxsim_timeline::UnbilledSummary;

/// The declared numbers, with their sources.
const TEXT: &str = ctxsim_assumptions::COMPACTIONS;

/// The expected consequences of any compaction.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecast {
    /// The number of requests examined after the compaction.
    pub window_requests: u32,
    /// The average request, from 1, at which a file is first read.
    pub mean_read_request: u32,
    /// By the format of a log: the policy by which its harness compacts.
    pub compacts_as: IndexMap<String, String>,
    /// How far below a trigger the last bill before an automatic compaction may be.
    pub below_trigger_tokens: Tokens,
    /// The probability that a hidden file is searched by its path within the window, and not read.
    pub searched_only: f64,
    /// Tokens of what the first read of a hidden file brings.
    pub read_tokens: Effect,
    /// By the format of a log, and for any other: what the requests read and write that write summaries.
    summary_requests: IndexMap<String, SummaryRequest>,
    /// Hidden files by recency; the first matching class applies.
    hidden_files: Vec<FileClass>,
}

/// What a request reads and writes that writes a summary.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SummaryRequest {
    /// The share of the history that it reads from the cache.
    read: Effect,
    /// Tokens that it writes for each that stands in the history's place.
    output: Effect,
}

/// Hidden files of similar recency.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileClass {
    /// The most requests since the last use; no limit if `None`.
    used_within: Option<u32>,
    /// The probability of a read within the window without a compaction.
    baseline: f64,
    /// The increase caused by the compaction.
    effect: Effect,
}

/// A mean, or a difference of probabilities, which may be negative, and its interval.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// The probability that a hidden file is read again within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chance {
    /// Without a compaction.
    pub baseline: f64,
    /// After a compaction: as declared, and at the lower and the upper end of the interval.
    pub after: [f64; 3],
}

impl Chance {
    /// Returns the chance of something that so many more files meet, compaction or not.
    pub fn and(self, more: f64) -> Self {
        let add = |it: f64| (it + more).min(1.0);
        Self { baseline: add(self.baseline), after: self.after.map(add) }
    }
}

declared_once! { pub Forecast: TEXT }

impl Forecast {
    /// Returns what a summary's request may have cost in US dollars that no usage shows: as declared, and the ends of the interval; `None`
    /// without a price.
    pub fn summary_usd(
        &self,
        request: &UnbilledSummary,
        format: &str,
        prices: &PriceList,
    ) -> Option<[f64; 3]> {
        let all = &self.summary_requests;
        let SummaryRequest { read, output } = all.get(format).or_else(|| all.get("any"))?;
        let class = if request.is_long { TtlClass::Long } else { TtlClass::Short };
        let paused_ms = request.pause_ms.and_then(|ms| u64::try_from(ms).ok());
        let is_cold = paused_ms.is_some_and(|ms| ms > class.usual_ms());
        let rates = prices.of_prompt(request.prompt);
        let [read_usd, write_usd] = [rates.read(), rates.write(class as usize)?].map(Rate::usd);
        let output_usd = request.output as f64 * rates.output?.usd();
        let usd = |read: f64, written: f64| {
            let read = if is_cold { 0.0 } else { read };
            request.prompt as f64 * (read * read_usd + (1.0 - read) * write_usd) + written * output_usd
        };
        // What is not read costs more.
        Some([usd(read.value, output.value), usd(read.high, output.low), usd(read.low, output.high)])
    }

    /// Returns how probable a read is of a file that was last used so many requests before the first after the compaction.
    pub fn chance(&self, idle_requests: u32) -> Chance {
        let fits = |it: &&FileClass| it.used_within.is_none_or(|most| idle_requests <= most);
        let Some(class) = self.hidden_files.iter().find(fits) else { return Chance::default() };
        let FileClass { baseline, effect: Effect { value, low, high }, .. } = class;
        let after = End::ALL.map(|it| (baseline + it.pick(value, [low, high])).clamp(0.0, 1.0));
        Chance { baseline: *baseline, after }
    }

    /// Returns how many requests of the window still carry what is read at the average place, after the one that sends it first.
    pub fn carried_requests(&self) -> u32 {
        self.window_requests.saturating_sub(self.mean_read_request + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_used_longer_ago_are_less_likely_to_be_read_again() {
        let after = |idle| (Forecast::declared().chance(idle).after[0] * 1_000.0).round();

        assert_eq!([1, 15, 16, 40, 41].map(after), [434.0, 434.0, 167.0, 167.0, 105.0]);
    }

    #[test]
    fn the_measured_files_together_come_to_what_was_measured_of_all() {
        let classes = [(136.0, 1), (150.0, 16), (323.0, 41)];
        let sum = |chance: fn(Chance) -> f64| -> f64 {
            classes.iter().map(|(n, idle)| n * chance(Forecast::declared().chance(*idle))).sum()
        };

        assert_eq!(sum(|it| it.after[0]).round(), 118.0);
        assert_eq!((sum(|it| it.baseline) / 118.0 * 100.0).round(), 74.0, "the baseline alone is too low");
    }
}
