//! The text plane: the items' texts, if the load has text; projections and caches never see it.

use std::sync::Arc;

use super::ItemIx;
use super::tool_form::ToolForm;

/// The texts of a timeline's items; texts are shared, never copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    rows: Vec<Option<Arc<str>>>,
    forms: Vec<Option<&'static ToolForm>>,
}

impl Texts {
    /// Returns whether no item has text.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns an item's text; for a call, its input as JSON. `None` if unknown.
    pub fn of(&self, item: ItemIx) -> Option<&str> {
        self.rows.get(item as usize)?.as_deref()
    }

    /// Returns how a call or a result is written, if its harness's table says so.
    pub fn form(&self, item: ItemIx) -> Option<&'static ToolForm> {
        *self.forms.get(item as usize)?
    }

    /// Sets how a call or a result is written.
    pub fn set_form(&mut self, item: ItemIx, form: &'static ToolForm) {
        let at = item as usize;
        if self.forms.len() <= at {
            self.forms.resize(at + 1, None);
        }
        self.forms[at] = Some(form);
    }

    /// Sets an item's text.
    pub fn set(&mut self, item: ItemIx, text: &Arc<str>) {
        let at = item as usize;
        if self.rows.len() <= at {
            self.rows.resize(at + 1, None);
        }
        self.rows[at] = Some(Arc::clone(text));
    }
}
