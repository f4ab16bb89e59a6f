//! A suite: policies, scenarios and profiles to run together, and the expected results.

mod check;
pub mod written;

use std::ops::Deref;

pub use self::written::*;
use crate::prelude::*;

/// A suite that has passed every rule. The catalog checks that its names exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite(SuiteFile);

impl Deref for Suite {
    type Target = SuiteFile;

    fn deref(&self) -> &SuiteFile {
        &self.0
    }
}

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
