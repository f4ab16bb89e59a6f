//! The numbers of a run, each listed once: its path in the JSON's `totals`, its value in a tally,
//! and its table column.
//!
//! JSON, CSV, guards and tables all use this list. Paths and meanings are a stable contract.

mod parts;
mod value;

use indexmap::IndexMap;
use serde::Serialize;

use super::numbers;
use crate::measure::{Better, Tally};
use crate::quantity::Tokens;
use parts::{blocks, failure_kind, fields, if_needed, limit, resets, saved_share, stored, usd, write_by_ttl};

pub use value::Value;

/// The lifetime classes of cache writes, as reports name them.
pub const TTL_CLASSES: [&str; 2] = ["5m", "1h"];

/// Every number, in JSON order.
const METRICS: &[Metric] = &[
    // User turns of the timeline, those begun, and those answered.
    metric("turns_requested", |it| it.outcome.turns_requested.into()),
    metric("turns_started", |it| it.outcome.turns_started.into()),
    metric("turns_completed", |it| it.outcome.turns_completed.into()),
    // The turn, from 1, at which a limit stopped the run, and which of the turn's requests went over it.
    metric("failure_turn", |it| it.outcome.failure.map(|it| it.turn).into()),
    metric("failure_kind", |it| it.outcome.failure.map(|it| failure_kind(it.kind)).into()),
    // The agent's own requests, and the tokens of their prompts.
    metric("requests", |it| it.sums.main.n.into())
        .column(1, "requests", Format::Count)
        .leaves(4)
        .compared(Better::Neither),
    metric("input_tokens", |it| it.sums.main.tokens.prompt().into()),
    // Of these, read from the cache, billed as written to it, and billed as plain input.
    metric("cache_read_tokens", |it| it.sums.main.tokens.read.into())
        .column(4, "read tok", Format::Tokens)
        .leaves(3)
        .compared(Better::Neither),
    metric("cache_write_tokens", |it| (it.sums.main.tokens.write[0] + it.sums.main.tokens.write[1]).into())
        .column(5, "write tok", Format::Tokens)
        .leaves(2)
        .compared(Better::Neither),
    // Writes by the entry's lifetime; only classes that were written to.
    group("cache_write_by_ttl", write_by_ttl),
    metric("uncached_tokens", |it| it.sums.main.tokens.uncached.into())
        .column(6, "uncached tok", Format::Tokens)
        .leaves(1)
        .compared(Better::Neither),
    // Tokens that the agent wrote.
    metric("output_tokens", |it| it.sums.main.tokens.output.into()),
    // Input and output of the agent, of recovery and of compaction.
    metric("expected_total_tokens", |it| it.expected_total_tokens().into()),
    // `cache_read_tokens` over `input_tokens`.
    metric("cache_hit_ratio", |it| it.cache_hit_ratio().into())
        .column(3, "cache hit", Format::Percent)
        .leaves(9)
        .compared(Better::Higher),
    // The longest prompt and output, and the longest that the profile allows: null without a limit, and for conversations,
    // each of which has its own.
    metric("prompt_tokens_max", |it| it.sums.main.prompt_max.into())
        .column(2, "prompt max tok", Format::Tokens)
        .leaves(5)
        .compared(Better::Lower),
    metric("prompt_limit_tokens", |it| limit(it.limits.prompt)),
    metric("output_tokens_max", |it| it.sums.main.output_max.into()),
    metric("output_limit_tokens", |it| limit(it.limits.output)),
    // The longest prompt as a share of that limit; of several runs, the largest.
    metric("limit_pressure", |it| it.limit_pressure.into()).optional("limit pressure", Format::Percent),
    // Limits that requests went over.
    metric("limit_violations", |it| it.outcome.limit_violations.into()).compared(Better::Lower),
    // Tool results: tokens as they came, tokens of each result's last rendition, results ever shown smaller than raw.
    metric("tool_results.raw_tokens", |it| it.outcome.tool_results.raw_tokens.into()),
    metric("tool_results.visible_tokens", |it| it.outcome.tool_results.visible_tokens.into()),
    metric("tool_results.compressed", |it| it.outcome.tool_results.compressed.into()),
    // The share of the results' tokens that their last renditions leave out; null without results.
    metric("tool_results.saved_share", saved_share).optional("compression savings", Format::Percent),
    // What a replay of block ids came to; null for loads of items.
    group("blocks", |it| it.outcome.blocks.as_ref().map(blocks).into()),
    // What the harness stored for a price by the hour; null where it stored nothing.
    group("stored", stored),
    // Compactions that a recorded harness made on its own account; null where it made none.
    group("resets", |it| it.resets.as_ref().map(resets).into()),
    // Summaries written, the requests that wrote them, the turns that they replaced (an earlier summary counting as one),
    // and the tokens that the summariser read and wrote.
    metric("compaction.events", |it| it.sums.compactions.into()),
    metric("compaction.requests", |it| it.sums.summariser.n.into()).compared(Better::Neither),
    metric("compaction.items", |it| it.sums.summariser.items.into()),
    metric("compaction.input_tokens", |it| it.sums.summariser.tokens.prompt().into()),
    metric("compaction.output_tokens", |it| it.sums.summariser.tokens.output.into()),
    // Requests that keep the prompt in the provider's cache while nothing is asked, and what of their prompts was read there.
    metric("keep_alive.requests", |it| it.sums.keep_alive.n.into()),
    metric("keep_alive.input_tokens", |it| it.sums.keep_alive.tokens.prompt().into()),
    metric("keep_alive.cache_read_tokens", |it| it.sums.keep_alive.tokens.read.into()),
    metric("keep_alive.output_tokens", |it| it.sums.keep_alive.tokens.output.into()),
    // Fetching needed evidence again: calls, those beyond the first for one need, the tokens that they read (overheads
    // included) and write, and needs that nothing could recover; null where the timeline has no needs.
    metric("recovery.expected_calls", |it| if_needed(it, it.sums.needs.calls))
        .column(7, "recovery calls", Format::Expected)
        .leaves(6)
        .compared(Better::Lower),
    metric("recovery.expected_repeat_calls", |it| if_needed(it, it.sums.needs.repeats)),
    metric("recovery.expected_input_tokens", |it| if_needed(it, it.recovery_input)),
    metric("recovery.expected_output_tokens", |it| if_needed(it, it.recovery_output)),
    metric("recovery.expected_tokens", |it| if_needed(it, it.recovery_input + it.recovery_output))
        .optional("recovery tokens", Format::Whole),
    metric("recovery.expected_failure_rate", |it| if_needed(it, it.sums.needs.failed)),
    // US dollars; null where some token has no price. `base` is what the agent's own requests cost.
    metric("cost_usd.base", |it| usd(it, it.costs.base())).optional("base USD", Format::Usd),
    metric("cost_usd.cache_read", |it| usd(it, it.costs.main.read)).optional("cache read USD", Format::Usd),
    metric("cost_usd.cache_write", |it| usd(it, it.costs.main.write))
        .optional("cache write USD", Format::Usd),
    metric("cost_usd.uncached", |it| usd(it, it.costs.main.uncached)).optional("uncached USD", Format::Usd),
    metric("cost_usd.output", |it| usd(it, it.costs.main.output)).optional("output USD", Format::Usd),
    // With the needs that nothing could recover.
    metric("cost_usd.recovery", |it| it.costs.recovery.into()).optional("recovery USD", Format::Usd),
    // The summariser's requests.
    metric("cost_usd.compaction", |it| usd(it, it.costs.compaction)).optional("compaction USD", Format::Usd),
    // Requests that keep the prompt in the cache.
    metric("cost_usd.keep_alive", |it| usd(it, it.costs.keep_alive)).optional("keep alive USD", Format::Usd),
    // Stored contents: the calls that made them, and keeping them.
    metric("cost_usd.storage", |it| usd(it, it.costs.storage)).optional("storage USD", Format::Usd),
    // Requests over a limit.
    metric("cost_usd.penalty", |it| it.costs.penalty.usd().into()).optional("penalty USD", Format::Usd),
    metric("cost_usd.total", |it| it.costs.total().into())
        .column(9, "cost USD", Format::Usd)
        .compared(Better::Lower),
    // Everything, at the lower and the upper ends of what is assumed of recovery; null where nothing is.
    metric("cost_usd.total_low", |it| it.cost_interval().map(|it| it[0]).into())
        .optional("total low USD", Format::Usd),
    metric("cost_usd.total_high", |it| it.cost_interval().map(|it| it[1]).into())
        .optional("total high USD", Format::Usd),
    // The share of needed evidence that prompts still held; null without needs.
    metric("evidence_kept", |it| it.evidence_kept().into())
        .column(8, "evidence kept", Format::Percent)
        .leaves(10)
        .compared(Better::Higher),
    // Milliseconds of all requests, one after the other.
    metric("latency_ms", |it| it.latency_ms.into()),
    // The expected share of scenarios that end without a failure.
    metric("answerability", |it| it.answerability().into()),
];

