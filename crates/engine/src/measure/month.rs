//! The month that every amount a month is of: the bill of the last 30 days' requests, or of all days scaled to 30.

use crate::prelude::*;

/// The days of a month.
pub const DAYS: i64 = 30;
/// Fewer sessions in the last 30 days say little of a month, so all days are scaled.
const RECENT_MIN: usize = 5;
/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Days of a week: fewer are not scaled to a month.
const WEEK: f64 = 7.0;

/// What was billed, by days since 1970; no day where the log tells no times.
pub type DailyBill = BTreeMap<Option<i64>, Cost>;

/// How the costs of a month come about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The requests of the last 30 days.
    Last30Days,
    /// All days, scaled to 30.
    Scaled,
    /// All days: their logs tell no times, or too few days, so nothing is scaled.
    #[default]
    AllSessions,
}

/// Which days of some sessions are their month, and how often each counts.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// How the costs of a month come about.
    pub basis: Basis,
    /// Days from the first request to the last.
    pub days: Option<f64>,
    /// The days of the first and the last request whose times are known, since 1970.
    pub ends: Option<[i64; 2]>,
}

impl Calendar {
    /// Returns whether dollars are those of a month, not those of the sessions.
    pub fn is_month(&self) -> bool {
        self.basis != Basis::AllSessions
    }

    /// Looks at when some sessions began and ended, in milliseconds since 1970.
    pub fn new(spans: impl Iterator<Item = Option<[i64; 2]>>) -> Self {
        let (known, untold): (Vec<_>, Vec<_>) = spans.partition(Option::is_some);
        let known: Vec<[i64; 2]> = known.into_iter().flatten().collect();
        if known.is_empty() {
            return Self::default();
        }
        let first = known.iter().fold(i64::MAX, |first, it| first.min(it[0]));
        let last = known.iter().fold(i64::MIN, |last, it| last.max(it[1]));
        let day = |ms: i64| ms.div_euclid(DAY_MS);
        let ends = [day(first), day(last)];
        // Less than a day of sessions counts as one.
        let days = ((last - first) as f64 / DAY_MS as f64).max(1.0);
        let n_recent = known.iter().filter(|it| day(it[1]) > ends[1] - DAYS).count();
        if !untold.is_empty() {
            return Self { ends: Some(ends), ..Self::default() };
        }
        let basis = if ends[1] - ends[0] + 1 >= DAYS && n_recent >= RECENT_MIN {
            Basis::Last30Days
        } else if days >= WEEK {
            Basis::Scaled
        } else {
            Basis::AllSessions
        };
        Self { basis, days: Some(days), ends: Some(ends) }
    }

    /// Returns whether what was on a day, or at no known time, is part of the month.
    pub fn counts(&self, day: Option<i64>) -> bool {
        let recent = |day: i64| self.ends.is_none_or(|[_, last]| day > last - DAYS);
        self.basis != Basis::Last30Days || day.is_none_or(recent)
    }

    /// Returns how often what counts is counted.
    pub fn ratio(&self) -> f64 {
        self.days.filter(|_| self.basis == Basis::Scaled).map_or(1.0, |days| DAYS as f64 / days)
    }

    /// Scales an amount that counts to the month, rounded down.
    pub fn scaled(&self, cost: Cost) -> Cost {
        let Some(days) = self.days.filter(|_| self.basis == Basis::Scaled) else { return cost };
        let ms = (days * DAY_MS as f64).round() as u128;
        Cost(cost.0.saturating_mul((DAYS * DAY_MS).unsigned_abs().into()) / ms)
    }

    /// Returns what of a bill is that of the month.
    pub fn bill(&self, by_day: &DailyBill) -> Cost {
        let counted = by_day.iter().filter(|it| self.counts(*it.0));
        self.scaled(counted.fold(Cost::default(), |sum, it| sum + *it.1))
    }

    /// Returns how much of a session counts towards the month: the share of its bill; of one without a bill, all of it or nothing, by its end.
    pub fn weight(&self, span_ms: Option<[i64; 2]>, by_day: Option<&DailyBill>) -> f64 {
        let all = by_day.map_or(0.0, |it| it.values().fold(Cost::default(), |sum, it| sum + *it).usd());
        match by_day {
            Some(by_day) if all > 0.0 => self.bill(by_day).usd() / all,
            _ if self.counts(span_ms.map(|it| it[1].div_euclid(DAY_MS))) => self.ratio(),
            _ => 0.0,
        }
    }

    /// Says how the costs of a month come about.
    pub fn words(&self) -> String {
        match (self.basis, self.days) {
            (Basis::Last30Days, _) => "the requests of the last 30 days".to_owned(),
            (Basis::Scaled, Some(days)) => format!("scaled to 30 days from {days:.1} days of sessions"),
            (_, Some(days)) => {
                format!(
                    "all sessions, as the {days:.1} days that they span are too few to be scaled to a month"
                )
            }
            _ => "all sessions; their logs tell no times, so nothing is scaled to a month".to_owned(),
        }
    }
}
