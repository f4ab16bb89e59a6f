//! The memory that a policy keeps beside the window.

use serde::{Deserialize, Serialize};

use crate::quantity::Tokens;

/// Write, store, read, use: what is remembered, where, and how it comes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// What is taken out of the history.
    pub write: Write,
    /// Where it is kept.
    pub store: Store,
    /// How it comes back.
    pub read: Read,
    /// In which states a fact answers a probe; `exact`, `summarised` and `recoverable`, when silent.
    #[serde(default, rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<State>,
    /// The service that holds it, whose calls are counted; what a file or the harness itself holds makes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Parts that lose nothing, so that a loss can be attributed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle: Vec<Part>,
}

/// What is taken out of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// When an item is looked through.
    #[serde(default)]
    pub from: When,
    /// The draws that a fact meets, in order; each that it passes writes it once.
    pub extract: Vec<Extract>,
}

/// When an item is looked through for facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// As it comes.
    #[default]
    Session,
    /// Once the prompt no longer shows it in full.
    Hidden,
}

/// One draw: either `p` or `miss` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Which facts meet it.
    #[serde(default)]
    pub facts: Facts,
    /// The probability that the fact is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The probability that one pass overlooks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss: Option<f64>,
    /// Passes that must all overlook it, under one draw; 1, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u8>,
    /// The bank or file that it goes to; that of its category, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
}

/// Which facts a draw is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// Those that are marked.
    Explicit,
    /// Those said in passing.
    Implicit,
    /// All.
    #[default]
    Any,
}

/// Where facts are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Store {
    /// One list.
    Entries {
        /// What each fact takes in the prompt.
        tokens_per_fact: u64,
        /// How many it holds; the oldest goes first. Any number, when silent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        capacity: Option<u64>,
    },
    /// A list for each category, each with its own capacity.
    Banks {
        /// The categories; a fact of another one goes to the last.
        categories: Vec<String>,
        /// How many each bank holds; the oldest goes first.
        capacity: u64,
        /// What each fact takes in the prompt.
        tokens_per_fact: u64,
    },
    /// A file for each category; the prompt holds an index of them.
    Files {
        /// What each fact takes in the index.
        tokens_per_fact: u64,
    },
}

/// How facts come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Read {
    /// All stand in the prompt.
    All,
    /// Those that were written last stand in the prompt.
    Last(u64),
    /// The prompt holds an index; a call fetches a fact by its key.
    ByKey,
}

/// How a fact stands at its probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The item that says it is shown in full.
    Exact,
    /// A part of that item is shown.
    Preview,
    /// A summary or a memory in the prompt says it.
    Summarised,
    /// A handle or an index leads to it.
    Recoverable,
    /// Nothing leads to it.
    Lost,
}

/// A part of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(rename = "MemoryPart"))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Everything is written.
    Write,
    /// Nothing is evicted.
    Store,
    /// Everything stored is found.
    Read,
    /// Whatever is left of a fact answers.
    Use,
}

/// How a draw from 0 to 1 decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// Kept below it.
    Below(f64),
    /// Kept above it.
    Above(f64),
}

impl Memory {
    /// Returns whether a fact in this state answers.
    #[must_use]
    pub fn answers(&self, state: State) -> bool {
        let usual = [State::Exact, State::Summarised, State::Recoverable];
        if self.answers.is_empty() { usual.contains(&state) } else { self.answers.contains(&state) }
    }
}

impl Extract {
    /// Returns the bar that the draw is held against.
    #[must_use]
    pub fn bar(&self) -> Bar {
        let passes = i32::from(self.passes.unwrap_or(1));
        self.p.map_or_else(|| Bar::Above(self.miss.unwrap_or(0.0).powi(passes)), Bar::Below)
    }
}

impl Store {
    /// Returns the banks that there are from the start; files come as they are needed.
    #[must_use]
    pub fn banks(&self) -> Vec<&str> {
        match self {
            Self::Entries { .. } => vec!["entries"],
            Self::Banks { categories, .. } => categories.iter().map(String::as_str).collect(),
            Self::Files { .. } => Vec::new(),
        }
    }

    /// Returns whether there is a bank for every category there is.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Files { .. })
    }

    /// Returns how many facts a bank holds; any number, when silent.
    #[must_use]
    pub fn capacity(&self) -> Option<u64> {
        match self {
            Self::Entries { capacity, .. } => *capacity,
            Self::Banks { capacity, .. } => Some(*capacity),
            Self::Files { .. } => None,
        }
    }

    /// Returns what each fact takes in the prompt.
    #[must_use]
    pub fn tokens_per_fact(&self) -> Tokens {
        let (Self::Entries { tokens_per_fact, .. }
        | Self::Banks { tokens_per_fact, .. }
        | Self::Files { tokens_per_fact }) = self;
        *tokens_per_fact
    }

    /// Returns the banks that a policy declares for categories; facts of others go to the last.
    #[must_use]
    pub fn declared(&self) -> Option<&[String]> {
        if let Self::Banks { categories, .. } = self { Some(categories) } else { None }
    }
}
