//! Break-even points of usage patterns under a price list: closed formulas over its rates, each with its source.

use crate::prelude::*;

use ctxsim_base::quantity::Rate;
use ctxsim_input::Rates;
use ctxsim_input::suite::Habits;

/// Prices of sending, reading and writing a token, in any unit of money.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CachePrice {
    /// Plain input.
    pub input: f64,
    /// Read from the cache.
    pub read: f64,
    /// Written to it.
    pub write: f64,
}

impl CachePrice {
    /// Returns a list's prices for a lifetime class, or `None` if reads are not cheaper or writes have no
    /// price.
    pub fn from_rates(rates: &Rates, class: usize) -> Option<Self> {
        let write = rates.write(class)?;
        let (input, read) = (rates.input, rates.read());
        let usd = |rate: Rate| rate.0 as f64;
        (read < input && read < write).then(|| Self { input: usd(input), read: usd(read), write: usd(write) })
    }

    /// Returns the share of reads, 0 to 1, from which caching a prefix costs less than sending it uncached:
    /// (w − i) / (w − r), as in Latitude#4317.
    pub fn hit_share(&self) -> f64 {
        self.hit_share_against(1.0)
    }

    /// Returns the share of reads from which caching costs less than a prompt that is compressed by a factor
    /// and never cached; above 1, caching never does: (w − i/R) / (w − r), the crossover of arXiv 2607.15516.
    pub fn hit_share_against(&self, compression: f64) -> f64 {
        (self.write - self.input / compression) / (self.write - self.read)
    }

    /// Returns the longest pause, in milliseconds, that is cheaper to bridge by a read every `every_ms` than
    /// by writing again: τ (w/r − 1), as in arXiv 2607.19214; `None` if reads are free.
    pub fn keep_alive_ms(&self, every_ms: f64) -> Option<f64> {
        (self.read > 0.0).then(|| every_ms * (self.write / self.read - 1.0))
    }

    /// Returns the number of later requests after which a prune has repaid the cost of rewriting, unrounded:
    /// (w − r) S / (r X), as in fak and in Token Bill; `None` if reads are free or nothing is removed.
    pub fn prune_requests(&self, rewritten: Tokens, removed: Tokens) -> Option<f64> {
        let saved = self.read * removed as f64;
        (saved > 0.0).then(|| (self.write - self.read) * rewritten as f64 / saved)
    }

    /// Returns the prefix length, in tokens, from which padding to the shortest cached length pays: M (r + (w
    /// − r)/N) / i, derived from the multipliers of OpenAI's guide.
    pub fn fill_up_tokens(&self, minimum: Tokens, requests: u32) -> f64 {
        minimum as f64 * (self.read + (self.write - self.read) / f64::from(requests.max(1))) / self.input
    }

    /// Returns the growth, in tokens, after which a compaction costs least: √(2 b P g / a), where requests
    /// pay a = r (1 − λ) + w λ and a compaction b = (w − r)(1 − λ), as in hermes-agent#62389; `None` if reads
    /// are free.
    pub fn compaction_tokens(&self, prefix: Tokens, growth: Tokens, miss_share: f64) -> Option<f64> {
        let per_request = self.read * (1.0 - miss_share) + self.write * miss_share;
        let per_compaction = (self.write - self.read) * (1.0 - miss_share);
        let size = (2.0 * per_compaction * prefix as f64 * growth as f64 / per_request).sqrt();
        (per_request > 0.0).then_some(size)
    }
}

/// The break-even points of one profile, at its standard prices of short prompts; null if a price or a
/// lifetime is unknown, or if reads are not cheaper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakEven {
    /// The share of reads, 0 to 1, from which short caching (minutes) pays.
    pub hit_share_short: Option<f64>,
    /// The same for an hour or more.
    pub hit_share_long: Option<f64>,
    /// The share of reads from which caching beats compression.
    pub hit_share_against_compression: Option<f64>,
    /// Pauses beyond the short lifetime from which an entry for an hour costs less: (l − s) / (s − r).
    pub long_from_pauses: Option<f64>,
    /// The longest pause, in minutes, that is cheaper to bridge by keep-alive requests.
    pub keep_alive_minutes: Option<f64>,
    /// Requests until a prune has paid off, unrounded.
    pub prune_requests: Option<f64>,
    /// Prefix tokens from which padding to the minimum pays.
    pub fill_up_tokens: Option<f64>,
    /// Tokens of growth after which a compaction costs least.
    pub compaction_tokens: Option<f64>,
}

impl BreakEven {
    /// Computes a profile's points; those that need usage assumptions are unknown without them.
    pub fn new(profile: &Profile, asked: Option<&Habits>) -> Self {
        let rates = profile.prices.usual();
        let short = CachePrice::from_rates(rates, 0).filter(|_| profile.cache != CacheRules::None);
        // Where no write is billed, an hour costs what minutes do, and there is nothing to choose.
        let has_long = rates.cache_write.is_some();
        let long = CachePrice::from_rates(rates, 1).filter(|_| has_long && short.is_some());
        let every_ms = |after: f64| profile.cache.ttl_ms().map(|it| it as f64 * after);
        let both = short.zip(asked);
        Self {
            hit_share_short: short.map(|it| it.hit_share()),
            hit_share_long: long.map(|it| it.hit_share()),
            hit_share_against_compression: both
                .map(|(price, it)| price.hit_share_against(it.compression.to_f64())),
            long_from_pauses: short
                .zip(long)
                .map(|(short, long)| (long.write - short.write) / (short.write - short.read)),
            keep_alive_minutes: both.and_then(|(price, it)| {
                price.keep_alive_ms(every_ms(it.keep_alive_after.to_f64())?).map(|ms| ms / 60_000.0)
            }),
            prune_requests: both.and_then(|(price, it)| {
                price.prune_requests(it.prune_rewrites_tokens, it.prune_removes_tokens)
            }),
            fill_up_tokens: both.and_then(|(price, it)| {
                let minimum = profile.cache.min_tokens()?;
                Some(price.fill_up_tokens(minimum, it.fill_up_requests))
            }),
            compaction_tokens: both.and_then(|(price, it)| {
                price.compaction_tokens(
                    it.compaction_prefix_tokens,
                    it.compaction_growth_tokens,
                    it.compaction_miss_share.to_f64(),
                )
            }),
        }
    }

    /// Returns the points' names in reports with their values, in order.
    pub fn points(&self) -> [(&'static str, Option<f64>); 8] {
        [
            ("hit_share_short", self.hit_share_short),
            ("hit_share_long", self.hit_share_long),
            ("hit_share_against_compression", self.hit_share_against_compression),
            ("long_from_pauses", self.long_from_pauses),
            ("keep_alive_minutes", self.keep_alive_minutes),
            ("prune_requests", self.prune_requests),
            ("fill_up_tokens", self.fill_up_tokens),
            ("compaction_tokens", self.compaction_tokens),
        ]
    }
}
