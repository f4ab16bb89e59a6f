//! S6, several domains: one report a session from a shop, a map, a code host or a forum; all that was asked is asked again.

use super::StreamDraft;
use crate::aging::stream::{Ask, Scoring};

/// Figures of a report.
const FIGURES: u64 = 13;
/// Facts of a report that are asked for in every later session.
const ASKED: u64 = 2;

/// Writes the sessions.
pub(super) fn write(draft: &mut StreamDraft<'_>) {
    let domains = ["shopping_admin", "shopping", "map", "map_wikipedia", "gitlab", "reddit"];
    draft.about(Scoring::Probes, &domains);
    for session in 0..draft.n_sessions() {
        let mut draws = draft.draws("aging report");
        draft.begin_session(u32::try_from(draws.between(3, 5)).unwrap_or(3));
        if !draft.says_something() {
            continue;
        }
        let report = draft.record(session as usize % domains.len());
        for _ in 0..ASKED {
            let fact = if draws.chance(draft.numbers.fitted.subject_share_domains) {
                draft.subject(report, true)
            } else {
                draft.figure(report, &mut draws)
            };
            draft.ask(session + 1, u32::MAX, Ask::Any { facts: vec![fact], is_echoed: false }, true);
        }
        draft.bystanders(report, FIGURES - ASKED, &mut draws);
        draft.press();
    }
}
