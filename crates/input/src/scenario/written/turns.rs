//! Turns as written, one by one or as patterns that repeat.

use crate::prelude::*;

use super::{Amount, PatternPlaces, StableItem};
use crate::policy::Preserve;
use crate::profile::ImageSize;
use crate::profile::cache::Setting;

/// Patterns of turns, one after the other: `scale` times each, or cut to `turns` turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Generate {
    /// The number of user turns: the patterns are repeated as often as needed, then cut.
    pub turns: Option<u64>,
    /// How often each pattern is repeated before the next one begins.
    pub scale: Option<u64>,
    /// The random generator.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub random: PatternRandom,
    /// The patterns, in order; a turn of a pattern refers only to turns of the same pattern.
    pub patterns: Vec<TurnSpec>,
}

/// The random generator of patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PatternRandom {
    /// Named streams: each turn's draws depend only on the seed and the turn's place.
    #[default]
    Named,
    /// One splitmix64 sequence from the seed, drawn in the order of events, so that other programs can
    /// reproduce the load in a few lines.
    Splitmix64,
}

/// One turn, or a pattern of equal turns: a user message and everything up to the final answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TurnSpec {
    /// A name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The number of such turns in a row. Default: 1.
    #[serde(default = "crate::text::once", skip_serializing_if = "crate::text::is_once")]
    pub times: u64,
    /// Tokens of the user message.
    pub user_tokens: Amount,
    /// Tokens of the final answer.
    pub answer_tokens: Amount,
    /// Images behind the user message. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ScriptedImages>,
    /// How often its calls are repeated as a whole. Default: 1.
    #[serde(default = "one_round", skip_serializing_if = "is_one_round")]
    pub rounds: Amount,
    /// Milliseconds from the start of each of its requests to the start of the response. Default: 0.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub response_ms: Amount,
    /// Milliseconds from the start of the answer's request to the next turn's first request. Default: until the answer is there.
    pub gap_ms: Option<Amount>,
    /// What the user says: messages of one name and size are the same message, in whichever session. Default: a message of its own.
    pub says: Option<String>,
    /// The prompts' stable prefix from this turn on, in the place of the one before. Default: as it is.
    pub stable: Option<Vec<StableItem>>,
    /// The model from this turn on, by any name; what each setting's change invalidates is the profile's `invalidates`. Default: as it is.
    pub model: Option<String>,
    /// The effort from this turn on. Default: as it is.
    pub effort: Option<String>,
    /// Whether a message within the prompt sets this effort, which invalidates nothing where the provider takes one. Default: the request does.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub in_band: bool,
    /// Thinking from this turn on: its mode or budget. Default: as it is.
    pub thinking: Option<String>,
    /// The tool choice from this turn on. Default: as it is.
    pub tool_choice: Option<String>,
    /// What the provider adds to prompts from this turn on: web search, citations, speed. Default: as it is.
    pub features: Option<String>,
    /// What changes within the turn, from its second request on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ScriptedChange>,
    /// Whether the calls of a round are made at once, in one request, and their results come together. Default: one request each.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub parallel: bool,
    /// The tool calls, one request each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptedCall>,
    /// Facts that the user states, by name; a fact stated before changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plants: Vec<String>,
    /// Whether the answer repeats the facts stated by this turn's user and results.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub repeats: bool,
    /// Facts that the user asks for, as last stated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// What the final answer needs from this turn's own results; weights are normalised to 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub answer_needs: IndexMap<Level, f64>,
    /// What later turns need from this turn; weights are normalised to 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub follow_up_needs: IndexMap<Level, f64>,
    /// The same for turns without calls. Default: `follow_up_needs`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub talk_needs: IndexMap<Level, f64>,
    /// What this turn needs from an earlier one, at its start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisits: Vec<Revisit>,
}

/// What requests have other than before, from one within a turn on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScriptedChange {
    /// The request of the turn, counted from 1. What changes with the first is said by the turn itself.
    pub request: u64,
    /// The prompts' stable prefix from then on. Default: as it is.
    pub stable: Option<Vec<StableItem>>,
    /// The model. Default: as it is.
    pub model: Option<String>,
    /// The effort. Default: as it is.
    pub effort: Option<String>,
    /// Whether a message within the prompt sets this effort, which invalidates nothing where the provider takes one. Default: the request does.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub in_band: bool,
    /// Thinking: its mode or budget. Default: as it is.
    pub thinking: Option<String>,
    /// The tool choice. Default: as it is.
    pub tool_choice: Option<String>,
    /// What the provider adds to prompts: web search, citations, speed. Default: as it is.
    pub features: Option<String>,
}

impl TurnSpec {
    /// Returns what changes with its first request, then what changes within it.
    pub fn each_change(&self) -> impl Iterator<Item = ScriptedChange> {
        let first = ScriptedChange {
            request: 1,
            stable: self.stable.clone(),
            model: self.model.clone(),
            effort: self.effort.clone(),
            in_band: self.in_band,
            thinking: self.thinking.clone(),
            tool_choice: self.tool_choice.clone(),
            features: self.features.clone(),
        };
        std::iter::once(first).chain(self.changes.iter().cloned())
    }
}

