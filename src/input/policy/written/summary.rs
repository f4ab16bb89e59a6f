//! What goes with a summary, as it is written: what stays beside it, what comes back, and a second look at it.

use serde::{Deserialize, Serialize};

use super::{Count, Kind, Size};

/// Items that the harness keeps where they are, whatever the summary says of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Which kinds.
    pub kinds: Vec<Kind>,
    /// How much of them, from the newest on; the item that does not fit whole is cut.
    pub tokens: Size,
}

/// Files that come back once a summary has taken the place of their results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// How many, from the last used on.
    pub files: Count,
    /// The tools that read files, by name or by what they do; `read_file`, when silent.
    #[serde(default = "Restore::default_tools", skip_serializing_if = "Restore::is_default")]
    pub tools: Vec<String>,
    /// A file with more than this does not come back whole; any size, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Size>,
    /// How much they may be together; any size, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<Size>,
    /// How long the name is with which a file stands that does not come back whole; it does not stand at all, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Size>,
    /// What else comes back, such as plans and task lists; nothing, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<Size>,
}

impl Restore {
    fn default_tools() -> Vec<String> {
        vec!["read_file".to_owned()]
    }

    fn is_default(tools: &[String]) -> bool {
        tools == ["read_file"]
    }
}

/// A request that looks over a summary before it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecondCall {
    /// What it reads.
    #[serde(default)]
    pub reads: SecondReads,
    /// Its own instructions; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Size>,
    /// What it writes; as much as the first, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Size>,
}

/// What the second request reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SecondReads {
    /// What the first read, and the summary.
    #[default]
    History,
    /// The summary alone.
    Summary,
}
