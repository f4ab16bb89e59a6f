//! S2, a lifestyle assistant: ten constraints given at the start and asked for in every session, and a budget that changes.

use super::StreamDraft;
use crate::aging::stream::{Ask, Scoring};

/// Figures that a session brings beside its change of the budget.
const FIGURES: u64 = 11;
/// Constraints of the profile, with the figures of each: 18.
const CONSTRAINTS: [u64; 10] = [2, 2, 2, 2, 2, 2, 2, 2, 1, 1];
/// What a session takes out of the budget on average, in dollars.
const DRAIN: i64 = 35;

/// Writes the sessions.
pub(super) fn write(draft: &mut StreamDraft<'_>) {
    let domains = ["dining", "financial", "subscriptions", "scheduling", "travel", "gifts"];
    draft.about(Scoring::Probes, &domains);
    let n_sessions = draft.n_sessions();
    let mut budget = 0;
    for session in 0..n_sessions {
        let tasks = draft.draws("aging tasks").between(5, 8);
        draft.begin_session(u32::try_from(tasks).unwrap_or(5));
        if session == 0 {
            budget = profile(draft, domains.len());
        }
        if !draft.says_something() {
            continue;
        }
        let mut draws = draft.draws("aging day");
        let record = draft.record(usize::try_from(draws.between(0, 5)).unwrap_or(0));
        // One thing of each day is asked for ever after, by how long ago it was; it does not count in the score.
        let fact = draft.figure(record, &mut draws);
        draft.ask(session + 1, u32::MAX, Ask::Any { facts: vec![fact], is_echoed: false }, false);
        draft.bystanders(record, FIGURES - 1, &mut draws);
        if session > 0 {
            let spent = draws.chance(0.8);
            let amount = if spent { draws.between(20, 80) } else { draws.between(10, 40) };
            let amount = i64::try_from(amount).unwrap_or(0);
            let record = draft.record(0);
            draft.change(budget, if spent { -amount } else { amount }, record);
            draft.ask_total(budget);
        }
        draft.press();
    }
}

/// Writes the constraints, asks for them in every session, and begins the budget.
fn profile(draft: &mut StreamDraft<'_>, n_domains: usize) -> u32 {
    let mut draws = draft.draws("aging profile");
    let n_echoed = usize::try_from(draft.numbers.counted.echoed_constraints).unwrap_or(0);
    for (nth, n_figures) in CONSTRAINTS.into_iter().enumerate() {
        let record = draft.record(nth % n_domains);
        let fact = draft.figure(record, &mut draws);
        draft.bystanders(record, n_figures - 1, &mut draws);
        let is_echoed = nth >= CONSTRAINTS.len() - n_echoed;
        draft.ask(0, u32::MAX, Ask::Any { facts: vec![fact], is_echoed }, true);
    }
    draft.end_profile();
    // As large as it takes to stay above nothing, as in the benchmark.
    let drawn = i64::try_from(draws.between(200, 600)).unwrap_or(200);
    let n = i64::from(draft.n_sessions());
    let drain = DRAIN * (n - 1).max(0);
    let reach = (34.0 * (n as f64).sqrt()) as i64;
    let initial = if drain + reach > drawn { drain * 3 / 2 + reach } else { drawn };
    draft.total(initial, 0)
}
