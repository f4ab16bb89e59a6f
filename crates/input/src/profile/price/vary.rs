//! Price lists with one changed rate, to measure what is paid at it.

use serde::Serialize;

use super::{Period, PriceList, Prices, Rates};
use ctxsim_base::quantity::Rate;

/// A rate of a price list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VariedRate {
    /// Plain input, and everything without its own price.
    Input,
    Output,
    /// Input read from the cache.
    CacheRead,
    /// Input written to the cache for a short lifetime (minutes).
    CacheWriteShort,
    /// Input written to the cache for a long lifetime (an hour or more).
    CacheWriteLong,
    /// Contents stored by the hour.
    Storage,
}

impl VariedRate {
    /// All rates, in report order.
    pub const ALL: [Self; 6] = [
        Self::Input,
        Self::Output,
        Self::CacheRead,
        Self::CacheWriteShort,
        Self::CacheWriteLong,
        Self::Storage,
    ];

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        crate::text::name_of(&self)
    }
}

impl Prices {
    /// Returns these prices with one rate multiplied.
    ///
    /// A rate missing from the list stays missing: it follows the rate that replaces it.
    #[must_use]
    pub fn times(&self, part: VariedRate, factor: u64) -> Self {
        let period = |it: &Period| {
            let mut period = it.clone();
            times(&mut period.usual, part, factor);
            period.windows.iter_mut().for_each(|it| times(&mut it.prices, part, factor));
            period
        };
        Self {
            start_ms: self.start_ms,
            first: period(&self.first),
            earlier: self.earlier.iter().map(period).collect(),
            later: self.later.iter().map(period).collect(),
        }
    }
}

fn times(list: &mut PriceList, part: VariedRate, factor: u64) {
    std::iter::once(&mut list.base).chain(list.tiers.iter_mut().map(|it| &mut it.rates)).for_each(|rates| {
        let Rates { input, output, cache_read, cache_write, storage } = rates;
        let product = |rate: &mut Rate, own: VariedRate| {
            rate.0 = rate.0.saturating_mul(if own == part { factor } else { 1 });
        };
        product(input, VariedRate::Input);
        output.iter_mut().for_each(|it| product(it, VariedRate::Output));
        cache_read.iter_mut().for_each(|it| product(it, VariedRate::CacheRead));
        if let Some([short, long]) = cache_write {
            short.iter_mut().for_each(|it| product(it, VariedRate::CacheWriteShort));
            long.iter_mut().for_each(|it| product(it, VariedRate::CacheWriteLong));
        }
        storage.iter_mut().for_each(|it| product(it, VariedRate::Storage));
    });
}
