//! A scenario file as written.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::refetch::Refetch;
use crate::input::policy::{Kind, Preserve, Size};
use crate::quantity::{Decimal, Tokens};

mod assume;
mod conversation;

pub use self::assume::*;
pub use self::conversation::*;

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
    /// Tokens that a tool call takes beside its purpose and its arguments.
    #[serde(default)]
    pub call_overhead_tokens: Tokens,
    /// Tools whose results are files that can be read again by range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_tools: Vec<String>,
    /// Characters per token, where a policy counts in characters; 4, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chars_per_token: Option<Decimal>,
    /// Where the items come from.
    pub load: Load,
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
    /// Made by a named generator.
    Generate {
        /// The generator.
        kind: String,
        /// How many user turns, where the generator takes turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turns: Option<u64>,
        /// How many times its pattern, where the generator takes a scale.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<u64>,
    },
    /// Synthetic conversations with planted facts.
    Conversation(Conversations),
    /// A recorded session.
    Recorded {
        /// The file, relative to the scenario's own folder.
        path: String,
        /// What the recording does not say.
        #[serde(default)]
        assume: Assume,
    },
}

/// One turn: a user message and everything up to the final answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// A name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Tokens of the user message.
    pub user_tokens: Tokens,
    /// Tokens of the final answer.
    pub answer_tokens: Tokens,
    /// The tool calls, one request each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// What the final answer needs from this turn's own results; weights are normalised to 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub answer_needs: IndexMap<Level, f64>,
    /// What follows from this turn later on; weights are normalised to 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub follow_up_needs: IndexMap<Level, f64>,
    /// What this turn needs, at its start, from an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisits: Vec<Revisit>,
}

/// One tool call and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// A name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The tool.
    pub tool: String,
    /// Tokens of what the model says it wants.
    #[serde(default)]
    pub purpose_tokens: Tokens,
    /// Tokens of the arguments.
    pub args_tokens: Tokens,
    /// The result's sizes.
    pub result: ResultSizes,
    /// Why it may be needed again.
    #[serde(default)]
    pub preserve: Preserve,
    /// Tokens that fetch it again, by level.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub recover: IndexMap<Level, Tokens>,
}

/// The sizes of a tool result in its renditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResultSizes {
    /// As it came.
    pub raw: Tokens,
    /// The exact excerpt; as long as the summary, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Tokens>,
    /// The summary; `min(raw, 256)`, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Tokens>,
    /// The recovery handle; `min(summary, 96)`, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Tokens>,
}

/// How much of earlier evidence is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// What was concluded.
    GlobalConclusion,
    /// A handle to go on from.
    ContinuationHandle,
    /// Some detail of a result.
    LocalDetail,
    /// An exact excerpt.
    ExactEvidence,
    /// The whole.
    RawContent,
}

impl Level {
    /// Returns it as files write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::GlobalConclusion => "global_conclusion",
            Self::ContinuationHandle => "continuation_handle",
            Self::LocalDetail => "local_detail",
            Self::ExactEvidence => "exact_evidence",
            Self::RawContent => "raw_content",
        }
    }
}

/// A need at the start of a turn for something of an earlier turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Revisit {
    /// A name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How many turns back, 1 and up.
    pub turns_back: u64,
    /// How much is needed; `exact_evidence`, when silent.
    #[serde(default = "Revisit::default_level")]
    pub level: Level,
    /// How probable it is, 0 to 1; 1, when silent.
    #[serde(default = "Revisit::default_weight")]
    pub weight: f64,
    /// Tokens that fetch it again; by the results' own numbers, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recover_tokens: Option<Tokens>,
}

impl Revisit {
    /// Exact evidence is what revisits are for.
    fn default_level() -> Level {
        Level::ExactEvidence
    }

    /// Certain.
    fn default_weight() -> f64 {
        1.0
    }
}
