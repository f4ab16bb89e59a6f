//! The rules of a memory, by its kind.

use crate::policy::memory::{
    Cap, DocSection, Extract, FactMemory, FactStore, MemorySpec, RecallRule, ServiceCall, ServiceMemory,
    SessionMemory, SessionStore, SummaryLoss, bank,
};
use crate::prelude::*;

/// Checks a memory.
pub(super) fn check(spec: &MemorySpec, problems: &mut Problems) {
    match spec {
        MemorySpec::Facts(it) => check_facts(it, problems),
        MemorySpec::Sessions(it) => check_sessions(it, problems),
        MemorySpec::Service(it) => check_service(it, problems),
    }
}

// The rules of a memory of facts.

/// The most banks of a store, so that a fact's places fit into one word.
const BANKS_MAX: usize = 32;

/// The most draws of a fact.
const DRAWS_MAX: usize = 16;

/// Checks a memory of facts.
fn check_facts(spec: &FactMemory, problems: &mut Problems) {
    problems.within("store", |problems| check_store(&spec.store, problems));
    if spec.write.extract.len() > DRAWS_MAX {
        let help = format!("write at most {DRAWS_MAX}");
        let message = format!("too many draws: {}", spec.write.extract.len());
        problems.push_at(Code("extract-too-many"), "write.extract", message, help);
    }
    if spec.write.extract.is_empty() {
        let help = "write at least one draw";
        let message = "the memory never writes anything";
        problems.push_at(Code("memory-never-writes"), "write.extract", message, help);
    }
    if spec.read == RecallRule::Last(0) {
        let help = "write `last(1)` or more";
        problems.push_at(Code("read-nothing"), "read.last", "the memory never recalls anything", help);
    }
    for (index, it) in spec.write.extract.iter().enumerate() {
        problems.within(format_args!("write.extract.{index}"), |problems| {
            check_file(it, &spec.write.extract[..index], &spec.store, problems);
            check_draw(it, &spec.store, problems);
        });
    }
}

/// Checks where facts are kept.
fn check_store(spec: &FactStore, problems: &mut Problems) {
    let (banks, capacity) = (spec.banks(), spec.capacity());
    let field = crate::text::name_of(spec);
    problems.within(field, |problems| {
        if capacity == Some(0) {
            let help = "write 1 or more";
            let message = "a store needs a capacity of at least 1";
            problems.push_at(Code("capacity-zero"), "capacity", message, help);
        }
        problems.within("tokens_per_fact", |problems| {
            if spec.tokens_per_fact() > 1_000_000 {
                problems.push(Code("size-too-large"), "the fact is too long", "write at most 1000000");
            }
        });
        problems.within("categories", |problems| {
            let mut seen = IndexSet::new();
            if field == "banks" && banks.is_empty() {
                problems.push(Code("banks-empty"), "there are no banks", "name at least one category");
            }
            if banks.len() > BANKS_MAX {
                let help = format!("name at most {BANKS_MAX}");
                problems.push(Code("banks-too-many"), format!("too many banks: {}", banks.len()), help);
            }
            for (index, name) in banks.iter().enumerate() {
                let earlier = banks[..index].iter().copied();
                problems.within(index, |problems| bank::check(name, earlier, problems));
            }
            for name in banks.iter().filter(|it| !seen.insert(*it)) {
                let message = format!("two banks are called `{name}`");
                problems.push(Code("bank-duplicate"), message, "name each bank once");
            }
        });
    });
}

/// Checks the file for a draw's facts, if files are created on demand.
fn check_file(spec: &Extract, earlier: &[Extract], store: &FactStore, problems: &mut Problems) {
    if let Some(name) = spec.into.as_ref().filter(|_| store.is_open()) {
        let earlier = earlier.iter().filter_map(|it| it.into.as_deref());
        problems.within("into", |problems| bank::check(name, earlier, problems));
    }
}

/// Checks one draw.
fn check_draw(spec: &Extract, store: &FactStore, problems: &mut Problems) {
    let passes = spec.passes.unwrap_or(1);
    for (field, value) in [("p", spec.p), ("miss", spec.miss)] {
        value.into_iter().for_each(|it| problems.check_share(field, it));
    }
    if spec.p.is_some() == spec.miss.is_some() {
        let help = "write `p: 0.85` for the share kept, or `miss: 0.15` for the share missed";
        problems.push(Code("extract-bar"), "a draw needs either `p` or `miss`", help);
    }
    if passes == 0 || (spec.passes.is_some() && spec.miss.is_none()) {
        let help = "remove `passes`, or write `miss: 0.15, passes: 2`";
        let message = "`passes` must be at least 1 and needs `miss`";
        problems.push_at(Code("extract-passes"), "passes", message, help);
    }
    let banks = store.banks();
    if let Some(name) = spec.into.as_ref().filter(|it| !store.is_open() && !banks.contains(&it.as_str())) {
        let otherwise = || format!("write one of `{}`", banks.join("`, `"));
        let help = near_or(name, banks.iter().copied(), otherwise);
        problems.push_at(Code("bank-unknown"), "into", format!("the store has no bank `{name}`"), help);
    }
}

// The rules of a memory service; a higher floor knows which services exist.

/// The largest document: it is rewritten at the end of every session.
const CAP_MAX: u64 = 1_000_000;

