//! The `totals` of a report: names and meanings are a contract.

use indexmap::IndexMap;
use serde::Serialize;

use super::Tally;
use crate::ledger::{BlockHits, FailureKind};
use crate::quantity::{Cost, Tokens, UNLIMITED};

/// The lifetime classes of cache writes, as reports name them.
pub const TTL_CLASSES: [&str; 2] = ["5m", "1h"];

/// What a run came to, as reports give it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Totals {
    /// User turns of the timeline.
    pub turns_requested: u32,
    /// User turns begun.
    pub turns_started: u32,
    /// User turns answered.
    pub turns_completed: u32,
    /// The turn, from 1, at which a limit stopped the run.
    pub failure_turn: Option<u32>,
    /// Which of the turn's requests went over it.
    pub failure_kind: Option<String>,
    /// The agent's own requests.
    pub requests: u64,
    /// Tokens of their prompts.
    pub input_tokens: Tokens,
    /// Of these, read from the cache.
    pub cache_read_tokens: Tokens,
    /// Of these, billed as written to it.
    pub cache_write_tokens: Tokens,
    /// The same by the entry's lifetime; classes that were written to only.
    pub cache_write_by_ttl: IndexMap<&'static str, Tokens>,
    /// Of these, billed as plain input.
    pub uncached_tokens: Tokens,
    /// Tokens that the agent wrote.
    pub output_tokens: Tokens,
    /// Input and output of the agent, of recovery and of compaction.
    pub expected_total_tokens: f64,
    /// `cache_read_tokens` over `input_tokens`.
    pub cache_hit_ratio: f64,
    /// The longest prompt.
    pub prompt_tokens_max: Tokens,
    /// The longest prompt that the profile allows; null without a limit, and for conversations, each of which has its own.
    pub prompt_limit_tokens: Option<Tokens>,
    /// The longest output.
    pub output_tokens_max: Tokens,
    /// The longest output that the profile allows; null without a limit.
    pub output_limit_tokens: Option<Tokens>,
    /// Limits that requests went over.
    pub limit_violations: u32,
    /// What became of the tool results.
    pub tool_results: ToolResults,
    /// What a replay of block ids came to; null for loads of items.
    pub blocks: Option<Blocks>,
    /// What the harness stored for a price by the hour; null where it stored nothing.
    pub stored: Option<ExplicitCacheTotals>,
    /// What summaries took.
    pub compaction: Compaction,
    /// What it takes to fetch needed evidence again.
    pub recovery: Recovery,
    /// What it costs.
    pub cost_usd: CostUsd,
    /// The share of needed evidence that prompts still held; null without needs.
    pub evidence_kept: Option<f64>,
    /// Milliseconds of all requests, one after the other.
    pub latency_ms: f64,
    /// The expected share of scenarios that end without a failure.
    pub answerability: f64,
}

/// What became of the tool results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolResults {
    /// Tokens as they came.
    pub raw_tokens: Tokens,
    /// Tokens of each result's last rendition.
    pub visible_tokens: Tokens,
    /// Results ever shown smaller than raw.
    pub compressed: u64,
}

/// What a replay of block ids came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocks {
    /// Blocks of all prompts.
    pub blocks: u64,
    /// Of these, blocks that the store held, up to each prompt's first that it did not.
    pub hit_blocks: u64,
    /// `hit_blocks` over `blocks`.
    pub block_hit_ratio: f64,
    /// Sub-agents that made some of the requests.
    pub subagents: u32,
}

/// What the harness stored for a price by the hour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplicitCacheTotals {
    /// Contents made, each in a call of its own.
    pub contents: u64,
    /// Tokens of these calls.
    pub input_tokens: Tokens,
    /// Tokens times hours.
    pub token_hours: f64,
}

/// What summaries took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compaction {
    /// Summaries written.
    pub events: u64,
    /// Requests that wrote them.
    pub requests: u64,
    /// Turns that they replaced, an earlier summary counting as one.
    pub items: u64,
    /// Tokens that the summariser read.
    pub input_tokens: Tokens,
    /// Tokens that it wrote.
    pub output_tokens: Tokens,
}

/// What it takes to fetch needed evidence again; every field is null where the timeline has no needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recovery {
    /// Calls.
    pub expected_calls: Option<f64>,
    /// Calls beyond the first for one need.
    pub expected_repeat_calls: Option<f64>,
    /// Tokens that they read, overheads included.
    pub expected_input_tokens: Option<f64>,
    /// Tokens that they write.
    pub expected_output_tokens: Option<f64>,
    /// Needs that nothing could recover.
    pub expected_failure_rate: Option<f64>,
}

