//! The numbers of a run.
//!
//! Each is a column of a tally: its path in the totals of JSON, its unit, its meaning and its value.
//!
//! JSON, CSV, guards and tables all use this list. Paths and meanings are a stable contract.
//!
//! Every number of `totals` is one column of `METRICS` in `measure/metric.rs`: its place in the JSON and how to get it from a `Tally`.
//! `USUAL` and `OPTIONAL` in `report/metric.rs` say which of them tables show, in which order, and by which policies are compared. A guard
//! names a column that has numbers. `snapshots/runs/` holds one row per bundled policy that does not come to what `identity` does, and
//! counts the others; left out are those of `field/`, whose totals come from an independent oracle (`tests/suite/field.rs`). It has one
//! folder per load and one table per profile, with one profile for each kind of cache rule. This is what a reviewer of a policy change
//! reads.

use std::borrow::Cow;

use crate::prelude::*;

use crate::ledger::{BlockHits, ExplicitCacheSums, FailureKind};
use crate::measure::{Resets, Tally};
use ctxsim_input::Lifetimes;
use ctxsim_timeline::row::{
    ColumnUnit, Columns, RowColumn, Value, columns, fields, heads, listed, row_fields,
};

/// A number of a run.
pub type Metric = RowColumn<Tally>;

/// Every number, in JSON order.
const METRICS: &[Metric] = &listed![Tally;
    /// User turns of the timeline.
    "turns_requested": Count = |it| it.outcome.turns_requested,
    /// User turns that began.
    "turns_started": Count = |it| it.outcome.turns_started,
    /// User turns that were answered.
    "turns_completed": Count = |it| it.outcome.turns_completed,
    /// `turns_completed` over `turns_requested`; null without turns.
    "turns_completed_share": Share = |it| it.outcome.completed_share(),
    /// The turn, from 1, at which a limit stopped the run.
    "failure_turn": Count = |it| it.outcome.failure.map(|failure| failure.turn),
    /// Which of that turn's requests went over the limit.
    "failure_kind": Text = |it| it.outcome.failure.map(|failure| failure_kind(failure.kind)),
    /// The agent's own requests.
    "requests": Count = |it| it.sums.main.n,
    /// Tokens of their prompts.
    "input_tokens": Tokens = |it| it.sums.main.tokens.prompt(),
    /// Of these, read from the cache.
    "cache_read_tokens": Tokens = |it| it.sums.main.tokens.read,
    /// Of these, billed as written to the cache.
    "cache_write_tokens": Tokens = |it| it.sums.main.tokens.write.iter().sum::<Tokens>(),
    /// Writes by the entry's lifetime; only classes that were written to.
    "cache_write_by_ttl": Group(heads::<ByTtl>) = |it| fields(&ByTtl(it.sums.main.tokens.write, it.lifetimes)),
    /// Of the prompts' tokens, billed as plain input.
    "uncached_tokens": Tokens = |it| it.sums.main.tokens.uncached,
    /// Tokens that the agent wrote.
    "output_tokens": Tokens = |it| it.sums.main.tokens.output,
    /// Input and output of the agent, of recovery and of compaction.
    "expected_total_tokens": Tokens = |it| it.expected_total_tokens().to_f64(),
    /// `cache_read_tokens` over `input_tokens`.
    "cache_hit_ratio": Share = |it| it.cache_hit_ratio(),
    /// The longest prompt.
    "prompt_tokens_max": Tokens = |it| it.sums.main.prompt_max,
    /// The longest prompt that the profile allows; null without a limit, and for conversations, each of which has its own.
    "prompt_limit_tokens": Tokens = |it| limit(it.limits.prompt),
    /// The longest output.
    "output_tokens_max": Tokens = |it| it.sums.main.output_max,
    /// The longest output that the profile allows; null as for prompts.
    "output_limit_tokens": Tokens = |it| limit(it.limits.output),
    /// The longest prompt as a share of its limit; of several runs, the largest.
    "limit_pressure": Share = |it| it.limit_pressure,
    /// Limits that requests went over.
    "limit_violations": Count = |it| it.outcome.limit_violations,
    /// Tokens of tool results as they came.
    "tool_results.raw_tokens": Tokens = |it| it.outcome.tool_results.raw_tokens,
    /// Tokens of each tool result's last rendition.
    "tool_results.visible_tokens": Tokens = |it| it.outcome.tool_results.visible_tokens,
    /// Tool results ever shown smaller than raw.
    "tool_results.compressed": Count = |it| it.outcome.tool_results.compressed,
    /// The share of the results' tokens that their last renditions leave out; null without results.
    "tool_results.saved_share": Share = |it| saved_share(it),
    /// What a replay of block ids came to; null for loads of items.
    "blocks": Group(heads::<BlockHits>) = |it| it.outcome.blocks.as_ref().map(fields),
    /// What the harness stored for a price by the hour; null where it stored nothing.
    "stored": Group(heads::<ExplicitCacheSums>) = |it| (it.sums.stored.n > 0).then(|| fields(&it.sums.stored)),
    /// Compactions that a recorded harness made on its own account; null where it made none.
    "resets": Group(heads::<Resets>) = |it| it.resets.as_ref().map(fields),
    /// Summaries written.
    "compaction.events": Count = |it| it.sums.compactions,
    /// The requests that wrote them.
    "compaction.requests": Count = |it| it.sums.summariser.n,
    /// The turns that they replaced; an earlier summary counts as one.
    "compaction.items": Count = |it| it.sums.summariser.items,
    /// Tokens that the summariser read.
    "compaction.input_tokens": Tokens = |it| it.sums.summariser.tokens.prompt(),
    /// Tokens that it wrote.
    "compaction.output_tokens": Tokens = |it| it.sums.summariser.tokens.output,
    /// Requests that keep the prompt in the provider's cache while nothing is asked.
    "keep_alive.requests": Count = |it| it.sums.keep_alive.n,
    /// Tokens of their prompts.
    "keep_alive.input_tokens": Tokens = |it| it.sums.keep_alive.tokens.prompt(),
    /// Of these, read from the cache.
    "keep_alive.cache_read_tokens": Tokens = |it| it.sums.keep_alive.tokens.read,
    /// Tokens that they write.
    "keep_alive.output_tokens": Tokens = |it| it.sums.keep_alive.tokens.output,
    /// Calls that fetch needed evidence again; null, like all of recovery, where the timeline has no needs.
    "recovery.expected_calls": Expected = |it| if_needed(it, it.sums.needs.calls),
    /// Of these, beyond the first for one need.
    "recovery.expected_repeat_calls": Expected = |it| if_needed(it, it.sums.needs.repeats),
    /// Tokens that they read, overheads included.
    "recovery.expected_input_tokens": Tokens = |it| if_needed(it, it.recovery_input),
    /// Tokens that they write.
    "recovery.expected_output_tokens": Tokens = |it| if_needed(it, it.recovery_output),
    /// Both.
    "recovery.expected_tokens": Tokens = |it| if_needed(it, it.recovery_input + it.recovery_output),
    /// Needs that nothing could recover.
    "recovery.expected_failure_rate": Expected = |it| if_needed(it, it.sums.needs.failed),
    /// Calls that look something up anew because context was removed; null, like all of recovery, where the timeline has no needs.
    "exploration.expected_calls": Expected = |it| if_needed(it, it.sums.explored.calls),
    /// Tokens that they read and write, overheads included.
    "exploration.expected_tokens": Tokens = |it| if_needed(it, it.sums.explored.tokens.prompt() + it.sums.explored.tokens.output),
    /// What the agent's own requests cost; null, like all costs, where some token has no price.
    "cost_usd.base": Usd = |it| usd(it, it.costs.base()),
    /// Their cache reads.
    "cost_usd.cache_read": Usd = |it| usd(it, it.costs.main.read),
    /// Their cache writes.
    "cost_usd.cache_write": Usd = |it| usd(it, it.costs.main.write),
    /// Their plain input.
    "cost_usd.uncached": Usd = |it| usd(it, it.costs.main.uncached),
    /// Their output.
    "cost_usd.output": Usd = |it| usd(it, it.costs.main.output),
    /// Recovery, with the needs that nothing could recover.
    "cost_usd.recovery": Usd = |it| it.costs.recovery.usd(),
    /// What is looked up anew because context was removed.
    "cost_usd.exploration": Usd = |it| it.costs.exploration.usd(),
    /// What the policy's edits of fetched results change, where recovery was sampled and played: the mean of the runs less the closed form.
    "cost_usd.reaction": Usd = |it| it.costs.reaction.usd(),
    /// Expected: what sessions that nobody recorded may have left in the cache (0 or less), and what longer-lived entries than the recorded ones may miss (0 or more).
    "cost_usd.left_by_others": Usd = |it| it.costs.left.usd(),
    /// The summariser's requests.
    "cost_usd.compaction": Usd = |it| usd(it, it.costs.compaction),
    /// Requests that keep the prompt in the cache.
    "cost_usd.keep_alive": Usd = |it| usd(it, it.costs.keep_alive),
    /// Stored contents: the calls that made them, and keeping them.
    "cost_usd.storage": Usd = |it| usd(it, it.costs.storage),
    /// Requests over a limit.
    "cost_usd.penalty": Usd = |it| it.costs.penalty.usd(),
    /// Everything.
    "cost_usd.total": Usd = |it| it.costs.total(),
    /// Everything, at the lower end of what is assumed of recovery; null where nothing is.
    "cost_usd.total_low": Usd = |it| it.cost_interval().map(|[low, _]| low),
    /// Everything, at the upper end.
    "cost_usd.total_high": Usd = |it| it.cost_interval().map(|[_, high]| high),
    /// The share of needed evidence that prompts still held; null without needs.
    "evidence_kept": Share = |it| it.evidence_kept(),
    /// How long one waits for answers, one request after the other, by what was measured of the model (`assumptions/waiting.toml`): the agent's own
    /// requests; null, like all waiting, where their model has no data.
    "waiting_minutes.requests": Minutes = |it| it.waiting.main.minutes(),
    /// The requests that write summaries.
    "waiting_minutes.compaction": Minutes = |it| it.waiting.compaction.minutes(),
    /// Calls that fetch needed evidence again, or look something up anew.
    "waiting_minutes.recovery": Minutes = |it| it.waiting.recovery.minutes(),
    /// All of it.
    "waiting_minutes.total": Minutes = |it| it.waiting.total().minutes(),
    /// All of it, at the lower end of the 90% interval of a session's total.
    "waiting_minutes.total_low": Minutes = |it| it.waiting.total().interval().map(|it| it[0]),
    /// All of it, at the upper end.
    "waiting_minutes.total_high": Minutes = |it| it.waiting.total().interval().map(|it| it[1]),
    /// All requests, one after the other, at what the profile declares.
    "latency_ms": Ms = |it| it.latency_ms,
    /// The expected share of scenarios that end without a failure.
    "answerability": Share = |it| it.answerability(),
];

