//! The content of one slot of a prompt, an edit of it, and the sums of a turn.

use super::{Rendered, TextContent};
use crate::prelude::*;

pub use ctxsim_input::policy::ShownAs;

/// A slot's index; slots never move, so it is the item's index in order of arrival.
pub type SlotIx = u32;
/// The author of an edit: a rung of the program, or a projector of your own.
pub type Author = u8;
/// The author of edits that undo what was shown for one request.
pub const UNDO: Author = Author::MAX;

/// The state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In the prompt.
    Shown,
    /// Hidden by a stage.
    Dropped,
    /// Part of a summary in an earlier slot.
    Absorbed,
    /// Part of the summary in this slot.
    Host,
    /// Contained, as last shown, in the folded summary of an earlier slot.
    Folded,
    /// Contained in the folded summary of this slot.
    FoldHost,
    /// Of an earlier session.
    Past,
}

/// One item's rendition at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Tokens shown: the item's, or of the summary in its place; 0 if hidden.
    pub tokens: u32,
    /// The item's last rendition.
    pub rendition: ShownAs,
    /// Whether the item is in the prompt.
    pub state: State,
    /// Whether it counts as exact evidence.
    pub exact: bool,
    /// The last author of an edit; [`UNDO`] when there was none.
    pub by: Author,
    /// What caches know it by, if it has its own text; `None` for an item fully described by its rendition.
    pub content: Option<TextContent>,
}

impl Slot {
    /// An item as received.
    #[inline]
    pub fn as_it_came(item: &Item) -> Self {
        let exact = item.preserve.is_exact();
        Self {
            tokens: item.raw,
            rendition: ShownAs::Raw,
            state: State::Shown,
            exact,
            by: UNDO,
            content: None,
        }
    }

    /// Returns the slot with its item shown in another way.
    #[inline]
    #[must_use]
    pub(super) fn showing(self, rendered: Rendered) -> Self {
        let Rendered { shown: rendition, tokens, exact, content } = rendered;
        Self { tokens, rendition, exact, content, ..self }
    }

    /// Returns whether anything is in this slot.
    #[inline]
    pub fn is_visible(&self) -> bool {
        matches!(self.state, State::Shown | State::Host | State::FoldHost)
    }

    /// Returns whether a summary is in this slot.
    #[inline]
    pub fn is_summary(&self) -> bool {
        matches!(self.state, State::Host | State::FoldHost)
    }
}

/// What is in the prompt of one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnState {
    /// Tokens shown.
    pub tokens: Tokens,
    /// Working-evidence results shown exactly; like the next three, by the last rendition, after a summary or
    /// not.
    pub n_exact: u32,
    /// Results shown in full.
    pub n_full: u32,
    /// Results shown raw.
    pub n_raw: u32,
    /// Results that still have a handle.
    pub n_handles: u32,
    /// Items after a summary.
    pub n_absorbed: u32,
}

/// An edit of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which.
    pub slot: SlotIx,
    /// What stood there.
    pub before: Slot,
    /// What is there now.
    pub after: Slot,
}

// A run of slots.

/// Slots from one to before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The first.
    pub from: SlotIx,
    /// After the last.
    pub to: SlotIx,
}
