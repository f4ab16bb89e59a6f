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
    /// A run came to no result.
    #[error("{0}")]
    Run(Box<dyn std::error::Error + Send + Sync>),
}

impl From<Vec<Diagnostic>> for Error {
    fn from(problems: Vec<Diagnostic>) -> Self {
        Self::Invalid(problems)
    }
}

impl Error {
    /// Returns the error as one problem of a list.
    #[must_use]
    pub fn into_problem(self) -> Diagnostic {
        let message = self.to_string();
        match self {
            Self::Invalid(mut problems) if problems.len() == 1 => problems.remove(0),
            Self::Invalid(_) | Self::Run(_) => Diagnostic::at("invalid", "", message),
            Self::Read { path, source } | Self::Write { path, source } => {
                let mut problem = Diagnostic::at("file", "", source.to_string());
                problem.place.file = path.display().to_string();
                problem.help("check the path and the rights to it")
            }
            Self::UnknownName { kind, name, suggestion } => {
                let problem = Diagnostic::at("unknown-name", "", format!("no {kind} is called `{name}`"));
                problem.help(match suggestion {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => "`ctxsim list` names what there is".to_owned(),
                })
            }
        }
    }
}
