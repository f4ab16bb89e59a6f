//! Cache entries that are kept alive in a pause by short requests, which read the prompt before it expires.
//!
//! Nobody knows how long a pause will be, so the requests go on for some hours and are paid in every pause, also in the last one, that never
//! ends.

use super::*;

pub(super) struct KeepAliveLever;

/// For how many hours entries are kept alive.
const HOURS: [u64; 3] = [1, 4, 10];

impl BilledLever for KeepAliveLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let kept = HOURS.into_iter().filter(|_| !session.requests.is_empty());
        kept.map(|hours| keep_alive_saving(&session.requests, hours)).listed()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let [sessions, times] = row.sessions_and_times("pause");
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
fn keep_alive_saving(requests: &[RequestBill<'_>], hours: u64) -> BilledSaving {
    let mut told = BilledSaving { which: hours.to_string(), ..BilledSaving::default() };
    for (nth, before) in requests.iter().enumerate() {
        let Some(life) = before.entry_life_ms().filter(|life| *life > 0) else { continue };
        let after = requests.get(nth + 1);
        let pause = after.map_or(u64::MAX, |after| after.pause_ms);
        let n_requests = pause.min(hours * HOUR_MS) / life;
        // The last of them keeps the entries for a lifetime more.
        let alive = (n_requests + 1).saturating_mul(life);
        let cost = n_requests as f64 * before.prompt_tokens() as f64 * before.read_token_usd();
        let kept = after.filter(|after| after.has_miss_of(&[MissCause::Paused]) && pause < alive);
        told.saved += kept.map_or(0.0, RequestBill::cache_miss_usd) - cost;
        told.times += u64::from(kept.is_some());
    }
    told
}
