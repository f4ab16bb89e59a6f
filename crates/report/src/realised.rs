//! A forecast held against what later sessions were billed: by their size and their kind.
//!
//! The size of a session is what it costs with the earlier settings, as simulated, where it can be played with them; else the number of
//! its requests. Each later session is expected to cost its size at the rate at which its kind was billed before; the ratio of what they were
//! billed to that, over all of them, is what the change did. Its variance is that of the ratio over later sessions, plus that of the
//! earlier rates. A forecast is refuted only beyond its own interval, too.

mod table;

use serde::Serialize;

use crate::advise::saved::{POWER, SESSIONS_MIN, Saved, Z, later_sessions};
use ctxsim_engine::measure::student;

use ctxsim_base::list::Listed as _;
pub use table::{markdown, table};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.realised/1";

/// A later session.
#[derive(Clone, Debug, PartialEq)]
pub struct Later {
    /// Lane, model and length, as the forecast calls it.
    pub kind: String,
    /// Its size, as the forecast measures it.
    pub size: f64,
    /// What they were billed, in US dollars.
    pub usd: f64,
}

/// What became of a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastOutcome {
    /// It saved what was forecast.
    AsForecast,
    /// It saved less.
    Less,
    /// It saved more.
    More,
    /// There are too few sessions.
    CannotTell,
}

/// A forecast and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Realised {
    pub schema: &'static str,
    pub agent: String,
    /// The settings.
    pub set: Vec<String>,
    /// Whether sessions are measured by what they cost as simulated with the earlier settings, and not by their requests.
    pub is_by_cost: bool,
    pub answer: ForecastOutcome,
    /// The change in cost that was forecast, for later sessions of these kinds; negative if it saves.
    pub forecast: f64,
    /// The change that came about.
    pub realised: f64,
    /// Its 95% interval.
    pub interval: Option<[f64; 2]>,
    /// The sessions that count.
    pub sessions: u64,
    /// Of these: what they were billed, in US dollars.
    pub billed_usd: f64,
    /// What they would have been billed at the earlier rates.
    pub before_usd: f64,
    /// About how many more sessions it takes until it can be told; none if no number would do.
    pub more_sessions: Option<u64>,
    pub kinds: Vec<RealisedKind>,
    /// Sessions that do not count, by reason.
    pub left_out: Vec<(String, usize)>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Later sessions of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealisedKind {
    /// Lane, model and length.
    pub kind: String,
    /// The number of sessions, before and after.
    pub sessions: [u64; 2],
    /// US dollars by size, before and after.
    pub rate: [f64; 2],
    /// The change that was forecast.
    pub forecast: f64,
}

impl Realised {
    /// Holds a forecast against later sessions; those of kinds that it does not know take no part.
    pub fn new(saved: &Saved, later: &[Later]) -> Self {
        let known = |it: &&Later| saved.kinds.iter().any(|kind| kind.name == it.kind && kind.bills.usd > 0.0);
        let own: Vec<&Later> = later.iter().filter(known).listed();
        let mut left_out = Vec::new();
        if own.len() < later.len() {
            left_out.push(("no earlier session was of their kind".to_owned(), later.len() - own.len()));
        }
        let kinds = kinds(saved, &own);
        let sum = LaterSessions::new(saved, &own);
        let (answer, more_sessions) = sum.answer();
        let reach = sum.half_width();
        Self {
            schema: SCHEMA,
            agent: saved.agent.clone(),
            set: saved.set.clone(),
            is_by_cost: !saved.before.is_empty(),
            answer,
            forecast: sum.forecast,
            realised: sum.realised,
            interval: reach.is_finite().then_some([sum.realised - reach, sum.realised + reach]),
            sessions: sum.n,
            billed_usd: total(own.iter().map(|it| it.usd)),
            before_usd: sum.before,
            more_sessions,
            kinds,
            left_out,
            notes: Vec::new(),
        }
    }
}

