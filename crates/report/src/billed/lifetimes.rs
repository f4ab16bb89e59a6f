//! Lifetimes of cache entries where no setting of an agent is simulated: what all writes cost with the other one, and what pauses would change.

use super::session::{BilledSession, RequestBill};
use super::{BilledLever, BilledRow, Told};
use crate::lever::Lever;
use crate::prelude::*;

pub(super) struct LifetimesLever;

const HOUR_MS: u64 = 3_600_000;
const FIVE_MINUTES_MS: u64 = 300_000;

impl BilledLever for LifetimesLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        if session.has_lifetime_setting {
            return Vec::new();
        }
        let lane = if session.timeline.is_of_agent() { "sub-agents" } else { "main" };
        let told = |lifetime: &str, saved: fn(&RequestBill<'_>) -> f64| {
            let saved = session.requests.iter().map(saved).sum();
            Told { which: format!("{lifetime} {lane}"), saved, times: 1, ..Told::default() }
        };
        let all = [told("1 hour", an_hour), told("5 minutes", five_minutes)];
        all.into_iter().filter(|told| told.saved != 0.0).listed()
    }

    fn lever(&self, row: &BilledRow) -> Lever {
        let which = row.lever.of.replace(" main", ", main conversations").replace(" sub", ", sub");
        Lever {
            title: format!("Cache entries that live {which}"),
            about: format!("{} would pay other prices for writes", counted(row.sessions, "session")),
            ..row.lever.clone()
        }
    }
}

/// Returns what a request saves if everything is written for an hour: what it missed after up to an hour is read, and writes cost more.
fn an_hour(request: &RequestBill<'_>) -> f64 {
    let Some([short, long]) = request.writes_usd() else { return 0.0 };
    let is_read =
        request.missed_by(&[MissCause::Paused]) && request.pause_ms <= HOUR_MS && !request.is_long();
    let (again, missed) = if is_read { (request.again_usd(), request.missed()) } else { (0.0, 0) };
    again - request.tokens.write[0].saturating_sub(missed) as f64 * (long - short)
}

/// Returns what a request saves if everything is written for five minutes: writes cost less, and what it read after longer is written again.
fn five_minutes(request: &RequestBill<'_>) -> f64 {
    let Some([short, long]) = request.writes_usd() else { return 0.0 };
    let is_lost = request.is_long() && (FIVE_MINUTES_MS..=HOUR_MS).contains(&request.pause_ms);
    let lost = if is_lost { request.tokens.read } else { 0 };
    request.tokens.write[1] as f64 * (long - short) - lost as f64 * (short - request.read_usd())
}
