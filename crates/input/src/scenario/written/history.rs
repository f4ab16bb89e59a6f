//! A load of sessions one after another, whose sources are fetched again, as written.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use ctxsim_base::quantity::Tokens;

/// The sessions of projects, in the order of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HistoryLoad {
    /// Which sessions share a memory.
    #[serde(default)]
    pub by: HistoryUnit,
    /// Overrides of numbers in `assumptions/histories/numbers.toml`, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub numbers: IndexMap<String, f64>,
    /// The source of the sessions.
    pub from: HistorySource,
}

/// Which sessions share a memory: each such group is a load of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HistoryUnit {
    /// Those of a project, with its worktrees.
    #[default]
    Project,
    /// Those of a user, in all projects.
    User,
}

/// The source of the sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum HistorySource {
    /// Recorded sessions: files, folders or patterns, relative to the scenario's folder.
    Recorded(Vec<String>),
    /// Sessions that are all alike.
    Generated(GeneratedHistory),
}

/// Sessions that are all alike: each fetches the same sources, one a request, and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GeneratedHistory {
    /// How many sessions there are.
    pub sessions: u64,
    /// The sources that each fetches.
    pub sources: u64,
    /// Tokens of a source.
    pub source_tokens: Tokens,
    /// Requests of a session after the last fetch.
    #[serde(default)]
    pub more_requests: u64,
    /// A source has changed in every n-th session, sources taking turns. Default: 0, never.
    #[serde(default)]
    pub changes_every: u64,
    /// Hours from the beginning of a session to that of the next. Default: 24.
    #[serde(default = "day")]
    pub hours: u64,
    /// Tokens of tools and system prompt. Default: 10,000.
    #[serde(default = "front")]
    pub stable_tokens: Tokens,
}

fn day() -> u64 {
    24
}

fn front() -> Tokens {
    10_000
}
