//! A folded ledger under a profile's prices: what each part costs, exactly where it can be.

pub mod bill;
pub mod index;

use std::ops::AddAssign;

use crate::ledger::{ExplicitCacheSums, NeedSums, RequestRow, Sums};
use crate::model::Profile;
use crate::model::price::{Prices, Rates};
use crate::model::profile::Assumptions;
use crate::quantity::Cost;

pub use bill::{Bill, Consumed, storage};
pub use index::{PriceIndex, PriceRows};

/// What a run costs, line by line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Tokens that the agent's requests read from the cache.
    pub cache_read: Cost,
    /// Tokens that they wrote to it.
    pub cache_write: Cost,
    /// Tokens that they sent as plain input.
    pub uncached: Cost,
    /// Tokens that the agent wrote.
    pub output: Cost,
    /// The summariser's requests, both ways.
    pub compaction: Cost,
    /// Stored contents: the calls that made them, and keeping them.
    pub storage: Cost,
    /// Requests over a limit.
    pub penalty: Cost,
    /// Expected US dollars of recovery, and of needs that nothing could recover, at the usual prices of short prompts.
    pub recovery: f64,
    /// Whether some token has no price; the sum is then unknown.
    pub is_unknown: bool,
}

impl Costs {
    /// Prices a folded ledger; prices that are not flat are unknown without the requests by length.
    #[must_use]
    pub fn new(sums: &Sums, index: Option<&PriceIndex>, limit_violations: u32, profile: &Profile) -> Self {
        let unknown = Bill { is_incomplete: true, ..Bill::default() };
        let (main, summariser) = match (profile.prices.flat(), index) {
            (Some(rates), _) => {
                (Bill::at(rates, &(&sums.main).into()), Bill::at(rates, &(&sums.summariser).into()))
            }
            (None, Some(index)) => (index.main(&profile.prices), index.summariser(&profile.prices)),
            (None, None) => (unknown, unknown),
        };
        let stored = match (profile.prices.flat(), index) {
            _ if sums.stored == ExplicitCacheSums::default() => Some(Cost::default()),
            (Some(rates), _) => bill::stored(rates, sums.stored.tokens, sums.stored.token_ms),
            (None, index) => index.and_then(|it| it.stored(&profile.prices)),
        };
        Self {
            cache_read: main.read,
            cache_write: main.write,
            uncached: main.uncached,
            output: main.output,
            compaction: summariser.known(),
            storage: stored.unwrap_or_default(),
            penalty: profile.assumptions.failure_penalty * u64::from(limit_violations),
            recovery: recovery(&sums.needs, profile.prices.usual(), &profile.assumptions),
            is_unknown: main.is_incomplete || summariser.is_incomplete || stored.is_none(),
        }
    }

    /// Returns what the agent's own requests cost.
    #[must_use]
    pub fn base(&self) -> Cost {
        self.cache_read + self.cache_write + self.uncached + self.output
    }

    /// Returns everything in US dollars, or no number when a price is unknown; the exact parts are summed first.
    #[must_use]
    pub fn total(&self) -> f64 {
        if self.is_unknown {
            return f64::NAN;
        }
        (self.base() + self.compaction + self.storage + self.penalty).usd() + self.recovery
    }
}

impl AddAssign<&Self> for Costs {
    fn add_assign(&mut self, other: &Self) {
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.uncached += other.uncached;
        self.output += other.output;
        self.compaction += other.compaction;
        self.storage += other.storage;
        self.penalty += other.penalty;
        self.recovery += other.recovery;
        self.is_unknown |= other.is_unknown;
    }
}

/// Returns what one request costs; nothing when some token of it has no price.
#[must_use]
pub fn request(row: &RequestRow, prices: &Prices) -> Option<Cost> {
    Bill::of_request(prices.at(row.at_ms), &Consumed::from(row)).total()
}

/// Returns the expected US dollars of recovery calls and of failures.
fn recovery(needs: &NeedSums, rates: &Rates, assumptions: &Assumptions) -> f64 {
    let (calls, fetched) = needs.unsent();
    let input = calls * assumptions.recovery_overhead_tokens as f64 + fetched;
    let output = calls * assumptions.recovery_output_tokens as f64;
    let output_usd = match rates.output {
        Some(rate) => output * rate.usd(),
        None if output > 0.0 => f64::NAN,
        None => 0.0,
    };
    input * rates.input.usd() + output_usd + needs.failed * assumptions.failure_penalty.usd()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{CacheUse, RequestSums};
    use crate::spec::ProfileSpec;
    use crate::spec::decode::{Format, decode};

    const PROFILE: &str = r#"
name = "p"
about = "Round numbers."
as_of = "2026-01-01"
sources = ["none"]
[cache]
rules = "none"
[[prices]]
input = 2.0
output = 10.0
cache_read = 0.5
cache_write = { "5m" = 3.0, "1h" = 4.0 }
[assumptions]
recovery_overhead_tokens = 1_000
recovery_output_tokens = 100
failure_penalty_usd = 0.02
"#;

    fn profile() -> Profile {
        Profile::new(&decode::<ProfileSpec>(PROFILE, Format::Toml).unwrap()).unwrap()
    }

    #[test]
    fn every_input_token_pays_its_own_rate() {
        let main =
            RequestSums { read: 1_000, write: [100, 10], uncached: 7, output: 3, ..Default::default() };
        let sums = Sums { main, ..Sums::default() };

        let costs = Costs::new(&sums, None, 2, &profile());

        assert_eq!(costs.cache_read, Cost(1_000 * 500_000));
        assert_eq!(costs.cache_write, Cost(100 * 3_000_000 + 10 * 4_000_000));
        assert_eq!(costs.base(), Cost(500_000_000 + 340_000_000 + 14_000_000 + 30_000_000));
        assert_eq!(costs.penalty.usd(), 0.04);
    }

    #[test]
    fn a_recovery_call_pays_its_overhead_what_it_fetches_and_what_it_writes() {
        let needs = NeedSums { calls: 0.5, fetched: 200.0, failed: 0.25, ..NeedSums::default() };

        let costs = Costs::new(&Sums { needs, ..Sums::default() }, None, 0, &profile());

        let expected = 700.0 * 2e-6 + 50.0 * 10e-6 + 0.25 * 0.02;
        assert!((costs.recovery - expected).abs() < 1e-15, "{} is not {expected}", costs.recovery);
        assert_eq!(costs.total(), costs.recovery);
    }

    #[test]
    fn the_cost_of_a_request_is_what_its_sums_cost() {
        let usage = CacheUse { read: 5, write: [4, 3], uncached: 2, broke_at: None };
        let row = RequestRow { usage, output: 9, ..RequestRow::default() };
        let main = RequestSums { read: 5, write: [4, 3], uncached: 2, output: 9, ..Default::default() };

        let costs = Costs::new(&Sums { main, ..Sums::default() }, None, 0, &profile());

        assert_eq!(request(&row, &profile().prices), Some(costs.base()));
    }
}
