//! The rules of a provider's prompt cache as written; `profile/rules.rs` says which fields each rule looks at.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::input::text::duration::Duration;
use crate::quantity::{Decimal, Tokens};

pub use crate::input::profile::rules::Rules;

/// Which cache rules, and their numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Which rules.
    pub rules: Rules,
    /// Shorter prefixes are not cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tokens: Option<Tokens>,
    /// Cached prefixes grow in steps of this many tokens beyond the minimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_tokens: Option<Tokens>,
    /// How many tokens a block holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_tokens: Option<Tokens>,
    /// How many blocks the store holds; any number, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_blocks: Option<u32>,
    /// Which end of a prompt counts as used first, and so leaves first; its tail, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touch: Option<Touch>,
    /// How long an entry lives after its last use; a list, where the prompt chooses.
    #[serde(default, skip_serializing_if = "Ttls::is_empty")]
    pub ttl: Ttls,
    /// How much longer entries were seen to live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_grace: Option<Duration>,
    /// How many breakpoints a request may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakpoints_max: Option<u8>,
    /// How many positions are looked at for an entry, back from a breakpoint and with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_positions: Option<u16>,
    /// What counts as a position of the lookback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_unit: Option<LookbackUnit>,
    /// At which places of a prompt an entry is looked for, where that is not a lookback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<Lookup>,
    /// Where an automatic breakpoint falls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic: Option<Automatic>,
    /// Whether a policy that says nothing of breakpoints gets the automatic one, and no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implicit: Option<bool>,
    /// Whether such a policy gets one at the end of what stands before all messages, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implicit_lead: Option<bool>,
    /// Whether the automatic breakpoint of a summariser's aligned request falls behind its instruction, not in front of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks_instruction: Option<bool>,
    /// From when on an entry ages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Whether reading an entry makes it young again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<Renewal>,
    /// How long an entry lives at most, however often it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<Duration>,
    /// From when on an entry can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable: Option<Readable>,
    /// How long after that, because an entry has to be built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable_after: Option<Duration>,
    /// Where a request leaves units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitEnd>,
    /// A request also leaves a unit at every multiple of this many tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_tokens: Option<Tokens>,
    /// From which level on a change beside the content makes a prompt another one.
    #[serde(default, skip_serializing_if = "Invalidates::is_silent")]
    pub invalidates: Invalidates,
    /// How probable it is that a request is served by a machine that has the entries; certain, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_probability: Option<Decimal>,
    /// The seed of the draws that decide it; 0, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_seed: Option<u64>,
}

/// What counts as a position of the lookback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LookbackUnit {
    /// An item; a run of calls is one position, and so is a run of results.
    #[default]
    Run,
    /// An item, each call and each result by itself.
    Block,
}

/// At which places of an incoming prompt an entry is looked for, the longest first.
///
/// The breakpoints that the prompt asks for count by their order, those beyond the write slots too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// How many of the first breakpoints.
    #[serde(default)]
    pub first: u16,
    /// How many of the latest breakpoints.
    #[serde(default)]
    pub latest: u16,
    /// How many ends of messages in front of an automatic breakpoint.
    #[serde(default)]
    pub message_ends: u16,
    /// Whether the end of what stands before all messages is one, where there is an automatic breakpoint.
    #[serde(default)]
    pub lead: bool,
}

/// Where an automatic breakpoint falls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Automatic {
    /// Behind the last item that can carry one; reasoning cannot.
    #[default]
    LastBlock,
    /// Behind the last user message, run of results, or what stands before all messages, whichever is later.
    LastMessage,
}

/// From when on an entry ages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The start of the request that wrote it or read it last.
    RequestStart,
}

/// Whether reading an entry makes it young again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Renewal {
    /// Every use does.
    #[default]
    OnUse,
    /// None does: an entry ages from when it was written.
    Never,
}

/// From when on an entry can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
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

/// Where a request leaves a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnitEnd {
    /// At the end of its prompt.
    InputEnd,
    /// At the end of what the model writes.
    OutputEnd,
    /// At the end of what it shares with an earlier prompt.
    CommonPrefix,
}

/// What a request can say beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The model.
    Model,
    /// The definitions of tools.
    Tools,
    /// The system prompt.
    System,
    /// Switches that change what the provider writes into the prompt: web search, citations, speed.
    Features,
    /// Which tool is to be chosen.
    ToolChoice,
    /// Whether there are images.
    Images,
    /// Thinking: its mode and budget.
    Thinking,
    /// Effort and verbosity.
    Effort,
    /// What the harness writes in front of the first message: memory files, reminders, lists of skills.
    Preamble,
}

/// A level of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The tools, and everything behind them.
    Tools,
    /// The system prompt, and everything behind it.
    System,
    /// The messages.
    Messages,
    /// Nothing of the prompt.
    Nothing,
}

/// From which level on a change makes a prompt another one, by what changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Invalidates {
    /// The model; from the tools on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Level>,
    /// The definitions of tools; from the tools on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Level>,
    /// The system prompt; from the system prompt on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Level>,
    /// Web search, citations, speed; from the system prompt on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Level>,
    /// The choice of tools; from the messages on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Level>,
    /// Images; from the messages on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Level>,
    /// Thinking; from the messages on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Level>,
    /// Effort and verbosity; from the messages on, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Level>,
}

impl Invalidates {
    /// Returns whether nothing is said.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

/// One duration or a list of them: `"5m"`, `["5m", "1h"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ttls(pub Vec<Duration>);

impl Ttls {
    /// Returns whether none is given.
    #[must_use]
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

/// Takes a duration or a list of them.
struct TtlsVisitor;

impl<'de> de::Visitor<'de> for TtlsVisitor {
    type Value = Ttls;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration as in \"5m\", or a list of durations")
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

/// In which order the blocks of a prompt count as used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// From the head on, so that the head leaves first.
    HeadFirst,
    /// From the tail on, so that the tail leaves first.
    #[default]
    TailFirst,
}