impl Columns for Tally {
    fn columns<'a>() -> Cow<'a, [RowColumn<Self>]> {
        Cow::Borrowed(METRICS)
    }
}

/// Returns the metric of a place.
pub fn at_place(place: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|it| it.name == place)
}

/// The metric of a run's total cost.
pub const COST: &str = "cost_usd.total";

/// The metric of how long one waits in a run.
pub const WAITING: &str = "waiting_minutes.total";

/// Returns the metrics that a column can show, in JSON order.
pub fn selectable() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(|it| it.unit != ColumnUnit::Group)
}

/// The totals of a run in JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunTotals(Value);

impl RunTotals {
    /// Writes a tally as a report gives it.
    pub fn new(tally: &Tally) -> Self {
        Self(Value::Fields(row_fields(METRICS, tally)))
    }

    /// Returns the value at a dotted path; `None` if unknown.
    pub fn number(&self, place: &str) -> Option<f64> {
        self.0.at(place)?.number()
    }
}

// The values of metrics that are more than a field of a tally.

/// Returns a limit, if there is one.
fn limit(tokens: Tokens) -> Value {
    (tokens != UNLIMITED).then_some(tokens).into()
}

/// Returns a value that is only known if the load has needs.
fn if_needed(tally: &Tally, value: Expected) -> Value {
    tally.has_needs.then(|| value.to_f64()).into()
}