/// Adds up numbers; of none, the sum is 0, where the standard library's is −0.
fn total(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, it| sum + it)
}

/// Returns what each kind came to.
fn kinds(saved: &Saved, own: &[&Later]) -> Vec<RealisedKind> {
    let kind = |kind: &super::advise::saved::SessionKind| {
        let after: Vec<&&Later> = own.iter().filter(|it| it.kind == kind.name).listed();
        let (size, usd) = after.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.size, sum.1 + it.usd));
        (size > 0.0).then(|| RealisedKind {
            kind: kind.name.clone(),
            sessions: [kind.bills.sessions, after.len() as u64],
            rate: [kind.bills.rate(), usd / size],
            forecast: kind.change,
        })
    };
    saved.kinds.iter().filter_map(kind).listed()
}

/// Later sessions in sum.
#[derive(Clone, Copy, Debug)]
struct LaterSessions {
    n: u64,
    before: f64,
    forecast: f64,
    realised: f64,
    /// The variance of the realised change over later sessions.
    own: f64,
    /// That of the earlier rates and of the forecast, which more sessions do not lessen.
    rest: [f64; 2],
}

impl LaterSessions {
    fn new(saved: &Saved, own: &[&Later]) -> Self {
        let kind = |it: &Later| saved.kinds.iter().find(|kind| kind.name == it.kind);
        let expected = |it: &&&Later| kind(it).map_or(0.0, |kind| kind.bills.rate() * it.size);
        let before = total(own.iter().map(|it| expected(&it)));
        let usd = total(own.iter().map(|it| it.usd));
        let hoped: f64 = own.iter().map(|it| expected(&it) * kind(it).map_or(0.0, |kind| kind.change)).sum();
        let n = own.len() as f64;
        let ratio = usd / before;
        let residual: f64 = own.iter().map(|it| (it.usd - ratio * expected(&it)).powi(2)).sum();
        let rates = saved.kinds.iter().map(|kind| {
            let size: f64 = own.iter().filter(|it| it.kind == kind.name).map(|session| session.size).sum();
            if size > 0.0 { (size * ratio).powi(2) * kind.bills.variance() } else { 0.0 }
        });
        let spread = (saved.interval[1] - saved.interval[0]) / (2.0 * Z);
        Self {
            n: own.len() as u64,
            before,
            forecast: hoped / before,
            realised: ratio - 1.0,
            own: residual * n / (n - 1.0) / before.powi(2),
            rest: [rates.sum::<f64>() / before.powi(2), spread.powi(2)],
        }
    }

    /// Returns how many standard errors 95% of sessions are within.
    fn t(&self) -> f64 {
        student(self.n.saturating_sub(1).max(1))
    }

    /// Returns half the width of the interval of the realised change.
    fn half_width(&self) -> f64 {
        self.t() * (self.own + self.rest[0]).sqrt()
    }

    /// Returns the answer, and how many more sessions it takes where none can be given yet: so many that a forecast which is wrong by
    /// half is found to be in nine of ten cases.
    fn answer(&self) -> (ForecastOutcome, Option<u64>) {
        let [rates, forecast] = self.rest;
        let error = (self.own + rates).sqrt();
        let apart = self.realised - self.forecast;
        let wrong_by_half = self.forecast.abs() / 2.0;
        if self.n >= SESSIONS_MIN {
            if apart.abs() > self.t() * (self.own + rates + forecast).sqrt() {
                return (if apart > 0.0 { ForecastOutcome::Less } else { ForecastOutcome::More }, None);
            }
            if (self.t() + POWER) * error <= wrong_by_half {
                return (ForecastOutcome::AsForecast, None);
            }
        }
        let least = SESSIONS_MIN.saturating_sub(self.n).max(1);
        let needed = later_sessions(wrong_by_half, self.n as f64 * self.own, rates);
        let more = needed.map(|it| it.saturating_sub(self.n).max(least));
        (ForecastOutcome::CannotTell, more.or((self.n < 2).then_some(least)))
    }
}
