//! An agent's memory beside the window: declared as write, store, read and use, or written in code.
//!
//! A policy has one memory (`input/policy/written/memory.rs`): an enum of facts, sessions, a service and sources, because no load plays
//! two. All kinds use the same words for the same ideas: `write`, `store`, `read`, and `use` where a policy decides it. Each kind has its
//! own type, so a file cannot mix their fields, and code that asks which memory a policy has matches one enum.
//!
//! Some loads contain facts that are asked about later. The *fact plane* lists the facts, where each version is planted (marked, or in
//! passing), by how much it changes a running total, and the probes, each with its moment. Projection and caches never see it. The `memory`
//! floor does, and follows a run: before every request it looks through what has arrived (or what the prompt no longer shows in full), it
//! is notified of the ends of turns and sessions and of events (flush, reset, budget), and it answers the probes when they are due.
//!
//! There is one trait, `PolicyMemory`. It must return what it recalls, and may observe, answer, and hand out its calls. A policy declares a
//! memory, or code makes one for a run (`simulate_with_memory`). The declared memory is called by name and not through the trait, because
//! the needle benchmark calls it at every request. Its four parts are files: `write` makes the draws that a policy declares, one after the
//! other whatever the earlier draws gave; `store` holds banks and evicts the oldest first; `read` returns everything, the newest, or one
//! entry by key; `use` decides which state answers. A fact is `exact`, `preview`, `summarised`, `recoverable` or `lost`, and a needle that
//! was not found is attributed to the part that lost it. `oracle: [write]` (or any other part) makes a part lose nothing, so that a loss
//! can be attributed by difference.
//!
//! The layout also places memory (`layout: (memory: head)`). For `head` and `behind_system`, a slot is reserved before the session's
//! messages, where no stage reaches. Recalled content is put there at the start of the session and before each request's stages. A cache
//! therefore keeps it until its content changes, and then loses everything behind it. A session that shares the previous session's stable
//! prefix also keeps the slot. At the `tail`, the default, memory is sent with each request after the last breakpoint. There it changes
//! between requests, so no cache reads it, nothing before it moves, and it needs no slot; it is counted after the stages have run. A memory
//! that names its `service` makes calls, which are rows of the ledger (`CallRow`) and `memory_calls` in the JSON. A profile's assumptions
//! say what a call costs and how long it takes.
//!
//! **The place of facts.** A fact may have a place in its item (`spreads`), and an answer may repeat it (`repeats`). If a slot shows part
//! of its item, or a summary whose words are known, the policy says how much is left (`Projector::left`), and `memory.rs` checks
//! whether the fact's place is in it. What a model's summary says of facts stays unknown, unless the policy declares it (`says: facts`).

mod declared;
pub mod export;

use self::declared::Declared;
use crate::ledger::{CallRow, KeptRow, Loss, ProbeRow};
use crate::prelude::*;
use crate::projection::{Left, State as ItemState};
use ctxsim_input::policy::memory::{FactMemory as Rules, MemoryPart, State};
use ctxsim_timeline::build::{NewItem, TimelineBuilder};
use ctxsim_timeline::facts::{FactForm, FactPlane, ItemShare, Plant, Probe};
use ctxsim_timeline::{Lifecycle, When};

/// A policy's memory beside the window; only `recall` is required.
pub trait PolicyMemory {
    /// Returns its content in the prompt, or `None` if it has none. Called at the start of every session,
    /// before every request, and at the end of the load.
    fn recall(&mut self) -> Option<Recalled>;

    /// Reads new items, and items that the prompt no longer shows; called before anything is recalled.
    fn observe(&mut self, _view: &dyn MemoryView) {}

    /// Called at the end of a turn.
    fn turn_end(&mut self, _turn: TurnIx) {}

    /// Called at the end of a session, numbered from 0.
    fn session_end(&mut self, _session: usize) {}

    /// Applies an event to the memory.
    fn event(&mut self, _event: Lifecycle) {}

    /// Returns the state in which it knows a plant's version of a fact, and which part lost it, if it does
    /// not know it.
    fn answer(&mut self, _plant: &Plant) -> (State, Option<Loss>) {
        (State::Lost, Some(Loss::Write))
    }

