//! Pauses that outlast the cache: what a summary before leaving would have saved of sending everything again afterwards.
//!
//! Only what is sent again after the pause counts, not that later prompts are smaller. A summary is asked for where it pays, which the size of
//! the prompt tells before the pause does.

use super::session::{BilledSession, RequestBill};
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;
use ctxsim_engine::measure::known_task::LeverTerms;

pub(super) struct LeavingLever;

impl BilledLever for LeavingLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        let front = session.front() as f64;
        let paused = session.requests.iter().filter(|it| it.missed_by(&[MissCause::Paused]));
        let summary = LeverTerms::declared().summary_tokens;
        let mut told = Told::default();
        for it in paused {
            let saved = saved_by_summary(it, front, summary.value);
            if saved > 0.0 {
                let off = |tokens: f64| saved_by_summary(it, front, tokens) - saved;
                told.saved += saved;
                told.times += 1;
                told.off = [told.off[0] + off(summary.low), told.off[1] + off(summary.high)];
            }
        }
        if told.times > 0 { vec![told] } else { Vec::new() }
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let [sessions, times] = kind.counts("such pause");
        BilledRow {
            title: "Compact before a pause that outlasts the cache".to_owned(),
            about: format!("After {times} in {sessions}, the history was sent again without the cache"),
            unjudged: Some("a summary forgets what it leaves out".to_owned()),
            ..kind.row()
        }
    }
}

/// Returns what a summary before a pause would have saved of the request after it: what was sent again, less the front and the summary in its
/// place, and less the request that writes the summary.
fn saved_by_summary(it: &RequestBill<'_>, front: f64, summary: f64) -> f64 {
    let Some((_, missed)) = it.miss else { return 0.0 };
    let missed = missed as f64;
    let before = missed * it.read_usd() + summary * it.output_usd();
    missed * it.write_usd() - (front + summary).min(missed) * it.write_usd() - before
}
