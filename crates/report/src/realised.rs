//! A forecast held against what later sessions were billed.
//!
//! The size of a session is what it costs with the earlier settings, as simulated, where it can be played with them; else the number of its
//! requests. Each later session is expected to cost its size at the rate at which such sessions were billed before, and to be changed by what
//! was forecast for it. What was saved is a multiple of what was forecast to be saved in these very sessions: of that multiple, each
//! session's difference is its error. Where other sessions of the same time went without the change, they give the rate instead.
//!
//! A forecast goes on as a file: `PlayedSession → EarlierBills → SavingsForecast`; later logs come back as `SizedSession → Later → Realised`
//! (`app/realised.rs`, `report/realised.rs`), each played with the earlier and the new settings where logs show both. Outcomes
//! (`app/outcomes.rs`, or `Recorded::outcome`) are read, joined by session and compared by group (`report/outcomes.rs`); nothing computes
//! one.

mod words;

use crate::advise::saved::{BillsBySize, SESSIONS_MIN, SavingsForecast, Z};
use crate::outcomes::OutcomeReport;
use crate::prelude::*;
use ctxsim_engine::measure::student;

pub use words::{html_page, markdown, terminal_text};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.realised/2";

/// So many sessions without the change are compared with; fewer would say more of themselves than of their time.
pub const COMPARED_MIN: usize = 10;

/// The largest share of later sessions that is left out without a warning.
const LEFT_OUT_MOST: f64 = 0.2;

/// What was saved is at most so many times what was forecast, either way: beyond that, bills are noise.
const MULTIPLE_MOST: f64 = 5.0;

/// A later session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaterSession {
    /// Lane, model and length, as the forecast calls it.
    pub kind: String,
    /// Its size, as the forecast measures it.
    pub size: f64,
    /// What it was billed, in US dollars, as the forecast counts it.
    pub usd: f64,
    /// The change in cost that is forecast for it, where it was played; else that of its kind counts.
    pub change: Option<f64>,
    /// Whether it went without the change, and is compared with.
    pub is_unchanged: bool,
    /// When it was, in milliseconds since 1970, if that is known.
    pub at_ms: Option<i64>,
    /// The day on which it began, where days are drawn and not sessions.
    pub day: Option<String>,
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
    /// The word that the rule gave them; empty where there was none.
    pub word: String,
    /// Whether sessions are measured by what they cost as simulated with the earlier settings, and not by their requests.
    pub is_by_cost: bool,
    pub answer: ForecastOutcome,
    /// Whether anything shows that somebody made the change: a log, a settings file that was written, the days of a trial, or the user.
    pub is_shown: bool,
    /// The change in cost that was forecast, for these later sessions; negative if it saves.
    pub forecast: f64,
    /// The change in cost that was forecast for sessions like those that the forecast was made of.
    pub promised: f64,
    /// The change that came about.
    pub realised: f64,
    /// Its 95% interval.
    pub interval: Option<[f64; 2]>,
    /// The sessions that count.
    pub sessions: u64,
    /// Of these: what they were billed, in US dollars.
    pub billed_usd: f64,
    /// What they would have been billed without the change.
    pub before_usd: f64,
    /// About how many more sessions it takes until it can be told; none if no number would do.
    pub more_sessions: Option<u64>,
    /// About how many sessions a trial by days would take.
    pub trial_sessions: Option<u64>,
    /// Sessions of the same time without the change, where they give the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<ComparedSessions>,
    pub kinds: Vec<RealisedKind>,
    /// How outcomes differ, where logs or a table tell of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<OutcomeReport>,
    /// Sessions that do not count, by reason.
    pub left_out: Vec<(String, usize)>,
    /// How many of them are later than the forecast, and how many later ones there are.
    pub left_out_later: [usize; 2],
    /// What a reader must know.
    pub notes: Vec<String>,
    /// What became of the forecasts of other agents that stand in the same file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_agents: Vec<Self>,
}

/// Sessions without the change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedSessions {
    /// Who: people or projects; the days of a trial on which the setting was off.
    pub who: Vec<String>,
    pub sessions: u64,
    /// How much more they were billed than at the earlier rates.
    pub change: f64,
}

/// Later sessions of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RealisedKind {
    /// Lane, model and length.
    pub kind: String,
    /// The number of sessions that say something, before and after.
    pub sessions: [u64; 2],
    /// The number of later sessions that say nothing of the change.
    pub silent: u64,
    /// US dollars by size, before and after; none where no later session says something.
    pub rate: Option<[f64; 2]>,
    /// The change that was forecast.
    pub forecast: Option<f64>,
}

