//! What stands at one place of a prompt, what an edit of it is, and what a turn adds up to.

use crate::quantity::Tokens;
use crate::spec::policy::ShownSpec;
use crate::timeline::{Item, Preserve};

/// A slot's place; slots never move, so it is the item's place in the order of arrival.
pub type SlotIx = u32;
/// How an item is shown.
pub type Shown = ShownSpec;
/// Who makes an edit: a rung of the program, or a projector of your own.
pub type Author = u8;
/// The author of edits that take back what held for one request.
pub const UNDO: Author = Author::MAX;

/// Where an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In the prompt.
    Shown,
    /// Hidden by a stage.
    Dropped,
    /// Behind a summary that stands in an earlier slot.
    Absorbed,
    /// Behind the summary that stands in this slot.
    Host,
    /// Told of, as it last stood, in the folded summary of an earlier slot.
    Folded,
    /// Told of in the folded summary that stands in this slot.
    FoldHost,
}

/// One item's rendition at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Tokens shown: the item's, or of the summary that stands here; 0 when hidden.
    pub tokens: u32,
    /// The item's last rendition.
    pub rendition: Shown,
    /// Whether the item stands in the prompt.
    pub state: State,
    /// Whether it counts as exact evidence.
    pub exact: bool,
    /// The last author of an edit; [`UNDO`] when there was none.
    pub by: Author,
    /// Which summary stands here, counted from 1, or what a folded one says, as a digest; 0 for items.
    pub serial: u32,
}

impl Slot {
    /// An item as it came.
    #[inline]
    #[must_use]
    pub fn as_it_came(item: &Item) -> Self {
        let exact = item.preserve == Preserve::WorkingEvidence;
        Self { tokens: item.raw, rendition: Shown::Raw, state: State::Shown, exact, by: UNDO, serial: 0 }
    }

    /// Returns whether anything stands in this slot.
    #[inline]
    #[must_use]
    pub fn is_visible(&self) -> bool {
        matches!(self.state, State::Shown | State::Host | State::FoldHost)
    }

    /// Returns whether a summary stands in this slot.
    #[inline]
    #[must_use]
    pub fn is_summary(&self) -> bool {
        matches!(self.state, State::Host | State::FoldHost)
    }
}

/// What stands in the prompt of one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnState {
    /// Tokens shown.
    pub tokens: Tokens,
    /// Working-evidence results shown exactly; like the next three, by the last rendition, behind a summary or not.
    pub n_exact: u32,
    /// Results shown in full.
    pub n_full: u32,
    /// Results shown raw.
    pub n_raw: u32,
    /// Results that still have a handle.
    pub n_handles: u32,
    /// Items behind a summary.
    pub n_absorbed: u32,
}

/// An edit of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which.
    pub slot: SlotIx,
    /// What stood there.
    pub before: Slot,
    /// What stands there now.
    pub after: Slot,
}
