//! What a policy remembers beside the window: write, store, read, use; each part can be replaced by one that loses nothing.

pub mod export;
mod read;
mod store;
mod r#use;
mod write;

use crate::ledger::{Loss, ProbeRow, Sink};
use crate::model::memory::{Memory, Part, State};
use crate::projection::Prompt;
use crate::quantity::Tokens;
use crate::spec::memory::FromSpec;
use crate::timeline::ItemIx;
use crate::timeline::facts::{FactPlane, Form, Plant};

use store::Store;
use write::Writer;

/// What a memory sees of a prompt.
pub trait View {
    /// Returns how many items have come, the stable prefix among them.
    fn n_items(&self) -> ItemIx;
    /// Returns how the prompt shows what an item says; an item that never came is lost.
    fn standing(&self, item: ItemIx) -> State;
    /// Returns whether it is known without a look that all items that came are shown as they are, from this one on.
    fn shows_all_since(&self, _item: ItemIx) -> bool {
        false
    }
}

impl View for Prompt<'_> {
    fn n_items(&self) -> ItemIx {
        self.len()
    }

    fn standing(&self, item: ItemIx) -> State {
        r#use::standing(self, item)
    }
}

/// Follows a run and answers its probes.
#[derive(Debug)]
pub struct MemoryRun<'t> {
    plane: &'t FactPlane,
    memory: Option<Remembering<'t>>,
}

/// A memory at work.
#[derive(Debug)]
struct Remembering<'t> {
    rules: &'t Memory,
    writer: Writer<'t>,
    store: Store<'t>,
    /// How many plants have come.
    n_arrived: usize,
    /// Plants that have come and are not looked through yet.
    waiting: Vec<usize>,
}

impl<'t> MemoryRun<'t> {
    /// Begins to remember; a policy without a memory knows what its prompt shows.
    #[must_use]
    pub fn new(plane: &'t FactPlane, rules: Option<&'t Memory>) -> Self {
        let memory = rules.map(|rules| Remembering {
            rules,
            writer: Writer::new(rules, plane),
            store: Store::new(rules, plane),
            n_arrived: 0,
            waiting: Vec::new(),
        });
        Self { plane, memory }
    }

    /// Looks through what has come, or what the prompt has ceased to show.
    // Nearly always there is nothing to look through: the test belongs where it is asked, the work does not.
    #[inline(always)]
    pub fn observe(&mut self, prompt: &impl View) {
        let plants = &self.plane.plants;
        let Some(memory) = &mut self.memory else { return };
        let is_due = |nth: usize| plants.get(nth).is_some_and(|it| it.item < prompt.n_items());
        let may_be_gone = |nth: &usize| !prompt.shows_all_since(plants[*nth].item);
        if is_due(memory.n_arrived) || memory.waiting.first().is_some_and(may_be_gone) {
            memory.look_through(plants, prompt);
        }
    }

    /// Returns what the memory takes in the prompt.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        self.memory.as_ref().map_or(0, |it| read::tokens(it.rules, &it.store))
    }

    /// Answers what is asked; a run that stopped before the question answers nothing.
    pub fn probe(&self, prompt: &impl View, has_stopped: bool, sink: &mut impl Sink) {
        let read = self.memory.as_ref().map(|it| read::Read::new(it.rules, &it.store, self.plane));
        for probe in &self.plane.probes {
            let plant = &self.plane.plants[probe.plant as usize];
            let mut state = prompt.standing(plant.item);
            let mut loss = None;
            if let (Some(memory), Some(read)) = (&self.memory, &read) {
                let (remembered, lost_in) = read.state(plant.fact, &memory.writer);
                state = r#use::nearer(state, remembered);
                loss = lost_in;
            }
            let is_found = !has_stopped && r#use::answers(self.memory.as_ref().map(|it| it.rules), state);
            let loss = match (is_found, has_stopped, state) {
                (true, ..) => None,
                (_, true, _) => Some(Loss::Stopped),
                (_, _, State::Lost) => Some(loss.unwrap_or(Loss::Write)),
                _ => Some(Loss::Use),
            };
            sink.probe(&ProbeRow {
                fact: plant.fact,
                item: plant.item,
                quartile: probe.quartile,
                is_explicit: plant.form == Form::Explicit,
                state: if has_stopped { State::Lost } else { state },
                is_found,
                loss,
            });
        }
        if let Some(memory) = &self.memory {
            memory.store.tell(sink);
        }
    }
}

impl Remembering<'_> {
    #[inline(never)]
    fn look_through(&mut self, plants: &[Plant], prompt: &impl View) {
        let n_items = prompt.n_items();
        while let Some(plant) = plants.get(self.n_arrived)
            && plant.item < n_items
        {
            if self.rules.from == FromSpec::Session {
                self.writer.write(plant, &mut self.store);
            } else {
                self.waiting.push(self.n_arrived);
            }
            self.n_arrived += 1;
        }
        self.waiting.retain(|index| {
            let plant = &plants[*index];
            let is_shown = prompt.standing(plant.item) == State::Exact;
            if !is_shown {
                self.writer.write(plant, &mut self.store);
            }
            is_shown
        });
    }
}

/// Returns whether a part is replaced by one that loses nothing.
fn is_oracle(rules: &Memory, part: Part) -> bool {
    rules.oracle.contains(&part)
}
