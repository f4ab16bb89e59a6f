//! A policy's declared memory: facts are written by draws, stored in banks, read, and used.

use xxhash_rust::xxh3::xxh3_64;

use super::read::{self, ReadableFacts};
use super::store::BankStore;
use super::write::FactWriter;
use super::{MemoryServiceCall, MemoryView, PolicyMemory, Recalled, r#use};
use crate::ledger::{KeptRow, Loss, MemoryKind};
use ctxsim_base::quantity::{Tokens, saturated};
use ctxsim_input::policy::memory::{self, FactMemory as Rules, State};
use ctxsim_timeline::Lifecycle;
use ctxsim_timeline::facts::{FactPlane, Plant};

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
    /// What can be read, with the store's version.
    read: Option<(u64, ReadableFacts)>,
    /// What was last recalled, with the store's version.
    recalled: (u64, Option<Recalled>),
    calls: Vec<MemoryServiceCall>,
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

    /// Returns its size in the prompt.
    pub(super) fn tokens(&self) -> Tokens {
        read::tokens(self.rules, &self.store)
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
        let n_before = self.writer.n_kept();
        while let Some(plant) = plants.get(self.n_arrived)
            && plant.item < n_items
        {
            if self.rules.write.from == memory::SearchedWhen::Session {
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
        let n_kept = self.writer.n_kept() - n_before;
        if n_kept > 0 {
            self.call(MemoryKind::Write, n_kept.saturating_mul(self.rules.store.tokens_per_fact()));
        }
    }

    /// Notes a call, if there is a service to call.
    fn call(&mut self, kind: MemoryKind, tokens: Tokens) {
        if let Some(service) = &self.rules.service {
            self.calls.push(MemoryServiceCall { kind, service: service.clone(), calls: 1, tokens });
        }
    }

    /// Returns a digest of the recalled content: the facts in order, each with its version; an index does not
    /// contain their values.
    fn digest(&self) -> u64 {
        let is_index = self.rules.read == memory::RecallRule::ByKey;
        let newest = match self.rules.read {
            memory::RecallRule::Last(count) => saturated(count),
            memory::RecallRule::All | memory::RecallRule::ByKey => usize::MAX,
        };
        let facts = self.store.newest(newest);
        let version = |fact: u32| if is_index { 0 } else { self.writer.version(fact) };
        let said = facts.iter().map(|it| (u64::from(*it) << 16) | u64::from(version(*it)));
        xxh3_64(&said.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }
}

impl PolicyMemory for Declared<'_> {
    fn observe(&mut self, view: &dyn MemoryView) {
        self.look(view);
    }

    fn recall(&mut self) -> Option<Recalled> {
        let now = self.store.n_changes();
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
        let now = self.store.n_changes();
        let read = self.read.take().filter(|it| it.0 == now);
        let read = read.unwrap_or_else(|| (now, ReadableFacts::new(self.rules, &self.store, self.plane)));
        let (state, loss) = self.read.insert(read).1.state(plant, &self.writer, &self.store);
        if state == State::Recoverable {
            self.call(MemoryKind::Read, self.rules.store.tokens_per_fact());
        }
        (state, loss)
    }

    fn answers(&self, state: State) -> bool {
        r#use::answers(Some(self.rules), state)
    }

    fn take_calls(&mut self) -> Vec<MemoryServiceCall> {
        std::mem::take(&mut self.calls)
    }

    fn tell(&self, sink: &mut dyn FnMut(&KeptRow<'_>)) {
        self.store.tell(sink);
    }
}