impl ScriptedChange {
    /// Returns the settings that it names, with what they are set to.
    pub fn settings(&self) -> impl Iterator<Item = (Setting, &str)> {
        let effort = if self.in_band { Setting::EffortInBand } else { Setting::Effort };
        let all = [
            (Setting::Model, &self.model),
            (effort, &self.effort),
            (Setting::Thinking, &self.thinking),
            (Setting::ToolChoice, &self.tool_choice),
            (Setting::Features, &self.features),
        ];
        all.into_iter().filter_map(|(setting, value)| Some((setting, value.as_deref()?)))
    }
}

/// One tool call and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// A name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The tool.
    pub tool: String,
    /// The number of such calls in a row. Default: 1.
    #[serde(default = "crate::text::once", skip_serializing_if = "crate::text::is_once")]
    pub times: u64,
    /// The turns of its pattern in which it is made. Default: all.
    pub turns: Option<PatternPlaces>,
    /// Tokens of the model's text before the call, as its own item. Default: none.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub text_tokens: Amount,
    /// Tokens of the model's stated purpose.
    #[serde(default)]
    pub purpose_tokens: Amount,
    /// Tokens of the arguments.
    pub args_tokens: Amount,
    /// The result's sizes.
    pub result: ResultSizes,
    /// Images in the result, beside its sizes. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ScriptedImages>,
    /// Milliseconds from the start of its request to the start of the next one. Default: until the reply is there.
    pub gap_ms: Option<Amount>,
    /// Facts that its result states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plants: Vec<String>,
    /// Facts at the beginnings of equal parts of its result: a name, to which a number is appended, and how
    /// many.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub spreads: IndexMap<String, u32>,
    /// Why it may be needed again. Default: `none`; where no call of a turn says it, needs for exact evidence are for all its results.
    pub preserve: Option<Preserve>,
    /// Tokens needed to fetch it again, by level.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub recover: IndexMap<Level, Tokens>,
}

/// Images of one size; how many tokens they take is a rule of the model (`assumptions/images.toml`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScriptedImages {
    /// How many. Default: 1.
    #[serde(default = "crate::text::once", skip_serializing_if = "crate::text::is_once")]
    pub count: u64,
    /// The width in pixels. Default: that of an image whose size is not known.
    pub width: Option<u32>,
    /// The height in pixels. Default: that of an image whose size is not known.
    pub height: Option<u32>,
}

impl ScriptedImages {
    /// Returns the size of each, if it is known.
    pub fn size(&self) -> Option<ImageSize> {
        Some(ImageSize { width: self.width?, height: self.height? })
    }
}

/// The sizes of a tool result in its renditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResultSizes {
    /// As received.
    pub raw: Amount,
    /// The exact excerpt. Default: the size of the summary.
    pub excerpt: Option<Amount>,
    /// The summary. Default: `min(raw, 256)`.
    pub summary: Option<Amount>,
    /// The recovery handle. Default: `min(summary, 96)`.
    pub handle: Option<Amount>,
}

/// How much of earlier evidence is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// The conclusion.
    GlobalConclusion,
    /// A handle to continue from.
    ContinuationHandle,
    /// A detail of a result.
    LocalDetail,
    /// An exact excerpt.
    ExactEvidence,
    /// The whole result.
    RawContent,
}

impl ScriptedCall {
    /// Returns the facts that its result states, each with its place if known.
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

    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        crate::text::name_of(&self)
    }
}

/// A need at the start of a turn for something from an earlier turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Revisit {
    /// A name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How many turns back, from 1.
    pub turns_back: u64,
    /// How much is needed. Default: `exact_evidence`.
    #[serde(default = "Revisit::default_level")]
    pub level: Level,
    /// Its probability, 0 to 1. Default: 1.
    #[serde(default = "Revisit::default_weight")]
    pub weight: f64,
    /// Tokens needed to fetch it again. Default: the results' own numbers.
    pub recover_tokens: Option<Tokens>,
}

impl Revisit {
    /// The default of revisits: exact evidence.
    fn default_level() -> Level {
        Level::ExactEvidence
    }

    /// Certain.
    fn default_weight() -> f64 {
        1.0
    }
}

/// One round.
fn one_round() -> Amount {
    Amount::Fixed(1)
}

/// Returns whether calls are made once.
fn is_one_round(rounds: &Amount) -> bool {
    *rounds == one_round()
}

// Several sessions as written, of one or of several users.

/// A session among others: what all of them begin with stays in the provider's cache from one to the next of the same user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    /// Its name; reports call it by the scenario's name, a slash and this.
    pub name: String,
    /// Whose it is. Default: the user of all that name none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// When it begins, after the scenario does. Default: at once.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub at: Duration,
    /// The session whose agent started it, if it is a sub-agent's.
    pub parent: Option<String>,
    /// Its turns.
    pub turns: Vec<TurnSpec>,
}
