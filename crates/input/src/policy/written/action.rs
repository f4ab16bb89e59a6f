//! What a stage does to the items of its scope, as written: actions, renditions, tables, budgets, summaries.

use std::borrow::Cow;

use crate::prelude::*;

use super::memory::State;
use super::{Count, Extent, Kind, Preserve, Size};

/// What a stage does to the items of its scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Shows each item in the same way.
    Show(Rendition),
    /// Shows each item by the first matching row of a table.
    Table {
        /// The table's name.
        rows: String,
        /// A limit on exact tokens.
        budget: Option<Budget>,
        /// The template that writes tool results, for loads with text; their size is then the text's.
        template: Option<String>,
        /// Whether to show an item this way even if that makes it larger.
        #[serde(default)]
        grows: bool,
    },
    /// Hides each item; a call and its result go together.
    Drop,
    /// Replaces all items by one summary that a model writes.
    Summarise(Summarise),
    /// Changes nothing: sends the prompt again, so that the provider's cache keeps it.
    Ping {
        /// The size of the model's answer. Default: 1 token.
        output: Option<Size>,
    },
    /// Replaces each turn by its kept items and one summary from a template, without a model.
    Fold(Fold),
}

impl Action {
    /// Returns whether its savings are known before it acts.
    pub fn is_foreseen(&self) -> bool {
        match self {
            Self::Show(_) | Self::Drop => true,
            Self::Table { budget, template, grows, .. } => budget.is_none() && template.is_none() && !grows,
            Self::Summarise(_) | Self::Fold(_) | Self::Ping { .. } => false,
        }
    }

    /// Returns the rows by which it shows items, its own or a table's; empty if it does not show any.
    pub fn rows<'p>(&'p self, tables: &'p IndexMap<String, Vec<TableRow>>) -> Cow<'p, [TableRow]> {
        match self {
            Self::Show(rendition) => Cow::Owned(vec![TableRow::of_all(rendition.clone())]),
            Self::Table { rows, .. } => Cow::Borrowed(tables.get(rows).map_or(&[], Vec::as_slice)),
            Self::Drop | Self::Summarise(_) | Self::Fold(_) | Self::Ping { .. } => Cow::Borrowed(&[]),
        }
    }
}

/// A budget of exact tokens, spent greedily in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The number of tokens.
    pub tokens: Size,
    /// Units with a budget of their own: `turns(1)`, or `all` for a single budget.
    #[serde(default)]
    pub per: Extent,
    /// What is charged besides the items that the stage makes exact.
    #[serde(default)]
    pub counts: BudgetCounts,
}

/// What a budget is charged with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BudgetCounts {
    /// Also what is already exact in the budget's unit.
    #[default]
    Shown,
    /// Only items that the stage visits.
    Visited,
}

/// How an item is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rendition {
    /// As received.
    #[default]
    Raw,
    /// An exact excerpt with its handle.
    Exact,
    /// A summary with its handle.
    Summary,
    /// A summary without a handle.
    Gist,
    /// Only its handle.
    Handle,
    /// A placeholder of a given size.
    Marker(u64),
    /// Its first tokens, with its handle.
    Preview(Size),
    /// Its head and tail.
    Truncate {
        /// How much of its start.
        head: Size,
        /// How much of its end.
        tail: Option<Size>,
    },
    /// Stored elsewhere: a handle, with head and tail.
    Offload {
        /// How much of its start.
        head: Size,
        /// How much of its end.
        tail: Option<Size>,
    },
}

/// How an item is shown, without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShownAs {
    /// As received.
    Raw,
    /// An exact excerpt with its handle.
    Exact,
    /// A summary with its handle.
    Summary,
    /// A summary without a handle.
    Gist,
    /// Its first tokens, with its handle.
    Preview,
    /// Only its handle.
    Handle,
    /// A placeholder.
    Marker,
    /// Cut.
    Truncate,
    /// Stored elsewhere, with its handle and a cut.
    Offload,
}

