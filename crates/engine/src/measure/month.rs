//! What sessions cost in a month: those of the last 30 days, or all of them scaled to 30 days.

use serde::Serialize;

/// The days of a month.
const DAYS: f64 = 30.0;
/// Fewer sessions in the last 30 days say little of a month, so all sessions are scaled.
const RECENT_MIN: usize = 5;
/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

/// Days of a week: fewer say little of a month.
const WEEK: f64 = 7.0;

/// How the costs of a month come about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The sessions of the last 30 days.
    Last30Days,
    /// All sessions, scaled from their days to 30.
    Scaled,
    /// All sessions: their logs tell no times, so nothing is scaled.
    #[default]
    AllSessions,
}

/// How much each session counts towards a month.
#[derive(Debug)]
pub struct Calendar {
    /// By session.
    weights: Vec<f64>,
    /// How the costs of a month come about.
    pub basis: Basis,
    /// Days from the first request to the last.
    pub days: Option<f64>,
}

impl Calendar {
    /// Looks at when some sessions began and ended, in milliseconds since 1970.
    pub fn new(spans: &[Option<[i64; 2]>]) -> Self {
        let n_sessions = spans.len();
        let spans: Option<Vec<[i64; 2]>> = spans.iter().copied().collect();
        let ends = spans.as_ref().and_then(|it| {
            let first = it.iter().map(|it| it[0]).min()?;
            Some([first, it.iter().map(|it| it[1]).max()?])
        });
        let (Some(spans), Some([first, last])) = (spans, ends) else {
            return Self { weights: vec![1.0; n_sessions], basis: Basis::AllSessions, days: None };
        };
        // Less than a day of sessions counts as one.
        let days = ((last - first) as f64 / DAY_MS).max(1.0);
        let is_recent = |it: &[i64; 2]| (last - it[1]) as f64 <= DAYS * DAY_MS;
        let n_recent = spans.iter().filter(|it| is_recent(it)).count();
        if days < DAYS || n_recent < RECENT_MIN {
            return Self { weights: vec![DAYS / days; n_sessions], basis: Basis::Scaled, days: Some(days) };
        }
        let weights = spans.iter().map(|it| if is_recent(it) { 1.0 } else { 0.0 }).collect();
        Self { weights, basis: Basis::Last30Days, days: Some(days) }
    }

    /// Returns it without scaling less than a week to a month.
    #[must_use]
    pub fn of_a_week_or_more(self) -> Self {
        if self.basis != Basis::Scaled || self.days.is_some_and(|it| it >= WEEK) {
            return self;
        }
        Self { weights: vec![1.0; self.weights.len()], basis: Basis::AllSessions, ..self }
    }

    /// Returns sessions with how much each counts.
    pub fn weigh<'s, T>(&'s self, sessions: &'s [T]) -> impl Iterator<Item = (&'s T, f64)> {
        sessions.iter().zip(self.weights.iter().copied())
    }

    /// Adds up what sessions cost in a month; none if one cost is unknown.
    pub fn usd<T>(&self, sessions: &[T], cost: impl Fn(&T) -> Option<f64>) -> Option<f64> {
        self.weigh(sessions).map(|(it, weight)| Some(cost(it)? * weight)).sum()
    }

    /// Says how the costs of a month come about.
    pub fn words(&self) -> String {
        words(self.basis, self.days)
    }
}

/// Says how the costs of a month come about.
pub fn words(basis: Basis, days: Option<f64>) -> String {
    match (basis, days) {
        (Basis::Last30Days, _) => "the sessions of the last 30 days".to_owned(),
        (Basis::Scaled, Some(days)) => {
            let guess = if days < WEEK { ", so a rough guess" } else { "" };
            format!("scaled to 30 days from {days:.1} days of sessions{guess}")
        }
        (_, Some(days)) => {
            format!("all sessions, as the {days:.1} days that they span are too few to be scaled to a month")
        }
        _ => "all sessions; their logs tell no times, so nothing is scaled to a month".to_owned(),
    }
}