/// Returns a part of the costs, if all of them are known.
fn usd(tally: &Tally, cost: Cost) -> Value {
    (!tally.costs.is_unknown).then(|| cost.usd()).into()
}

/// Returns the report's name of a request that exceeded a limit.
fn failure_kind(kind: FailureKind) -> String {
    match kind {
        FailureKind::ToolRequest(n) => format!("agent_tool_request:{n}"),
        FailureKind::FinalAfterTools => "agent_final_after_tools".to_owned(),
        FailureKind::FinalNoTool => "agent_final_no_tool".to_owned(),
    }
}

/// Tokens written by the entry's lifetime; only classes that were written to.
pub struct ByTtl(pub [Tokens; 2], pub Lifetimes);

impl ByTtl {
    /// Returns what was written for a lifetime, if anything was.
    fn of(&self, lifetime: &str) -> Option<Tokens> {
        let class = self.1.names().iter().position(|it| *it == lifetime)?;
        Some(self.0[class]).filter(|tokens| *tokens > 0)
    }
}

columns! { ByTtl;
    /// For five minutes, or for another short lifetime without a column.
    "5m": Tokens sparse = |it| it.of("5m"),
    /// For half an hour, as OpenAI does.
    "30m": Tokens sparse = |it| it.of("30m"),
    /// For an hour, or for another long lifetime without a column.
    "1h": Tokens sparse = |it| it.of("1h"),
    /// For half a day.
    "12h": Tokens sparse = |it| it.of("12h"),
}

