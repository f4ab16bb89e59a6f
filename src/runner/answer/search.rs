//! What one pass of a search finds, and what has been read.

use crate::aging::graph::FactIx;
use crate::aging::similar::{best, normal};
use crate::input::policy::Found;
use crate::rng::Stream;
use crate::runner::chats::Question;
use crate::runner::document::Document;
use crate::runner::run::Desk;

/// What has been read for a question.
#[derive(Debug)]
pub(super) struct Reading {
    /// By fact: where it stands, a mark for each kind of place.
    facts: Vec<u8>,
    entries: Vec<usize>,
    shards: Vec<usize>,
}

/// It stands in the current document.
const CURRENT: u8 = 1;
/// It stands in a version of the document that a search found.
const SHARD: u8 = 2;
/// It stands in an entry.
const ENTRY: u8 = 4;

impl Reading {
    /// Nothing of so many facts has been read.
    pub(super) fn nothing(n_facts: usize) -> Self {
        Self { facts: vec![0; n_facts], entries: Vec::new(), shards: Vec::new() }
    }

    /// Reads the current document.
    pub(super) fn current(document: &Document, n_facts: usize) -> Self {
        let mut reading = Self::nothing(n_facts);
        document.facts().for_each(|it| reading.mark(it, CURRENT));
        reading
    }

    /// Returns whether a fact has been read.
    pub(super) fn has(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] != 0
    }

    /// Returns whether it stands in the current document.
    pub(super) fn is_current(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & CURRENT != 0
    }

    /// Returns whether it stands in any version of the document that was read.
    pub(super) fn in_document(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & (CURRENT | SHARD) != 0
    }

    /// Returns whether it stands in an entry that was read.
    pub(super) fn in_entry(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & ENTRY != 0
    }

    fn mark(&mut self, fact: FactIx, place: u8) {
        self.facts[fact as usize] |= place;
    }
}

/// What a question is like: the facts that it needs in any version, and those that are near.
struct Wanted {
    /// By fact: which of the needed things it is about, from 1; 0 for none.
    subjects: Vec<u32>,
    n_subjects: u32,
}

impl Wanted {
    fn new(desk: &Desk<'_, '_>, question: &Question) -> Self {
        let graph = &desk.user.graph;
        let mut subjects = vec![0; graph.facts.len()];
        let mut n_subjects = 0;
        for need in &question.needs {
            n_subjects += 1;
            graph.chain(*need).for_each(|it| subjects[it as usize] = n_subjects);
        }
        Self { subjects, n_subjects }
    }

    /// Returns the share of the needed things that some facts are about.
    fn share(&self, facts: &[FactIx]) -> f64 {
        let mut seen = vec![false; self.n_subjects as usize + 1];
        facts.iter().for_each(|it| seen[self.subjects[*it as usize] as usize] = true);
        let n = seen.iter().skip(1).filter(|it| **it).count();
        n as f64 / f64::from(self.n_subjects.max(1))
    }
}

/// Searches once; returns the words of what is new. What was found before is not found again.
pub(super) fn pass(
    desk: &Desk<'_, '_>,
    question: &Question,
    (found, nth): (Found, u32),
    reading: &mut Reading,
    draws: &Stream,
) -> u64 {
    let vault = desk.service.vault(desk.user_ix);
    let now_ms = desk.state.now_ms;
    let numbers = &desk.rules.numbers.search;
    // An entry about an older version is about the same thing.
    let wanted = Wanted::new(desk, question);
    let share = |facts: &[FactIx]| wanted.share(facts);
    let is_near = |facts: &[FactIx]| facts.iter().any(|it| question.near.contains(it));
    let noise = |kind: u64, at: usize| normal(draws.nth(2 + kind + 2 * u64::from(nth), at as u64));
    let entries = vault.entries.iter().enumerate().filter(|(at, it)| {
        it.visible_ms <= now_ms && !reading.entries.contains(at)
    });
    let scored = entries.map(|(at, it)| {
        let margin = match (share(&it.facts) > 0.0, is_near(&it.facts)) {
            (true, _) => numbers.entry_margin,
            (false, true) => numbers.near_margin,
            (false, false) => 0.0,
        };
        (noise(0, at) + margin, at)
    });
    let entries = best(scored.collect(), count(found.entries));
    let shards = vault.shards.iter().enumerate().filter(|(at, it)| {
        it.visible_ms <= now_ms && !reading.shards.contains(at)
    });
    let scored = shards.map(|(at, it)| (noise(1, at) + numbers.shard_margin * share(&it.facts), at));
    let shards = best(scored.collect(), count(found.shards));
    let mut words = 0;
    for at in entries {
        words += vault.entries[at].words;
        vault.entries[at].facts.iter().for_each(|it| reading.mark(*it, ENTRY));
        reading.entries.push(at);
    }
    for at in shards {
        words += vault.shards[at].words;
        vault.shards[at].facts.iter().for_each(|it| reading.mark(*it, SHARD));
        reading.shards.push(at);
    }
    words
}

fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
