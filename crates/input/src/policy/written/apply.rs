//! How to configure a real agent to follow a policy.

use serde::{Deserialize, Serialize};

/// A setting of a real agent: its place and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Apply {
    /// The place: a file, the environment, the body of a request.
    pub at: String,
    /// The value: a template that reads each parameter by its name, and `limit`, `window` and `output_limit`.
    /// Sizes are numbers of tokens, except `ratio` (the share) and `chars` (characters).
    pub write: String,
}
