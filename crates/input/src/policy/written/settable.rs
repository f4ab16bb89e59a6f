//! Which parameters the user of a real agent can set.

use serde::{Deserialize, Serialize};

/// A parameter that a user can set, and what the agent accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Settable {
    /// The least that the agent accepts, in the parameter's unit: tokens, characters or a count. Default: 0.
    pub at_least: Option<u64>,
}
