//! The format `ctxsim.conformance/1`: small sessions, and the rows that each cache rule must give for them.
//!
//! Two prefixes are equal when their lists of ids and tokens are. A mark is the index of the segment behind which a
//! breakpoint stands, from 0, and the name of a lifetime. The requests of a run share one cache, in the order of the
//! list. A trace is what happened before any policy. Nothing is passed over: a field that is not listed here is an error.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a file of this format calls it; other files in its shape say their policies in sentences, which nobody reads.
pub(super) const FORMAT: &str = "ctxsim.conformance/1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) format: String,
    pub(super) prices_microusd_per_mtok: IndexMap<String, Price>,
    pub(super) rules: Rules,
    #[serde(default)]
    pub(super) policies: IndexMap<String, Value>,
    #[serde(default)]
    pub(super) sessions: IndexMap<String, Session>,
    /// Requests for the rule `breakpoints` alone.
    #[serde(default)]
    pub(super) cache_vectors: IndexMap<String, Vector>,
}

/// Prices in picodollars per token; a lifetime without one is written at that of input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Price {
    pub(super) input: u64,
    pub(super) read: u64,
    pub(super) write: IndexMap<String, u64>,
    pub(super) output: u64,
}

/// The numbers of each cache rule, and sentences that say how they are meant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    pub(super) breakpoints: Option<Breakpoints>,
    pub(super) prefix_interval: Option<PrefixInterval>,
    pub(super) boundaries: Option<Boundaries>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Breakpoints {
    pub(super) min_tokens: u64,
    pub(super) lookback: u16,
    pub(super) max_marks: u8,
    pub(super) ttl_ms: IndexMap<String, u64>,
    #[serde(default, rename = "live")]
    _live: Live,
    #[serde(default, rename = "readable")]
    _readable: Readable,
    #[serde(default, rename = "layout")]
    _layout: Layout,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PrefixInterval {
    pub(super) step: u64,
    pub(super) min_tokens: u64,
    pub(super) ttl_ms: u64,
    #[serde(default, rename = "match")]
    _match: Match,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Boundaries {
    pub(super) min_tokens: u64,
    pub(super) ttl_ms: u64,
    /// How many earlier ends of user messages are looked at; 20, when silent.
    pub(super) lookback: Option<u16>,
    /// Whether the last message of an aligned summary's request is its instruction; it stands behind all marks, when silent.
    #[serde(default)]
    pub(super) marks_instruction: bool,
}

/// A sentence that says what is played; any other is an error.
macro_rules! sentence {
    ($($name:ident says $text:literal;)*) => {$(
        #[derive(Default, Deserialize)]
        pub(super) enum $name {
            #[default]
            #[serde(rename = $text)]
            AsPlayed,
        }
    )*};
}

sentence! {
    Live says "now - touched <= ttl";
    Readable says "now >= response start of the writer";
    Layout says "last tool, last system, end of the last two messages (message = run of one role; user role: user, tool_result, summary)";
    Match says "whole segments";
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    /// The lifetime that the marks of a played trace ask for.
    pub(super) ttl: String,
    #[serde(default)]
    pub(super) trace: Vec<Step>,
    /// What each policy makes of it; without any, all are played and compared with nothing.
    #[serde(default)]
    pub(super) runs: IndexMap<String, Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) t_ms: i64,
    pub(super) response_start_ms: i64,
    /// Whether it begins a turn.
    pub(super) boundary: bool,
    #[serde(default, rename = "turn", alias = "loop")]
    _turn: IgnoredAny,
    /// What comes before the request.
    pub(super) enters: Vec<Item>,
    /// The reply, whose tokens are its output.
    pub(super) emits: Vec<Item>,
}

/// An item of a trace: id, kind, tokens.
#[derive(Deserialize)]
pub(super) struct Item(pub(super) String, pub(super) Kind, pub(super) u32);

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    #[serde(default)]
    pub(super) requests: Vec<Request>,
    /// What each rule must give; without any, all are played and compared with nothing.
    #[serde(default)]
    pub(super) expected: IndexMap<String, Expected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    #[serde(default, rename = "role")]
    _role: IgnoredAny,
    pub(super) t_ms: i64,
    pub(super) response_start_ms: i64,
    #[serde(default)]
    pub(super) output_tokens: u64,
    pub(super) segments: Vec<Segment>,
    pub(super) marks: Vec<(usize, String)>,
}

impl Request {
    pub(super) fn prompt(&self) -> u64 {
        self.segments.iter().map(|it| u64::from(it.2)).sum()
    }
}

/// A part of a prompt: id, kind, tokens, and its position from 1; a run of calls is one, and so is a run of results.
#[derive(Deserialize)]
pub(super) struct Segment(
    pub(super) String,
    pub(super) Kind,
    pub(super) u32,
    #[serde(default)] pub(super) Option<u32>,
);

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Tool,
    System,
    User,
    Text,
    Thinking,
    ToolUse,
    ToolResult,
    Summary,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    /// The name of its prices.
    #[serde(default)]
    pub(super) price: Option<String>,
    #[serde(default)]
    pub(super) rows: Option<Vec<ExpectedRow>>,
    #[serde(default)]
    pub(super) total_picodollars: Option<u128>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vector {
    /// Its minimum, where it differs from the rule's.
    #[serde(default)]
    pub(super) min_tokens: Option<u64>,
    pub(super) requests: Vec<Request>,
    #[serde(default)]
    pub(super) expect: Option<Vec<ExpectedRow>>,
}

/// What a row must be, as far as the file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedRow {
    prompt: Option<u64>,
    read: u64,
    write: BTreeMap<String, u64>,
    uncached: u64,
    output: Option<u64>,
    picodollars: Option<u128>,
}

/// What a cache makes of one request.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) prompt: u64,
    pub(super) read: u64,
    /// By lifetime, without zeros.
    pub(super) write: BTreeMap<String, u64>,
    pub(super) uncached: u64,
    pub(super) output: u64,
    /// Nothing where the file names no price.
    pub(super) picodollars: Option<u128>,
}

impl ExpectedRow {
    pub(super) fn is_met_by(&self, row: &Row) -> bool {
        let written = self.write.iter().filter(|it| *it.1 > 0);
        self.read == row.read
            && self.uncached == row.uncached
            && written.eq(&row.write)
            && self.prompt.is_none_or(|it| it == row.prompt)
            && self.output.is_none_or(|it| it == row.output)
            && self.picodollars.is_none_or(|it| Some(it) == row.picodollars)
    }
}
