//! The text plane: what items say, where a load has text; projections and caches never see it.

use std::sync::Arc;

use super::ItemIx;
use super::tool_form::ToolForm;

/// The texts of a timeline's items; a text is shared with whoever else holds it, never copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    rows: Vec<Option<Arc<str>>>,
    forms: Vec<Option<&'static ToolForm>>,
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

    /// Returns how a call or a result is written, where its harness's table says so.
    #[must_use]
    pub fn form(&self, item: ItemIx) -> Option<&'static ToolForm> {
        *self.forms.get(item as usize)?
    }

    /// Says how a call or a result is written.
    pub fn set_form(&mut self, item: ItemIx, form: &'static ToolForm) {
        let at = item as usize;
        if self.forms.len() <= at {
            self.forms.resize(at + 1, None);
        }
        self.forms[at] = Some(form);
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
