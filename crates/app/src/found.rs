//! Collects problems of a request until everything has been checked.

use ctxsim_base::diag::Diagnostic;
use ctxsim_base::error::Error;

/// All problems so far.
#[derive(Default)]
pub(super) struct ProblemsFound {
    /// What is wrong with inputs.
    pub(super) problems: Vec<Diagnostic>,
    /// Errors without a place in a file; a single one is returned as it is.
    others: Vec<Error>,
}

impl ProblemsFound {
    /// Adds an error.
    pub(super) fn error(&mut self, error: Error) {
        match error {
            Error::Invalid(problems) => self.problems.extend(problems),
            other => self.others.push(other),
        }
    }

    /// Returns whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.problems.is_empty() && self.others.is_empty()
    }

    /// Stops when anything is wrong.
    pub(super) fn stop(&mut self) -> Result<(), Error> {
        if self.problems.is_empty() && self.others.len() < 2 {
            return self.others.pop().map_or(Ok(()), Err);
        }
        let mut all = std::mem::take(&mut self.problems);
        all.extend(std::mem::take(&mut self.others).into_iter().map(Error::into_problem));
        let mut distinct: Vec<Diagnostic> = Vec::with_capacity(all.len());
        for problem in all {
            if !distinct.contains(&problem) {
                distinct.push(problem);
            }
        }
        Err(distinct.into())
    }
}
