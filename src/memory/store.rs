//! Holds facts in banks: each bank in the order of writing, the oldest goes when it is full.

use std::collections::VecDeque;

use super::is_oracle;
use crate::ledger::{KeptRow, Sink};
use crate::model::memory::{Memory, Part};
use crate::timeline::facts::{FactIx, FactPlane};

/// A bank's place in its store.
pub(super) type BankIx = usize;

/// Facts in banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Store<'t> {
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
}

impl<'t> Store<'t> {
    /// Makes an empty store.
    pub(super) fn new(rules: &'t Memory, plane: &'t FactPlane) -> Self {
        let names: Vec<&str> = Self::bank_names(rules, plane).collect();
        let last = names.len().saturating_sub(1);
        let bank_of = |category: &String| names.iter().position(|it| it == category).unwrap_or(last);
        let n_expected = plane.facts.len().div_ceil(names.len().max(1));
        let capacity = rules.store.capacity.filter(|_| !is_oracle(rules, Part::Store));
        Self {
            banks: names.iter().map(|_| VecDeque::with_capacity(n_expected)).collect(),
            held: vec![0; plane.facts.len()],
            of_category: plane.categories.iter().map(bank_of).collect(),
            capacity: capacity.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX)),
            n_held: 0,
            n_written: 0,
            names,
        }
    }

    /// Tells what is held.
    pub(super) fn tell(&self, sink: &mut impl Sink) {
        for (bank, facts) in self.names.iter().zip(&self.banks) {
            for (fact, nth) in facts {
                sink.kept(&KeptRow { bank, fact: *fact, nth: *nth });
            }
        }
    }

    /// Returns the names of the banks: those declared, and for files those of the load's categories too.
    pub(super) fn bank_names(rules: &'t Memory, plane: &'t FactPlane) -> impl Iterator<Item = &'t str> {
        let of_load = plane.categories.iter().filter(|_| rules.store.is_open);
        let named = rules.extract.iter().filter_map(|it| it.into.as_ref());
        let named = named.filter(|it| rules.store.is_open && !plane.categories.contains(it));
        rules.store.banks.iter().chain(named).chain(of_load).map(String::as_str)
    }

    /// Returns the bank of a category.
    pub(super) fn bank_of(&self, category: u16) -> BankIx {
        self.of_category.get(usize::from(category)).copied().unwrap_or(0)
    }

    /// Puts a fact into a bank; what is there already stays where it is.
    pub(super) fn put(&mut self, bank: BankIx, fact: FactIx) {
        let Some(facts) = self.banks.get_mut(bank) else { return };
        let bit = 1_u64 << bank.min(63);
        if self.held[fact as usize] & bit != 0 {
            return;
        }
        if facts.len() >= self.capacity
            && let Some((oldest, _)) = facts.pop_front()
        {
            self.held[oldest as usize] &= !bit;
            self.n_held -= 1;
        }
        facts.push_back((fact, self.n_written));
        self.held[fact as usize] |= bit;
        self.n_held += 1;
        self.n_written += 1;
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
