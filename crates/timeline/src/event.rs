//! Events of a session other than requests.

use super::{ItemIx, StepIx, TurnIx};
use crate::prelude::*;

/// A moment of a load; moments are ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct When {
    pub turn_ix: TurnIx,
    /// The moment within the turn.
    pub phase: Phase,
}

/// A moment of a turn, or of the session that begins or ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the first turn of a session.
    SessionStart,
    /// Before the user's message.
    TurnOpen,
    /// After the user's message, before the stages of the turn's start.
    TurnStart,
    /// Before a step's request.
    Request(StepIx),
    /// After the turn's last answer.
    TurnEnd,
    /// After the last turn of a session.
    SessionEnd,
}

impl When {
    /// At the end of the load.
    pub const END: Self = Self { turn_ix: TurnIx::MAX, phase: Phase::SessionEnd };
}

/// An event of a session, other than a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The moment before which it happens.
    pub at: When,
    /// The event.
    pub kind: EventKind,
}

/// The kinds of events other than requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The harness itself removed these items for good; no policy has them afterwards.
    Reset(Range<ItemIx>),
    /// The harness asked the model for a summary of the prompt as it stands.
    Compaction(Compaction),
    /// A setting changes its value from here on; it was 0 at the start.
    Change(Setting, u32),
    /// What the prompts begin with is other content from here on: tools, system prompt.
    Front(Box<[FrontItem]>),
    /// The harness requests another lifetime for entries from here on.
    Lifetime(TtlClass),
    /// Somebody else sends the items before this one, which many sessions share, so that they are in the cache again.
    FrontSent(ItemIx),
    /// An event of the memory beside the window.
    Memory(Lifecycle),
}

/// What stands in the place of an item of the stable prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontItem {
    pub item: ItemIx,
    /// Its tokens; 0 where nothing stands there.
    pub tokens: u32,
    /// A digest of its content.
    pub digest: u64,
}

/// The request with which a harness had the history summarised; it begins like the agent's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// The turns that the summary replaces, an earlier summary counting as one.
    pub items: u32,
    /// Tokens of the instruction behind the prompt.
    pub instruction: Tokens,
    /// Tokens of the summary.
    pub output: Tokens,
}

/// The kinds of events of a memory beside the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// All of it is gone.
    Flush,
    /// All but the newest entries are lost.
    Reset {
        /// How many stay.
        keep: u64,
    },
    /// Each bank's capacity shrinks from here on; the oldest entries are lost.
    Budget {
        /// The new capacity.
        entries: u64,
    },
}
