//! A load of chats whose users are asked later what they said, as written.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Chats of many sessions, and questions about what was said in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChatLoad {
    /// How many times the chats are drawn; of a file, what becomes of them.
    pub trials: u64,
    /// Whether the agent is told when each conversation took place; false, when silent.
    #[serde(default)]
    pub conversation_time: bool,
    /// Seconds from the end of a session to the start of the next; 0, when silent: they are read in one after the other.
    #[serde(default)]
    pub session_seconds: u64,
    /// Numbers of `assumptions/memory_runners/numbers.toml` that have another value here, by their names.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub numbers: IndexMap<String, f64>,
    /// Where the chats come from.
    pub from: ChatSource,
}

/// Where chats come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChatSource {
    /// They are drawn from the seed.
    Generated(GeneratedChats),
    /// They stand in a JSON file in the shape of LongMemEval: each question has a user with sessions of its own.
    LongMemEval {
        /// The file, relative to the scenario's own folder.
        path: String,
    },
}

/// Chats that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GeneratedChats {
    /// How many sessions each user has.
    pub sessions: u64,
    /// How many messages each session has.
    pub messages: u64,
    /// How many users share the service; 1, when silent.
    #[serde(default = "one")]
    pub users: u64,
    /// How many questions of each type each user is asked when all sessions are over.
    #[serde(default)]
    pub questions: QuestionCounts,
}

/// How many questions there are of each type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct QuestionCounts {
    /// After a fact that was said once; 10, when silent.
    pub single_fact: u64,
    /// After a fact that changed; 10, when silent.
    pub knowledge_update: u64,
    /// How many things were named in different sessions; 10, when silent.
    pub counting: u64,
    /// When something was, or what came first; 10, when silent.
    pub timeline: u64,
    /// After something that was never said; 10, when silent.
    pub abstention: u64,
}

impl Default for QuestionCounts {
    fn default() -> Self {
        Self { single_fact: 10, knowledge_update: 10, counting: 10, timeline: 10, abstention: 10 }
    }
}

fn one() -> u64 {
    1
}
