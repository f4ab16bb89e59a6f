//! A scenario file as written.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::refetch::Refetch;
use crate::input::policy::{Kind, Size};
use crate::quantity::{Decimal, Tokens};

mod aging;
mod amount;
mod assume;
mod chats;
mod conversation;
mod turns;

pub use self::aging::*;
pub use self::amount::*;
pub use self::assume::*;
pub use self::chats::*;
pub use self::conversation::*;
pub use self::turns::*;

/// A scenario: which load, and what it sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// The name: the file's path below `scenarios/` without its extension.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Parameters of policies that it sets.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// The seed of every draw; 0, when silent.
    #[serde(default)]
    pub seed: u64,
    /// Whether needs are weighed or drawn.
    #[serde(default)]
    pub recovery: RecoveryMode,
    /// How many times needs are drawn, where they are; 1, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<u64>,
    /// What it takes to fetch something again.
    #[serde(default, skip_serializing_if = "Refetch::is_silent")]
    pub refetch: Refetch,
    /// Items at the front of every prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stable: Vec<StableItem>,
    /// Tokens behind the last message of each of the agent's requests, which are billed and which no later prompt reads; 0, when silent.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub unread_tokens: Tokens,
    /// Whether every fact that was told is asked for when the load is over, beside what turns ask.
    #[serde(default, skip_serializing_if = "is_no")]
    pub asks_at_end: bool,
    /// The profiles that it is made for, `*` is any run of characters: it runs under no other. Any, when silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// Tokens that a tool call takes beside its purpose and its arguments.
    #[serde(default)]
    pub call_overhead_tokens: Tokens,
    /// Tokens that an answer takes in later prompts beside what is billed for it as output; 0, when silent.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub answer_overhead_tokens: Tokens,
    /// Tools whose results are files that can be read again by range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_tools: Vec<String>,
    /// Characters per token, where a policy counts in characters; 4, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chars_per_token: Option<Decimal>,
    /// Where the items come from.
    pub load: Load,
}

impl ScenarioFile {
    /// Returns a scenario without turns, under a name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: String::new(),
            sources: Vec::new(),
            params: IndexMap::new(),
            seed: 0,
            recovery: RecoveryMode::default(),
            trials: None,
            refetch: Refetch::default(),
            stable: Vec::new(),
            unread_tokens: 0,
            asks_at_end: false,
            profiles: Vec::new(),
            call_overhead_tokens: 0,
            answer_overhead_tokens: 0,
            file_tools: Vec::new(),
            chars_per_token: None,
            load: Load::Turns(Vec::new()),
        }
    }
}

/// Returns whether a flag is not set.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_no(flag: &bool) -> bool {
    !flag
}

/// Returns whether there are no tokens.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none_of(tokens: &Tokens) -> bool {
    *tokens == 0
}

/// How what a prompt does not show is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecoveryMode {
    /// By its probability: costs are expected values, and the history stays as it was.
    #[default]
    Expected,
    /// By a draw: what a drawn need fetches enters the history as a request, a call and its result.
    Sampled,
}

/// An item of the stable prefix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StableItem {
    /// Its kind.
    pub kind: Kind,
    /// Its size.
    pub tokens: Tokens,
}

/// Where the items of a scenario come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Written out.
    Turns(Vec<Turn>),
    /// Made by repeating patterns.
    Generate(Generate),
    /// Drawn from the seed: turns of every shape.
    Random {
        /// How many user turns.
        turns: u64,
    },
    /// Synthetic conversations with planted facts.
    Conversation(Conversations),
    /// Sessions over which a memory ages.
    Aging(Box<AgingLoad>),
    /// Chats of many sessions, and questions about what was said in them.
    Chats(Box<ChatLoad>),
    /// A recorded session.
    Recorded {
        /// The file, relative to the scenario's own folder.
        path: String,
        /// What the recording does not say.
        #[serde(default)]
        assume: Box<Assume>,
    },
}
