//! S1, research literature: a batch of figures a session, asked for one by one later; nothing in it is ever changed by itself.

use super::StreamDraft;
use crate::aging::stream::{Ask, Scoring};

/// Figures that a batch brings.
const FIGURES: u64 = 7;
/// A figure is asked for after at most so many sessions.
const ASKED_WITHIN: u64 = 8;

/// Writes the sessions.
pub(super) fn write(draft: &mut StreamDraft<'_>) {
    draft.about(Scoring::Keywords, &["technical", "survey"]);
    for session in 0..draft.n_sessions() {
        draft.begin_session(1);
        if !draft.says_something() {
            continue;
        }
        let mut draws = draft.draws("aging batch");
        // The curated batches have 44 keywords in eight sessions; generated ones 2.9 each.
        let n_tracked = match draft.load.curated_sessions {
            Some(_) => 5 + u64::from(session % 2),
            None => 3 - u64::from(draws.chance(0.1)),
        };
        let batch = draft.record(0);
        for _ in 0..n_tracked {
            let fact = draft.figure(batch, &mut draws);
            let wait = u32::try_from(draws.between(1, ASKED_WITHIN)).unwrap_or(1);
            draft.ask_once(session + wait, Ask::Any { facts: vec![fact], is_echoed: false }, false);
        }
        draft.bystanders(batch, FIGURES - n_tracked, &mut draws);
        draft.press();
    }
}
