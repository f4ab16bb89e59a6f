//! Pauses that outlast the cache: what a summary before leaving would have saved of sending everything again afterwards.
//!
//! Only what is sent again after the pause counts, not that later prompts are smaller. A summary is asked for where it pays, which the size of
//! the prompt tells before the pause does.

use super::session::{BilledSession, RequestBill};
use super::{BilledLever, BilledRow, Told};
use crate::lever::Lever;
use crate::prelude::*;
use ctxsim_engine::measure::known_task::LeverTerms;

pub(super) struct LeavingLever;

impl BilledLever for LeavingLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let front = session.front() as f64;
        let summary = LeverTerms::declared().summary_tokens;
        let mut told = Told::default();
        for paused in session.requests.iter().filter(|request| request.missed_by(&[MissCause::Paused])) {
            let saved = saved_by_summary(paused, front, summary.value);
            if saved > 0.0 {
                let off = |tokens: f64| saved_by_summary(paused, front, tokens) - saved;
                told.saved += saved;
                told.times += 1;
                told.off = [told.off[0] + off(summary.low), told.off[1] + off(summary.high)];
            }
        }
        told.if_met()
    }

    fn lever(&self, row: &BilledRow) -> Lever {
        let [sessions, times] = row.counts("such pause");
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
fn saved_by_summary(paused: &RequestBill<'_>, front: f64, summary: f64) -> f64 {
    let (missed, write_usd) = (paused.missed() as f64, paused.write_usd());
    let before = missed * paused.read_usd() + summary * paused.output_usd();
    missed * write_usd - (front + summary).min(missed) * write_usd - before
}
