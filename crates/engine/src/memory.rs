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
//! that names its `service` makes calls, which are rows of the ledger (`MemoryRow`) and `memory_calls` in the JSON. A profile's assumptions
//! say what a call costs and how long it takes.
//!
//! **The place of facts.** A fact may have a place in its item (`spreads`), and an answer may repeat it (`repeats`). If a slot shows part
//! of its item, or a summary whose words are known, the policy says how much is left (`Projector::left`), and `memory.rs` checks
//! whether the fact's place is in it. What a model's summary says of facts stays unknown, unless the policy declares it (`says: facts`).

mod declared;
pub mod export;
mod memory_run;
pub mod requests;
mod store;

use crate::ledger::{KeptRow, Loss, MemoryKind};
use crate::prelude::*;
use crate::projection::{Left, State as ItemState};
use ctxsim_input::policy::memory::{FactMemory as Rules, MemoryPart, State};
use ctxsim_timeline::Lifecycle;
use ctxsim_timeline::facts::{ItemShare, Plant};

pub use memory_run::{AnyMemory, MemoryRun};

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
    fn take_calls(&mut self) -> Vec<MemoryServiceCall> {
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

/// Calls of a memory to the service that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryServiceCall {
    /// Their purpose.
    pub kind: MemoryKind,
    /// The service's name.
    pub service: String,
    /// Their number.
    pub calls: u64,
    pub tokens: Tokens,
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