/// A number of a run.
#[derive(Debug)]
pub struct Metric {
    /// Its path in `totals`: a group and a name, separated by a dot.
    place: &'static str,
    value: fn(&Tally) -> Value,
    column: Option<Column>,
    /// Whether it is several values, which no column can show.
    is_group: bool,
    /// Its better direction when two policies are compared.
    better: Option<Better>,
}

/// How tables show a number.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Its column, from 1; the policy comes first. 0 if tables show it only when asked.
    nth: u8,
    heading: &'static str,
    format: Format,
    /// Its order of hiding if there is not enough room, from 1; `None` for never.
    leaves: Option<u8>,
}

/// How a number is written.
#[derive(Clone, Copy, Debug)]
enum Format {
    Count,
    Tokens,
    Percent,
    Expected,
    Usd,
    /// Fractions of no interest.
    Whole,
}

/// How tokens are written.
pub type Digits = fn(Tokens) -> String;

const fn metric(place: &'static str, value: fn(&Tally) -> Value) -> Metric {
    Metric { place, value, column: None, is_group: false, better: None }
}

const fn group(place: &'static str, value: fn(&Tally) -> Value) -> Metric {
    Metric { is_group: true, ..metric(place, value) }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Metric {
    const fn column(mut self, nth: u8, heading: &'static str, format: Format) -> Self {
        self.column = Some(Column { nth, heading, format, leaves: None });
        self
    }

    const fn optional(self, heading: &'static str, format: Format) -> Self {
        self.column(0, heading, format)
    }

    const fn leaves(mut self, nth: u8) -> Self {
        if let Some(column) = &mut self.column {
            column.leaves = Some(nth);
        }
        self
    }

    const fn compared(mut self, better: Better) -> Self {
        self.better = Some(better);
        self
    }

    /// Returns its path in `totals`.
    #[must_use]
    pub fn place(&self) -> &'static str {
        self.place
    }

    /// Returns its better direction.
    #[must_use]
    pub fn better(&self) -> Better {
        self.better.unwrap_or(Better::Neither)
    }

    /// Returns its value in a tally; `None` if unknown.
    #[must_use]
    pub fn number(&self, tally: &Tally) -> Option<f64> {
        (self.value)(tally).number()
    }

    /// Returns whether it is a share, whose differences are in percentage points.
    #[must_use]
    pub fn is_share(&self) -> bool {
        self.column.is_some_and(|it| matches!(it.format, Format::Percent))
    }

    /// Returns a value as text, with a number of decimals for dollars.
    #[must_use]
    pub fn written(&self, number: f64, decimals: usize) -> String {
        match self.column.map(|it| it.format) {
            Some(Format::Percent) => numbers::percent(number),
            Some(Format::Usd) => numbers::fixed(number, decimals),
            Some(Format::Count | Format::Tokens | Format::Whole) => numbers::fixed(number, 0),
            Some(Format::Expected) | None => numbers::expected(number),
        }
    }

    /// Returns its order of hiding; `None` if it is never hidden.
    pub(super) fn leaving(&self) -> Option<u8> {
        self.column.and_then(|it| it.leaves)
    }

    /// Returns the heading of its column.
    #[must_use]
    pub fn heading(&self) -> &'static str {
        self.column.map_or(self.place, |it| it.heading)
    }

    /// Returns its cells, all with as many decimals; dollars with the given number of them.
    #[must_use]
    pub fn cells<'t>(
        &self,
        tallies: impl Iterator<Item = &'t Tally>,
        digits: Digits,
        decimals: usize,
    ) -> Vec<String> {
        let values: Vec<Value> = tallies.map(|it| (self.value)(it)).collect();
        let has_fraction = values.iter().filter_map(Value::number).any(|it| it.fract() != 0.0);
        let format = self.column.map(|it| it.format);
        let cell = |value: &Value| match (format, value) {
            (Some(Format::Tokens), Value::Count(count)) => digits(*count),
            (_, Value::Count(count)) => numbers::thousands(*count),
            (Some(Format::Percent), Value::Real(share)) => numbers::percent(*share),
            (Some(Format::Usd), Value::Real(amount)) => numbers::fixed(*amount, decimals),
            (Some(Format::Whole), Value::Real(count)) => numbers::fixed(*count, 0),
            (_, Value::Real(count)) => numbers::fixed(*count, if has_fraction { 2 } else { 0 }),
            (_, Value::Text(text)) => text.clone(),
            (_, Value::None | Value::Fields(_)) => numbers::NONE.to_owned(),
        };
        values.iter().map(cell).collect()
    }
}

