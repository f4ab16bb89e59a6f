//! The seven scenarios of the benchmark, each as what its sessions say and ask.

use crate::aging::generate::{StreamDraft, drawn};
use crate::aging::stream::{Ask, StreamScore};
use crate::prelude::*;

/// Writes S1, research literature: a batch of figures a session, asked for one by one later; nothing in it is ever changed by itself.
pub(super) fn research_literature(draft: &mut StreamDraft<'_>) {
    /// Figures that a batch brings.
    const FIGURES: u64 = 7;
    /// A figure is asked for after at most so many sessions.
    const ASKED_WITHIN: u64 = 8;
    draft.about(StreamScore::Keywords, &["technical", "survey"]);
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
            draft.ask_once(session + drawn::<u32>(&mut draws, 1, ASKED_WITHIN), Ask::fact(fact), false);
        }
        draft.bystanders(batch, FIGURES - n_tracked, &mut draws);
        draft.press();
    }
}

/// Writes S2, a lifestyle assistant: ten constraints given at the start and asked for in every session, and a budget that changes.
pub(super) fn lifestyle(draft: &mut StreamDraft<'_>) {
    /// Figures that a session brings beside its change of the budget.
    const FIGURES: u64 = 11;
    let domains = ["dining", "financial", "subscriptions", "scheduling", "travel", "gifts"];
    draft.about(StreamScore::Answers, &domains);
    let mut budget = 0;
    for session in 0..draft.n_sessions() {
        let tasks = drawn(&mut draft.draws("aging tasks"), 5, 8);
        draft.begin_session(tasks);
        if session == 0 {
            budget = profile(draft, domains.len());
        }
        if !draft.says_something() {
            continue;
        }
        let mut draws = draft.draws("aging day");
        let record = draft.record(drawn(&mut draws, 0, 5));
        // One thing of each day is asked for ever after, by how long ago it was; it does not count in the score.
        let fact = draft.figure(record, &mut draws);
        draft.ask(session + 1, u32::MAX, Ask::fact(fact), false);
        draft.bystanders(record, FIGURES - 1, &mut draws);
        if session > 0 {
            let spent = draws.chance(0.8);
            let amount: i64 =
                if spent { -drawn::<i64>(&mut draws, 20, 80) } else { drawn(&mut draws, 10, 40) };
            let record = draft.record(0);
            draft.change(budget, amount, record);
            draft.ask_total(budget);
        }
        draft.press();
    }
}

/// Writes the constraints, asks for them in every session, and begins the budget.
fn profile(draft: &mut StreamDraft<'_>, n_domains: usize) -> u32 {
    /// Constraints of the profile, with the figures of each: 18.
    const CONSTRAINTS: [u64; 10] = [2, 2, 2, 2, 2, 2, 2, 2, 1, 1];
    /// What a session takes out of the budget on average, in dollars.
    const DRAIN: i64 = 35;
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
    let initial = drawn(&mut draws, 200, 600);
    let n = i64::from(draft.n_sessions());
    let drain = DRAIN * (n - 1).max(0);
    let reach = (34.0 * (n as f64).sqrt()) as i64;
    draft.total(if drain + reach > initial { drain * 3 / 2 + reach } else { initial }, 0)
}

/// Writes S3, a knowledge base: three to five decisions a session, each with figures, some known by what they are about.
pub(super) fn knowledge_base(draft: &mut StreamDraft<'_>) {
    draft.about(StreamScore::Fidelity, &["budget", "deadline", "vendor", "personnel", "technology"]);
    let mut decisions: Vec<Vec<FactIx>> = Vec::new();
    for session in 0..draft.n_sessions() {
        draft.begin_session(3);
        let mut draws = draft.draws("aging decisions");
        draft.ask_some_of(&decisions, 3, session, &mut draws);
        if !draft.says_something() {
            continue;
        }
        for domain in 0..drawn(&mut draws, 3, 5) {
            let record = draft.record(domain);
            let counted = &draft.numbers.counted;
            let names_subject = draws.chance(counted.subject_share_knowledge);
            let shares = if names_subject { counted.figures_with_subject } else { counted.figures_alone };
            let n_statements = draws.between(1, 4);
            let n_figures = nth_of(&shares, draws.unit());
            let mut facts: Vec<FactIx> =
                names_subject.then(|| draft.subject(record, true)).into_iter().collect();
            facts.extend((0..n_figures).map(|_| draft.figure(record, &mut draws)));
            draft.bystanders(record, n_statements.saturating_sub(facts.len() as u64), &mut draws);
            decisions.push(facts);
        }
        draft.press();
    }
}