    /// Returns whether a fact in this state, known to the prompt or to the memory, answers a probe.
    fn answers(&self, state: State) -> bool {
        answers(None, state)
    }

    /// Returns the calls made since the last time.
    fn take_calls(&mut self) -> Vec<CallRow> {
        Vec::new()
    }

    /// Returns why it cannot go on, once; a declared memory always can.
    fn fault(&mut self) -> Option<String> {
        None
    }

    /// Reports what it holds at the end of the load.
    fn tell(&self, _sink: &mut dyn FnMut(&KeptRow<'_>)) {}
}

/// A memory's content in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    pub tokens: u32,
    /// A digest of its content: equal contents have equal digests.
    pub digest: u64,
}

/// A memory's view of a prompt.
pub trait MemoryView {
    /// Returns the number of items that have entered, including the stable prefix.
    fn n_items(&self) -> ItemIx;
    /// Returns how the prompt shows an item's content; an item that never entered is lost.
    fn standing(&self, item: ItemIx) -> State;
    /// Returns how the prompt shows the content at a place of an item.
    fn standing_at(&self, item: ItemIx, _place: ItemShare) -> State {
        self.standing(item)
    }
    /// Returns whether all items from this one on are certainly shown unchanged.
    fn shows_all_since(&self, _item: ItemIx) -> bool {
        false
    }
}

impl MemoryView for Prompt<'_> {
    fn n_items(&self) -> ItemIx {
        self.history().cursor()
    }

    fn standing(&self, item: ItemIx) -> State {
        standing(self, item)
    }
}

/// Returns whether a part is replaced by one that loses nothing.
fn is_oracle(rules: &Rules, part: MemoryPart) -> bool {
    rules.oracle.contains(&part)
}

/// Returns how the prompt shows what an item says; an item that never came is lost.
fn standing(prompt: &Prompt<'_>, item: ItemIx) -> State {
    let Some(at) = prompt.history().slot_of(item) else { return State::Lost };
    let slot = prompt.slot(at);
    match slot.state {
        ItemState::Dropped | ItemState::Past => State::Lost,
        // What a model's summary says of a fact is not known; it is neither shown nor found again.
        ItemState::Absorbed | ItemState::Host => State::Lost,
        ItemState::Shown if slot.tokens >= prompt.item(at).raw => State::Exact,
        ItemState::Shown | ItemState::Folded | ItemState::FoldHost => slot.rendition.state(),
    }
}

/// Returns the state from which a fact is easier to have.
fn nearer(left: State, right: State) -> State {
    let order = [State::Exact, State::Summarised, State::Recoverable, State::Preview, State::Lost];
    let rank = |state| order.iter().position(|it| *it == state);
    if rank(right) < rank(left) { right } else { left }
}

/// Returns whether a fact in this state answers; without a memory's own rule, what is whole or can be fetched does.
fn answers(rules: Option<&Rules>, state: State) -> bool {
    match rules {
        Some(rules) if is_oracle(rules, MemoryPart::Use) => state != State::Lost,
        Some(rules) => rules.answers(state),
        None => matches!(state, State::Exact | State::Summarised | State::Recoverable),
    }
}

/// A prompt, and the policy that edits it.
pub struct Edited<'a, 't, P: ?Sized> {
    pub prompt: &'a Prompt<'t>,
    /// The policy.
    pub projector: &'a P,
}

impl<P: Projector + ?Sized> Edited<'_, '_, P> {
    fn left(&self, item: ItemIx) -> Option<Left> {
        self.projector.left(self.prompt, self.prompt.history().slot_of(item)?)
    }
}

impl<P: Projector + ?Sized> MemoryView for Edited<'_, '_, P> {
    fn n_items(&self) -> ItemIx {
        self.prompt.n_items()
    }

    fn standing(&self, item: ItemIx) -> State {
        let standing = standing(self.prompt, item);
        if standing == State::Lost && self.left(item) == Some(Left::ALL) {
            State::Summarised
        } else {
            standing
        }
    }

