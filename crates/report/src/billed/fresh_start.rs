//! Long sessions: from which size on a new session pays, with what beginning again costs.
//!
//! A new session begins where a turn does, with the front and as much as this session's first turn gathered, which it must gather again; what
//! the rest of the history would have cost to read from there on is saved. What is forgotten with it is not judged.

use super::session::BilledSession;
use super::{BilledLever, BilledRow, Told};
use crate::lever::Lever;
use crate::prelude::*;

pub(super) struct FreshStartLever;

/// The sizes from which on a new session is begun, in tokens.
const SIZES: [u64; 5] = [100_000, 150_000, 200_000, 300_000, 500_000];

impl BilledLever for FreshStartLever {
    fn told(&self, session: &BilledSession<'_>) -> Vec<Told> {
        SIZES.into_iter().flat_map(|size| with_fresh_starts(session, size)).listed()
    }

    fn lever(&self, row: &BilledRow) -> Lever {
        let size = thousands(row.lever.of.parse().unwrap_or(0));
        let [sessions, times] = row.counts("time");
        Lever {
            title: format!("Begin a new session once one has {size} tokens"),
            about: format!(
                "{sessions} would begin anew, {times} in all; what beginning again costs is counted as this session's own first turn"
            ),
            unjudged: Some("a new session has forgotten the old one".to_owned()),
            ..row.lever.clone()
        }
    }
}

/// Returns what a session saves that begins anew at turns whose prompt has a size; nothing if none has.
fn with_fresh_starts(session: &BilledSession<'_>, size: u64) -> Vec<Told> {
    let mut turns = session.requests.iter().filter(|request| request.begins_turn);
    let Some(second) = turns.nth(1) else { return Vec::new() };
    // The front, and what the first turn had gathered when the second began.
    let fresh = session.front().max(second.prompt());
    let mut told = Told { which: size.to_string(), ..Told::default() };
    let mut left_out = 0;
    for request in &session.requests {
        let again_usd = request.write_usd() - request.read_usd();
        // A prompt that shrank in between has nothing more to leave out than it holds.
        left_out = left_out.min(request.prompt().saturating_sub(fresh));
        let prompt = request.prompt().saturating_sub(left_out);
        if request.begins_turn && prompt >= size && prompt > 2 * fresh {
            left_out += prompt - fresh;
            told.times += 1;
            // What was read is written anew; what was missed was written anyway.
            told.saved -= fresh.min(prompt.saturating_sub(request.missed())) as f64 * again_usd;
        }
        let rest = left_out.min(request.prompt()) as f64;
        told.saved += rest * request.read_usd() + request.missed().min(left_out) as f64 * again_usd;
    }
    told.if_met()
}
