//! What sessions cost in a month: those of the last 30 days, or all of them scaled to 30 days.

use super::play::Played;
use crate::report::advise::Basis;

/// The days of a month.
const DAYS: f64 = 30.0;
/// Fewer sessions in the last 30 days say little of a month, so all sessions are scaled.
const RECENT_MIN: usize = 5;
/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

/// How much each session counts towards a month.
#[derive(Debug)]
pub(super) struct Calendar {
    weights: Vec<f64>,
    pub(super) basis: Basis,
    pub(super) days: Option<f64>,
}

impl Calendar {
    /// Looks at the times of some sessions.
    pub(super) fn new(played: &[Played]) -> Self {
        let spans: Option<Vec<[i64; 2]>> = played.iter().map(|it| it.seen.span_ms).collect();
        let ends = spans.as_ref().and_then(|it| {
            let first = it.iter().map(|it| it[0]).min()?;
            Some([first, it.iter().map(|it| it[1]).max()?])
        });
        let (Some(spans), Some([first, last])) = (spans, ends) else {
            return Self { weights: vec![1.0; played.len()], basis: Basis::AllSessions, days: None };
        };
        // Less than a day of sessions counts as one.
        let days = ((last - first) as f64 / DAY_MS).max(1.0);
        let is_recent = |it: &[i64; 2]| (last - it[1]) as f64 <= DAYS * DAY_MS;
        let n_recent = spans.iter().filter(|it| is_recent(it)).count();
        if days < DAYS || n_recent < RECENT_MIN {
            return Self { weights: vec![DAYS / days; played.len()], basis: Basis::Scaled, days: Some(days) };
        }
        let weights = spans.iter().map(|it| if is_recent(it) { 1.0 } else { 0.0 }).collect();
        Self { weights, basis: Basis::Last30Days, days: Some(days) }
    }

    /// Adds up what sessions cost in a month; none if one cost is unknown.
    pub(super) fn usd(&self, played: &[Played], cost: impl Fn(&Played) -> Option<f64>) -> Option<f64> {
        played.iter().zip(&self.weights).map(|(it, weight)| Some(cost(it)? * weight)).sum()
    }
}
