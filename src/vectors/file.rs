//! A file of cache vectors as written.
//!
//! Two prefixes are equal when their lists of names and tokens are. A mark is a segment's index from 0, behind which the
//! breakpoint stands, and the name of a lifetime. Requests of a run share one cache, in the order of the list. A trace is
//! what happened before any policy: what enters before a request, what it emits, and whether it begins a loop.

use indexmap::IndexMap;
use serde::{Deserialize, de::IgnoredAny};

use super::Row;
use crate::units::Tokens;

/// The file; fields that are not listed here are told, see `unknown`.
#[derive(Clone, Debug, Deserialize)]
pub struct VectorFile {
    /// Prices in micro-dollars per million tokens, by name.
    #[serde(default)]
    pub prices_microusd_per_mtok: IndexMap<String, PriceRecord>,
    /// The numbers of the cache rules, by name.
    #[serde(default)]
    pub rules: IndexMap<String, RuleRecord>,
    /// The policies, each in a sentence.
    #[serde(default)]
    pub policies: IndexMap<String, String>,
    /// The sessions.
    #[serde(default)]
    pub sessions: IndexMap<String, SessionRecord>,
    /// Vectors of the breakpoints rule alone.
    #[serde(default)]
    pub cache_vectors: IndexMap<String, VectorRecord>,
}

/// What every such file has: rules, and sessions or vectors of a rule alone.
#[derive(Debug, Deserialize)]
pub(super) struct Probe {
    #[serde(rename = "rules")]
    _rules: IndexMap<String, IgnoredAny>,
    sessions: Option<IndexMap<String, IgnoredAny>>,
    cache_vectors: Option<IndexMap<String, IgnoredAny>>,
}

impl Probe {
    /// Returns whether there is anything to play.
    pub(super) fn has_requests(&self) -> bool {
        self.sessions.is_some() || self.cache_vectors.is_some()
    }
}

/// Prices in picodollars per token.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct PriceRecord {
    /// Plain input.
    pub input: u64,
    /// Input read from the cache.
    pub read: u64,
    /// Input written to it, by lifetime.
    #[serde(default)]
    pub write: IndexMap<String, u64>,
    /// Output.
    pub output: u64,
}

/// The numbers of a cache rule; each rule has its own.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RuleRecord {
    /// Shorter prefixes are not cached.
    pub min_tokens: Option<Tokens>,
    /// How many positions are looked at.
    pub lookback: Option<u16>,
    /// How many marks count.
    pub max_marks: Option<u8>,
    /// How long an entry lives, by name or for all.
    pub ttl_ms: Option<TtlRecord>,
    /// How cached prefixes grow.
    pub step: Option<Tokens>,
}

/// One lifetime, or one a name.
#[derive(Clone, Debug)]
pub enum TtlRecord {
    /// For all entries.
    One(u64),
    /// By name.
    ByName(IndexMap<String, u64>),
}

impl<'de> Deserialize<'de> for TtlRecord {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        if let Some(one) = value.as_u64() {
            return Ok(Self::One(one));
        }
        serde_json::from_value(value).map(Self::ByName).map_err(serde::de::Error::custom)
    }
}

/// A session.
#[derive(Clone, Debug, Deserialize)]
pub struct SessionRecord {
    /// The lifetime that its marks ask for.
    #[serde(default)]
    pub ttl: String,
    /// What happened before any policy.
    #[serde(default)]
    pub trace: Vec<StepRecord>,
    /// What each policy makes of it.
    #[serde(default)]
    pub runs: IndexMap<String, RunRecord>,
}

/// A step of a session.
#[derive(Clone, Debug, Deserialize)]
pub struct StepRecord {
    /// When the request starts.
    pub t_ms: i64,
    /// When its response does.
    pub response_start_ms: i64,
    /// Whether it begins a loop.
    #[serde(default)]
    pub boundary: bool,
    /// The items that come before the request: id, kind, tokens.
    #[serde(default)]
    pub enters: Vec<(String, KindRecord, u32)>,
    /// The items of the reply.
    #[serde(default)]
    pub emits: Vec<(String, KindRecord, u32)>,
}

/// A session under a policy.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RunRecord {
    /// The requests.
    #[serde(default)]
    pub requests: Vec<RequestRecord>,
    /// What each rule must give.
    #[serde(default)]
    pub expected: IndexMap<String, ExpectedRecord>,
}

/// A request.
#[derive(Clone, Debug, Deserialize)]
pub struct RequestRecord {
    /// When it starts.
    pub t_ms: i64,
    /// When its response does.
    pub response_start_ms: i64,
    /// What the model writes.
    #[serde(default)]
    pub output_tokens: Tokens,
    /// The prompt.
    pub segments: Vec<SegmentRecord>,
    /// Breakpoints: the segment behind which each stands, and its lifetime.
    #[serde(default)]
    pub marks: Vec<(usize, String)>,
}

/// A part of a prompt: its name, its kind, its tokens, and its position from 1, where the file says it.
#[derive(Clone, Debug, Deserialize)]
pub struct SegmentRecord(pub String, pub KindRecord, pub u32, #[serde(default)] pub Option<u32>);

/// What kind of thing a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KindRecord {
    /// A tool's schema.
    Tool,
    /// The system prompt.
    System,
    /// User text.
    User,
    /// Assistant text.
    Text,
    /// Reasoning.
    Thinking,
    /// A tool call.
    ToolUse,
    /// A tool result.
    ToolResult,
    /// A summary.
    Summary,
}

/// What a rule must give for a run.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ExpectedRecord {
    /// The name of the prices.
    #[serde(default)]
    pub price: String,
    /// The rows, where the file has them.
    #[serde(default)]
    pub rows: Option<Vec<ExpectedRow>>,
    /// What they cost together.
    #[serde(default)]
    pub total_picodollars: Option<u128>,
}

/// A vector of the breakpoints rule alone.
#[derive(Clone, Debug, Deserialize)]
pub struct VectorRecord {
    /// Its minimum, where it differs from the rule's.
    #[serde(default)]
    pub min_tokens: Option<Tokens>,
    /// The requests.
    pub requests: Vec<RequestRecord>,
    /// What the rule must give, where the file says it.
    #[serde(default)]
    pub expect: Option<Vec<ExpectedRow>>,
}

/// What a row must be, as far as the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
pub struct ExpectedRow {
    /// Tokens of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Tokens>,
    /// Read from the cache.
    pub read: Tokens,
    /// Written, by lifetime.
    #[serde(default)]
    pub write: IndexMap<String, Tokens>,
    /// Neither.
    pub uncached: Tokens,
    /// Written by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Tokens>,
    /// What the request costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picodollars: Option<u128>,
}

impl ExpectedRow {
    /// Returns whether a row is as it must be; lifetimes of which nothing is written need not be named.
    #[must_use]
    pub fn is_met_by(&self, row: &Row) -> bool {
        let some = |it: &IndexMap<String, Tokens>| {
            let mut some: Vec<(String, Tokens)> = it
                .iter()
                .filter(|(_, tokens)| **tokens > 0)
                .map(|(name, tokens)| (name.clone(), *tokens))
                .collect();
            some.sort();
            some
        };
        self.read == row.read
            && self.uncached == row.uncached
            && some(&self.write) == some(&row.write)
            && self.prompt.is_none_or(|it| it == row.prompt)
            && self.output.is_none_or(|it| it == row.output)
            && self.picodollars.is_none_or(|it| Some(it) == row.picodollars)
    }
}
