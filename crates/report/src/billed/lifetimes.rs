//! Lifetimes of cache entries where no setting of an agent is simulated: what all writes cost with the other one, and what pauses would change.

use super::*;

pub(super) struct CacheLifetimesLever;

const FIVE_MINUTES_MS: u64 = 300_000;

impl BilledLever for CacheLifetimesLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        if session.has_lifetime_setting {
            return Vec::new();
        }
        let lane = if session.timeline.is_of_agent() { "sub-agents" } else { "main" };
        let told = |lifetime: &str, saved: fn(&RequestBill<'_>) -> f64| {
            let saved = session.requests.iter().map(saved).sum();
            BilledSaving { which: format!("{lifetime} {lane}"), saved, times: 1, ..BilledSaving::default() }
        };
        let all = [told("1 hour", usd_saved_at_one_hour), told("5 minutes", usd_saved_at_five_minutes)];
        all.into_iter().filter(|told| told.saved != 0.0).listed()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let which = row.lever.of.replace(" main", ", main conversations").replace(" sub", ", sub");
        Lever {
            title: format!("Cache entries that live {which}"),
            about: format!("{} would pay other prices for writes", counted(row.sessions, "session")),
            ..row.lever.clone()
        }
    }
}

/// Returns what a request saves if everything is written for an hour: what it missed after up to an hour is read, and writes cost more.
fn usd_saved_at_one_hour(request: &RequestBill<'_>) -> f64 {
    let Some([short, long]) = request.write_usd_by_lifetime() else { return 0.0 };
    let is_short = request.pause_ms <= HOUR_MS && !request.writes_long_lived();
    let is_read = is_short && request.has_miss_of(&[MissCause::Paused]);
    let missed = if is_read { request.missed_tokens() } else { 0 };
    let again = if is_read { request.cache_miss_usd() } else { 0.0 };
    again - request.tokens.write[0].saturating_sub(missed) as f64 * (long - short)
}

/// Returns what a request saves if everything is written for five minutes: writes cost less, and what it read after longer is written again.
fn usd_saved_at_five_minutes(request: &RequestBill<'_>) -> f64 {
    let Some([short, long]) = request.write_usd_by_lifetime() else { return 0.0 };
    let is_lost = request.writes_long_lived() && (FIVE_MINUTES_MS..=HOUR_MS).contains(&request.pause_ms);
    let lost = if is_lost { request.tokens.read } else { 0 };
    request.tokens.write[1] as f64 * (long - short) - lost as f64 * (short - request.read_token_usd())
}
