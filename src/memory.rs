//! What an agent remembers beside the window: declared as write, store, read and use, or written in code.

mod declared;
pub mod export;
mod memory_run;
mod read;
pub mod requests;
mod shown;
mod store;
mod r#use;
mod write;

use crate::input::policy::memory::{Memory as Rules, Part, State};
use crate::ledger::{KeptRow, Loss, MemoryKind};
use crate::projection::Prompt;
use crate::quantity::Tokens;
use crate::timeline::facts::{Plant, Share};
use crate::timeline::{ItemIx, Lifecycle, TurnIx};

pub use memory_run::{AnyMemory, MemoryRun};
pub(crate) use shown::Edited;

/// What a policy remembers beside the window; only what it recalls must be said.
pub trait Memory {
    /// Returns what stands of it in the prompt; nothing, where it has nothing to say. It is asked at the start of every
    /// session, before every request and when the load is over.
    fn recall(&mut self) -> Option<Recalled>;

    /// Looks at what has come and at what the prompt has ceased to show: before it is asked for anything.
    fn observe(&mut self, _view: &dyn View) {}

    /// A turn is over.
    fn turn_end(&mut self, _turn: TurnIx) {}

    /// A session is over, counted from 0.
    fn session_end(&mut self, _session: usize) {}

    /// Something happens to it.
    fn event(&mut self, _event: Lifecycle) {}

    /// Returns how it knows what a plant says, in the version that the plant says; and which part lost it, if it does not.
    fn answer(&mut self, _plant: &Plant) -> (State, Option<Loss>) {
        (State::Lost, Some(Loss::Write))
    }

    /// Returns whether a fact in this state answers a probe, whether it is the prompt or the memory that knows it so.
    fn answers(&self, state: State) -> bool {
        r#use::answers(None, state)
    }

    /// Hands out the calls that it has made since it was last asked.
    fn take_calls(&mut self) -> Vec<Call> {
        Vec::new()
    }

    /// Returns why it cannot go on, once; a declared memory always can.
    fn fault(&mut self) -> Option<String> {
        None
    }

    /// Tells what it holds when the load is over.
    fn tell(&self, _sink: &mut dyn FnMut(&KeptRow<'_>)) {}
}

/// What a memory says in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Its tokens.
    pub tokens: u32,
    /// Stands for its content: equal content, equal digest.
    pub digest: u64,
}

/// Calls of a memory to the service that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What they are for.
    pub kind: MemoryKind,
    /// What the service is called.
    pub service: String,
    /// How many.
    pub calls: u64,
    /// Tokens that they carry.
    pub tokens: Tokens,
}

/// What a memory sees of a prompt.
pub trait View {
    /// Returns how many items have come, the stable prefix among them.
    fn n_items(&self) -> ItemIx;
    /// Returns how the prompt shows what an item says; an item that never came is lost.
    fn standing(&self, item: ItemIx) -> State;
    /// Returns how the prompt shows what stands at a place of an item.
    fn standing_at(&self, item: ItemIx, _place: Share) -> State {
        self.standing(item)
    }
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

/// Returns whether a part is replaced by one that loses nothing.
fn is_oracle(rules: &Rules, part: Part) -> bool {
    rules.oracle.contains(&part)
}