/// Checks how a memory service is used.
fn check_service(spec: &ServiceMemory, problems: &mut Problems) {
    use ServiceCall::{AwaitConsistency, GetContext, ListEntries, PutContext};
    check_calls("read.at_start", spec.starts_with(), &[AwaitConsistency, GetContext, ListEntries], problems);
    check_calls("write.at_end", spec.ends_with(), &[AwaitConsistency, PutContext], problems);
    if !spec.ends_with().contains(&PutContext) {
        let help = "add `put_context`, or remove `at_end`";
        let message = "the document is never written, so nothing is kept";
        problems.push_at(Code("service-put"), "write.at_end", message, help);
    }
    if !spec.write.entries && spec.write.flush_every.is_some_and(|it| it > 0) {
        let help = "leave it out, or write `entries: true`";
        let message = "without entries, the document is only written at the end of a session";
        problems.push_at(Code("service-flush"), "write.flush_every", message, help);
    }
    problems.within("store", |problems| {
        let (Cap::Words(size) | Cap::Chars(size)) = spec.store.cap;
        if size == 0 {
            let help = "write 1 or more";
            problems.push_at(Code("capacity-zero"), "cap", "a document needs a capacity of at least 1", help);
        }
        if size > CAP_MAX {
            let message = format!("{size} exceeds the largest document size");
            problems.push_at(Code("cap-range"), "cap", message, format!("write at most {CAP_MAX}"));
        }
        let protected =
            [("recent_sessions", spec.store.recent_sessions), ("key_references", spec.store.key_references)];
        for (field, _) in protected.into_iter().filter(|it| it.1 > CAP_MAX) {
            let help = format!("write at most {CAP_MAX}");
            problems.push_at(Code("size-too-large"), field, "no document holds as many", help);
        }
        check_sections(&spec.store.sections, problems);
    });
    let read = &spec.read;
    if !read.document_alone && read.first.entries == 0 && read.first.shards == 0 {
        let help = "find 1 or more, or write `document_alone: true`";
        problems.push_at(Code("read-nothing"), "read.first", "a search must find at least one entry", help);
    }
}

/// Checks that calls are made at moments that allow them.
fn check_calls(field: &str, made: &[ServiceCall], allowed: &[ServiceCall], problems: &mut Problems) {
    for (index, call) in made.iter().enumerate().filter(|(_, it)| !allowed.contains(it)) {
        let names: Vec<&str> = allowed.iter().map(|it| it.name()).collect();
        let message = format!("`{}` cannot be called at this moment", call.name());
        let help = format!("write one or more of `{}`", names.join("`, `"));
        problems.push_at(Code("service-call"), format!("{field}.{index}"), message, help);
    }
}

fn check_sections(sections: &[DocSection], problems: &mut Problems) {
    if sections.is_empty() {
        let help = "name at least one section, as in `[facts, notes]`";
        problems.push_at(Code("sections-empty"), "sections", "the document has no sections", help);
    }
    for (index, _) in sections.iter().enumerate().filter(|(index, it)| sections[..*index].contains(it)) {
        let help = "name each section once";
        let message = "this section is listed twice";
        problems.push_at(Code("section-twice"), format!("sections.{index}"), message, help);
    }
}

// The rules of a memory of sessions; a higher floor knows which prompts exist.

/// Checks a memory of sessions.
fn check_sessions(spec: &SessionMemory, problems: &mut Problems) {
    if let Some(compaction) = spec.store.compaction() {
        problems.within(format_args!("store.{}", spec.store.name()), |to| check_compaction(compaction, to));
    }
    if spec.store == (SessionStore::Entries { capacity_tokens: Some(0) }) {
        let help = "leave it out, or write 1 or more";
        let message = "the capacity leaves room for nothing";
        problems.push_at(Code("capacity-zero"), "store.entries.capacity_tokens", message, help);
    }
    check_read(spec, problems);
    if let Some(overlay) = &spec.overlay {
        problems.check_share("overlay.marked", overlay.marked);
    }
    if let Some(controller) = &spec.controller {
        problems.within("controller", |problems| {
            let limits = [("error_above", controller.error_above), ("score_below", controller.score_below)];
            for (field, _) in limits.into_iter().filter(|it| !it.1.is_finite() || it.1 < 0.0) {
                let help = "write a number of at least 0";
                problems.push_at(Code("threshold-range"), field, "the threshold is out of range", help);
            }
        });
        if spec.store.compaction().is_none() {
            let help = "remove `controller`, or store a `summary`, a `history` or `episodes`";
            let message = "there is no prompt for the controller to change";
            problems.push_at(Code("controller-unused"), "controller", message, help);
        }
    }
}

fn check_read(spec: &SessionMemory, problems: &mut Problems) {
    let Some(n) = spec.read.count() else { return };
    if n == 0 {
        let help = "read 1 or more";
        problems.push_at(Code("read-nothing"), "read", "the memory never reads anything back", help);
    }
    if !matches!(spec.store, SessionStore::Entries { .. } | SessionStore::Files) {
        let help = "write `read: all`, or store `entries` or `files`";
        let message = "this memory is one text, which is always read as a whole";
        problems.push_at(Code("read-whole"), "read", message, help);
    }
}

fn check_compaction(spec: &SummaryLoss, problems: &mut Problems) {
    if spec.words == Some(0) {
        let help = "write 1 or more";
        problems.push_at(Code("capacity-zero"), "words", "a summary needs at least one word", help);
    }
    problems.check_share("survival", spec.survival.unwrap_or(1.0));
    problems.check_share("salience", spec.salience);
    if !(-100.0..=100.0).contains(&spec.recency) {
        let help = "write a number from -100 to 100";
        problems.push_at(Code("recency-range"), "recency", "the value is out of range", help);
    }
}
