//! The error type of the public API.

use std::fmt;

use serde::Serialize;

use ctxsim_base::diag::{Code, Diagnostic, Place};
use ctxsim_base::error::Error as Inner;

/// Why inputs cannot be used, or why they gave no result.
///
/// [`Error::problems`] lists every problem of every input at once, each with its place and a fix. `Display` writes them line by line, and so does
/// `Debug`, which is what a `main` that returns the error prints.
///
/// ```
/// let error = ctxsim::Comparison::new().policy("identiti").plan().unwrap_err();
/// let problem = &error.problems()[0];
/// assert_eq!((problem.code, problem.help.as_deref()), ("unknown-name", Some("did you mean `identity`?")));
/// assert_eq!(format!("{error:?}"), error.to_string());
/// ```
pub struct Error(Inner);

/// One problem, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// A stable code in kebab case.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The file, or the input in memory; empty if the problem is in neither.
    pub file: String,
    /// The path of the field, such as `stages.history.until`; empty for a whole file.
    pub field: String,
    /// Line and column, counted from 1, if the input is text.
    pub line_column: Option<(usize, usize)>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Error {
    /// Returns every problem.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.0.problems().iter().map(Problem::new).collect()
    }

    /// Says that a result cannot be written.
    pub(crate) fn unwritable(error: impl fmt::Display) -> Self {
        Diagnostic::at(Code("unwritable"), "", error.to_string()).into()
    }
}

impl Problem {
    pub(super) fn new(problem: &Diagnostic) -> Self {
        let Diagnostic { code, message, place, help } = problem.clone();
        let Place { file, field, line_column, .. } = place;
        Self { code: code.name(), message, file, field, line_column, help }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl From<Inner> for Error {
    fn from(error: Inner) -> Self {
        Self(error)
    }
}

impl From<Vec<Diagnostic>> for Error {
    fn from(problems: Vec<Diagnostic>) -> Self {
        Self(problems.into())
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(problem: Box<Diagnostic>) -> Self {
        Self(problem.into())
    }
}

impl From<Diagnostic> for Error {
    fn from(problem: Diagnostic) -> Self {
        Self(problem.into())
    }
}