/// What a run costs, in US dollars; null where some token has no price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostUsd {
    /// Reads, writes, plain input and output of the agent's requests.
    pub base: f64,
    /// Reads from the cache.
    pub cache_read: f64,
    /// Writes to it.
    pub cache_write: f64,
    /// Plain input.
    pub uncached: f64,
    /// Output.
    pub output: f64,
    /// Recovery, with the needs that nothing could recover.
    pub recovery: f64,
    /// The summariser's requests.
    pub compaction: f64,
    /// Stored contents: the calls that made them, and keeping them.
    pub storage: f64,
    /// Requests over a limit.
    pub penalty: f64,
    /// Everything.
    pub total: f64,
}

impl Totals {
    /// Writes a tally as a report gives it.
    #[must_use]
    pub fn new(tally: &Tally) -> Self {
        let (main, outcome) = (&tally.sums.main, &tally.outcome);
        let by_ttl = TTL_CLASSES.into_iter().zip(main.write).filter(|(_, tokens)| *tokens > 0);
        Self {
            turns_requested: outcome.turns_requested,
            turns_started: outcome.turns_started,
            turns_completed: outcome.turns_completed,
            failure_turn: outcome.failure.map(|it| it.turn),
            failure_kind: outcome.failure.map(|it| failure_kind(it.kind)),
            requests: main.n,
            input_tokens: main.prompt,
            cache_read_tokens: main.read,
            cache_write_tokens: main.write[0] + main.write[1],
            cache_write_by_ttl: by_ttl.collect(),
            uncached_tokens: main.uncached,
            output_tokens: main.output,
            expected_total_tokens: tally.expected_total_tokens(),
            cache_hit_ratio: tally.cache_hit_ratio(),
            prompt_tokens_max: main.prompt_max,
            prompt_limit_tokens: limit(tally.limits.prompt),
            output_tokens_max: main.output_max,
            output_limit_tokens: limit(tally.limits.output),
            limit_violations: outcome.limit_violations,
            tool_results: ToolResults {
                raw_tokens: outcome.tool_results.raw_tokens,
                visible_tokens: outcome.tool_results.visible_tokens,
                compressed: outcome.tool_results.compressed,
            },
            blocks: tally.outcome.blocks.as_ref().map(blocks),
            stored: (tally.sums.stored.n > 0).then(|| stored(tally)),
            compaction: compaction(tally),
            recovery: recovery(tally),
            cost_usd: cost_usd(tally),
            evidence_kept: tally.evidence_kept(),
            latency_ms: tally.latency_ms,
            answerability: tally.answerability(),
        }
    }
}

/// Returns a limit, if there is one.
fn limit(tokens: Tokens) -> Option<Tokens> {
    (tokens != UNLIMITED).then_some(tokens)
}

/// Returns what a report calls the request that went over a limit.
fn failure_kind(kind: FailureKind) -> String {
    match kind {
        FailureKind::ToolRequest(n) => format!("agent_tool_request:{n}"),
        FailureKind::FinalAfterTools => "agent_final_after_tools".to_owned(),
        FailureKind::FinalNoTool => "agent_final_no_tool".to_owned(),
    }
}

/// Returns what a replay of block ids came to.
fn blocks(hits: &BlockHits) -> Blocks {
    let block_hit_ratio = if hits.n_blocks == 0 { 0.0 } else { hits.n_hits as f64 / hits.n_blocks as f64 };
    Blocks { blocks: hits.n_blocks, hit_blocks: hits.n_hits, block_hit_ratio, subagents: hits.n_subagents }
}

/// Returns what was stored.
fn stored(tally: &Tally) -> ExplicitCacheTotals {
    let stored = &tally.sums.stored;
    let token_hours = stored.token_ms as f64 / 3_600_000.0;
    ExplicitCacheTotals { contents: stored.n, input_tokens: stored.tokens, token_hours }
}

/// Returns what summaries took.
fn compaction(tally: &Tally) -> Compaction {
    let summariser = &tally.sums.summariser;
    Compaction {
        events: summariser.n,
        requests: summariser.n,
        items: summariser.items,
        input_tokens: summariser.prompt,
        output_tokens: summariser.output,
    }
}

/// Returns what recovery took, as far as it is known.
fn recovery(tally: &Tally) -> Recovery {
    let needs = &tally.sums.needs;
    let known = |value: f64| tally.has_needs.then_some(value);
    Recovery {
        expected_calls: known(needs.calls),
        expected_repeat_calls: known(needs.repeats),
        expected_input_tokens: known(tally.recovery_input),
        expected_output_tokens: known(tally.recovery_output),
        expected_failure_rate: known(needs.failed),
    }
}

/// Returns the lines of the bill as floats.
fn cost_usd(tally: &Tally) -> CostUsd {
    let costs = &tally.costs;
    let known = |cost: Cost| if costs.is_unknown { f64::NAN } else { cost.usd() };
    CostUsd {
        base: known(costs.base()),
        cache_read: known(costs.cache_read),
        cache_write: known(costs.cache_write),
        uncached: known(costs.uncached),
        output: known(costs.output),
        recovery: costs.recovery,
        compaction: known(costs.compaction),
        storage: known(costs.storage),
        penalty: costs.penalty.usd(),
        total: costs.total(),
    }
}
