//! What a stage does to the items of its scope, as it is written: actions, renditions, tables, budgets, summaries.

use serde::{Deserialize, Serialize};

use super::fold::FoldSpec;
use super::policy::{KindSpec, PreserveSpec};
use super::size::{CountSpec, ExtentSpec, SizeSpec};

/// What a stage does to the items of its scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ActionSpec {
    /// Shows each in one way.
    Show(RenditionSpec),
    /// Shows each by the first row of a table that matches it.
    Table {
        /// The table's name.
        rows: String,
        /// How many exact tokens there may be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<BudgetSpec>,
        /// The template that writes tool results, where the load has text; the size is then the text's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
        /// Whether an item is shown so even where that makes it larger.
        #[serde(default)]
        grows: bool,
    },
    /// Hides each; a call and its result go together.
    Drop,
    /// Replaces all by one summary, which a model writes.
    Summarise(SummariseSpec),
    /// Replaces each turn by what stays of it and one summary from a template, without a model.
    Fold(FoldSpec),
}

/// A pool of exact tokens, spent greedily in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BudgetSpec {
    /// How many tokens.
    pub tokens: SizeSpec,
    /// Which units have a pool of their own: `turns(1)`, or `all` for one pool.
    #[serde(default = "BudgetSpec::default_per")]
    pub per: ExtentSpec,
    /// What is charged besides the items that this application makes exact.
    #[serde(default)]
    pub counts: CountsSpec,
}

impl BudgetSpec {
    /// One pool.
    fn default_per() -> ExtentSpec {
        ExtentSpec::All
    }
}

/// What a pool is charged with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountsSpec {
    /// What is already exact in the pool's unit counts too.
    #[default]
    Shown,
    /// Only items that this application visits.
    Visited,
}

/// How an item is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RenditionSpec {
    /// As it came.
    Raw,
    /// An exact excerpt with its handle.
    Exact,
    /// A summary with its handle.
    Summary,
    /// A summary without a handle.
    Gist,
    /// Its handle alone.
    Handle,
    /// A placeholder of so many tokens.
    Marker(u64),
    /// Its first tokens, with its handle.
    Preview(SizeSpec),
    /// Its head and tail.
    Truncate {
        /// How much of its beginning.
        head: SizeSpec,
        /// How much of its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<SizeSpec>,
    },
    /// Kept elsewhere: a handle, with head and tail.
    Offload {
        /// How much of its beginning.
        head: SizeSpec,
        /// How much of its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<SizeSpec>,
    },
}

/// One row of a table: which results it is for, and how they are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RowSpec {
    /// Tool names; all, when silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Evidence classes; all, when silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserve: Vec<PreserveSpec>,
    /// Only raw results with more than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub larger_than: Option<SizeSpec>,
    /// The rendition.
    #[serde(rename = "as")]
    pub shown_as: RenditionSpec,
    /// The rendition of an exact result that the budget has no room for; `summary`, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_budget: Option<RenditionSpec>,
    /// Says whether the result counts as exact evidence, against the rendition's own rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// Whether the budget is charged with the result whatever its evidence class; with exact evidence alone, when silent.
    #[serde(default)]
    pub charged: bool,
}

/// A summary: what it costs and what it leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SummariseSpec {
    /// How long it is, verbatim copies excluded.
    pub output: SizeSpec,
    /// Kinds that stay as they are; they are read and written by the summariser all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<KindSpec>,
    /// The summariser's own instructions; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<SizeSpec>,
    /// With fewer units than this nothing happens; one item, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<CountSpec>,
    /// Who writes it.
    #[serde(default)]
    pub prompt: SummaryPromptSpec,
}

/// The request that writes a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryPromptSpec {
    /// A model request with a prompt of its own, at the uncached price.
    #[default]
    Separate,
    /// The agent's own prompt with the instructions behind it, which the provider's cache can serve.
    Aligned,
    /// None: an extractive or templated summary.
    Free,
}
