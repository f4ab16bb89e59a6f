//! A model profile as written.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::price::PriceSpec;
use super::size::DurationSpec;
use crate::units::{Decimal, Tokens};

/// A profile: one model at one provider at one date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileSpec {
    /// The name: the file's path below `profiles/` without its extension.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// The day on which the sources were read, `YYYY-MM-DD`.
    pub as_of: String,
    /// Where its numbers come from.
    pub sources: Vec<String>,
    /// How much the model takes and gives.
    #[serde(default)]
    pub limits: LimitsSpec,
    /// The provider's prompt cache.
    pub cache: CacheSpec,
    /// Prices in US dollars per million tokens.
    pub prices: Vec<PriceSpec>,
    /// What is assumed rather than known.
    #[serde(default)]
    pub assumptions: AssumptionsSpec,
}

/// How much a model takes and gives, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsSpec {
    /// The context window; no limit, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<Tokens>,
    /// The longest prompt; the context window, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<Tokens>,
    /// The longest output; no limit, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<Tokens>,
}

/// Which cache rules, and their numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Which rules.
    pub rules: RulesSpec,
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
    pub touch: Option<TouchSpec>,
    /// How long an entry lives after its last use; a list, where the prompt chooses.
    #[serde(default, skip_serializing_if = "TtlsSpec::is_empty")]
    pub ttl: TtlsSpec,
    /// How much longer entries were seen to live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_grace: Option<DurationSpec>,
    /// How many breakpoints a request may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakpoints_max: Option<u8>,
    /// How many positions are looked at for an entry, back from a breakpoint and with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_positions: Option<u16>,
    /// From when on an entry ages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockSpec>,
    /// From when on an entry can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable: Option<ReadableSpec>,
}

/// From when on an entry ages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClockSpec {
    /// The start of the request that wrote it or read it last.
    RequestStart,
}

/// From when on an entry can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadableSpec {
    /// The start of its writer's response.
    ResponseStart,
    /// The start of its writer's request.
    RequestStart,
}

/// One duration or a list of them: `"5m"`, `["5m", "1h"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TtlsSpec(pub Vec<DurationSpec>);

impl TtlsSpec {
    /// Returns whether none is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for TtlsSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TtlsSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TtlsVisitor)
    }
}

/// Takes a duration or a list of them.
struct TtlsVisitor;

impl<'de> de::Visitor<'de> for TtlsVisitor {
    type Value = TtlsSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration as in \"5m\", or a list of durations")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TtlsSpec, E> {
        DurationSpec::deserialize(de::value::StrDeserializer::new(text)).map(|it| TtlsSpec(vec![it]))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut access: A) -> Result<TtlsSpec, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = access.next_element()? {
            all.push(one);
        }
        Ok(TtlsSpec(all))
    }
}

/// The cache rules there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RulesSpec {
    /// No cache.
    None,
    /// The previous prompt, capped at the place where the policy edited: a reference simulator's rule.
    PrefixCap,
    /// The longest common prefix with an earlier prompt, in steps.
    PrefixInterval,
    /// Fixed blocks in a store of a given size, the least recently used leaving first.
    Blocks,
    /// Entries at the places that a request marks, looked up back from the places that a later one marks.
    Breakpoints,
}

/// In which order the blocks of a prompt count as used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TouchSpec {
    /// From the head on, so that the head leaves first.
    HeadFirst,
    /// From the tail on, so that the tail leaves first.
    #[default]
    TailFirst,
}

/// What a report assumes about the agent and the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AssumptionsSpec {
    /// Tokens of a recovery call's prompt beside what it fetches.
    #[serde(default)]
    pub recovery_overhead_tokens: Tokens,
    /// Tokens that a recovery call writes.
    #[serde(default)]
    pub recovery_output_tokens: Tokens,
    /// What one need without a handle, or one request over a limit, is taken to cost.
    #[serde(default)]
    pub failure_penalty_usd: Decimal,
    /// Milliseconds of a request before the first token.
    #[serde(default)]
    pub request_latency_ms: Decimal,
    /// Milliseconds of a recovery call.
    #[serde(default)]
    pub recovery_latency_ms: Decimal,
    /// Milliseconds per input token that is not read from the cache.
    #[serde(default)]
    pub latency_ms_per_uncached_token: Decimal,
    /// Milliseconds per output token.
    #[serde(default)]
    pub latency_ms_per_output_token: Decimal,
    /// When a trace starts, `YYYY-MM-DD` or `YYYY-MM-DDTHH:MMZ`; on the day of the sources, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<String>,
    /// The ways to be served that are used, of those that the prices list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
}
