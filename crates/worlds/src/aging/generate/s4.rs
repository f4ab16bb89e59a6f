//! S4, software engineering: each sprint has design notes, and the next one's work depends on them.

use super::StreamDraft;
use crate::aging::stream::{Ask, Scoring};

/// Keywords of a sprint's design notes.
const KEYWORDS: u64 = 10;
/// Figures that are beside them.
const OTHERS: u64 = 3;

/// Writes the sessions.
pub(super) fn write(draft: &mut StreamDraft<'_>) {
    draft.about(Scoring::Dependencies, &["models", "tests", "utils", "migrations"]);
    for session in 0..draft.n_sessions() {
        draft.begin_session(1);
        if !draft.says_something() {
            continue;
        }
        let mut draws = draft.draws("aging sprint");
        let notes = draft.record(usize::try_from(draws.between(0, 3)).unwrap_or(0));
        for _ in 0..KEYWORDS {
            let fact = draft.figure(notes, &mut draws);
            draft.ask_once(session + 1, Ask::Any { facts: vec![fact], is_echoed: false }, true);
        }
        draft.bystanders(notes, OTHERS, &mut draws);
        draft.press();
    }
}
