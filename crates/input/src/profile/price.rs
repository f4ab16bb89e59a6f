//! A checked price list: prices per token, by date, by hour, and by prompt length.

use crate::prelude::*;

use super::calendar::{DAY_MS, date_text, minute_of_week};
use ctxsim_base::quantity::Rate;

pub use super::written::TierReach;

/// Prices from the start of a timeline on; the first period holds at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    pub(super) start_ms: i64,
    /// What held before it, the oldest first: bills of that time know it.
    pub(super) earlier: Vec<Period>,
    pub(super) first: Period,
    pub(super) later: Vec<Period>,
}

/// Prices from a moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// Milliseconds since 1970 from which they hold.
    pub from_ms: i64,
    /// From when on they do not hold, where nobody has published what follows.
    pub ended_ms: Option<i64>,
    /// The standard prices.
    pub usual: PriceList,
    /// Prices at certain hours; the last match wins.
    pub windows: Vec<PriceWindow>,
}

/// Prices at certain hours of the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceWindow {
    /// Minutes of the week, from Monday on.
    pub minutes: Vec<Range<u32>>,
    /// The prices at these hours.
    pub prices: PriceList,
}

/// Prices by prompt length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceList {
    /// Prices below every tier.
    pub base: Rates,
    /// Longer prompts, the shortest first.
    pub tiers: Vec<Tier>,
    /// The tokens to which the tiers apply.
    pub reach: TierReach,
}

/// Prices of longer prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The shortest prompt of the tier.
    pub from_tokens: Tokens,
    /// The tier's prices.
    pub rates: Rates,
}

/// Prices per token by kind; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Plain input.
    pub input: Rate,
    pub output: Option<Rate>,
    /// Input read from the cache, if its price differs from plain input.
    pub cache_read: Option<Rate>,
    /// Input written to the cache, by lifetime class (short, long), if its price differs from plain input.
    pub cache_write: Option<[Option<Rate>; 2]>,
    /// Storing a token for an hour.
    pub storage: Option<Rate>,
}

/// A change of standard prices on a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceChange {
    /// Milliseconds since 1970 from which the new prices hold.
    pub from_ms: i64,
    before: Rates,
    /// `None` where nobody has published them.
    after: Option<Rates>,
}

impl PriceChange {
    /// How long before a change it is told, in milliseconds: sixty days.
    pub const TOLD_MS: i64 = 60 * DAY_MS;

    /// Returns its day, and whether the new prices are not published.
    pub fn day(&self) -> String {
        date_text(self.from_ms)
            + if self.after.is_none() { " (the new prices are not published)" } else { "" }
    }

    /// Returns whether it is at most sixty days ahead of a time. A change to prices that nobody has published is told after its day, too.
    pub fn is_soon_after(&self, ms: i64) -> bool {
        let left_ms = self.from_ms.saturating_sub(ms);
        left_ms <= Self::TOLD_MS && (left_ms > 0 || self.after.is_none())
    }
}

/// Says the day and each price that changes, in US dollars per million tokens.
impl fmt::Display for PriceChange {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "from {}", date_text(self.from_ms))?;
        let before = &self.before;
        let Some(after) = &self.after else { return to.write_str(": not published, those before hold on") };
        let written = |rates: &Rates, class: usize| rates.cache_write.and_then(|classes| classes[class]);
        let rates = [
            ("input", Some(before.input), Some(after.input)),
            ("output", before.output, after.output),
            ("cache reads", before.cache_read, after.cache_read),
            ("cache writes", written(before, 0), written(after, 0)),
            ("long cache writes", written(before, 1), written(after, 1)),
        ];
        let mut separator = ":";
        for (name, before, after) in rates {
            let (Some(before), Some(after)) = (before, after) else { continue };
            if before != after {
                let [before, after] = [before, after].map(|rate| rate.0 as f64 / 1e6);
                write!(to, "{separator} {name} ${before} → ${after}")?;
                separator = ",";
            }
        }
        if separator == ":" { to.write_str(": prices of services or of long prompts") } else { Ok(()) }
    }
}

impl Prices {
    /// Returns the rates of every request, if there is only one set.
    pub fn flat(&self) -> Option<&Rates> {
        self.timeless().filter(|it| it.tiers.is_empty()).map(|it| &it.base)
    }

    /// Returns the list that holds at any time, if there is only one.
    pub fn timeless(&self) -> Option<&PriceList> {
        (self.later.is_empty() && self.first.windows.is_empty()).then_some(&self.first.usual)
    }

