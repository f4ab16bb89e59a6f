//! A scenario: the load to play and its settings.

mod check;
pub mod refetch;
pub mod summaries;
mod turns;
pub mod user_messages;
pub mod written;

use std::ops::Deref;

pub use self::written::*;
use crate::prelude::*;

/// The largest item, so that sums of a few items fit into 32 bits.
pub const ITEM_TOKENS_MAX: Tokens = (1 << 31) - 1;

/// A scenario that has passed every rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario(ScenarioFile);

impl Deref for Scenario {
    type Target = ScenarioFile;

    fn deref(&self) -> &ScenarioFile {
        &self.0
    }
}

impl Scenario {
    /// Checks a scenario.
    ///
    /// # Errors
    /// Every problem of the scenario and its load, each with its field path.
    pub fn new(file: &ScenarioFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        check::scenario(file, &mut problems);
        problems.into_result(Self(file.clone()))
    }
}

impl Assume {
    /// Checks the assumptions about a recording without a scenario.
    ///
    /// # Errors
    /// Every problem, each with its field path in a scenario.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let mut problems = Problems::default();
        problems.within("load.recorded.assume", |to| check::assume::check(self, to));
        problems.into_result(())
    }
}
