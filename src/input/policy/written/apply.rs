//! How a real agent is told to do what a policy does.

use serde::{Deserialize, Serialize};

/// A setting of a real agent: where it stands, and what is written there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Apply {
    /// Where: a file, the environment, the body of a request.
    pub at: String,
    /// What: a template that sees each parameter by its name, and `limit`, `window` and `output_limit`. Sizes are numbers of
    /// tokens, but for `ratio` (the share) and `chars` (characters).
    pub write: String,
}
