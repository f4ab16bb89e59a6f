//! The names that each source of rows gives its fields: entries of `assumptions/logs/usage-rows.toml`.

use std::sync::LazyLock;

use super::look;
use crate::import::prelude::*;
use crate::import::usage::declared_for;

/// The names of a source's fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RowShape {
    /// Fields that each of its rows has: one of each group.
    has: Vec<Vec<String>>,
    /// The field that tells requests from other rows, and what it says of them; all rows are requests where it says nothing.
    pub(super) only: RowKind,
    /// What names a session together.
    pub(super) session: Vec<String>,
    pub(super) start: Vec<String>,
    /// When the reply began, or how many milliseconds after the start.
    pub(super) first: Vec<String>,
    /// When it ended, or how many milliseconds after the start.
    pub(super) end: Vec<String>,
    pub(super) model: Vec<String>,
    pub(super) tokens_in: Vec<String>,
    pub(super) read: Vec<String>,
    pub(super) written: Vec<String>,
    pub(super) tokens_out: Vec<String>,
    pub(super) reasoning: Vec<String>,
    /// Whether input is without what was read and written, and output without the reasoning.
    pub(super) is_apart: bool,
    pub(super) cost: Vec<String>,
    pub(super) stop: Vec<String>,
    pub(super) n_messages: Vec<String>,
    /// The messages that were sent, and what came back.
    pub(super) input: Vec<String>,
    pub(super) output: Vec<String>,
}

/// The field that tells requests from other rows, and what it says of them; all rows are requests where it says nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RowKind {
    pub(super) field: String,
    pub(super) of: Vec<String>,
}

impl RowShape {
    /// Returns whether a row is one of this source's.
    pub(super) fn fits(&self, row: &Value) -> bool {
        let has = |name: &String| row.get(name).is_some() || look(row, &[name]).is_some();
        self.has.iter().all(|names| names.iter().any(has))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RowShapes {
    shapes: Vec<RowShape>,
}

pub(super) static SHAPES: LazyLock<RowShapes> = LazyLock::new(|| declared_for(super::FORMAT.name));

impl RowShapes {
    /// Returns the shape of a row, if it is known.
    pub(super) fn shape_of(&self, row: &Value) -> Option<&RowShape> {
        self.shapes.iter().find(|it| it.fits(row))
    }
}
