//! Long sessions: from which size on a new session pays, with what beginning again costs.
//!
//! A new session begins where a turn does, with the front and as much as this session's first turn gathered, which it must gather again; what
//! the rest of the history would have cost to read from there on is saved. What is forgotten with it is not judged.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, KindOfTold, Told};
use crate::prelude::*;

pub(super) struct FreshStartLever;

/// The sizes from which on a new session is begun, in tokens.
const SIZES: [u64; 5] = [100_000, 150_000, 200_000, 300_000, 500_000];

impl BilledLever for FreshStartLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        SIZES.into_iter().filter_map(|it| with_fresh_starts(session, it)).listed()
    }

    fn row(&self, kind: &KindOfTold<'_>) -> BilledRow {
        let size = thousands(kind.of.parse().unwrap_or(0));
        let [sessions, times] = kind.counts("time");
        BilledRow {
            title: format!("Begin a new session once one has {size} tokens"),
            about: format!(
                "{sessions} would begin anew, {times} in all; what beginning again costs is counted as this session's own first turn"
            ),
            unjudged: Some("a new session has forgotten the old one".to_owned()),
            ..kind.row()
        }
    }
}

/// Returns what a session saves that begins anew at turns whose prompt has a size; `None` if none has.
fn with_fresh_starts(session: &BilledSession<'_>, size: u64) -> Option<Told> {
    let mut turns = session.requests.iter().enumerate().filter(|it| it.1.begins_turn).map(|it| it.0);
    let (_, second) = (turns.next()?, turns.next()?);
    // The front, and what the first turn had gathered when the second began.
    let fresh = session.front().max(session.requests[second].prompt());
    let (mut saved, mut times, mut left_out) = (0.0, 0, 0);
    for it in &session.requests {
        // A prompt that shrank in between has nothing more to leave out than it holds.
        left_out = left_out.min(it.prompt().saturating_sub(fresh));
        let prompt = it.prompt().saturating_sub(left_out);
        if it.begins_turn && prompt >= size && prompt > 2 * fresh {
            left_out += prompt - fresh;
            times += 1;
            // What was read is written anew; what was missed was written anyway.
            let missed = it.miss.map_or(0, |it| it.1);
            saved -= fresh.min(prompt.saturating_sub(missed)) as f64 * (it.write_usd() - it.read_usd());
        }
        let rest = left_out.min(it.prompt()) as f64;
        let missed = it.miss.map_or(0, |it| it.1).min(left_out) as f64;
        saved += rest * it.read_usd() + missed * (it.write_usd() - it.read_usd());
    }
    (times > 0).then(|| Told { of: size.to_string(), saved, times, ..Told::default() })
}
