//! Accuracy by type of question over twenty seeds: the signs that the document on memory runners tells.

use ctxsim::worlds::chats::{ChatSummary, Wins};

use super::*;

/// The case of the specification under both runners and the mitigation, without and with conversation_time.
fn reports() -> &'static [Report; 2] {
    static REPORTS: OnceLock<[Report; 2]> = OnceLock::new();
    let policies =
        ["memory_runners/entries", "memory_runners/context_only", "memory_runners/context_only_listed"];
    REPORTS.get_or_init(|| {
        ["spec", "spec_dated"].map(|it| report(&format!("memory_runners/{it}"), &policies, &[]))
    })
}

/// Returns what one of the policies came to.
pub(super) fn summary(dated: bool, policy: usize) -> &'static ChatSummary {
    reports()[usize::from(dated)].runs[policy].found::<ctxsim::worlds::chats::ChatSummary>().unwrap()
}

/// Who wins a type of question: entries, or one of the runners without.
fn wins(dated: bool, against: usize, kind: &str) -> Wins {
    let name = &reports()[usize::from(dated)].runs[against].policy;
    Wins::new(&summary(dated, 0).paired[name][kind])
}

#[test]
fn accuracy_by_type_has_intervals_over_twenty_seeds_or_more() {
    for dated in [false, true] {
        for policy in 0..3 {
            for (kind, it) in &summary(dated, policy).accuracy {
                assert!(it.n >= 20 && it.ci95.is_some(), "{kind}");
            }
        }
    }
}

#[test]
fn entries_answer_more_questions_that_count_as_the_specification_expects() {
    assert_eq!(wins(true, 1, "counting"), Wins::Entries);
    assert_eq!(wins(false, 1, "counting"), Wins::Entries);
}

#[test]
fn updates_and_abstention_are_open_with_conversation_time_as_expected_and_single_facts_are_not_equal() {
    assert_eq!(wins(true, 1, "knowledge_update"), Wins::Open);
    assert_eq!(wins(true, 1, "abstention"), Wins::Open);
    assert_eq!(wins(true, 1, "single_fact"), Wins::Entries, "what is said in passing is asked, too");
}

#[test]
fn the_mitigation_makes_up_for_single_facts_and_for_most_of_the_counting() {
    let counting = |policy: usize| summary(true, policy).accuracy["counting"].mean;
    assert!(counting(2) > counting(1) + 0.2);
    assert_eq!(wins(true, 2, "single_fact"), Wins::Open);
}

#[test]
fn dates_are_known_with_conversation_time_and_mostly_lost_without() {
    for policy in 0..3 {
        let [without, with] = [false, true].map(|it| summary(it, policy).accuracy["timeline"].mean);
        assert!(without < 0.4 && with > 0.9, "{without} {with}");
        assert!(with < 1.0, "the specification expects 100%; what was never written cannot be dated");
    }
}

#[test]
fn storage_grows_by_every_version_of_the_document() {
    let [entries, context] = [0, 1].map(|it| summary(true, it));
    let by_session = &context.storage_words_by_session;
    assert!(by_session.len() == 50 && by_session.is_sorted());
    let saved = 1.0 - context.storage.words() as f64 / entries.storage.words() as f64;
    assert!(saved < 0.9, "the specification expects 90%: {saved}");
    assert!(context.storage.document_words * 10 < context.storage.words());
}
