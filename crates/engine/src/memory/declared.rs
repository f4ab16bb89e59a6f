//! A policy's declared memory: facts are written by draws, stored in banks, read, and used.

use xxhash_rust::xxh3::xxh3_64;

use super::{MemoryView, PolicyMemory, Recalled, answers, is_oracle};
use crate::ledger::{CallRow, KeptRow, Loss, MemoryKind};
use crate::prelude::*;
use ctxsim_base::rng::{Cpython, Stream};
use ctxsim_input::policy::memory::{
    DrawBar, Extract, FactMemory as Rules, Facts, MemoryPart, RecallRule, SearchedWhen, State,
};
use ctxsim_timeline::Lifecycle;
use ctxsim_timeline::facts::{DrawSource, FactForm, FactIx, FactPlane, Plant};
use std::collections::VecDeque;

/// A declared memory at work.
#[derive(Debug)]
pub struct Declared<'t> {
    rules: &'t Rules,
    plane: &'t FactPlane,
    writer: FactWriter<'t>,
    store: BankStore<'t>,
    /// The number of plants that have entered.
    n_arrived: usize,
    /// Plants that have entered but have not been searched yet.
    waiting: Vec<usize>,
    /// By fact whether it can be read, if only some can, with the store's version.
    read: Option<(u64, Option<Vec<bool>>)>,
    /// What was last recalled, with the store's version.
    recalled: (u64, Option<Recalled>),
    calls: Vec<CallRow>,
}

impl<'t> Declared<'t> {
    /// Starts a memory of a load's facts.
    pub(super) fn new(rules: &'t Rules, plane: &'t FactPlane) -> Self {
        Self {
            rules,
            plane,
            writer: FactWriter::new(rules, plane),
            store: BankStore::new(rules, plane),
            n_arrived: 0,
            waiting: Vec::new(),
            read: None,
            recalled: (0, None),
            calls: Vec::new(),
        }
    }

    /// Returns whether its calls go to a service.
    pub(super) fn has_service(&self) -> bool {
        self.rules.service.is_some()
    }

    /// Returns its size in the prompt: the facts it shows, or its index.
    pub(super) fn tokens(&self) -> Tokens {
        let held = self.store.n_held as u64;
        let shown = match self.rules.read {
            RecallRule::Last(count) => held.min(count),
            RecallRule::All | RecallRule::ByKey => held,
        };
        shown.saturating_mul(self.rules.store.tokens_per_fact())
    }

    /// Returns by fact whether it can be read, if only some are.
    fn readable(&self) -> Option<Vec<bool>> {
        let RecallRule::Last(count) = self.rules.read else { return None };
        let mut is_read = vec![is_oracle(self.rules, MemoryPart::Read); self.plane.facts.len()];
        self.store.newest(saturated(count)).into_iter().for_each(|it| is_read[it as usize] = true);
        Some(is_read)
    }

    /// Searches new items, or items that the prompt no longer shows in full.
    #[inline(always)]
    pub(super) fn look<V: MemoryView + ?Sized>(&mut self, view: &V) {
        let plants = &self.plane.plants;
        let is_due = |nth: usize| plants.get(nth).is_some_and(|it| it.item < view.n_items());
        let may_be_gone = |nth: &usize| !view.shows_all_since(plants[*nth].item);
        if is_due(self.n_arrived) || self.waiting.first().is_some_and(may_be_gone) {
            self.look_through(view);
        }
    }

    #[inline(never)]
    fn look_through<V: MemoryView + ?Sized>(&mut self, view: &V) {
        let plants = &self.plane.plants;
        let n_items = view.n_items();
        let n_before = self.writer.n_kept;
        while let Some(plant) = plants.get(self.n_arrived)
            && plant.item < n_items
        {
            if self.rules.write.from == SearchedWhen::Session {
                self.writer.write(plant, &mut self.store);
            } else {
                self.waiting.push(self.n_arrived);
            }
            self.n_arrived += 1;
        }
        self.waiting.retain(|index| {
            let plant = &plants[*index];
            let is_shown = view.standing(plant.item) == State::Exact;
            if !is_shown {
                self.writer.write(plant, &mut self.store);
            }
            is_shown
        });
        let n_kept = self.writer.n_kept - n_before;
        if n_kept > 0 {
            self.call(MemoryKind::Write, n_kept.saturating_mul(self.rules.store.tokens_per_fact()));
        }
    }

    /// Notes a call, if there is a service to call.
    fn call(&mut self, kind: MemoryKind, tokens: Tokens) {
        if let Some(service) = &self.rules.service {
            self.calls.push(CallRow { turn_ix: 0, kind, service: service.clone(), calls: 1, tokens });
        }
    }

    /// Returns a digest of the recalled content: the facts in order, each with its version; an index does not
    /// contain their values.
    fn digest(&self) -> u64 {
        let is_index = self.rules.read == RecallRule::ByKey;
        let newest = match self.rules.read {
            RecallRule::Last(count) => saturated(count),
            RecallRule::All | RecallRule::ByKey => usize::MAX,
        };
        let facts = self.store.newest(newest);
        let version = |fact: u32| if is_index { 0 } else { self.writer.written[fact as usize] };
        let said = facts.iter().map(|it| (u64::from(*it) << 16) | u64::from(version(*it)));
        xxh3_64(&said.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }
}

impl PolicyMemory for Declared<'_> {
    fn observe(&mut self, view: &dyn MemoryView) {
        self.look(view);
    }