columns! { BlockHits;
    /// Blocks of all prompts.
    "blocks": Count = |it| it.n_blocks,
    /// Of these, those up to each prompt's first that the store did not hold.
    "hit_blocks": Count = |it| it.n_hits,
    /// Their share.
    "block_hit_ratio": Share = |it| if it.n_blocks == 0 { 0.0 } else { it.n_hits as f64 / it.n_blocks as f64 },
    /// Sub-agents that made some of the requests.
    "subagents": Count = |it| it.n_subagents,
}

columns! { Resets;
    /// Recorded compactions.
    "compactions": Count = |it| it.recorded,
    /// Of these, those that the policy would have avoided.
    "avoided": Count = |it| it.avoided,
    /// The requests that follow these.
    "requests_after": Count = |it| it.requests,
    /// The bills of the sessions of which all are avoided, as recorded.
    "cost_kept_usd": Usd = |it| it.bills[0].map(Amount::usd),
    /// The same with the compactions undone.
    "cost_undone_usd": Usd = |it| it.bills[1].map(Amount::usd),
    /// How many of these sessions have no bills to compare.
    "not_compared": Count = |it| it.n_open,
    /// In how many the prompt comes to what the harness compacts at later.
    "reached_later": Count = |it| it.n_reached,
}

columns! { ExplicitCacheSums;
    /// Contents that were stored, each in a call of its own.
    "contents": Count = |it| it.n,
    /// Tokens of these calls.
    "input_tokens": Tokens = |it| it.tokens,
    /// Tokens times hours.
    "token_hours": Number = |it| it.token_ms as f64 / 3_600_000.0,
}

/// Returns the share of the tool results' tokens that their last renditions leave out.
fn saved_share(tally: &Tally) -> Value {
    let results = &tally.outcome.tool_results;
    let shown = results.visible_tokens as f64 / results.raw_tokens as f64;
    (results.raw_tokens > 0).then_some(1.0 - shown).into()
}
