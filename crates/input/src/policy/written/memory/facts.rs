//! Facts that are kept outside the window while a session runs.

use crate::prelude::*;

use super::MemoryPart;

/// Facts outside the window: what is written of the history, where, and how it is read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FactMemory {
    /// What is extracted from the history.
    pub write: FactExtraction,
    /// Where it is stored.
    pub store: FactStore,
    /// How it is recalled.
    pub read: RecallRule,
    /// The states in which a fact answers a probe. Default: `exact`, `summarised` and `recoverable`.
    #[serde(default, rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<State>,
    /// The service that holds it, whose calls are counted; a memory in a file or in the harness makes no
    /// calls.
    pub service: Option<String>,
    /// Parts that lose nothing, so that a loss can be attributed to the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle: Vec<MemoryPart>,
}

/// What is extracted from the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FactExtraction {
    /// When an item is searched for facts.
    #[serde(default)]
    pub from: SearchedWhen,
    /// The draws for each fact, in order; each success writes the fact once.
    pub extract: Vec<Extract>,
}

/// When an item is searched for facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchedWhen {
    /// When it enters.
    #[default]
    Session,
    /// When the prompt stops showing it in full.
    Hidden,
}

/// One draw, with either `p` or `miss`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Which facts it applies to.
    #[serde(default)]
    pub facts: Facts,
    /// The probability that the fact is written.
    pub p: Option<f64>,
    /// The probability that one pass misses it.
    pub miss: Option<f64>,
    /// Number of passes that must all miss it, in one draw. Default: 1.
    pub passes: Option<u8>,
    /// The bank or file for the fact. Default: that of its category.
    pub into: Option<String>,
}

/// Which facts a draw applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// Explicit facts, which are marked.
    Explicit,
    /// Implicit facts, said in passing.
    Implicit,
    /// All.
    #[default]
    Any,
}

/// Where facts are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FactStore {
    /// One list.
    Entries {
        /// Tokens of each fact in the prompt.
        tokens_per_fact: u64,
        /// Its capacity; the oldest fact is dropped first. Default: unlimited.
        capacity: Option<u64>,
    },
    /// One list per category, each with its own capacity.
    Banks {
        /// The categories; facts of other categories go to the last.
        categories: Vec<String>,
        /// Each bank's capacity; the oldest fact is dropped first.
        capacity: u64,
        /// Tokens of each fact in the prompt.
        tokens_per_fact: u64,
    },
    /// One file per category; the prompt holds their index.
    Files {
        /// Tokens of each fact in the index.
        tokens_per_fact: u64,
    },
}

/// How facts are recalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecallRule {
    /// All facts are in the prompt.
    All,
    /// The most recently written facts are in the prompt.
    Last(u64),
    /// The prompt holds an index; a call fetches a fact by its key.
    ByKey,
}

/// The state of a fact when a probe asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The item that states it is shown in full.
    Exact,
    /// A part of that item is shown.
    Preview,
    /// A summary or a memory in the prompt states it.
    Summarised,
    /// A handle or an index leads to it.
    Recoverable,
    /// Nothing leads to it.
    Lost,
}

/// How a random number from 0 to 1 decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawBar {
    /// Kept if below the bar.
    Below(f64),
    /// Kept if above the bar.
    Above(f64),
}

impl FactMemory {
    /// Returns whether a fact in this state answers a probe.
    pub fn answers(&self, state: State) -> bool {
        let usual = [State::Exact, State::Summarised, State::Recoverable];
        if self.answers.is_empty() { usual.contains(&state) } else { self.answers.contains(&state) }
    }
}

impl Extract {
    /// Returns the bar to which the random number is compared.
    pub fn bar(&self) -> DrawBar {
        let passes = i32::from(self.passes.unwrap_or(1));
        self.p.map_or_else(|| DrawBar::Above(self.miss.unwrap_or(0.0).powi(passes)), DrawBar::Below)
    }
}

impl FactStore {
    /// Returns the banks that exist from the start; files are created on demand.
    pub fn banks(&self) -> Vec<&str> {
        match self {
            Self::Entries { .. } => vec!["entries"],
            Self::Banks { categories, .. } => categories.iter().map(String::as_str).collect(),
            Self::Files { .. } => Vec::new(),
        }
    }

    /// Returns whether there is a bank for every category.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Files { .. })
    }

    /// Returns the capacity of a bank; unlimited if `None`.
    pub fn capacity(&self) -> Option<u64> {
        match self {
            Self::Entries { capacity, .. } => *capacity,
            Self::Banks { capacity, .. } => Some(*capacity),
            Self::Files { .. } => None,
        }
    }

    /// Returns the size of each fact in the prompt.
    pub fn tokens_per_fact(&self) -> Tokens {
        let (Self::Entries { tokens_per_fact, .. }
        | Self::Banks { tokens_per_fact, .. }
        | Self::Files { tokens_per_fact }) = self;
        *tokens_per_fact
    }

    /// Returns the declared banks for categories; facts of other categories go to the last.
    pub fn declared(&self) -> Option<&[String]> {
        if let Self::Banks { categories, .. } = self { Some(categories) } else { None }
    }
}
