//! A run of slots.

use super::slot::SlotIx;

/// Slots from one to before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The first.
    pub from: SlotIx,
    /// After the last.
    pub to: SlotIx,
}
