//! The rules of a provider's prompt cache as written; `profile/rules.rs` lists the fields of each rule.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::input::text::duration::Duration;
use crate::quantity::{Decimal, Tokens};

pub use crate::input::profile::rules::Rules;

/// Which cache rules, and their numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Which rules.
    pub rules: Rules,
    /// Shorter prefixes are not cached.
    pub min_tokens: Option<Tokens>,
    /// The step, in tokens, by which cached prefixes grow beyond the minimum.
    pub step_tokens: Option<Tokens>,
    /// Tokens per block.
    pub block_tokens: Option<Tokens>,
    /// Blocks in the store. Default: unlimited.
    pub capacity_blocks: Option<u32>,
    /// Which end of a prompt counts as used first, and so leaves first. Default: its tail.
    pub touch: Option<Touch>,
    /// How long an entry lives after its last use; a list if the prompt chooses.
    #[serde(default, skip_serializing_if = "Ttls::is_empty")]
    pub ttl: Ttls,
    /// How much longer entries were observed to live.
    pub ttl_grace: Option<Duration>,
    /// The most breakpoints of a request.
    pub breakpoints_max: Option<u8>,
    /// How many positions are looked up for an entry, going back from a breakpoint and including it.
    pub lookback_positions: Option<u16>,
    /// What counts as a position of the lookback.
    pub lookback_unit: Option<LookbackUnit>,
    /// The places of a prompt at which an entry is looked up, if not by lookback.
    pub lookup: Option<Lookup>,
    /// The place of an automatic breakpoint.
    pub automatic: Option<Automatic>,
    /// Whether a policy without breakpoints gets only the automatic one.
    pub implicit: Option<bool>,
    /// Whether such a policy also gets one before all messages.
    pub implicit_lead: Option<bool>,
    /// Whether the automatic breakpoint of a summariser's aligned request comes after its instruction instead
    /// of before it.
    pub marks_instruction: Option<bool>,
    /// From when an entry's lifetime counts.
    pub clock: Option<Clock>,
    /// Whether reading an entry restarts its lifetime.
    pub renewal: Option<Renewal>,
    /// The longest life of an entry, however often it is read.
    pub max_age: Option<Duration>,
    /// From when an entry can be read.
    pub readable: Option<Readable>,
    /// How long after that, because an entry must be built first.
    pub readable_after: Option<Duration>,
    /// The places at which a request leaves units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitEnd>,
    /// A request also leaves a unit at every multiple of this number of tokens.
    pub interval_tokens: Option<Tokens>,
    /// For each setting: the first level of the prompt that a change invalidates.
    #[serde(default, skip_serializing_if = "Invalidates::is_silent")]
    pub invalidates: Invalidates,
    /// The probability that a request is served by a machine that has the entries. Default: certain.
    pub hit_probability: Option<Decimal>,
    /// The seed of the draws that decide it. Default: 0.
    pub hit_seed: Option<u64>,
}

/// What counts as a position of the lookback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LookbackUnit {
    /// An item; a run of calls is one position, as is a run of results.
    #[default]
    Run,
    /// An item; each call and each result is its own position.
    Block,
}

/// The places of an incoming prompt at which an entry is looked up, the longest first.
///
/// The prompt's breakpoints count in order, including those beyond the write slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// How many of the first breakpoints.
    #[serde(default)]
    pub first: u16,
    /// How many of the latest breakpoints.
    #[serde(default)]
    pub latest: u16,
    /// How many message ends before an automatic breakpoint.
    #[serde(default)]
    pub message_ends: u16,
    /// Whether to look up the end of everything before all messages, if there is an automatic breakpoint.
    #[serde(default)]
    pub lead: bool,
}

/// The place of an automatic breakpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Automatic {
    /// After the last item that can carry one; reasoning cannot.
    #[default]
    LastBlock,
    /// After the last user message, the last run of results, or everything before all messages, whichever is
    /// latest.
    LastMessage,
}

/// From when an entry's lifetime counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The start of the last request that wrote or read it.
    RequestStart,
}

/// Whether reading an entry restarts its lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Renewal {
    /// Every use does.
    #[default]
    OnUse,
    /// No use does: the lifetime counts from the write.
    Never,
}

/// From when an entry can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Readable {
    /// The start of its writer's response.
    #[default]
    ResponseStart,
    /// The start of its writer's request.
    RequestStart,
    /// The end of its writer's response.
    ResponseEnd,
}

/// A place at which a request leaves a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnitEnd {
    /// At the end of its prompt.
    InputEnd,
    /// At the end of the model's output.
    OutputEnd,
    /// At the end of the prefix that it shares with an earlier prompt.
    CommonPrefix,
}

/// A setting of a request beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The model.
    Model,
    /// The tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// Switches that change what the provider writes into the prompt: web search, citations, speed.
    Features,
    /// The tool choice.
    ToolChoice,
    /// Whether it contains images.
    Images,
    /// Thinking: its mode and budget.
    Thinking,
    /// Effort and verbosity.
    Effort,
    /// What the harness writes before the first message: memory files, reminders, lists of skills.
    Preamble,
}

/// A level of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The tools and everything after them.
    Tools,
    /// The system prompt and everything after it.
    System,
    /// The messages.
    Messages,
    /// No part of the prompt.
    Nothing,
}

/// For each setting: the first level of the prompt that a change invalidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Invalidates {
    /// The model. Default: from the tools on.
    pub model: Option<Level>,
    /// The tool definitions. Default: from the tools on.
    pub tools: Option<Level>,
    /// The system prompt. Default: from the system prompt on.
    pub system: Option<Level>,
    /// Web search, citations, speed. Default: from the system prompt on.
    pub features: Option<Level>,
    /// The tool choice. Default: from the messages on.
    pub tool_choice: Option<Level>,
    /// Images. Default: from the messages on.
    pub images: Option<Level>,
    /// Thinking. Default: from the messages on.
    pub thinking: Option<Level>,
    /// Effort and verbosity. Default: from the messages on.
    pub effort: Option<Level>,
}

impl Invalidates {
    /// Returns whether it is empty.
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

/// One duration or a list of them: `"5m"`, `["5m", "1h"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ttls(pub Vec<Duration>);

impl Ttls {
    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Ttls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Ttls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TtlsVisitor)
    }
}

/// Parses a duration or a list of them.
struct TtlsVisitor;

impl<'de> de::Visitor<'de> for TtlsVisitor {
    type Value = Ttls;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"5m\", or a list of durations")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ttls, E> {
        Duration::deserialize(de::value::StrDeserializer::new(text)).map(|it| Ttls(vec![it]))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut access: A) -> Result<Ttls, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = access.next_element()? {
            all.push(one);
        }
        Ok(Ttls(all))
    }
}

/// The order in which the blocks of a prompt count as used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// From the head on, so that the head leaves first.
    HeadFirst,
    /// From the tail on, so that the tail leaves first.
    #[default]
    TailFirst,
}
