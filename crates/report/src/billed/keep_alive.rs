//! Cache entries that are kept alive in a pause by short requests, which read the prompt before it expires.
//!
//! Nobody knows how long a pause will be, so the requests go on for some hours and are paid in every pause, also in the last one, that never
//! ends.

use super::session::{BilledSession, RequestBill};
use super::{BilledLever, BilledRow, Told};
use crate::lever::Lever;
use crate::prelude::*;

pub(super) struct KeepAliveLever;

const HOUR_MS: u64 = 3_600_000;
/// For how many hours entries are kept alive.
const HOURS: [u64; 3] = [1, 4, 10];

impl BilledLever for KeepAliveLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let kept = HOURS.into_iter().filter(|_| !session.requests.is_empty());
        kept.map(|hours| kept_alive(&session.requests, hours)).listed()
    }

    fn lever(&self, row: &BilledRow) -> Lever {
        let [sessions, times] = row.counts("pause");
        Lever {
            of: format!("{} h", row.lever.of),
            title: format!("Keep the cache alive for {} h with short requests", row.lever.of),
            about: format!(
                "In {sessions}, {times} outlasted the cache and would not have; requests after a session's last are paid in vain"
            ),
            unjudged: Some("it takes a program that asks before the entries expire".to_owned()),
            ..row.lever.clone()
        }
    }
}

/// Returns what keeping the prompts of requests alive for some hours saves; costs are negative.
fn kept_alive(requests: &[RequestBill<'_>], hours: u64) -> Told {
    let mut told = Told { which: hours.to_string(), ..Told::default() };
    for (nth, before) in requests.iter().enumerate() {
        let Some(life) = before.life_ms().filter(|life| *life > 0) else { continue };
        let after = requests.get(nth + 1);
        let pause = after.map_or(u64::MAX, |after| after.pause_ms);
        let n_requests = pause.min(hours * HOUR_MS) / life;
        // The last of them keeps the entries for a lifetime more.
        let alive = (n_requests + 1).saturating_mul(life);
        let cost = n_requests as f64 * before.prompt() as f64 * before.read_usd();
        let kept = after.filter(|after| after.missed_by(&[MissCause::Paused]) && pause < alive);
        told.saved += kept.map_or(0.0, RequestBill::again_usd) - cost;
        told.times += u64::from(kept.is_some());
    }
    told
}
