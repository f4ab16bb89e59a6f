//! Says of which profiles' models nobody measured how long they take, where a table is asked for that.

use super::sections::columns::TableColumn;
use super::{Report, distinct};
use crate::prelude::*;

/// What the numbers on waiting begin with.
const PLACE: &str = "waiting_minutes.";
/// The most profiles that are named.
const NAMED: usize = 6;

impl Report {
    /// Returns a note that names profiles without data on waiting; nothing where no column asks for it.
    pub(super) fn note_on_waiting(&self) -> Option<String> {
        let is_of_waiting =
            |it: &TableColumn| matches!(it, TableColumn::Number(metric) if metric.name.starts_with(PLACE));
        let unknown =
            self.briefs().filter(|it| it.figures.is_waiting_unknown).map(|it| format!("`{}`", it.profile));
        let mut names = distinct(unknown.filter(|_| self.columns.iter().any(is_of_waiting)));
        let n = names.len();
        names.truncate(NAMED);
        if n > NAMED {
            names.push(format!("{} more", n - NAMED));
        }
        (n > 0).then(|| {
            let names = listed(&names);
            format!("Waiting is unknown under {names}: there are no timings of their models, and those of another model are not used.")
        })
    }
}
