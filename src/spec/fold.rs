//! A fold as written: a turn becomes what stays of it and one summary that follows from a template.

use serde::{Deserialize, Serialize};

use super::action::BudgetSpec;
use super::policy::KindSpec;
use super::size::SizeSpec;

/// A fold of a turn; no model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FoldSpec {
    /// Only turns that have an item of one of these kinds in the scope; every turn, when the list is empty.
    #[serde(default = "FoldSpec::default_having")]
    pub having: Vec<KindSpec>,
    /// Kinds that stay as they are; user messages, when silent.
    #[serde(default = "FoldSpec::default_copy")]
    pub copy: Vec<KindSpec>,
    /// Kinds that the summary repeats word for word; assistant text and earlier summaries, when silent. Tool results stand in
    /// the summary as `results` says; what is left vanishes.
    #[serde(default = "FoldSpec::default_quote")]
    pub quote: Vec<KindSpec>,
    /// How tool results stand in the summary; as they are, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<FoldedResultsSpec>,
    /// The summary's own words, around everything; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<SizeSpec>,
    /// The summary's own words around each tool result; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<SizeSpec>,
    /// The template that writes the summary, where the load has text; its size is then the text's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Whether a turn is folded even where its summary is no smaller than what it replaces.
    #[serde(default)]
    pub grows: bool,
}

impl FoldSpec {
    /// Turns with tool activity.
    fn default_having() -> Vec<KindSpec> {
        vec![KindSpec::ToolCall, KindSpec::ToolResult]
    }

    /// What the user said.
    fn default_copy() -> Vec<KindSpec> {
        vec![KindSpec::User]
    }

    /// What the assistant said, and what stands for more of it.
    fn default_quote() -> Vec<KindSpec> {
        vec![KindSpec::Assistant, KindSpec::Summary]
    }
}

/// How tool results stand in the summary of a fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FoldedResultsSpec {
    /// The table whose first matching row says so.
    pub rows: String,
    /// The template that writes each, where the load has text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// How many exact tokens there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSpec>,
}