impl Realised {
    /// Holds a forecast against later sessions that are known to have the change, or not; those of kinds that it does not know take no part.
    pub fn new(saved: &SavingsForecast, later: &[LaterSession]) -> Self {
        let is_known = |it: &&LaterSession| saved.base_bills(&it.kind).is_some();
        let (known, unknown): (Vec<_>, Vec<_>) = later.iter().partition(is_known);
        let (unchanged, own): (Vec<_>, Vec<_>) = known.into_iter().partition(|it| it.is_unchanged);
        let compared = (unchanged.len() >= COMPARED_MIN).then(|| ComparedRate::new(saved, &unchanged));
        let few = format!("they went without the change, and it takes {COMPARED_MIN} to compare with");
        let n_few = if compared.is_none() { unchanged.len() } else { 0 };
        let unknown = ("no earlier session was of their kind".to_owned(), unknown.len());
        let left_out = [unknown, (few, n_few)].into_iter().filter(|it| it.1 > 0).listed();
        let sum = LaterSum::new(saved, &own, compared.as_ref());
        let (answer, more_sessions) = sum.answer_and_sessions_needed(saved);
        let reach = sum.interval_half_width();
        let (who, sessions) = (Vec::new(), unchanged.len() as u64);
        let compared = compared.map(|it| ComparedSessions { who, sessions, change: it.rate - 1.0 });
        Self {
            schema: SCHEMA,
            agent: saved.agent.clone(),
            set: saved.set.clone(),
            word: saved.word.clone(),
            is_by_cost: saved.is_sized_by_cost(),
            answer,
            is_shown: true,
            forecast: sum.forecast,
            promised: saved.change,
            realised: sum.realised,
            interval: reach.is_finite().then_some([sum.realised - reach, sum.realised + reach]),
            sessions: own.len() as u64,
            billed_usd: sum_from_zero(own.iter().map(|it| it.usd)),
            before_usd: sum.before,
            more_sessions,
            trial_sessions: saved.count_sessions_needed(true),
            compared,
            kinds: results_by_kind(saved, &own),
            outcomes: None,
            left_out_later: [left_out.iter().map(|it| it.1).sum(), later.len()],
            left_out,
            notes: Vec::new(),
            other_agents: Vec::new(),
        }
    }

    /// Returns whether so many later sessions are left out that the answer is of a part of them.
    pub fn leaves_out_many(&self) -> bool {
        let [out, all] = self.left_out_later;
        out as f64 > LEFT_OUT_MOST * all as f64
    }
}

/// Adds up numbers; of none, the sum is 0, where the standard library's is −0.
fn sum_from_zero(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, it| sum + it)
}

/// Returns what each kind came to, those that the forecast knows first.
fn results_by_kind(saved: &SavingsForecast, later: &[&LaterSession]) -> Vec<RealisedKind> {
    let known = saved.kinds.iter().map(|it| it.name.as_str());
    let names = crate::distinct(known.chain(later.iter().map(|it| it.kind.as_str())));
    let kind = |name: &str| {
        let after: Vec<&&LaterSession> = later.iter().filter(|it| it.kind == name).listed();
        let (size, usd) = after.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.size, sum.1 + it.usd));
        let known = saved.kinds.iter().find(|it| it.name == name);
        let bills = known.map(|it| it.bills).filter(|it| it.size > 0.0);
        let change = known.map_or(saved.change, |it| it.change);
        let hoped = sum_from_zero(after.iter().map(|it| it.size * it.change.unwrap_or(change)));
        let before = bills.as_ref().or(saved.base_bills(name)).map_or(0.0, BillsBySize::usd_per_size_unit);
        (size > 0.0).then(|| RealisedKind {
            kind: name.to_owned(),
            sessions: [bills.map_or(0, |it| it.sessions), after.len() as u64],
            silent: 0,
            rate: Some([before, usd / size]),
            forecast: Some(hoped / size),
        })
    };
    names.into_iter().filter_map(kind).listed()
}

/// What a session, or a day, was billed, would have been billed without the change, and was forecast to be changed by, in US dollars.
#[derive(Clone, Copy, Debug, Default)]
struct LaterUnit {
    usd: f64,
    before: f64,
    hoped: f64,
}

/// Returns the units that are drawn: sessions, or days of a trial.
fn sums_by_session_or_day(saved: &SavingsForecast, own: &[&LaterSession], rate_scale: f64) -> Vec<LaterUnit> {
    let mut days: IndexMap<(usize, &str), LaterUnit> = IndexMap::new();
    for (nth, later) in own.iter().enumerate() {
        let bills = saved.base_bills(&later.kind);
        let before = bills.map_or(0.0, |it| it.usd_per_size_unit() * later.size) * rate_scale;
        let kind = || saved.kinds.iter().find(|kind| kind.name == later.kind).map(|it| it.change);
        let change = later.change.or_else(kind).unwrap_or(saved.change);
        let key = later.day.as_deref().map_or((nth + 1, ""), |day| (0, day));
        let unit = days.entry(key).or_default();
        unit.usd += later.usd;
        unit.before += before;
        unit.hoped += before * change;
    }
    days.into_values().listed()
}

/// The rate of sessions without the change, in earlier rates, and its relative variance.
struct ComparedRate {
    rate: f64,
    variance: f64,
}

