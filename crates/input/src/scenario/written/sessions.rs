//! Several sessions as written, of one or of several users.

use serde::{Deserialize, Serialize};

use super::TurnSpec;
use crate::text::duration::Duration;

/// A session among others: what all of them begin with stays in the provider's cache from one to the next of the same user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    /// Its name; reports call it by the scenario's name, a slash and this.
    pub name: String,
    /// Whose it is. Default: the user of all that name none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// When it begins, after the scenario does. Default: at once.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub at: Duration,
    /// The session whose agent started it, if it is a sub-agent's.
    pub parent: Option<String>,
    /// Its turns.
    pub turns: Vec<TurnSpec>,
}
