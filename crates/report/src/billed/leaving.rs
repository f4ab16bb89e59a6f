//! Pauses that outlast the cache: what a summary before leaving would have saved of sending everything again afterwards.
//!
//! Only what is sent again after the pause counts, not that later prompts are smaller. A summary is asked for where it pays, which the size of
//! the prompt tells before the pause does.

use super::*;
use ctxsim_engine::measure::known_task::LeverTerms;

pub(super) struct CompactBeforePause;

impl BilledLever for CompactBeforePause {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let front = session.fixed_prefix_tokens() as f64;
        let summary = LeverTerms::declared().summary_tokens;
        let mut told = BilledSaving::default();
        for paused in session.requests.iter().filter(|request| request.has_miss_of(&[MissCause::Paused])) {
            let saved = usd_saved_by_summary(paused, front, summary.value);
            if saved > 0.0 {
                let off = |tokens: f64| usd_saved_by_summary(paused, front, tokens) - saved;
                told.saved += saved;
                told.times += 1;
                told.off = [told.off[0] + off(summary.low), told.off[1] + off(summary.high)];
            }
        }
        told.into_vec_if_occurred()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let [sessions, times] = row.sessions_and_times("such pause");
        Lever {
            title: "Compact before a pause that outlasts the cache".to_owned(),
            about: format!("After {times} in {sessions}, the history was sent again without the cache"),
            unjudged: Some("a summary forgets what it leaves out".to_owned()),
            ..row.lever.clone()
        }
    }
}

/// Returns what a summary before a pause would have saved of the request after it: what was sent again, less the front and the summary in its
/// place, and less the request that writes the summary.
fn usd_saved_by_summary(paused: &RequestBill<'_>, front_tokens: f64, summary_tokens: f64) -> f64 {
    let (missed, write_usd) = (paused.missed_tokens() as f64, paused.write_token_usd());
    let before = missed * paused.read_token_usd() + summary_tokens * paused.output_token_usd();
    missed * write_usd - (front_tokens + summary_tokens).min(missed) * write_usd - before
}
