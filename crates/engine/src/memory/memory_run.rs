//! Follows a run with its memory, and answers its probes.

use super::declared::Declared;
use super::{MemoryView, PolicyMemory, Recalled, answers, nearer};
use crate::ledger::{Loss, MemoryRow, ProbeRow};
use crate::prelude::*;
use ctxsim_input::policy::memory::{FactMemory as Rules, State};
use ctxsim_timeline::facts::{FactForm, FactPlane, ItemShare, Plant, Probe};
use ctxsim_timeline::{Lifecycle, When};

/// A memory in use.
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one, and the declared one is asked at every request"
)]
pub enum AnyMemory<'t> {
    /// Declared by a policy.
    Declared(Declared<'t>),
    /// Written in code.
    Code(Box<dyn PolicyMemory + 't>),
}

/// Follows a run and answers its probes.
pub struct MemoryRun<'t> {
    plants: &'t [Plant],
    probes: &'t [Probe],
    places: &'t [Option<ItemShare>],
    repeats: &'t [(u32, ItemIx)],
    memory: Option<AnyMemory<'t>>,
    /// The number of probes answered so far.
    n_asked: usize,
}

impl<'t> AnyMemory<'t> {
    /// Starts a memory of a load's facts, as a policy declares it.
    pub fn declared(rules: &'t Rules, plane: &'t FactPlane) -> Self {
        Self::Declared(Declared::new(rules, plane))
    }

    /// Returns the memory of either kind.
    fn any(&mut self) -> &mut (dyn PolicyMemory + 't) {
        match self {
            Self::Declared(it) => it,
            Self::Code(it) => &mut **it,
        }
    }
}

impl<'t> MemoryRun<'t> {
    /// Starts without or with a memory; without one, only what the prompt shows is known.
    pub fn new(plane: Option<&'t FactPlane>, memory: Option<AnyMemory<'t>>) -> Self {
        let mut run = Self { plants: &[], probes: &[], places: &[], repeats: &[], memory, n_asked: 0 };
        if let Some(plane) = plane {
            (run.plants, run.probes) = (&plane.plants, &plane.probes);
            (run.places, run.repeats) = (&plane.places, &plane.repeats);
        }
        run
    }

    /// Returns whether there is a memory.
    pub fn remembers(&self) -> bool {
        self.memory.is_some()
    }

    /// Searches new items, or items that the prompt no longer shows in full.
    // Nearly always there is nothing to look through: the test belongs where it is asked, the work does not.
    #[inline(always)]
    pub fn observe(&mut self, view: &impl MemoryView) {
        match &mut self.memory {
            None => {}
            Some(AnyMemory::Declared(memory)) => memory.look(view),
            Some(AnyMemory::Code(memory)) => memory.observe(view),
        }
    }

    /// Returns why a memory in code cannot go on, once.
    #[inline]
    pub fn fault(&mut self) -> Option<String> {
        match &mut self.memory {
            Some(AnyMemory::Code(memory)) => memory.fault(),
            _ => None,
        }
    }

    /// Returns the memory's size in the prompt.
    #[inline]
    pub fn tokens(&mut self) -> Tokens {
        match &mut self.memory {
            None => 0,
            Some(AnyMemory::Declared(memory)) if !memory.has_service() => memory.tokens(),
            _ => self.recall().map_or(0, |it| it.tokens.into()),
        }
    }

    /// Returns the memory's content in the prompt.
    pub fn recall(&mut self) -> Option<Recalled> {
        self.memory.as_mut()?.any().recall()
    }

    /// Reports the end of a turn to the memory.
    pub fn turn_end(&mut self, view: &impl MemoryView, turn: TurnIx) {
        if let Some(AnyMemory::Code(memory)) = &mut self.memory {
            memory.observe(view);
            memory.turn_end(turn);
        }
    }

    /// Reports the end of a session to the memory.
    pub fn session_end(&mut self, view: &impl MemoryView, session: usize) {
        if let Some(AnyMemory::Code(memory)) = &mut self.memory {
            memory.observe(view);
            memory.session_end(session);
        }
    }

    /// Applies an event to the memory.
    pub fn event(&mut self, event: Lifecycle) {
        if let Some(memory) = &mut self.memory {
            memory.any().event(event);
        }
    }

    /// Returns the calls that the memory has made, in a turn.
    #[inline(always)]
    pub fn settle(&mut self, turn_ix: TurnIx, sinks: &mut [impl Sink]) {
        if self.memory.is_some() {
            self.hand_out(turn_ix, sinks);
        }
    }

    fn hand_out(&mut self, turn_ix: TurnIx, sinks: &mut [impl Sink]) {
        let Some(memory) = &mut self.memory else { return };
        for it in memory.any().take_calls() {
            let row = MemoryRow {
                turn_ix,
                kind: it.kind,
                service: &it.service,
                calls: it.calls,
                tokens: it.tokens,
            };
            sinks.iter_mut().for_each(|sink| sink.memory(&row));
        }
    }

    /// Returns whether probes up to a moment are still unanswered.
    #[inline]
    pub fn is_asked(&self, until: When) -> bool {
        self.probes.get(self.n_asked).is_some_and(|it| it.at <= until)
    }

    /// Answers the probes up to a moment; a run that stopped before a question answers nothing.
    pub fn probe(&mut self, view: &impl MemoryView, until: When, has_stopped: bool, sinks: &mut [impl Sink]) {
        let due = self.probes.get(self.n_asked..).unwrap_or_default();
        let n_due = due.partition_point(|it| it.at <= until);
        for probe in &due[..n_due] {
            let row = self.answer(probe, view, has_stopped);
            sinks.iter_mut().for_each(|sink| sink.probe(&row));
        }
        self.n_asked += n_due;
    }

    fn answer(&mut self, probe: &Probe, view: &impl MemoryView, has_stopped: bool) -> ProbeRow {
        let plant = &self.plants[probe.plant as usize];
        let mut state = self.standing(probe.plant, view);
        let mut loss = None;
        let mut is_found = answers(None, state);
        if let Some(memory) = self.memory.as_mut().map(AnyMemory::any) {
            let (remembered, lost_in) = memory.answer(plant);
            state = nearer(state, remembered);
            loss = lost_in;
            is_found = memory.answers(state);
        }
        is_found &= !has_stopped;
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
            is_explicit: plant.form == FactForm::Explicit,
            state: if has_stopped { State::Lost } else { state },
            is_found,
            loss,
        }
    }

    /// Returns how the prompt shows a plant's fact, there or where it is repeated.
    fn standing(&self, plant: u32, view: &impl MemoryView) -> State {
        let item = self.plants[plant as usize].item;
        let first = match self.places.get(plant as usize).copied().flatten() {
            Some(place) => view.standing_at(item, place),
            None => view.standing(item),
        };
        let again = self.repeats.iter().filter(|it| it.0 == plant);
        again.fold(first, |state, (_, item)| nearer(state, view.standing(*item)))
    }

    /// Reports what the memory holds at the end of the load.
    pub fn tell(&mut self, sinks: &mut [impl Sink]) {
        if let Some(memory) = &mut self.memory {
            memory.any().tell(&mut |row| sinks.iter_mut().for_each(|sink| sink.kept(row)));
        }
    }
}
