//! What a policy changed, and what the provider's cache goes on to know changed slots by.

use std::collections::BTreeMap;

use super::prompt::Prompt;
use super::slot::{Slot, SlotIx};

/// What a policy did between two requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The first slot that was edited.
    pub first_slot: Option<u32>,
    /// The stage that edited it.
    pub by: Option<u16>,
    /// How many slots were edited.
    pub n_edits: u32,
}

/// What stood in slots before edits that keep the prefix: the provider's cache knows them by it.
#[derive(Clone, Debug, Default)]
pub struct Identities(pub(super) BTreeMap<SlotIx, Slot>);

impl Identities {
    /// Returns what the provider's cache knows a slot by: what stands there, or what stood there before edits that keep
    /// the prefix.
    #[must_use]
    pub fn of(&self, prompt: &Prompt<'_>, index: SlotIx) -> Slot {
        *self.0.get(&index).unwrap_or_else(|| prompt.slot(index))
    }

    /// Returns the first slot from a place on that the cache knows, visible or hidden by edits that keep the prefix; or
    /// the end.
    #[inline]
    pub fn known_from(&self, prompt: &mut Prompt<'_>, from: SlotIx) -> SlotIx {
        let visible = prompt.visible_from(from);
        if self.0.is_empty() {
            return visible;
        }
        self.0.range(from..).next().map_or(visible, |(kept, _)| visible.min(*kept))
    }
}
