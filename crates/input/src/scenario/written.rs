//! A scenario file as written.

mod aging;
mod amount;
mod assume;
mod chats;
mod conversation;
mod stream;
mod turns;

use crate::prelude::*;

use super::refetch::Refetch;
use super::user_messages::UserMessages;
use crate::policy::Kind;

pub use self::aging::*;
pub use self::amount::*;
pub use self::assume::*;
pub use self::chats::*;
pub use self::conversation::*;
pub use self::stream::*;
pub use self::turns::*;

crate::decoded_here!(ScenarioFile, LoadSpec, Assume);
crate::encoded_here!(ScenarioFile);

/// A scenario: a load and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// The name: the file's path below `scenarios/` without its extension.
    pub name: String,
    /// What it is, in one sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Parameters of policies that it overrides.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// The random seed. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// Whether needs are weighted or sampled.
    #[serde(default)]
    pub recovery: RecoveryMode,
    /// How often needs are sampled, if they are. Default: 1.
    pub trials: Option<u64>,
    /// What an agent needs to fetch something again.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub refetch: Refetch,
    /// Whether what users asked is needed. Default: in recorded sessions, and in generated loads that declare no needs.
    pub user_messages: Option<UserMessages>,
    /// Items at the start of every prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stable: Vec<StableItem>,
    /// Tokens after the last message of each of the agent's requests, which are billed but never read by a
    /// later prompt. Default: 0.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub unread_tokens: Tokens,
    /// Whether every stated fact is asked for at the end of the load, in addition to what turns ask for.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub asks_at_end: bool,
    /// The only profiles under which it runs; `*` matches any run of characters. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// Tokens of a tool call, in addition to its purpose and arguments.
    #[serde(default)]
    pub call_overhead_tokens: Tokens,
    /// Tokens of an answer in later prompts, in addition to its billed output. Default: 0.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub answer_overhead_tokens: Tokens,
    /// Tools whose results are files that can be read again by range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_tools: Vec<String>,
    /// Characters per token, for policies that count characters. Default: 4.
    pub chars_per_token: Option<Decimal>,
    /// How many times the turns the agent takes under a policy that edits its prompts, 0.1 to 10. Default: as many.
    pub turns_ratio: Option<Decimal>,
    /// The source of the items.
    pub load: LoadSpec,
}

impl ScenarioFile {
    /// Returns a scenario without turns, under a name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// How the agent fetches what a prompt does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecoveryMode {
    /// By probability: costs are expected values, and the history does not change.
    #[default]
    Expected,
    /// By sampling: a sampled fetch enters the history as a request, a call and its result.
    Sampled,
}

/// An item of the stable prefix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StableItem {
    /// Its kind.
    pub kind: Kind,
    /// Its size.
    pub tokens: Tokens,
    /// What tells it apart from another of its kind and size in the same place, where a turn changes the prefix.
    pub name: Option<String>,
}

/// The source of a scenario's items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LoadSpec {
    /// Written out.
    Turns(Vec<TurnSpec>),
    /// Several sessions, of one or of several users.
    Sessions(Vec<SessionFile>),
    /// Made from repeated patterns.
    Generate(Generate),
    /// Drawn at random: turns of every shape.
    Random {
        /// The number of user turns.
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
        /// The file, relative to the scenario's folder.
        path: String,
        /// Assumptions about what the recording does not contain.
        #[serde(default)]
        assume: Box<Assume>,
    },
}

impl Default for LoadSpec {
    /// No turns.
    fn default() -> Self {
        Self::Turns(Vec::new())
    }
}

impl LoadSpec {
    /// Returns whether it is of items, one after another, rather than of a world of its own.
    pub fn is_of_items(&self) -> bool {
        matches!(
            self,
            Self::Turns(_)
                | Self::Sessions(_)
                | Self::Generate(_)
                | Self::Random { .. }
                | Self::Recorded { .. }
        )
    }

    /// Returns whether facts are planted in its items.
    pub fn plants_facts(&self) -> bool {
        let plants = |turns: &[TurnSpec]| {
            turns
                .iter()
                .any(|it| !it.plants.is_empty() || it.calls.iter().any(|call| call.told().next().is_some()))
        };
        match self {
            Self::Turns(turns) => plants(turns),
            Self::Sessions(all) => all.iter().any(|it| plants(&it.turns)),
            Self::Generate(made) => plants(&made.patterns),
            _ => false,
        }
    }

    /// Returns the file that it is, relative to the scenario's folder.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Recorded { path, .. } => Some(path),
            Self::Chats(load) => match &load.from {
                ChatSource::LongMemEval { path } => Some(path),
                ChatSource::Generated(_) => None,
            },
            Self::Aging(load) => load.path.as_deref(),
            _ => None,
        }
    }
}
