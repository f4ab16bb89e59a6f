//! Runs that come to no result, because code did what no run can go on with.

use std::sync::Arc;

use crate::error::Error;
use crate::ledger::{CacheUse, RunFault};
use crate::projection::EditFault;
use crate::quantity::Tokens;
use crate::timeline::StepIx;

/// A run that came to no result; what its sink took until then means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{policy}, turn {turn}, request {}: {fault}", step.saturating_add(1))]
pub struct RunError {
    /// The policy.
    pub policy: String,
    /// The user turn, from 1.
    pub turn: u32,
    /// The step whose request it was, or would have been.
    pub step: StepIx,
    /// What happened.
    pub fault: Fault,
}

/// What a run cannot go on with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The policy could not go on, in its own words.
    #[error("{0}")]
    Code(String),
    /// The policy made an edit that cannot be made.
    #[error("{0}")]
    Edit(EditFault),
    /// The cache divided a prompt into parts that are not the prompt.
    #[error(
        "the cache reads {} tokens, writes {} and leaves {} uncached, which does not add up to the prompt of {prompt}",
        usage.read, usage.write[0].saturating_add(usage.write[1]), usage.uncached
    )]
    Cache {
        /// Tokens of the prompt.
        prompt: Tokens,
        /// What the cache says.
        usage: CacheUse,
    },
}

impl From<RunError> for Arc<RunFault> {
    fn from(error: RunError) -> Self {
        let RunError { policy, turn, step, fault } = error;
        Self::new(RunFault { policy, turn, step, what: fault.to_string() })
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}
