//! A fold as written: a turn becomes what stays of it and one summary that follows from a template.

use serde::{Deserialize, Serialize};

use super::{Budget, Kind, Size};

/// A fold of a turn; no model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// Only turns that have an item of one of these kinds in the scope; every turn, when the list is empty.
    #[serde(default = "Fold::default_having")]
    pub having: Vec<Kind>,
    /// Kinds that stay as they are; user messages, when silent.
    #[serde(default = "Fold::default_copy")]
    pub copy: Vec<Kind>,
    /// Kinds that the summary repeats word for word; assistant text and earlier summaries, when silent. Tool results stand in
    /// the summary as `results` says; what is left vanishes.
    #[serde(default = "Fold::default_quote")]
    pub quote: Vec<Kind>,
    /// How tool results stand in the summary; as they are, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<FoldedResults>,
    /// The summary's own words, around everything; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Size>,
    /// The summary's own words around each tool result; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Size>,
    /// The template that writes the summary, where the load has text; its size is then the text's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Whether a turn is folded even where its summary is no smaller than what it replaces.
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

    /// What the assistant said, and what stands for more of it.
    fn default_quote() -> Vec<Kind> {
        vec![Kind::Assistant, Kind::Summary]
    }
}

/// How tool results stand in the summary of a fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FoldedResults {
    /// The table whose first matching row says so.
    pub rows: String,
    /// The template that writes each, where the load has text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// How many exact tokens there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}
