//! S3, a knowledge base: three to five decisions a session, each with figures, some known by what they are about.

use super::StreamDraft;
use crate::aging::stream::{Ask, Scoring};
use crate::graph::FactIx;

/// Earlier decisions that a session asks for.
const ASKED: u64 = 3;

/// Returns which of some shares of 1 a draw falls into.
fn nth_of(shares: &[f64], draw: f64) -> u64 {
    let ends = shares.iter().scan(0.0, |sum, it| {
        *sum += it;
        Some(*sum)
    });
    ends.take_while(|it| draw >= *it).count() as u64
}

/// Writes the sessions.
pub(super) fn write(draft: &mut StreamDraft<'_>) {
    draft.about(Scoring::Fidelity, &["budget", "deadline", "vendor", "personnel", "technology"]);
    let mut decisions: Vec<Vec<FactIx>> = Vec::new();
    for session in 0..draft.n_sessions() {
        draft.begin_session(3);
        let mut draws = draft.draws("aging decisions");
        for _ in 0..ASKED {
            if let Some(facts) = draws.pick(&decisions).cloned() {
                draft.ask_once(session, Ask::Any { facts, is_echoed: false }, true);
            }
        }
        if !draft.says_something() {
            continue;
        }
        for nth in 0..draws.between(3, 5) {
            let record = draft.record(usize::try_from(nth).unwrap_or(0));
            let counted = &draft.numbers.counted;
            let names_subject = draws.chance(counted.subject_share_knowledge);
            let shares = if names_subject { counted.figures_with_subject } else { counted.figures_alone };
            let n_statements = draws.between(1, 4);
            let n_figures = nth_of(&shares, draws.unit());
            let mut facts = Vec::new();
            if names_subject {
                facts.push(draft.subject(record, true));
            }
            for _ in 0..n_figures {
                facts.push(draft.figure(record, &mut draws));
            }
            let n_said = n_figures + u64::from(names_subject);
            draft.bystanders(record, n_statements.saturating_sub(n_said), &mut draws);
            decisions.push(facts);
        }
        draft.press();
    }
}
