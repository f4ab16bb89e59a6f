//! What a stage does to the items of its scope, as it is written: actions, renditions, tables, budgets, summaries.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::memory::State;
use super::{Count, Extent, Fold, Kept, Kind, Preserve, Restore, SecondCall, Size};

/// What a stage does to the items of its scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Shows each in one way.
    Show(Rendition),
    /// Shows each by the first row of a table that matches it.
    Table {
        /// The table's name.
        rows: String,
        /// How many exact tokens there may be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
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
    Summarise(Summarise),
    /// Changes nothing: sends the prompt as it stands, so that the provider's cache keeps it.
    Ping {
        /// What the model answers; 1 token, when silent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Size>,
    },
    /// Replaces each turn by what stays of it and one summary from a template, without a model.
    Fold(Fold),
}

impl Action {
    /// Returns whether what it would free is known before it acts.
    #[must_use]
    pub fn is_foreseen(&self) -> bool {
        match self {
            Self::Show(_) | Self::Drop => true,
            Self::Table { budget, template, grows, .. } => budget.is_none() && template.is_none() && !grows,
            Self::Summarise(_) | Self::Fold(_) | Self::Ping { .. } => false,
        }
    }

    /// Returns the rows by which it shows items, its own or a table's; none, where it does not show them.
    #[must_use]
    pub fn rows<'p>(&'p self, tables: &'p IndexMap<String, Vec<TableRow>>) -> Cow<'p, [TableRow]> {
        match self {
            Self::Show(rendition) => Cow::Owned(vec![TableRow::of_all(rendition.clone())]),
            Self::Table { rows, .. } => Cow::Borrowed(tables.get(rows).map_or(&[], Vec::as_slice)),
            Self::Drop | Self::Summarise(_) | Self::Fold(_) | Self::Ping { .. } => Cow::Borrowed(&[]),
        }
    }
}

/// A pool of exact tokens, spent greedily in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// How many tokens.
    pub tokens: Size,
    /// Which units have a pool of their own: `turns(1)`, or `all` for one pool.
    #[serde(default = "Budget::default_per")]
    pub per: Extent,
    /// What is charged besides the items that this application makes exact.
    #[serde(default)]
    pub counts: Counts,
}

impl Budget {
    /// One pool.
    fn default_per() -> Extent {
        Extent::All
    }
}

/// What a pool is charged with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Counts {
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
pub enum Rendition {
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
    Preview(Size),
    /// Its head and tail.
    Truncate {
        /// How much of its beginning.
        head: Size,
        /// How much of its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<Size>,
    },
    /// Kept elsewhere: a handle, with head and tail.
    Offload {
        /// How much of its beginning.
        head: Size,
        /// How much of its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<Size>,
    },
}

/// How an item is shown, without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// As it came.
    Raw,
    /// An exact excerpt with its handle.
    Exact,
    /// A summary with its handle.
    Summary,
    /// A summary without.
    Gist,
    /// Its first tokens, with its handle.
    Preview,
    /// Its handle alone.
    Handle,
    /// A placeholder.
    Marker,
    /// Cut.
    Truncate,
    /// Kept elsewhere, with its handle and a cut.
    Offload,
}

impl Shown {
    /// Returns in which state it leaves what the item says.
    #[must_use]
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
    /// Returns how an item is shown so, without the numbers.
    #[must_use]
    pub fn shown(&self) -> Shown {
        match self {
            Self::Raw => Shown::Raw,
            Self::Exact => Shown::Exact,
            Self::Summary => Shown::Summary,
            Self::Gist => Shown::Gist,
            Self::Handle => Shown::Handle,
            Self::Marker(_) => Shown::Marker,
            Self::Preview(_) => Shown::Preview,
            Self::Truncate { .. } => Shown::Truncate,
            Self::Offload { .. } => Shown::Offload,
        }
    }
}

/// One row of a table: which results it is for, and how they are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// Tool names; all, when silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Evidence classes; all, when silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserve: Vec<Preserve>,
    /// Only raw results with more than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub larger_than: Option<Size>,
    /// The rendition.
    #[serde(rename = "as")]
    pub shown_as: Rendition,
    /// The rendition of an exact result that the budget has no room for; `summary`, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_budget: Option<Rendition>,
    /// Says whether the result counts as exact evidence, against the rendition's own rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// Whether the budget is charged with the result whatever its evidence class; with exact evidence alone, when silent.
    #[serde(default)]
    pub charged: bool,
}

impl TableRow {
    /// Makes a row that is for every item.
    #[must_use]
    pub fn of_all(shown_as: Rendition) -> Self {
        Self {
            tools: Vec::new(),
            preserve: Vec::new(),
            larger_than: None,
            shown_as,
            over_budget: None,
            exact: None,
            charged: false,
        }
    }

    /// Returns how an exact result is shown that the pool has no room for.
    #[must_use]
    pub fn over_budget(&self) -> &Rendition {
        self.over_budget.as_ref().unwrap_or(&Rendition::Summary)
    }
}

/// A summary: what it costs and what it leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Summarise {
    /// How long it is, verbatim copies excluded.
    pub output: Size,
    /// Kinds that stay as they are; they are read and written by the summariser all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<Kind>,
    /// The summariser's own instructions; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Size>,
    /// With fewer units than this nothing happens; one item, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Count>,
    /// The most that the summariser reads of what it is given, the newest of it; all, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Size>,
    /// What the harness keeps beside it, cut to fit; the summariser reads it, but does not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<Kept>,
    /// Files that come back once the summary stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<Restore>,
    /// A second request, which looks over the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<SecondCall>,
    /// Whether there is one for all units, or one for each.
    #[serde(default)]
    pub per: SummaryPer,
    /// What is known of its words.
    #[serde(default)]
    pub says: SummaryWords,
    /// Who writes it.
    #[serde(default)]
    pub prompt: SummaryPrompt,
}

/// What a summary stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryPer {
    /// All units that are taken.
    #[default]
    All,
    /// Each unit has one of its own, in its own place.
    Unit,
}

/// What is known of a summary's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryWords {
    /// Nothing: no fact is taken to survive in it.
    #[default]
    Unknown,
    /// It says what the results that it replaces begin with, as much as it has room for.
    Head,
    /// It says every fact that stood in what it replaces.
    Facts,
}

/// The request that writes a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryPrompt {
    /// A model request with a prompt of its own, at the uncached price.
    #[default]
    Separate,
    /// The agent's own prompt with the instructions behind it, which the provider's cache can serve.
    Aligned,
    /// None: an extractive or templated summary.
    Free,
}
