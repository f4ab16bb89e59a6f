//! What one pass of a search finds, and what has been read.

use crate::chats::document::ChatDocument;
use crate::chats::run::Desk;
use crate::chats::users::Question;
use crate::graph::FactIx;
use crate::similar::{best, normal};
use ctxsim_base::quantity::saturated;
use ctxsim_base::rng::Stream;
use ctxsim_input::policy::memory::SearchPass;

/// What has been read for a question.
#[derive(Debug)]
pub(super) struct QuestionReading {
    /// By fact: where it stands, a mark for each kind of place.
    facts: Vec<u8>,
    entries: Vec<usize>,
    shards: Vec<usize>,
}

/// It is in the current document.
const CURRENT: u8 = 1;
/// It is in a version of the document that a search found.
const SHARD: u8 = 2;
const ENTRY: u8 = 4;

impl QuestionReading {
    /// Nothing of so many facts has been read.
    pub(super) fn nothing(n_facts: usize) -> Self {
        Self { facts: vec![0; n_facts], entries: Vec::new(), shards: Vec::new() }
    }

    /// Reads the current document.
    pub(super) fn current(document: &ChatDocument, n_facts: usize) -> Self {
        let mut reading = Self::nothing(n_facts);
        document.facts().for_each(|it| reading.mark(it, CURRENT));
        reading
    }

    /// Returns whether a fact has been read.
    pub(super) fn has(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] != 0
    }

    /// Returns whether it is in the current document.
    pub(super) fn is_current(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & CURRENT != 0
    }

    /// Returns whether it is in any version of the document that was read.
    pub(super) fn in_document(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & (CURRENT | SHARD) != 0
    }

    /// Returns whether it is in an entry that was read.
    pub(super) fn in_entry(&self, fact: FactIx) -> bool {
        self.facts[fact as usize] & ENTRY != 0
    }

    fn mark(&mut self, fact: FactIx, place: u8) {
        self.facts[fact as usize] |= place;
    }
}

/// Searches once; returns the words of what is new. What was found before is not found again.
pub(super) fn pass(
    desk: &Desk<'_, '_>,
    question: &Question,
    (found, nth): (SearchPass, u32),
    reading: &mut QuestionReading,
    draws: &Stream,
) -> u64 {
    let vault = desk.service.vault(desk.user_ix);
    let now_ms = desk.state.now_ms;
    let [entry_margins, shard_margins] = margins(desk, question);
    // One draw of many parts: the n-th part is of the n-th entry, or version, whatever else there is.
    let noisy = |kind: u64, margins: Vec<f64>| {
        let mut draw = draws.nth(2 + kind, nth.into());
        margins.into_iter().map(move |it| it + normal(draw.next_bits())).enumerate()
    };
    let open =
        |(at, _): &(usize, f64)| vault.entries[*at].visible_ms <= now_ms && !reading.entries.contains(at);
    let scored = noisy(0, entry_margins).filter(open).map(|(at, score)| (score, at));
    let entries = best(scored.collect(), saturated(found.entries));
    let open =
        |(at, _): &(usize, f64)| vault.shards[*at].visible_ms <= now_ms && !reading.shards.contains(at);
    let scored = noisy(1, shard_margins).filter(open).map(|(at, score)| (score, at));
    let shards = best(scored.collect(), saturated(found.shards));
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

/// Returns by how much each entry and each version of the document is more like a question than any other.
fn margins(desk: &Desk<'_, '_>, question: &Question) -> [Vec<f64>; 2] {
    let vault = desk.service.vault(desk.user_ix);
    let numbers = &desk.rules.numbers.search;
    let mut of_entries = vec![0.0; vault.entries.len()];
    let mut of_shards = vec![0.0; vault.shards.len()];
    for near in &question.near {
        vault.holders(*near).entries.iter().for_each(|it| of_entries[*it] = numbers.near_margin);
    }
    let share = numbers.shard_margin / question.needs.len().max(1) as f64;
    let mut seen = vec![usize::MAX; vault.shards.len()];
    for (nth, need) in question.needs.iter().enumerate() {
        // What says an older version is about the same thing.
        for version in desk.user.graph.chain(*need) {
            let holders = vault.holders(version);
            holders.entries.iter().for_each(|it| of_entries[*it] = numbers.entry_margin);
            for at in &holders.shards {
                if seen[*at] != nth {
                    seen[*at] = nth;
                    of_shards[*at] += share;
                }
            }
        }
    }
    [of_entries, of_shards]
}