/// Returns which of some shares of 1 a draw falls into.
fn nth_of(shares: &[f64], draw: f64) -> u64 {
    let ends = shares.iter().scan(0.0, |sum, it| {
        *sum += it;
        Some(*sum)
    });
    ends.take_while(|it| draw >= *it).count() as u64
}

/// Writes S4, software engineering: each sprint has design notes, and the next one's work depends on them.
pub(super) fn software_engineering(draft: &mut StreamDraft<'_>) {
    draft.about(StreamScore::Dependencies, &["models", "tests", "utils", "migrations"]);
    for session in 0..draft.n_sessions() {
        draft.begin_session(1);
        if !draft.says_something() {
            continue;
        }
        let mut draws = draft.draws("aging sprint");
        let notes = draft.record(drawn(&mut draws, 0, 3));
        // The notes have ten keywords, and three figures beside them.
        for _ in 0..10 {
            let fact = draft.figure(notes, &mut draws);
            draft.ask_once(session + 1, Ask::fact(fact), true);
        }
        draft.bystanders(notes, 3, &mut draws);
        draft.press();
    }
}

/// Writes S5, self-management: an agent is told facts in blocks, and keeps what it will be asked in files of its own.
pub(super) fn self_management(draft: &mut StreamDraft<'_>) {
    /// Facts that a block brings, and facts that it asks for.
    const FACTS: usize = 4;
    draft.about(StreamScore::Answers, &["budget", "contacts", "health", "dining", "travel", "work"]);
    let mut told: Vec<Vec<FactIx>> = Vec::new();
    for session in 0..draft.n_sessions() {
        let mut draws = draft.draws("aging block");
        draft.begin_session(drawn(&mut draws, 6, 8));
        draft.ask_some_of(&told, FACTS, session, &mut draws);
        if !draft.says_something() {
            continue;
        }
        for _ in 0..FACTS {
            let record = draft.record(drawn(&mut draws, 0, 5));
            told.push(vec![draft.figure(record, &mut draws)]);
            draft.bystanders(record, 1, &mut draws);
        }
        draft.press();
    }
}

/// Writes S6, several domains: one report a session from a shop, a map, a code host or a forum; all that was asked is asked again.
pub(super) fn multi_domain(draft: &mut StreamDraft<'_>) {
    /// Figures of a report.
    const FIGURES: u64 = 13;
    /// Facts of a report that are asked for in every later session.
    const ASKED: u64 = 2;
    let domains = ["shopping_admin", "shopping", "map", "map_wikipedia", "gitlab", "reddit"];
    draft.about(StreamScore::Answers, &domains);
    for session in 0..draft.n_sessions() {
        let mut draws = draft.draws("aging report");
        draft.begin_session(drawn(&mut draws, 3, 5));
        if !draft.says_something() {
            continue;
        }
        let report = draft.record(session as usize % domains.len());
        for _ in 0..ASKED {
            let names_subject = draws.chance(draft.numbers.fitted.subject_share_domains);
            let fact =
                if names_subject { draft.subject(report, true) } else { draft.figure(report, &mut draws) };
            draft.ask(session + 1, u32::MAX, Ask::fact(fact), true);
        }
        draft.bystanders(report, FIGURES - ASKED, &mut draws);
        draft.press();
    }
}

/// Writes S7, self-planning: an agent builds a notes program over sessions; schemas change, and counters with them.
pub(super) fn self_planning(draft: &mut StreamDraft<'_>) {
    draft.about(StreamScore::Answers, &["schema", "storage", "commands", "tests"]);
    let mut settled: Vec<Vec<FactIx>> = Vec::new();
    let mut counter = 0;
    for session in 0..draft.n_sessions() {
        let mut draws = draft.draws("aging program");
        draft.begin_session(drawn(&mut draws, 10, 12));
        if session == 0 {
            counter = draft.total(0, 2);
        }
        draft.ask_some_of(&settled, 5, session, &mut draws);
        if !draft.says_something() {
            continue;
        }
        // Each session settles three facts about the program.
        for _ in 0..3 {
            let record = draft.record(drawn(&mut draws, 0, 3));
            settled.push(vec![draft.figure(record, &mut draws)]);
        }
        let record = draft.record(2);
        draft.change(counter, drawn(&mut draws, 1, 4), record);
        draft.ask_total(counter);
        draft.press();
    }
}