    fn recall(&mut self) -> Option<Recalled> {
        let now = self.store.n_changes;
        if self.recalled.0 != now {
            let tokens = saturated(self.tokens());
            let recalled = (tokens > 0).then(|| Recalled { tokens, digest: self.digest() });
            if recalled.is_some() && recalled != self.recalled.1 {
                self.call(MemoryKind::Read, tokens.into());
            }
            self.recalled = (now, recalled);
        }
        self.recalled.1
    }

    fn event(&mut self, event: Lifecycle) {
        self.store.happen(event);
    }

    fn answer(&mut self, plant: &Plant) -> (State, Option<Loss>) {
        if self.writer.written[plant.fact as usize] < plant.version {
            return (State::Lost, Some(Loss::Write));
        }
        if !self.store.holds(plant.fact) {
            return (State::Lost, Some(Loss::Store));
        }
        let now = self.store.n_changes;
        let read = self.read.take().filter(|it| it.0 == now).unwrap_or_else(|| (now, self.readable()));
        if self.read.insert(read).1.as_ref().is_some_and(|it| !it[plant.fact as usize]) {
            return (State::Lost, Some(Loss::Read));
        }
        if self.rules.read == RecallRule::ByKey {
            self.call(MemoryKind::Read, self.rules.store.tokens_per_fact());
            return (State::Recoverable, None);
        }
        (State::Summarised, None)
    }

    fn answers(&self, state: State) -> bool {
        answers(Some(self.rules), state)
    }

    fn take_calls(&mut self) -> Vec<CallRow> {
        std::mem::take(&mut self.calls)
    }

    fn tell(&self, sink: &mut dyn FnMut(&KeptRow<'_>)) {
        self.store.tell(sink);
    }
}

/// What memory's draws are for.
const PURPOSE: &str = "memory/write";

/// Takes facts out of items.
#[derive(Debug)]
struct FactWriter<'t> {
    rules: &'t Rules,
    plane: &'t FactPlane,
    draws: FactDraws,
    /// Where each draw's facts go, if it is not the bank of their category.
    into: Vec<Option<BankIx>>,
    bars: Vec<DrawBar>,
    keeps_all: bool,
    /// By fact: the newest version that was written; 0 for none.
    written: Vec<u16>,
    /// How many draws have kept their fact.
    n_kept: u64,
}

/// Where the draws come from.
#[derive(Debug)]
enum FactDraws {
    Named(Stream),
    Sequential(Box<Cpython>),
}

impl<'t> FactWriter<'t> {
    /// Begins to write.
    fn new(rules: &'t Rules, plane: &'t FactPlane) -> Self {
        let draws = match &plane.draws {
            DrawSource::Named(seed) => FactDraws::Named(seed.stream(PURPOSE, 0)),
            DrawSource::Sequential(draws) => FactDraws::Sequential(draws.clone()),
        };
        let into = rules.write.extract.iter().map(|it| {
            let name = it.into.as_ref()?;
            BankStore::bank_names(rules, plane).position(|bank| bank == name)
        });
        Self {
            rules,
            plane,
            draws,
            into: into.collect(),
            bars: rules.write.extract.iter().map(Extract::bar).collect(),
            keeps_all: is_oracle(rules, MemoryPart::Write),
            written: vec![0; plane.facts.len()],
            n_kept: 0,
        }
    }

    /// Looks one plant through: every draw that its form meets is made, whatever the draws before gave.
    fn write(&mut self, plant: &Plant, store: &mut BankStore<'_>) {
        let mut nth = 0;
        for ((rule, into), bar) in self.rules.write.extract.iter().zip(&self.into).zip(&self.bars) {
            let is_met = match rule.facts {
                Facts::Any => true,
                Facts::Explicit => plant.form == FactForm::Explicit,
                Facts::Implicit => plant.form == FactForm::Implicit,
            };
            if !is_met {
                continue;
            }
            let is_kept = self.draws.keeps(*bar, plant.fact, nth) || self.keeps_all;
            nth += 1;
            if is_kept {
                let at = plant.fact as usize;
                self.n_kept += 1;
                if self.written[at] < plant.version {
                    self.written[at] = plant.version;
                    store.n_changes += 1;
                }
                let bank = into.unwrap_or_else(|| store.bank_of(self.plane.facts[at].category));
                store.put(bank, plant.fact);
            }
        }
    }
}

impl FactDraws {
    /// Makes a fact's n-th draw.
    fn keeps(&mut self, bar: DrawBar, fact: FactIx, nth: u64) -> bool {
        match (self, bar) {
            // One number for the n-th meeting, whatever the bar: a policy with a lower bar keeps all that another keeps.
            (Self::Named(stream), bar) => {
                let share = match bar {
                    DrawBar::Below(p) => p,
                    DrawBar::Above(miss) => 1.0 - miss,
                };
                stream.nth(u64::from(fact), nth).unit() < share
            }
            (Self::Sequential(draws), DrawBar::Below(p)) => draws.unit() < p,
            (Self::Sequential(draws), DrawBar::Above(miss)) => draws.unit() > miss,
        }
    }
}

// Holds facts in banks: each bank in the order of writing, the oldest goes when it is full.

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
        if self.held[fact as usize] & bit != 0 || self.capacity == 0 {
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
}
