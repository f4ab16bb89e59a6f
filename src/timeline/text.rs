//! The text plane: what items say, where a load has text; projections and caches never see it.

use std::sync::Arc;

use super::ItemIx;

/// The texts of a timeline's items; a text is shared with whoever else holds it, never copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    rows: Vec<Option<Arc<str>>>,
}

impl Texts {
    /// Returns whether no item has text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns what an item says; of a call, its input as JSON. `None` where the load does not say.
    #[must_use]
    pub fn of(&self, item: ItemIx) -> Option<&str> {
        self.rows.get(item as usize)?.as_deref()
    }

    /// Makes room for items of no text in front of a place.
    pub(super) fn make_room(&mut self, at: ItemIx, n: ItemIx) {
        let at = at as usize;
        if at < self.rows.len() {
            self.rows.splice(at..at, (0..n).map(|_| None));
        }
    }

    /// Says what an item says.
    pub fn set(&mut self, item: ItemIx, text: &Arc<str>) {
        let at = item as usize;
        if self.rows.len() <= at {
            self.rows.resize(at + 1, None);
        }
        self.rows[at] = Some(Arc::clone(text));
    }
}