/// Returns the metrics by which policies are compared, cost first, then by column.
#[must_use]
pub fn compared() -> Vec<&'static Metric> {
    let mut all: Vec<&Metric> = METRICS.iter().filter(|it| it.better.is_some()).collect();
    let nth = |it: &Metric| it.column.map_or(u8::MAX, |it| it.nth);
    all.sort_by_key(|it| (it.place != COST, nth(it)));
    all
}

/// Returns the metric of a place.
#[must_use]
pub fn at(place: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|it| it.place == place)
}

/// The metric of a run's total cost.
pub const COST: &str = "cost_usd.total";

/// Returns the metrics that a column can show, in JSON order.
pub fn selectable() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(|it| !it.is_group)
}

/// Returns the metrics that tables show if nothing is asked for, from left to right.
#[must_use]
pub fn columns() -> Vec<&'static Metric> {
    let mut shown: Vec<&Metric> =
        METRICS.iter().filter(|it| it.column.is_some_and(|it| it.nth > 0)).collect();
    shown.sort_by_key(|it| it.column.map(|it| it.nth));
    shown
}

/// The totals of a run in JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Totals(IndexMap<&'static str, Value>);

impl Totals {
    /// Writes a tally as a report gives it.
    #[must_use]
    pub fn new(tally: &Tally) -> Self {
        let mut totals: IndexMap<&str, Value> = IndexMap::new();
        for metric in METRICS {
            let value = (metric.value)(tally);
            let Some((group, name)) = metric.place.split_once('.') else {
                totals.insert(metric.place, value);
                continue;
            };
            if let Value::Fields(fields) = totals.entry(group).or_insert_with(|| fields([])) {
                fields.insert(name, value);
            }
        }
        Self(totals)
    }

    /// Returns the value at a dotted path; `None` if unknown.
    #[must_use]
    pub fn number(&self, place: &str) -> Option<f64> {
        let (first, rest) = place.split_once('.').map_or((place, None), |(it, rest)| (it, Some(rest)));
        let value = match (self.0.get(first)?, rest) {
            (Value::Fields(fields), Some(name)) => fields.get(name)?,
            (value, _) => value,
        };
        value.number()
    }
}
