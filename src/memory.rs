//! What a policy remembers beside the window: write, store, read, use; each part can be replaced by one that loses nothing.

mod read;
mod store;
pub mod stored;
mod r#use;
mod write;

use crate::input::policy::memory::{Memory, Part, State};
use crate::input::policy::written::memory;
use crate::ledger::{Loss, ProbeRow, Sink};
use crate::projection::Prompt;
use crate::trace::facts::{FactPlane, Form, Plant, Probe};
use crate::trace::{ItemIx, Lifecycle, When};
use crate::units::Tokens;

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
        self.history().cursor()
    }

    fn standing(&self, item: ItemIx) -> State {
        r#use::standing(self, item)
    }
}

/// Follows a run and answers its probes.
#[derive(Debug)]
pub struct Keeper<'t> {
    plane: &'t FactPlane,
    memory: Option<Remembering<'t>>,
    /// How many probes have been answered.
    n_asked: usize,
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

impl<'t> Keeper<'t> {
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
        Self { plane, memory, n_asked: 0 }
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

    /// Lets something happen to the memory.
    pub fn event(&mut self, event: Lifecycle) {
        if let Some(memory) = &mut self.memory {
            memory.store.happen(event);
        }
    }

    /// Returns whether something is asked up to a moment that has not been answered.
    #[inline]
    #[must_use]
    pub fn is_asked(&self, until: When) -> bool {
        self.plane.probes.get(self.n_asked).is_some_and(|it| it.at <= until)
    }

    /// Answers what is asked up to a moment; a run that stopped before the question answers nothing.
    pub fn probe(&mut self, prompt: &impl View, until: When, has_stopped: bool, sinks: &mut [impl Sink]) {
        let read = self.memory.as_ref().map(|it| read::Read::new(it.rules, &it.store, self.plane));
        let due = self.plane.probes.get(self.n_asked..).unwrap_or_default();
        let n_due = due.partition_point(|it| it.at <= until);
        for probe in &due[..n_due] {
            let row = self.answer(probe, prompt, read.as_ref(), has_stopped);
            sinks.iter_mut().for_each(|sink| sink.probe(&row));
        }
        self.n_asked += n_due;
    }

    fn answer(
        &self,
        probe: &Probe,
        prompt: &impl View,
        read: Option<&read::Read<'_>>,
        has_stopped: bool,
    ) -> ProbeRow {
        let plant = &self.plane.plants[probe.plant as usize];
        let mut state = prompt.standing(plant.item);
        let mut loss = None;
        if let (Some(memory), Some(read)) = (&self.memory, read) {
            let (remembered, lost_in) = read.state(plant, &memory.writer);
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
        ProbeRow {
            fact: plant.fact,
            item: plant.item,
            quartile: probe.quartile,
            is_explicit: plant.form == Form::Explicit,
            state: if has_stopped { State::Lost } else { state },
            is_found,
            loss,
        }
    }

    /// Tells what the memory holds when the load is over.
    pub fn tell(&self, sinks: &mut [impl Sink]) {
        if let Some(memory) = &self.memory {
            sinks.iter_mut().for_each(|sink| memory.store.tell(sink));
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
            if self.rules.from == memory::When::Session {
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
