//! The context document: merge rules by the specification's own examples, and laws of merging, cap and protection.

use ctxsim::input::policy::memory::ContextDocument;
use ctxsim::input::policy::memory::DocSection::{self, Entities, Facts, Notes, Preferences, Timeline};
use ctxsim::rng::{Seed, Stream};
use ctxsim::worlds::chats::document::{ChatDocument, DocumentLine, Holds, News};
use ctxsim::worlds::chats::{ChatEvent, Occurrence};

use super::{chats, few, play, runner};

const SECTIONS: [DocSection; 5] = [Facts, Timeline, Entities, Preferences, Notes];

/// Returns what protects lines.
fn protects() -> ContextDocument {
    ContextDocument { recent_sessions: 1, key_references: 2, ..ContextDocument::default() }
}

/// Statements of the examples, by what they are about and which version they say.
const BACHELOR: (u32, u32) = (0, 0);
const MBA: (u32, u32) = (0, 1);

fn news(section: DocSection, (subject, fact): (u32, u32)) -> News {
    News { section, subject, fact, words: 12, sees_contradiction: true }
}

fn facts(document: &ChatDocument) -> Vec<u32> {
    document.facts().collect()
}

#[test]
fn user_has_mba_replaces_user_has_bachelors_degree() {
    let mut document = ChatDocument::new(&SECTIONS);
    document.say(&news(Facts, BACHELOR), 0);
    document.say(&news(Facts, (7, 7)), 0);
    document.say(&news(Facts, MBA), 3);

    assert_eq!(facts(&document), [7, 1], "the current fact stands in place of the one that it contradicts");
}

#[test]
fn previous_facts_are_kept_only_if_they_are_not_contradicted_and_that_has_to_be_seen() {
    let mut document = ChatDocument::new(&SECTIONS);
    document.say(&news(Facts, BACHELOR), 0);
    document.say(&News { sees_contradiction: false, ..news(Facts, MBA) }, 3);

    assert_eq!(facts(&document), [0, 1], "an overlooked contradiction leaves both");
}

#[test]
fn the_timeline_appends_new_conversations_keeps_all_dates_and_stays_in_order() {
    let mut document = ChatDocument::new(&SECTIONS);
    for session in [2, 0, 1, 2] {
        document.converse(session, 6, 10);
    }
    document.say(&news(Timeline, (4, 4)), 1);
    let sessions: Vec<u32> = of(&document, Timeline).map(|it| it.session).collect();

    assert_eq!(sessions, [0, 1, 1, 2]);
    document.say(&news(Timeline, (4, 5)), 3);
    assert!(facts(&document).contains(&4), "a later event does not take the place of an earlier one");
}

#[test]
fn recent_relationships_override_and_obsolete_entities_leave() {
    let mut document = ChatDocument::new(&SECTIONS);
    document.say(&news(Entities, (10, 10)), 0);
    document.say(&news(Entities, (10, 11)), 1);
    assert_eq!(facts(&document), [11]);

    document.retract(10);
    assert_eq!(facts(&document), [0_u32; 0]);
}

#[test]
fn current_preferences_override_previous_ones() {
    let mut document = ChatDocument::new(&SECTIONS);
    document.say(&news(Preferences, (20, 20)), 0);
    document.say(&news(Preferences, (20, 21)), 5);

    assert_eq!(facts(&document), [21]);
}

#[test]
fn what_is_said_again_is_merged_and_counts_as_a_reference() {
    let mut document = ChatDocument::new(&SECTIONS);
    document.say(&news(Notes, (30, 30)), 0);
    document.say(&news(Notes, (30, 30)), 4);
    document.mention(30, 6);
    let [item] = of(&document, Notes).copied().collect::<Vec<_>>()[..] else { panic!("one line") };

    assert_eq!((item.references, item.session), (3, 6));
}

#[test]
fn old_conversations_stay_as_a_summary_when_their_details_go() {
    let mut document = ChatDocument::new(&SECTIONS);
    for session in 0..20 {
        document.say(&news(Notes, (session, session)), session);
        document.converse(session, 6, 10);
    }
    // Room for the timeline, all summaries and less than half of the details.
    document.prune(20 * 6 + 20 * 10 + 8 * 12, &protects(), 19);
    let details = of(&document, Notes).filter(|it| matches!(it.holds, Holds::Statement { .. })).count();
    let summaries = of(&document, Notes).filter(|it| matches!(it.holds, Holds::Summary(_)));

    assert!(details < 20 && summaries.count() > 0);
}

#[test]
fn the_oldest_and_least_referenced_goes_first() {
    let mut document = ChatDocument::new(&SECTIONS);
    for subject in 0..4 {
        document.say(&news(Preferences, (subject, subject)), u64::from(subject).try_into().unwrap());
    }
    // What is said three times is as good as something a third as old.
    document.mention(0, 0);
    document.mention(0, 0);
    document.prune(36, &protects(), 5);
    assert_eq!(facts(&document), [0, 2, 3]);
    document.prune(24, &protects(), 5);
    assert_eq!(facts(&document), [0, 3]);
}

