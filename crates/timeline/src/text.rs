//! The text plane: the items' texts, if the load has text; projections and caches never see it.

use crate::prelude::*;

use super::ItemIx;
use super::tool_form::{Argument, ToolForm};

/// The texts of a timeline's items; texts are shared, never copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    rows: Vec<Option<Arc<str>>>,
    forms: Vec<Option<&'static ToolForm>>,
    /// What stands for the files of calls whose texts are not there.
    files: Vec<Option<u64>>,
}

impl Texts {
    /// Returns whether no item has text.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns an item's text; for a call, its input as JSON. `None` if unknown.
    pub fn text(&self, item: ItemIx) -> Option<&str> {
        self.rows.get(item as usize)?.as_deref()
    }

    /// Returns how a call or a result is written, if its harness's table says so.
    pub fn form(&self, item: ItemIx) -> Option<&'static ToolForm> {
        *self.forms.get(item as usize)?
    }

    /// Returns what stands for the file that a call names, if it names one.
    pub fn file(&self, call: ItemIx) -> Option<u64> {
        if let Some(file) = self.files.get(call as usize).copied().flatten() {
            return Some(file);
        }
        let asked = self.form(call)?.asked(self.text(call)?);
        let (_, path) = asked.into_iter().find(|it| it.0 == Argument::Path)?;
        Some(xxh3_64(path.as_str()?.as_bytes()))
    }

    /// Sets what stands for the file that a call without text names.
    pub fn set_file(&mut self, call: ItemIx, file: u64) {
        set(&mut self.files, call, file);
    }

    /// Sets how a call or a result is written.
    pub fn set_form(&mut self, item: ItemIx, form: &'static ToolForm) {
        set(&mut self.forms, item, form);
    }

    /// Sets an item's text.
    pub fn set(&mut self, item: ItemIx, text: &Arc<str>) {
        set(&mut self.rows, item, Arc::clone(text));
    }
}

/// Sets what a list has for an item.
fn set<T: Clone>(list: &mut Vec<Option<T>>, item: ItemIx, value: T) {
    let at = item as usize;
    if list.len() <= at {
        list.resize(at + 1, None);
    }
    list[at] = Some(value);
}
