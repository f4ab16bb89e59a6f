//! Holds facts in banks: each bank in the order of writing, the oldest goes when it is full.

use std::collections::VecDeque;

use super::is_oracle;
use crate::ledger::KeptRow;
use crate::prelude::*;
use ctxsim_input::policy::memory::{FactMemory as Rules, MemoryPart};
use ctxsim_timeline::Lifecycle;
use ctxsim_timeline::facts::{FactIx, FactPlane};

/// A bank's place in its store.
pub(super) type BankIx = usize;

/// Facts in banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BankStore<'t> {
    names: Vec<&'t str>,
    /// Facts with the message at which each was written, oldest first.
    banks: Vec<VecDeque<(FactIx, u64)>>,
    /// By fact: a bit for each bank that holds it.
    held: Vec<u64>,
    /// By category: the bank of its facts.
    of_category: Vec<BankIx>,
    capacity: usize,
    n_held: usize,
    n_written: u64,
    /// How many times what is held has changed.
    n_changes: u64,
}

impl<'t> BankStore<'t> {
    /// Makes an empty store.
    pub(super) fn new(rules: &'t Rules, plane: &'t FactPlane) -> Self {
        let names: Vec<&str> = Self::bank_names(rules, plane).collect();
        let last = names.len().saturating_sub(1);
        let bank_of = |category: &String| names.iter().position(|it| it == category).unwrap_or(last);
        let n_expected = plane.facts.len().div_ceil(names.len().max(1));
        let capacity = rules.store.capacity().filter(|_| !is_oracle(rules, MemoryPart::Store));
        Self {
            banks: names.iter().map(|_| VecDeque::with_capacity(n_expected)).collect(),
            held: vec![0; plane.facts.len()],
            of_category: plane.categories.iter().map(bank_of).collect(),
            capacity: capacity.map_or(usize::MAX, saturated),
            n_held: 0,
            n_written: 0,
            n_changes: 0,
            names,
        }
    }

    /// Tells what is held.
    pub(super) fn tell(&self, sink: &mut dyn FnMut(&KeptRow<'_>)) {
        for (bank, facts) in self.names.iter().zip(&self.banks) {
            for (fact, nth) in facts {
                sink(&KeptRow { bank, fact: *fact, nth: *nth });
            }
        }
    }

    /// Returns the names of the banks: those declared, and for files those of the load's categories too.
    pub(super) fn bank_names(rules: &'t Rules, plane: &'t FactPlane) -> impl Iterator<Item = &'t str> {
        let of_load = plane.categories.iter().filter(|_| rules.store.is_open());
        let named = rules.write.extract.iter().filter_map(|it| it.into.as_ref());
        let named = named.filter(|it| rules.store.is_open() && !plane.categories.contains(it));
        rules.store.banks().into_iter().chain(named.chain(of_load).map(String::as_str))
    }

    /// Returns the bank of a category.
    pub(super) fn bank_of(&self, category: u16) -> BankIx {
        self.of_category.get(usize::from(category)).copied().unwrap_or(0)
    }

    /// Puts a fact into a bank; what is there already stays where it is.
    pub(super) fn put(&mut self, bank: BankIx, fact: FactIx) {
        let Some(facts) = self.banks.get(bank) else { return };
        let bit = 1_u64 << bank.min(63);
        if self.held[fact as usize] & bit != 0 {
            return;
        }
        if self.capacity == 0 {
            return;
        }
        if facts.len() >= self.capacity {
            self.evict(bank);
        }
        self.banks[bank].push_back((fact, self.n_written));
        self.held[fact as usize] |= bit;
        self.n_held += 1;
        self.n_written += 1;
        self.n_changes += 1;
    }

    /// Returns how many times what is held has changed.
    pub(super) fn n_changes(&self) -> u64 {
        self.n_changes
    }

    /// Says that a fact that is held has another version.
    pub(super) fn renew(&mut self) {
        self.n_changes += 1;
    }

    /// Loses what an event takes.
    pub(super) fn happen(&mut self, event: Lifecycle) {
        match event {
            Lifecycle::Flush => self.keep_newest(0),
            Lifecycle::Reset { keep } => self.keep_newest(saturated(keep)),
            Lifecycle::Budget { entries } => {
                self.capacity = saturated(entries);
                for bank in 0..self.banks.len() {
                    let over = self.banks[bank].len().saturating_sub(self.capacity);
                    (0..over).for_each(|_| self.evict(bank));
                }
            }
        }
    }

    /// Loses all but the entries that were written last.
    fn keep_newest(&mut self, count: usize) {
        let mut written: Vec<u64> = self.banks.iter().flatten().map(|it| it.1).collect();
        written.sort_unstable();
        let first = written.len().checked_sub(count).and_then(|it| written.get(it)).copied();
        let first = first.unwrap_or(if count == 0 { u64::MAX } else { 0 });
        for bank in 0..self.banks.len() {
            while self.banks[bank].front().is_some_and(|it| it.1 < first) {
                self.evict(bank);
            }
        }
    }

    /// Loses a bank's oldest entry.
    fn evict(&mut self, bank: BankIx) {
        if let Some((oldest, _)) = self.banks[bank].pop_front() {
            self.held[oldest as usize] &= !(1_u64 << bank.min(63));
            self.n_held -= 1;
            self.n_changes += 1;
        }
    }

    /// Returns whether any bank holds a fact.
    pub(super) fn holds(&self, fact: FactIx) -> bool {
        self.held[fact as usize] != 0
    }

    /// Returns the facts that were written last, of those that are held; a fact in two banks counts twice.
    pub(super) fn newest(&self, count: usize) -> Vec<FactIx> {
        let mut all: Vec<(FactIx, u64)> = self.banks.iter().flatten().copied().collect();
        all.sort_unstable_by_key(|(_, at)| std::cmp::Reverse(*at));
        all.into_iter().take(count).map(|(fact, _)| fact).collect()
    }

    /// Returns how many facts are held; a fact in two banks counts twice.
    pub(super) fn n_held(&self) -> usize {
        self.n_held
    }
}
