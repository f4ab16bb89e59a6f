//! Lifetimes of cache entries where no setting of an agent is simulated: what all writes cost with the other one, and what pauses would change.

use super::session::{BilledSession, RequestBill};
use super::{BilledLever, BilledRow, KindOfTold, Told};
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
        let told = |(of, saved): (&str, f64)| Told {
            of: format!("{of} {lane}"),
            saved,
            times: 1,
            ..Told::default()
        };
        let sum = |saved: fn(&RequestBill<'_>) -> f64| session.requests.iter().map(saved).sum::<f64>();
        let all = [("1 hour", sum(an_hour)), ("5 minutes", sum(five_minutes))];
        all.into_iter().filter(|it| it.1 != 0.0).map(told).listed()
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let which = kind.of.replace(" main", ", main conversations").replace(" sub", ", sub");
        BilledRow {
            title: format!("Cache entries that live {which}"),
            about: format!("{} would pay other prices for writes", counted(kind.sessions, "session")),
            ..kind.row()
        }
    }
}

/// Returns what a request saves if everything is written for an hour: what it missed after up to an hour is read, and writes cost more.
fn an_hour(it: &RequestBill<'_>) -> f64 {
    let Some([short, long]) = it.writes_usd() else { return 0.0 };
    let missed =
        it.miss.filter(|miss| miss.0 == MissCause::Paused && it.pause_ms <= HOUR_MS && !it.is_long());
    let again = if missed.is_some() { it.again_usd() } else { 0.0 };
    let written = it.tokens.write[0].saturating_sub(missed.map_or(0, |it| it.1));
    again - written as f64 * (long - short)
}

/// Returns what it saves if everything is written for five minutes: writes cost less, and what it read after longer is written again.
fn five_minutes(it: &RequestBill<'_>) -> f64 {
    let Some([short, long]) = it.writes_usd() else { return 0.0 };
    let is_lost = it.is_long() && (FIVE_MINUTES_MS..=HOUR_MS).contains(&it.pause_ms);
    let lost = if is_lost { it.tokens.read } else { 0 };
    it.tokens.write[1] as f64 * (long - short) - lost as f64 * (short - it.read_usd())
}
