//! How an agent remembers from one session to the next, as a policy declares it for loads of many sessions.

use serde::{Deserialize, Serialize};

use super::memory::Part;

/// What of earlier sessions an agent still has in a later one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Aging {
    /// What is kept when a session is over.
    pub keep: SessionKeep,
    /// What of it comes back for a question.
    #[serde(default)]
    pub recall: SessionRecall,
    /// How running totals are carried.
    #[serde(default)]
    pub totals: Totals,
    /// Exact totals beside the memory; none, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<Overlay>,
    /// What changes the memory when its answers get worse; nothing, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// Parts that lose nothing, so that a loss can be attributed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle: Vec<Part>,
}

/// What is kept when a session is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionKeep {
    /// Nothing: the floor.
    Nothing,
    /// The whole history: the ceiling.
    Everything,
    /// Every record, word for word.
    Entries {
        /// How many tokens are held; the oldest records go. Any number, when silent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        capacity_tokens: Option<u64>,
    },
    /// One summary, made anew from itself and the session.
    Summary(Compaction),
    /// One summary, made anew from the whole history.
    History(Compaction),
    /// A summary of each session, all of them kept.
    Episodes(Compaction),
    /// Files that the agent writes itself, one for each domain.
    Files,
}

/// How a summary is made, and so what it loses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Compaction {
    /// The prompt, as `assumptions/aging/numbers.toml` lists it: how many exact statements it keeps, in how many words.
    pub prompt: String,
    /// The most words of the summary, in place of the prompt's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    /// By how many words the budget shrinks with each session; 0, when silent.
    #[serde(default)]
    pub words_less_per_session: u64,
    /// The probability that an exact statement survives one pass, beside what the capacity takes; 1, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<f64>,
    /// How much a statement's own importance counts beside chance, 0 to 1; 0, when silent.
    #[serde(default)]
    pub salience: f64,
    /// By how many standard deviations of chance a session's own statements come before older ones; 0, when silent.
    #[serde(default)]
    pub recency: f64,
    /// Whether a gist still names what its record is about; true, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gists_name_subjects: Option<bool>,
}

/// What of a memory comes back for a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionRecall {
    /// All of it.
    #[default]
    All,
    /// The records, or files, that were written last.
    Last(u64),
    /// Those most like the question; of a workspace, the files that are opened.
    Top {
        /// How many.
        n: u64,
        /// Whether records that could be confused take each other's places; true, when silent.
        #[serde(default = "yes")]
        crowding: bool,
    },
}

/// How running totals are carried through summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Totals {
    /// A change is worked into the balance when its session is written.
    #[default]
    Fold,
    /// A change is a statement like any other; what is left of them is added up when the total is asked.
    Sum,
}

/// Exact totals, read off marks in the text, that stand in front of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The share of changes, 0 to 1, that carry a mark; 1, when silent.
    #[serde(default = "one")]
    pub marked: f64,
}

/// Changes a memory once, when its answers get worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// The overlay is switched on when the error of a total is above this.
    pub error_above: f64,
    /// The compaction prompt is changed when the scenario's score is below this.
    pub score_below: f64,
    /// The prompt that it is changed to.
    pub prompt: String,
    /// Sessions at the start in which nothing is changed; 1, when silent.
    #[serde(default = "one_session")]
    pub warmup_sessions: u64,
    /// Whether the memory so far is also written anew; false, when silent.
    #[serde(default)]
    pub retroactive: bool,
}

impl SessionKeep {
    /// Returns how its summaries are made, where it makes some.
    #[must_use]
    pub fn compaction(&self) -> Option<&Compaction> {
        match self {
            Self::Summary(it) | Self::History(it) | Self::Episodes(it) => Some(it),
            Self::Nothing | Self::Everything | Self::Entries { .. } | Self::Files => None,
        }
    }

    /// Returns what its variant is called in a file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Everything => "everything",
            Self::Entries { .. } => "entries",
            Self::Summary(_) => "summary",
            Self::History(_) => "history",
            Self::Episodes(_) => "episodes",
            Self::Files => "files",
        }
    }
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

fn one_session() -> u64 {
    1
}
