//! S5, self-management: an agent is told facts in blocks, and keeps what it will be asked in files of its own.

use super::StreamDraft;
use crate::aging::stream::{Ask, Scoring};
use crate::graph::FactIx;

/// Facts that a block brings, and facts that it asks for.
const FACTS: u64 = 4;

/// Writes the sessions.
pub(super) fn write(draft: &mut StreamDraft<'_>) {
    let domains = ["budget", "contacts", "health", "dining", "travel", "work"];
    draft.about(Scoring::Probes, &domains);
    let mut told: Vec<FactIx> = Vec::new();
    for session in 0..draft.n_sessions() {
        let mut draws = draft.draws("aging block");
        draft.begin_session(u32::try_from(draws.between(6, 8)).unwrap_or(6));
        for _ in 0..FACTS {
            if let Some(fact) = draws.pick(&told).copied() {
                draft.ask_once(session, Ask::Any { facts: vec![fact], is_echoed: false }, true);
            }
        }
        if !draft.says_something() {
            continue;
        }
        for _ in 0..FACTS {
            let record = draft.record(usize::try_from(draws.between(0, 5)).unwrap_or(0));
            told.push(draft.figure(record, &mut draws));
            draft.bystanders(record, 1, &mut draws);
        }
        draft.press();
    }
}