#[test]
fn what_belongs_to_a_section_that_is_not_there_goes_to_notes_or_nowhere() {
    let mut with_notes = ChatDocument::new(&[Notes]);
    let mut without = ChatDocument::new(&[Timeline]);
    for document in [&mut with_notes, &mut without] {
        document.say(&news(Facts, BACHELOR), 0);
    }
    assert_eq!((facts(&with_notes).len(), facts(&without).len()), (1, 0));
}

/// Returns the lines of a section.
fn of(document: &ChatDocument, section: DocSection) -> impl Iterator<Item = &DocumentLine> {
    document.items().iter().filter(move |it| it.section == section)
}

/// Writes many sessions of drawn statements, and looks at the document after each.
fn many(seed: u64, mut look: impl FnMut(&ChatDocument, &ChatDocument, u64, u32)) {
    let mut draws: Stream = Seed(seed).stream("documents", 0);
    let mut document = ChatDocument::new(&SECTIONS);
    for session in 0..40 {
        let before = document.clone();
        let cap = draws.between(0, 400);
        for _ in 0..draws.between(0, 8) {
            let section = *draws.pick(&SECTIONS).unwrap();
            let subject = u32::try_from(draws.between(0, 30)).unwrap();
            let fact = subject * 100 + u32::try_from(draws.between(0, 3)).unwrap();
            let words = u32::try_from(draws.between(1, 30)).unwrap();
            let sees_contradiction = draws.chance(0.8);
            document.say(&News { section, subject, fact, words, sees_contradiction }, session);
        }
        document.mention(u32::try_from(draws.between(0, 30)).unwrap(), session);
        document.retract(u32::try_from(draws.between(0, 60)).unwrap());
        document.lose(|_| draws.chance(0.05));
        document.converse(session, 6, 10);
        let unpruned = document.clone();
        let overflow = document.prune(cap, &protects(), session);
        assert_eq!(overflow.is_some(), document.words() > cap, "protected parts over the cap are told");
        if let Some(it) = overflow {
            assert_eq!(it, document.protected_words(&protects(), session));
        }
        let of_timeline = |it: &ChatDocument| of(it, Timeline).count();
        assert!(of_timeline(&document) >= of_timeline(&before), "the timeline never shrinks");
        look(&unpruned, &document, cap, session);
    }
}

#[test]
fn the_timeline_never_shrinks_and_stays_sorted() {
    for seed in 0..50 {
        many(seed, |_, document, _, _| {
            assert!(of(document, Timeline).map(|it| it.session).is_sorted());
        });
    }
}

#[test]
fn a_document_is_no_larger_than_its_cap_or_what_is_protected() {
    for seed in 0..50 {
        many(seed, |_, document, cap, session| {
            let protected = document.protected_words(&protects(), session);
            assert!(document.words() <= cap.max(protected));
        });
    }
}

#[test]
fn nothing_protected_is_pruned_and_nothing_is_pruned_that_had_room() {
    for seed in 0..50 {
        many(seed, |before, after, cap, session| {
            let protected = before.items().iter().filter(|it| it.is_protected(&protects(), session));
            assert!(protected.clone().all(|it| after.items().contains(it)));
            if before.words() <= cap {
                assert_eq!(before, after);
            }
        });
    }
}

#[test]
fn one_subject_has_one_current_value_where_contradictions_are_seen() {
    for seed in 0..50 {
        let mut draws = Seed(seed).stream("documents", 1);
        let mut document = ChatDocument::new(&SECTIONS);
        for session in 0..30 {
            let subject = u32::try_from(draws.between(0, 9)).unwrap();
            let fact = subject * 100 + session;
            document.say(&news(Facts, (subject, fact)), session);
        }
        let mut subjects: Vec<u32> = document.facts().map(|it| it / 100).collect();
        let n = subjects.len();
        subjects.sort_unstable();
        subjects.dedup();
        assert_eq!(subjects.len(), n);
    }
}

#[test]
fn protected_parts_over_the_cap_are_an_event_in_the_log_and_a_number_in_the_report() {
    let mut small = runner("context_only");
    small.store.cap = ctxsim::input::policy::memory::Cap::Words(50);
    let log = play(&chats(few(30, 10), &[]), &small);
    let is_over = |it: &&ChatEvent| matches!(it.what, Occurrence::ProtectedOverCap { protected_words, cap_words: 50 } if protected_words > 50);

    assert!(log.events.iter().filter(is_over).count() > 10, "the timeline alone outgrows 50 words");
    let set = ["scenario.load.chats.trials=1"];
    let report = super::report("memory_runners/spec", &["memory_runners/context_only_shipped"], &set);
    assert!(report.runs[0].found::<ctxsim::worlds::chats::ChatSummary>().unwrap().protected_over_cap > 0);
}