impl ShownAs {
    /// Returns the state in which it leaves the item's content.
    pub fn state(self) -> State {
        match self {
            Self::Raw => State::Exact,
            Self::Exact | Self::Preview | Self::Truncate => State::Preview,
            Self::Summary | Self::Gist => State::Summarised,
            Self::Handle | Self::Offload => State::Recoverable,
            Self::Marker => State::Lost,
        }
    }
}

impl Rendition {
    /// Returns the rendition without its numbers.
    pub fn shown(&self) -> ShownAs {
        match self {
            Self::Raw => ShownAs::Raw,
            Self::Exact => ShownAs::Exact,
            Self::Summary => ShownAs::Summary,
            Self::Gist => ShownAs::Gist,
            Self::Handle => ShownAs::Handle,
            Self::Marker(_) => ShownAs::Marker,
            Self::Preview(_) => ShownAs::Preview,
            Self::Truncate { .. } => ShownAs::Truncate,
            Self::Offload { .. } => ShownAs::Offload,
        }
    }
}

/// One row of a table: which results it matches, and how they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// Tool names. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Evidence classes. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserve: Vec<Preserve>,
    /// Only raw results larger than this.
    pub larger_than: Option<Size>,
    /// The rendition.
    #[serde(rename = "as")]
    pub shown_as: Rendition,
    /// The rendition of an exact result that does not fit into the budget. Default: `summary`.
    pub over_budget: Option<Rendition>,
    /// Whether the result counts as exact evidence, overriding the rendition's own rule.
    pub exact: Option<bool>,
    /// Whether the result is charged to the budget whatever its evidence class. Default: only exact evidence
    /// is.
    #[serde(default)]
    pub charged: bool,
}

impl TableRow {
    /// Returns a row that matches every item.
    pub fn of_all(shown_as: Rendition) -> Self {
        Self { shown_as, ..Self::default() }
    }

    /// Returns the rendition of an exact result that does not fit into the budget.
    pub fn over_budget(&self) -> &Rendition {
        self.over_budget.as_ref().unwrap_or(&Rendition::Summary)
    }
}

/// A summary: its cost and its effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Summarise {
    /// Its size, without verbatim copies.
    pub output: Size,
    /// Kinds that stay as they are; the summariser reads and writes them all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<Kind>,
    /// The summariser's own instructions. Default: 0.
    pub overhead: Option<Size>,
    /// The fewest units for a summary. Default: one item.
    pub at_least: Option<Count>,
    /// The most that the summariser reads, starting with the newest. Default: everything.
    pub reads: Option<Size>,
    /// What the harness keeps beside it, cut to fit; the summariser reads it but does not write it.
    pub keeps: Option<KeptItems>,
    /// Files to restore after the summary.
    pub restore: Option<Restore>,
    /// A second request that reviews the summary.
    pub again: Option<SecondCall>,
    /// Whether there is one summary for all units or one per unit.
    #[serde(default)]
    pub per: SummaryPer,
    /// What is known of its text.
    #[serde(default)]
    pub says: SummaryWords,
    /// Who writes it.
    #[serde(default)]
    pub prompt: SummaryPrompt,
}

/// What a summary replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryPer {
    /// All units taken.
    #[default]
    All,
    /// Each unit has its own summary, in its own place.
    Unit,
}

/// What is known of a summary's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryWords {
    /// Nothing: no fact is assumed to survive.
    #[default]
    Unknown,
    /// It repeats the beginnings of the results that it replaces, as far as they fit.
    Head,
    /// It states every fact that it replaces.
    Facts,
}

/// The request that writes a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryPrompt {
    /// A model request with its own prompt, at the uncached price.
    #[default]
    Separate,
    /// The agent's own prompt followed by the instructions, which the provider's cache can serve.
    Aligned,
    /// None: an extractive or templated summary.
    Free,
}

// A fold as written: a turn becomes its kept items and one summary from a template.

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

// Parts of a summary, as written: what stays beside it, what is restored, and a review of it.

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
