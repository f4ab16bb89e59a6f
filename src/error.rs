//! The one public error.

use std::path::PathBuf;

use crate::diag::Diagnostic;

/// Why an input could not be used or an output not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Inputs are wrong; every problem of every file.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<Diagnostic>),
    /// A name is not in the catalog.
    #[error("no {kind} is called `{name}`{}", suggestion.as_ref().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default())]
    UnknownName {
        /// `policy`, `scenario`, `profile` or `suite`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest known name.
        suggestion: Option<String>,
    },
}

impl From<Vec<Diagnostic>> for Error {
    fn from(problems: Vec<Diagnostic>) -> Self {
        Self::Invalid(problems)
    }
}