impl ComparedRate {
    fn new(saved: &SavingsForecast, unchanged: &[&LaterSession]) -> Self {
        let units = sums_by_session_or_day(saved, unchanged, 1.0);
        let usd = sum_from_zero(units.iter().map(|it| it.usd));
        let before = sum_from_zero(units.iter().map(|it| it.before));
        let (rate, n) = (usd / before, units.len() as f64);
        let squares = sum_from_zero(units.iter().map(|it| (it.usd - rate * it.before).powi(2)));
        Self { rate, variance: squares * n / (n - 1.0) / usd.powi(2) }
    }
}

/// Later sessions in sum.
#[derive(Clone, Copy, Debug)]
struct LaterSum {
    /// The number of sessions, and of what is drawn of them.
    n: u64,
    units: u64,
    before: f64,
    forecast: f64,
    realised: f64,
    /// The variance of the realised change over later sessions.
    own: f64,
    /// That of the rate without the change, and that of a forecast that is not made of these sessions.
    rest: [f64; 2],
}

impl LaterSum {
    fn new(saved: &SavingsForecast, later: &[&LaterSession], compared: Option<&ComparedRate>) -> Self {
        let units = sums_by_session_or_day(saved, later, compared.map_or(1.0, |it| it.rate));
        let sum = |of: fn(&LaterUnit) -> f64| sum_from_zero(units.iter().map(of));
        let (usd, before, hoped) = (sum(|it| it.usd), sum(|it| it.before), sum(|it| it.hoped));
        let multiple = ((usd - before) / hoped).clamp(-MULTIPLE_MOST, MULTIPLE_MOST);
        let multiple = if multiple.is_finite() { multiple } else { 0.0 };
        // Of the multiple that was saved, each has its part, whatever the sum of them misses.
        let level = usd / (before + multiple * hoped);
        let error = |it: &LaterUnit| (it.usd - level * (it.before + multiple * it.hoped)).powi(2);
        let n = units.len() as f64;
        let ratio = usd / before;
        // What moves all bills from one time to the next moves sessions of the same time alike.
        let times_ms = later.iter().filter_map(|it| it.at_ms);
        let drift = saved.drift.as_ref().map_or(0.0, |it| it.relative_variance(times_ms));
        let earlier = || drift + expected_bill_variance(saved, later) / before.powi(2);
        let rate = compared.map_or_else(earlier, |it| it.variance);
        let is_played = later.iter().all(|it| it.change.is_some());
        let spread = (saved.interval[1] - saved.interval[0]) / (2.0 * Z);
        Self {
            n: later.len() as u64,
            units: units.len() as u64,
            before,
            forecast: hoped / before,
            realised: ratio - 1.0,
            own: sum_from_zero(units.iter().map(error)) * n / (n - 1.0) / before.powi(2),
            rest: [ratio.powi(2) * rate, if is_played { 0.0 } else { spread.powi(2) }],
        }
    }

    /// Returns how many standard errors 95% are within.
    fn t_quantile(&self) -> f64 {
        student(self.units.saturating_sub(1).max(1))
    }

    /// Returns half the width of the interval of the realised change.
    fn interval_half_width(&self) -> f64 {
        self.t_quantile() * (self.own + self.rest[0]).sqrt()
    }

    /// Returns the answer, and how many more sessions it takes where none can be given yet. It is as forecast if the whole interval is less
    /// than half of the forecast away from it; less or more if the forecast is outside.
    fn answer_and_sessions_needed(&self, saved: &SavingsForecast) -> (ForecastOutcome, Option<u64>) {
        let apart = self.realised - self.forecast;
        if self.units >= SESSIONS_MIN {
            if apart.abs() + self.interval_half_width() <= self.forecast.abs() / 2.0 {
                return (ForecastOutcome::AsForecast, None);
            }
            if apart.abs() > self.t_quantile() * (self.own + self.rest[0] + self.rest[1]).sqrt() {
                return (if apart > 0.0 { ForecastOutcome::Less } else { ForecastOutcome::More }, None);
            }
        }
        // Nine of ten answers have come by the number from which it can be told; for the others, it is asked again at twice as many.
        let needed = saved.n_later_sessions_needed().map(|needed| {
            let mut stage = needed.max(1);
            while stage <= self.n {
                stage *= 2;
            }
            stage - self.n
        });
        (ForecastOutcome::CannotTell, needed)
    }
}

/// Returns the variance that the earlier rates give what later sessions would have been billed.
fn expected_bill_variance(saved: &SavingsForecast, later: &[&LaterSession]) -> f64 {
    let size = |of: Option<&str>| {
        let those = later.iter().filter(|it| of.is_none_or(|kind| it.kind == kind));
        sum_from_zero(those.map(|it| it.size))
    };
    if let Some(bills) = &saved.pooled {
        return size(None).powi(2) * bills.rate_variance();
    }
    sum_from_zero(saved.kinds.iter().map(|it| size(Some(&it.name)).powi(2) * it.bills.rate_variance()))
}