    /// Returns the list that holds a number of milliseconds after the start of a timeline.
    pub fn at(&self, at_ms: i64) -> &PriceList {
        let now = self.start_ms.saturating_add(at_ms);
        let period = self.later.iter().rev().find(|it| it.from_ms <= now).unwrap_or(&self.first);
        period.at(now)
    }

    /// Returns the list that holds at a time in milliseconds since 1970, also before the start of a timeline; before all periods, the first.
    pub fn on(&self, ms: i64) -> &PriceList {
        if ms >= self.first.from_ms {
            return self.at(ms.saturating_sub(self.start_ms));
        }
        let earlier = self.earlier.iter().rev().find(|it| it.from_ms <= ms);
        earlier.or(self.earlier.first()).unwrap_or(&self.first).at(ms)
    }

    /// Returns the list that holds at a time, as [`Self::on`]; where none is known, that of the start of a timeline, which is the day on which the
    /// prices were read.
    pub fn on_day_of(&self, ms: Option<i64>) -> &PriceList {
        ms.map_or_else(|| self.at(0), |ms| self.on(ms))
    }

    /// Returns these prices for a session of its own time: they start when it began, and what changes more than a day after its end is left out.
    pub fn of_session(&self, [began_ms, ended_ms]: [i64; 2]) -> Self {
        let mut begun: Vec<Period> = self.earlier.clone();
        begun.push(self.first.clone());
        begun.extend(self.later.iter().filter(|it| it.from_ms <= ended_ms.saturating_add(DAY_MS)).cloned());
        let n_begun = begun.partition_point(|it| it.from_ms <= began_ms).max(1);
        let later = begun.split_off(n_begun);
        let first = begun.pop().unwrap_or_else(|| self.first.clone());
        Self { start_ms: began_ms, earlier: begun, first, later }
    }

    /// Returns how the standard prices of short prompts change, the oldest change first.
    pub fn changes(&self) -> Vec<PriceChange> {
        let periods: Vec<&Period> = self.earlier.iter().chain([&self.first]).chain(&self.later).collect();
        let pair = |pair: &[&Period]| PriceChange {
            from_ms: pair[1].from_ms,
            before: pair[0].usual.base,
            after: Some(pair[1].usual.base),
        };
        let end = periods.last().and_then(|last| {
            Some(PriceChange { from_ms: last.ended_ms?, before: last.usual.base, after: None })
        });
        periods.windows(2).map(pair).chain(end).collect()
    }

    /// Returns the standard rates of short prompts at the start of a timeline.
    pub fn usual(&self) -> &Rates {
        &self.first.usual.base
    }

    /// Returns these prices with one rate multiplied.
    ///
    /// A rate missing from the list stays missing: it follows the rate that replaces it.
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

impl Period {
    /// Returns the list that holds at a time of it, in milliseconds since 1970.
    fn at(&self, now: i64) -> &PriceList {
        let minute = minute_of_week(now);
        let window = self.windows.iter().rev().find(|it| it.minutes.iter().any(|it| it.contains(&minute)));
        window.map_or(&self.usual, |it| &it.prices)
    }
}

impl PriceList {
    /// Returns the rates of a prompt by its length alone.
    pub fn of_prompt(&self, prompt: Tokens) -> &Rates {
        let n_reached = self.tiers.partition_point(|it| it.from_tokens <= prompt);
        n_reached.checked_sub(1).map_or(&self.base, |last| &self.tiers[last].rates)
    }
}

impl Rates {
    /// Returns the price of a token read from the cache.
    pub fn read(&self) -> Rate {
        self.cache_read.unwrap_or(self.input)
    }

    /// Returns the price of a token written to the cache, by lifetime class, or `None` if unknown.
    pub fn write(&self, class: usize) -> Option<Rate> {
        match &self.cache_write {
            None => Some(self.input),
            Some(classes) => classes.get(class).copied().flatten(),
        }
    }

    /// Returns a rate as a multiple of plain input; `None` where there is no such rate, or input is free.
    pub fn ratio_to_input(&self, part: VariedRate) -> Option<f64> {
        let rate = match part {
            VariedRate::Input => Some(self.input),
            VariedRate::Output => self.output,
            VariedRate::CacheRead => self.cache_read,
            VariedRate::CacheWriteShort => self.write(0),
            VariedRate::CacheWriteLong => self.write(1),
            VariedRate::Storage => self.storage,
        };
        (self.input.0 > 0).then(|| Some(rate?.0 as f64 / self.input.0 as f64)).flatten()
    }
}

// Price lists with one changed rate, to measure what is paid at it.

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
