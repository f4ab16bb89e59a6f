//! A load of chats whose users are later asked what they said, as written.

use crate::prelude::*;

/// Chats of many sessions, and questions about what was said in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChatLoad {
    /// How often the chats are drawn; for chats from a file, how often their losses are.
    pub trials: u64,
    /// Whether the agent knows when each conversation took place. Default: false.
    #[serde(default)]
    pub conversation_time: bool,
    /// Seconds from the end of a session to the start of the next. Default: 0, so sessions are read one after
    /// the other.
    #[serde(default)]
    pub session_seconds: u64,
    /// Overrides of numbers in `assumptions/memory_runners/numbers.toml`, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub numbers: IndexMap<String, f64>,
    /// The source of the chats.
    pub from: ChatSource,
}

/// The source of chats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChatSource {
    /// Drawn from the seed.
    Generated(GeneratedChats),
    /// A JSON file in LongMemEval's format: each question has a user with its own sessions.
    LongMemEval {
        /// The file, relative to the scenario's folder.
        path: String,
    },
}

/// Randomly drawn chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GeneratedChats {
    /// Sessions per user.
    pub sessions: u64,
    /// Messages per session.
    pub messages: u64,
    /// Users that share the service. Default: 1.
    #[serde(default = "one")]
    pub users: u64,
    /// Questions of each type for each user after all sessions.
    #[serde(default)]
    pub questions: QuestionCounts,
}

/// Numbers of questions by type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct QuestionCounts {
    /// About a fact that was stated once. Default: 10.
    pub single_fact: u64,
    /// About a fact that changed. Default: 10.
    pub knowledge_update: u64,
    /// About the number of things named in different sessions. Default: 10.
    pub counting: u64,
    /// About when something happened, or what came first. Default: 10.
    pub timeline: u64,
    /// About something that was never stated. Default: 10.
    pub abstention: u64,
    /// About the earlier value of a fact that changed, and where it came from. Default: 0.
    #[serde(skip_serializing_if = "is_none_asked")]
    pub audit: u64,
}

impl Default for QuestionCounts {
    fn default() -> Self {
        Self { single_fact: 10, knowledge_update: 10, counting: 10, timeline: 10, abstention: 10, audit: 0 }
    }
}

/// Returns whether no question is asked.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none_asked(n: &u64) -> bool {
    *n == 0
}

fn one() -> u64 {
    1
}
