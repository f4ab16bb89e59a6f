//! A suite: policies, scenarios and profiles to run together, and the expected results.

mod check;
pub mod written;

pub use self::written::*;
use crate::Checked;
use crate::prelude::*;

/// A suite that has passed every rule. The catalog checks that its names exist.
pub type Suite = Checked<SuiteFile>;

impl Suite {
    /// Checks a suite.
    ///
    /// # Errors
    /// Every problem of the suite, each with its field path.
    pub fn new(file: &SuiteFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        check::suite(file, &mut problems);
        problems.into_result(Self(file.clone()))
    }
}
