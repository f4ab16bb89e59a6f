//! What an agent carries from session to session, as a policy declares it for loads of many sessions.

use crate::prelude::*;

use super::MemoryPart;

/// What an agent carries from one session to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionMemory {
    /// How a session is written when it ends.
    #[serde(default)]
    pub write: SessionWrite,
    /// Where it is stored.
    pub store: SessionStore,
    /// What is read back for a question.
    #[serde(default)]
    pub read: SessionRead,
    /// Exact totals beside the memory. Default: none.
    pub overlay: Option<Overlay>,
    /// What changes the memory when its answers get worse. Default: nothing.
    pub controller: Option<Controller>,
    /// Parts that lose nothing, so that a loss can be attributed to the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle: Vec<MemoryPart>,
}

/// How a session is written when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SessionWrite {
    /// How running totals are maintained.
    pub totals: TotalsSurvive,
}

/// Where sessions are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionStore {
    /// Nothing: the lower bound.
    Nothing,
    /// The whole history: the upper bound.
    Everything,
    /// Every record, word for word.
    Entries {
        /// The most tokens; the oldest records are dropped. Default: unlimited.
        capacity_tokens: Option<u64>,
    },
    /// One summary, rewritten from itself and the session.
    Summary(SummaryLoss),
    /// One summary, rewritten from the whole history.
    History(SummaryLoss),
    /// One summary per session, all of them kept.
    Episodes(SummaryLoss),
    /// Files that the agent writes itself, one per domain.
    Files,
}

/// How a summary is made, and therefore what it loses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SummaryLoss {
    /// The prompt, from `assumptions/aging/numbers.toml`: how many exact statements it keeps, in how many
    /// words.
    pub prompt: String,
    /// The most words of the summary, instead of the prompt's number.
    pub words: Option<u64>,
    /// How many words the budget shrinks with each session. Default: 0.
    #[serde(default)]
    pub words_less_per_session: u64,
    /// The probability that an exact statement survives one pass, in addition to losses by capacity. Default:
    /// 1.
    pub survival: Option<f64>,
    /// Weight of a statement's own importance relative to chance, 0 to 1. Default: 0.
    #[serde(default)]
    pub salience: f64,
    /// How many standard deviations of chance a session's own statements rank above older ones. Default: 0.
    #[serde(default)]
    pub recency: f64,
    /// Whether a gist still names the topic of its record. Default: true.
    pub gists_name_subjects: Option<bool>,
}

/// What is read back for a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionRead {
    /// All of it.
    #[default]
    All,
    /// The most recently written records or files.
    Last(u64),
    /// Those most similar to the question; of a workspace, the files that are opened.
    Top {
        /// How many.
        n: u64,
        /// Whether similar records can take each other's places. Default: true.
        #[serde(default = "yes")]
        crowding: bool,
    },
}

impl SessionRead {
    /// Returns how many records or files a question brings back; none where it brings back all.
    pub fn count(self) -> Option<u64> {
        match self {
            Self::All => None,
            Self::Last(n) | Self::Top { n, .. } => Some(n),
        }
    }
}

/// How running totals survive summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TotalsSurvive {
    /// A change is applied to the balance when its session is written.
    #[default]
    Fold,
    /// A change is a statement like any other; the surviving changes are added up when the total is asked
    /// for.
    Sum,
}

/// Exact totals before the memory, computed from marks in the text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The share of changes, 0 to 1, that carry a mark. Default: 1.
    #[serde(default = "one")]
    pub marked: f64,
}

/// Changes a memory once, when its answers get worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Switch on the overlay if the error of a total exceeds this.
    pub error_above: f64,
    /// Change the compaction prompt if the scenario's score falls below this.
    pub score_below: f64,
    /// The prompt to change to.
    pub prompt: String,
    /// Sessions at the start without changes. Default: 1.
    #[serde(default = "one_session")]
    pub warmup_sessions: u64,
    /// Whether to rewrite the existing memory as well. Default: false.
    #[serde(default)]
    pub retroactive: bool,
}

impl SessionStore {
    /// Returns how its summaries are made, if it makes any.
    pub fn compaction(&self) -> Option<&SummaryLoss> {
        match self {
            Self::Summary(it) | Self::History(it) | Self::Episodes(it) => Some(it),
            Self::Nothing | Self::Everything | Self::Entries { .. } | Self::Files => None,
        }
    }

    /// Returns the name of its variant in files.
    pub fn name(&self) -> &'static str {
        crate::text::name_of(self)
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
