//! Parts of a summary, as written: what stays beside it, what is restored, and a review of it.

use serde::{Deserialize, Serialize};

use super::{Count, Kind, Size};

/// Items that the harness keeps in place, whatever the summary says about them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeptItems {
    /// Which kinds.
    pub kinds: Vec<Kind>,
    /// How much of them, from the newest on; the first item that does not fit is cut.
    pub tokens: Size,
}

/// Files to restore after a summary has replaced their results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// How many, starting with the most recently used.
    pub files: Count,
    /// The tools that read files, by name or by capability. Default: `read_file`.
    #[serde(default = "Restore::default_tools", skip_serializing_if = "Restore::is_default")]
    pub tools: Vec<String>,
    /// A file larger than this is not restored in full. Default: any size.
    pub each: Option<Size>,
    /// Their largest total size. Default: unlimited.
    pub all: Option<Size>,
    /// The size of the name that represents a file not restored in full. Default: it is left out.
    pub name: Option<Size>,
    /// Other restored content, such as plans and task lists. Default: none.
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

/// A request that reviews a summary before it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecondCall {
    /// What it reads.
    #[serde(default)]
    pub reads: SecondReads,
    /// Its own instructions. Default: 0.
    pub overhead: Option<Size>,
    /// The size of its output. Default: the same as the first.
    pub output: Option<Size>,
}

/// What the review reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SecondReads {
    /// What the first request read, and the summary.
    #[default]
    History,
    /// Only the summary.
    Summary,
}
