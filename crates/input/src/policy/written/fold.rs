//! A fold as written: a turn becomes its kept items and one summary from a template.

use serde::{Deserialize, Serialize};

use super::{Budget, Kind, Size};

/// A fold of a turn; no model is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// Only turns with an item of one of these kinds in the scope. An empty list means every turn.
    #[serde(default = "Fold::default_having")]
    pub having: Vec<Kind>,
    /// Kinds that stay as they are. Default: user messages.
    #[serde(default = "Fold::default_copy")]
    pub copy: Vec<Kind>,
    /// Kinds that the summary repeats verbatim. Default: assistant text and earlier summaries. `results` says
    /// how the summary shows tool results; everything else is dropped.
    #[serde(default = "Fold::default_quote")]
    pub quote: Vec<Kind>,
    /// How the summary shows tool results. Default: unchanged.
    pub results: Option<FoldedResults>,
    /// The summary's own words around everything. Default: 0.
    pub frame: Option<Size>,
    /// The summary's own words around each tool result. Default: 0.
    pub each: Option<Size>,
    /// The template that writes the summary, for loads with text; its size is then the text's.
    pub template: Option<String>,
    /// Whether to fold a turn even if its summary is no smaller than what it replaces.
    #[serde(default)]
    pub grows: bool,
}

impl Fold {
    /// Turns with tool activity.
    fn default_having() -> Vec<Kind> {
        vec![Kind::ToolCall, Kind::ToolResult]
    }

    /// What the user said.
    fn default_copy() -> Vec<Kind> {
        vec![Kind::User]
    }

    /// What the assistant said, and summaries of it.
    fn default_quote() -> Vec<Kind> {
        vec![Kind::Assistant, Kind::Summary]
    }
}

/// How the summary of a fold shows tool results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FoldedResults {
    /// The table whose first matching row decides.
    pub rows: String,
    /// The template that writes each result, for loads with text.
    pub template: Option<String>,
    /// A limit on exact tokens.
    pub budget: Option<Budget>,
}
