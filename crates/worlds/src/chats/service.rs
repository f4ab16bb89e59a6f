//! A memory service: what it holds for each user, when a search finds it, and what a call takes.

use super::assumed::ServiceSpec;
use super::document::ChatDocument;
use super::users::User;
use crate::prelude::*;

/// Something that is held: an entry, which was written of a message, or a version of a context document. Every version that is put can be
/// found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub session: u32,
    /// What it says.
    pub facts: Vec<FactIx>,
    pub words: u64,
    /// When a search finds it, in milliseconds.
    pub visible_ms: u64,
}

/// What it holds for one user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vault {
    /// The entries, in order.
    pub entries: Vec<Stored>,
    /// The versions of the document, in order.
    pub shards: Vec<Stored>,
    /// By fact: what holds it.
    holders: Vec<Holders>,
    /// When everything written can be found.
    consistent_ms: u64,
}

/// What holds a fact, by its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holders {
    pub entries: Vec<usize>,
    /// Versions of the document.
    pub shards: Vec<usize>,
}

impl Vault {
    /// Returns what holds a fact.
    pub fn holders(&self, fact: FactIx) -> &Holders {
        &self.holders[fact as usize]
    }
}

/// A memory service.
#[derive(Clone, Debug)]
pub struct Service<'a> {
    /// What its calls take.
    pub spec: &'a ServiceSpec,
    vaults: Vec<Vault>,
    /// When the one indexer is busy, in order and apart from each other.
    busy: Vec<(u64, u64)>,
}

impl<'a> Service<'a> {
    /// Opens a service for some users.
    pub fn new(spec: &'a ServiceSpec, users: &[User]) -> Self {
        let vault =
            |it: &User| Vault { holders: vec![Holders::default(); it.graph.facts.len()], ..Vault::default() };
        Self { spec, vaults: users.iter().map(vault).collect(), busy: Vec::new() }
    }

    /// Returns what it holds for a user: no other user's calls reach it.
    pub fn vault(&self, user: usize) -> &Vault {
        &self.vaults[user]
    }

    pub fn add_entry(&mut self, user: usize, session: u32, facts: Vec<FactIx>, words: u64, now_ms: u64) {
        let visible_ms = self.index(user, now_ms);
        let vault = &mut self.vaults[user];
        facts.iter().for_each(|it| vault.holders[*it as usize].entries.push(vault.entries.len()));
        vault.entries.push(Stored { session, facts, words, visible_ms });
    }

    /// Adds a version of the document.
    pub fn put_context(&mut self, user: usize, session: u32, document: &ChatDocument, now_ms: u64) {
        let visible_ms = self.index(user, now_ms);
        let facts: Vec<FactIx> = document.facts().collect();
        let words = document.words();
        let vault = &mut self.vaults[user];
        facts.iter().for_each(|it| vault.holders[*it as usize].shards.push(vault.shards.len()));
        vault.shards.push(Stored { session, facts, words, visible_ms });
    }

    /// Returns how long a user waits until everything written can be found.
    pub fn wait_ms(&self, user: usize, now_ms: u64) -> u64 {
        self.vaults[user].consistent_ms.saturating_sub(now_ms)
    }

    /// Lets the one indexer take up a write when it is next free; returns when a search finds it.
    fn index(&mut self, user: usize, now_ms: u64) -> u64 {
        let visible_ms = self.work(now_ms).saturating_add(self.spec.indexing_ms);
        let vault = &mut self.vaults[user];
        vault.consistent_ms = vault.consistent_ms.max(visible_ms);
        visible_ms
    }

    /// Gives the indexer a write's work at the first time from a moment on at which it is free for so long; returns when it is done.
    /// Sessions are played one after the other, so that a write of one user may come to it before an earlier one of another.
    fn work(&mut self, now_ms: u64) -> u64 {
        let needed = self.spec.indexing_ms_per_write;
        let mut start = now_ms;
        let first = self.busy.partition_point(|it| it.1 <= now_ms);
        let mut at = first;
        while let Some(&(from, to)) = self.busy.get(at)
            && from < start.saturating_add(needed)
        {
            start = to;
            at += 1;
        }
        let end = start.saturating_add(needed);
        if needed > 0 {
            self.busy.insert(at, (start, end));
        }
        end
    }
}
