//! The rules of a memory of facts.

use indexmap::IndexSet;

use crate::policy::memory::{Extract, FactMemory, FactStore, RecallRule, bank};
use crate::prelude::*;

/// The most banks of a store, so that a fact's places fit into one word.
const BANKS_MAX: usize = 32;

/// The most draws of a fact.
const DRAWS_MAX: usize = 16;

/// Checks a memory of facts.
pub(super) fn check(spec: &FactMemory, problems: &mut Problems) {
    problems.within("store", |problems| store(&spec.store, problems));
    if spec.write.extract.len() > DRAWS_MAX {
        problems.within("write.extract", |problems| {
            let help = format!("write at most {DRAWS_MAX}");
            let message = format!("too many draws: {}", spec.write.extract.len());
            problems.push(Code("extract-too-many"), message, help);
        });
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
            extract(it, &spec.store, problems);
        });
    }
}

/// Checks where facts are kept.
fn store(spec: &FactStore, problems: &mut Problems) {
    let (banks, capacity) = (spec.banks(), spec.capacity());
    let field = match spec {
        FactStore::Entries { .. } => "entries",
        FactStore::Banks { .. } => "banks",
        FactStore::Files { .. } => "files",
    };
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
                problems.push(
                    Code("bank-duplicate"),
                    format!("two banks are called `{name}`"),
                    "name each bank \
                    once",
                );
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
fn extract(spec: &Extract, store: &FactStore, problems: &mut Problems) {
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
        problems.within("into", |problems| {
            let help = match nearest(name, banks.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write one of `{}`", banks.join("`, `")),
            };
            problems.push(Code("bank-unknown"), format!("the store has no bank `{name}`"), help);
        });
    }
}
