//! A load of many sessions in which facts are said, changed, retracted and asked about again, as written.

use serde::{Deserialize, Serialize};

/// Sessions over which a memory ages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgingLoad {
    /// What makes the sessions: one of the generators that `src/aging/generate.rs` lists.
    pub generator: String,
    /// How many sessions.
    pub sessions: u64,
    /// How many streams of sessions are drawn.
    pub trials: u64,
    /// The models that answer, each a load of its own: names of files in `assumptions/aging/models`.
    pub models: Vec<String>,
    /// The preset that gives the pressure where the fields below are silent.
    #[serde(default)]
    pub pressure: PressurePreset,
    /// What the environment says in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_session: Option<u64>,
    /// The share of sessions, 0 to 1, with a question over several earlier facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency_density: Option<f64>,
    /// The share of facts, 0 to 1, that get another value in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_rate: Option<f64>,
    /// How many versions a fact can have, and, with 1 more, how many facts a question goes over; 1 to 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chain_depth: Option<u64>,
    /// Pairs of facts that could be confused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confusable_pairs: Option<u64>,
    /// The session in which they are said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confusable_start_session: Option<u64>,
    /// Sessions at the start without questions over several facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_sessions: Option<u64>,
    /// The share of facts, 0 to 1, that are retracted in a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forget_rate: Option<f64>,
    /// Whether facts are changed again and again, up to `max_chain_depth`; else once, as in the benchmark by default.
    #[serde(default)]
    pub deep_version_chains: bool,
    /// Whether a running total is asked in every session; else in every second or third.
    #[serde(default)]
    pub dense_totals: bool,
    /// After so many sessions nothing new is said, while memories go on being rewritten; never, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curated_sessions: Option<u64>,
    /// What a score is where nothing has been asked yet.
    #[serde(default)]
    pub before_first: BeforeFirst,
    /// What happens to the memory, and when; a control run without it is made beside each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<AgingEvent>,
}

/// How hard a load presses on a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PressurePreset {
    /// What the benchmark's configuration has where no preset is named.
    #[default]
    Usual,
    /// No dependencies, changes, confusable facts or retractions.
    None,
    /// A little of each.
    Light,
    /// The benchmark's own choice.
    Medium,
    /// Much of each.
    Heavy,
}

/// What a score is in sessions in which nothing has been asked yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BeforeFirst {
    /// There is none; the curve begins with the first that there is.
    #[default]
    Absent,
    /// 1, as the paper has it.
    One,
}

/// Something that happens to a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgingEvent {
    /// The session before which it happens, from 1.
    pub session: u64,
    /// What happens.
    pub what: Happening,
}

/// What can happen to the memory of a deployed agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Happening {
    /// A part of it goes: of records and histories the oldest, of a summary its end.
    PartialReset {
        /// The share that goes, 0 to 1.
        share: f64,
    },
    /// Records are put in another order, and questions find others.
    Reindex,
    /// Summaries get fewer words from here on.
    ReduceBudget {
        /// How many.
        words: u64,
    },
    /// The memory is cut to its first words, once.
    MemoryCompaction {
        /// How many.
        words: u64,
    },
    /// The history goes: all of a summary or of records, of a summary made from the history the history alone.
    FlushHistory,
    /// The summary is made once more.
    Recompact,
    /// Everything is written anew in another form.
    Migration,
    /// Summaries are made by another prompt from here on.
    PromptUpdate {
        /// Which.
        prompt: String,
    },
    /// Another model answers from here on.
    ModelRotation {
        /// Which.
        model: String,
    },
}
