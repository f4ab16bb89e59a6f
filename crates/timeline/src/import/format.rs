//! What a format of recorded sessions declares about itself.

use crate::import::prelude::*;

/// A format of recorded sessions.
#[derive(Debug)]
pub struct LogFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description of its files.
    pub looks_like: &'static str,
    /// Where its agent keeps them, or how they are made.
    pub place: &'static str,
    pub reads: &'static str,
    /// What is not there to be read, or is left out.
    pub omits: &'static str,
    /// The files on which the reader was checked.
    pub checked: Checked,
    /// Returns whether a recording with these first lines is of this format.
    pub(super) detect: fn(&str) -> bool,
    /// Reads a recording; unusable parts are reported as losses.
    pub(super) read: fn(&mut LogLines<'_>, &mut Losses) -> Vec<Transcript>,
}

/// The files on which a reader was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Real sessions with cache figures.
    Real(&'static str),
    /// Files without cache figures, or made-up ones: only the structure is known to be read well.
    Structure(&'static str),
}

impl Checked {
    /// Returns the files, in words.
    pub fn words(self) -> String {
        match self {
            Self::Real(files) => files.to_owned(),
            Self::Structure(files) => format!("structure only: {files}"),
        }
    }
}