    fn standing_at(&self, item: ItemIx, place: ItemShare) -> State {
        let standing = self.standing(item);
        if matches!(standing, State::Exact | State::Summarised) {
            return standing;
        }
        let raw = self.prompt.history().slot_of(item).map_or(0, |it| self.prompt.item(it).raw);
        let at = place.in_tokens(raw);
        match self.left(item) {
            Some(left) if at < left.head || at >= raw.saturating_sub(left.tail) => State::Exact,
            Some(left) if left.has_handle => State::Recoverable,
            Some(_) => State::Lost,
            None => standing,
        }
    }
}

// Requests prepared before a run, each with the memory's content in its prompt and the calls made by then.

/// The largest item, so that sums of a few items fit into 32 bits.
pub const ITEM_MAX: u32 = (1 << 31) - 1;
/// From one request to the next.
const REQUEST_MS: i64 = 20_000;

/// Requests, with the memory as played.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Whether each request is its own session after the same system prompt, or all are one.
    pub timeline: Timeline,
    memory: MemoryReplay,
}

/// Appends requests.
pub struct RequestWriter {
    builder: TimelineBuilder,
    is_one_session: bool,
    n_requests: u64,
    at_ms: i64,
    memory: MemoryReplay,
    /// Calls since the last request.
    open: Vec<CallRow>,
}

/// Replays the memory's contents as played.
#[derive(Clone, Debug, Default)]
struct MemoryReplay {
    /// By session of the timeline: the memory's content in its prompts.
    recalled: Vec<Option<Recalled>>,
    /// By session of the timeline: the calls made by then; one more list follows the last session.
    calls: Vec<Vec<CallRow>>,
    session: usize,
}

impl RequestWriter {
    /// Begins to append requests after a system prompt.
    pub fn new(name: &str, system_tokens: u32, is_one_session: bool) -> Self {
        let mut builder = TimelineBuilder::new(name, &[]);
        builder.stable(Kind::System, system_tokens);
        let (memory, open) = (MemoryReplay::default(), Vec::new());
        Self { builder, is_one_session, n_requests: 0, at_ms: 0, memory, open }
    }

    /// Records a call for the next request.
    pub fn call(&mut self, call: CallRow) {
        self.open.push(call);
    }

    /// Appends a request with its text, its answer, and the memory's content in it.
    pub fn request(&mut self, said: u32, answered: u32, memory: Option<Recalled>) {
        if self.n_requests > 0 && !self.is_one_session {
            self.builder.begin_session(&format!("request {}", self.n_requests), None);
        }
        if self.memory.recalled.is_empty() || !self.is_one_session {
            self.memory.recalled.push(memory.filter(|_| !self.is_one_session));
            self.memory.calls.push(Vec::new());
        }
        if let Some(calls) = self.memory.calls.last_mut() {
            calls.append(&mut self.open);
        }
        let [said, answered] = [said, answered].map(|it| it.min(ITEM_MAX));
        self.builder.begin_turn(&[NewItem::plain(Kind::User, said)]);
        self.builder.step(self.at_ms, answered.into(), &[NewItem::plain(Kind::Assistant, answered)], &[]);
        self.n_requests += 1;
        self.pause(REQUEST_MS);
    }

    /// Lets time pass.
    pub fn pause(&mut self, ms: i64) {
        self.at_ms = self.at_ms.saturating_add(ms);
    }

    /// Ends the requests.
    pub fn finish(mut self) -> Replayed {
        self.memory.calls.push(self.open);
        Replayed { timeline: self.builder.finish(), memory: self.memory }
    }
}

impl Replayed {
    /// Returns the memory as played.
    pub fn memory(&self) -> Box<dyn PolicyMemory> {
        Box::new(self.memory.clone())
    }
}

impl PolicyMemory for MemoryReplay {
    fn recall(&mut self) -> Option<Recalled> {
        self.recalled.get(self.session).copied().flatten()
    }

    fn session_end(&mut self, session: usize) {
        self.session = session + 1;
    }

    fn take_calls(&mut self) -> Vec<CallRow> {
        self.calls.get_mut(self.session).map(std::mem::take).unwrap_or_default()
    }
}

// Follows a run with its memory, and answers its probes.

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
        for call in memory.any().take_calls() {
            let row = CallRow { turn_ix, ..call };
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
