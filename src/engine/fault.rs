//! Runs that come to no result, because code did what no run can go on with.

use crate::ledger::CacheUse;
use crate::projection::EditFault;
use crate::quantity::Tokens;

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
