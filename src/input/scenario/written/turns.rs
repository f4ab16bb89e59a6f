//! Turns as written, one by one or as patterns that repeat.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Amount, Places, is_no};
use crate::input::policy::Preserve;
use crate::quantity::Tokens;

/// Patterns of turns, one after the other: as many times as `scale` says, or cut to as many turns as `turns` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Generate {
    /// How many user turns: the patterns are repeated as often as it takes, and cut to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// How often each pattern is repeated before the next one begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u64>,
    /// Where drawn numbers come from.
    #[serde(default, skip_serializing_if = "Draws::is_named")]
    pub random: Draws,
    /// What is repeated, in order; a turn of a pattern comes back to turns of the same pattern alone.
    pub patterns: Vec<Turn>,
}

/// Where the drawn numbers of patterns come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Draws {
    /// From named streams: each turn's draws depend on the seed and the turn's place alone.
    #[default]
    Named,
    /// From splitmix64 begun at the seed, one after the other in the order in which things happen, so that others can
    /// draw the same load in a few lines.
    Splitmix64,
}

impl Draws {
    /// Returns whether they come from named streams.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_named(&self) -> bool {
        *self == Self::Named
    }
}

/// One turn, or a pattern of alike ones: a user message and everything up to the final answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// A name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How many such turns there are, one after the other; 1, when silent.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
    /// Tokens of the user message.
    pub user_tokens: Amount,
    /// Tokens of the final answer.
    pub answer_tokens: Amount,
    /// How many times its calls are made, from the first to the last; 1, when silent.
    #[serde(default = "one_round", skip_serializing_if = "is_one_round")]
    pub rounds: Amount,
    /// Milliseconds from the start of each of its requests to that of the response; 0, when silent.
    #[serde(default, skip_serializing_if = "Amount::is_silent")]
    pub response_ms: Amount,
    /// Milliseconds from the start of the answer's request to the next turn's first one; 0, when silent.
    #[serde(default, skip_serializing_if = "Amount::is_silent")]
    pub gap_ms: Amount,
    /// The tool calls, one request each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Facts that the user tells, by name; what was told before changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plants: Vec<String>,
    /// Whether the answer says again what this turn's user and results told.
    #[serde(default, skip_serializing_if = "is_no")]
    pub repeats: bool,
    /// Facts that the user asks for as they were told last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// What the final answer needs from this turn's own results; weights are normalised to 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub answer_needs: IndexMap<Level, f64>,
    /// What follows from this turn later on; weights are normalised to 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub follow_up_needs: IndexMap<Level, f64>,
    /// The same for turns that call nothing; `follow_up_needs`, when silent.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub talk_needs: IndexMap<Level, f64>,
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
    /// How many such calls there are, one after the other; 1, when silent.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
    /// In which turns of its pattern it is made; in all, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Places>,
    /// Tokens of what the model says in front of the call, an item by itself; none, when silent.
    #[serde(default, skip_serializing_if = "Amount::is_silent")]
    pub text_tokens: Amount,
    /// Tokens of what the model says it wants.
    #[serde(default)]
    pub purpose_tokens: Amount,
    /// Tokens of the arguments.
    pub args_tokens: Amount,
    /// The result's sizes.
    pub result: ResultSizes,
    /// Milliseconds from the start of its request to that of the next one; 0, when silent.
    #[serde(default, skip_serializing_if = "Amount::is_silent")]
    pub gap_ms: Amount,
    /// Facts that its result tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plants: Vec<String>,
    /// Facts that stand at the beginnings of its result's equal parts, by a name that their number is put behind: so many.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub spreads: IndexMap<String, u32>,
    /// Why it may be needed again.
    #[serde(default)]
    pub preserve: Preserve,
    /// Tokens that fetch it again, by level.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub recover: IndexMap<Level, Tokens>,
}

/// The sizes of a tool result in its renditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResultSizes {
    /// As it came.
    pub raw: Amount,
    /// The exact excerpt; as long as the summary, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Amount>,
    /// The summary; `min(raw, 256)`, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Amount>,
    /// The recovery handle; `min(summary, 96)`, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Amount>,
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

impl Call {
    /// Returns the facts that its result tells, each with its place where that is known.
    pub fn told(&self) -> impl Iterator<Item = (String, Option<(u32, u32)>)> {
        let spread = self.spreads.iter().flat_map(|(name, count)| {
            (0..*count).map(move |nth| (format!("{name}.{}", nth + 1), Some((nth, *count))))
        });
        self.plants.iter().map(|it| (it.clone(), None)).chain(spread)
    }
}

impl Level {
    /// Every level, in ascending order.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::GlobalConclusion,
        Self::ContinuationHandle,
        Self::LocalDetail,
        Self::ExactEvidence,
        Self::RawContent,
    ];

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

/// One time.
fn once() -> u64 {
    1
}

/// One round.
fn one_round() -> Amount {
    Amount::Fixed(1)
}

/// Whether calls are made once.
fn is_one_round(rounds: &Amount) -> bool {
    *rounds == one_round()
}

/// Whether nothing is repeated.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_once(times: &u64) -> bool {
    *times == 1
}
