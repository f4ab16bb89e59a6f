//! What happens to a session beside its requests, and when.

use std::ops::Range;

use super::{ItemIx, StepIx, TurnIx};
use crate::input::TtlClass;
use crate::input::profile::cache::Setting;

/// A moment of a load; moments compare in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct When {
    /// The turn.
    pub turn_ix: TurnIx,
    /// Which of its moments.
    pub phase: Phase,
}

/// A moment of a turn, or of the session that begins or ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the first turn of a session.
    SessionStart,
    /// When the user's message is in, before the stages of the turn's start.
    TurnStart,
    /// Before a step's request.
    Request(StepIx),
    /// Behind the turn's last answer.
    TurnEnd,
    /// Behind the last turn of a session.
    SessionEnd,
}

impl When {
    /// When the load is over.
    pub const END: Self = Self { turn_ix: TurnIx::MAX, phase: Phase::SessionEnd };
}

/// Something that happened to a session beside its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The moment before which it happened.
    pub at: When,
    /// What happened.
    pub kind: EventKind,
}

/// What can happen to a session beside its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The harness itself took these items out for good, and no policy has them any more.
    Reset(Range<ItemIx>),
    /// A setting has another value from here on; it had 0 when the load began.
    Change(Setting, u32),
    /// The harness asks the entries that it writes to live so long from here on.
    Lifetime(TtlClass),
    /// Something happened to the memory beside the window.
    Memory(Lifecycle),
}

/// What can happen to a memory beside the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// All of it is gone.
    Flush,
    /// All but the newest entries are gone.
    Reset {
        /// How many stay.
        keep: u64,
    },
    /// Each bank holds no more than so many entries from here on; the oldest go.
    Budget {
        /// How many stay.
        entries: u64,
    },
}
