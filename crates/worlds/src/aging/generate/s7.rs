//! S7, self-planning: an agent builds a notes program over sessions; schemas change, and counters with them.

use super::StreamDraft;
use crate::aging::stream::{Ask, Scoring};
use crate::graph::FactIx;

/// Facts about the program that a session settles.
const FACTS: u64 = 3;
/// Earlier facts that a session asks for.
const ASKED: u64 = 5;

/// Writes the sessions.
pub(super) fn write(draft: &mut StreamDraft<'_>) {
    let domains = ["schema", "storage", "commands", "tests"];
    draft.about(Scoring::Probes, &domains);
    let mut settled: Vec<FactIx> = Vec::new();
    let mut counter = 0;
    for session in 0..draft.n_sessions() {
        let mut draws = draft.draws("aging program");
        draft.begin_session(u32::try_from(draws.between(10, 12)).unwrap_or(10));
        if session == 0 {
            counter = draft.total(0, 2);
        }
        for _ in 0..ASKED {
            if let Some(fact) = draws.pick(&settled).copied() {
                draft.ask_once(session, Ask::Any { facts: vec![fact], is_echoed: false }, true);
            }
        }
        if !draft.says_something() {
            continue;
        }
        for _ in 0..FACTS {
            let record = draft.record(usize::try_from(draws.between(0, 3)).unwrap_or(0));
            settled.push(draft.figure(record, &mut draws));
        }
        let record = draft.record(2);
        let added = i64::try_from(draws.between(1, 4)).unwrap_or(1);
        draft.change(counter, added, record);
        draft.ask_total(counter);
        draft.press();
    }
}
