//! What a format of recorded sessions declares about itself.

use super::usage::declared_for;
use crate::import::prelude::*;

/// A format of recorded sessions.
#[derive(Debug)]
pub struct LogFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Returns whether a recording with these first lines is of this format.
    pub(super) detect: fn(&str) -> bool,
    /// Reads a recording; unusable parts are reported as losses.
    pub(super) read: fn(&mut LogLines<'_>, &mut Losses) -> Vec<Transcript>,
}

/// What is said of a format, in `assumptions/logs`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormatText {
    /// A description of its files.
    pub looks_like: String,
    /// Where its agent keeps them, or how they are made.
    pub place: String,
    pub reads: String,
    /// What is not there to be read, or is left out.
    pub omits: String,
    /// The real sessions with cache figures on which the reader was checked.
    checked_on: String,
    /// Else files without cache figures, or made-up ones: only the structure is known to be read well.
    structure_of: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeclaredFormat {
    about: FormatText,
}

impl LogFormat {
    /// Returns what is said of it.
    pub fn about(&self) -> FormatText {
        declared_for::<DeclaredFormat>(self.name).about
    }
}

impl FormatText {
    /// Returns the files on which the reader was checked, in words; empty where nothing is said.
    pub fn checked(&self) -> String {
        let Self { checked_on, structure_of, .. } = self;
        if structure_of.is_empty() { checked_on.clone() } else { format!("structure only: {structure_of}") }
    }
}
