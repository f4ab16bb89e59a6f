//! Cache entries that are kept alive in a pause by short requests, which read the prompt before it expires.
//!
//! Nobody knows how long a pause will be, so the requests go on for some hours and are paid in every pause, also in the last one, that never
//! ends.

use super::session::{BilledSession, RequestBill};
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;

pub(super) struct KeepAliveLever;

const HOUR_MS: u64 = 3_600_000;
/// For how many hours entries are kept alive.
const HOURS: [u64; 3] = [1, 4, 10];

impl BilledLever for KeepAliveLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let told = |hours: u64| {
            let Some(last) = session.requests.last() else { return Told::default() };
            let pairs = session.requests.iter().zip(session.requests.iter().skip(1));
            let kept = pairs.map(|(before, after)| kept_alive(before, Some(after), hours));
            let (saved, times) = kept.fold((0.0, 0), |sum, it| (sum.0 + it.0, sum.1 + u64::from(it.1)));
            Told {
                of: hours.to_string(),
                saved: saved + kept_alive(last, None, hours).0,
                times,
                ..Told::default()
            }
        };
        HOURS.map(told).into_iter().listed()
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let [sessions, times] = kind.counts("pause");
        BilledRow {
            of: format!("{} h", kind.of),
            title: format!("Keep the cache alive for {} h with short requests", kind.of),
            about: format!(
                "In {sessions}, {times} outlasted the cache and would not have; requests after a session's last are paid in vain"
            ),
            unjudged: Some("it takes a program that asks before the entries expire".to_owned()),
            ..kind.row()
        }
    }
}

/// Returns what keeping the prompt of a request alive saves until the next one, and whether it does; costs are negative.
fn kept_alive(before: &RequestBill<'_>, after: Option<&RequestBill<'_>>, hours: u64) -> (f64, bool) {
    let Some(life) = before.life_ms().filter(|it| *it > 0) else { return (0.0, false) };
    let (most, pause) = (hours * HOUR_MS, after.map_or(u64::MAX, |it| it.pause_ms));
    let n_requests = pause.min(most) / life;
    // The last of them keeps the entries for a lifetime more.
    let alive = (n_requests + 1).saturating_mul(life);
    let cost = n_requests as f64 * before.prompt() as f64 * before.read_usd();
    let is_kept = |it: &&RequestBill<'_>| it.missed_by(&[MissCause::Paused]) && pause < alive;
    let kept = after.filter(is_kept);
    (kept.map_or(0.0, RequestBill::again_usd) - cost, kept.is_some())
}
