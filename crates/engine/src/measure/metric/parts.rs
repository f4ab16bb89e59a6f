//! The values of metrics that are more than a field of a tally.

use crate::ledger::{BlockHits, ExplicitCacheSums, FailureKind};
use crate::measure::{Resets, Tally};
use ctxsim_base::quantity::{Amount, Cost, Expected, Tokens, UNLIMITED};
use ctxsim_input::profile::Lifetimes;
use ctxsim_timeline::row::{Value, columns};

/// Returns a limit, if there is one.
pub(super) fn limit(tokens: Tokens) -> Value {
    (tokens != UNLIMITED).then_some(tokens).into()
}

/// Returns a value that is only known if the load has needs.
pub(super) fn if_needed(tally: &Tally, value: Expected) -> Value {
    tally.has_needs.then(|| value.to_f64()).into()
}

/// Returns a part of the costs, if all of them are known.
pub(super) fn usd(tally: &Tally, cost: Cost) -> Value {
    (!tally.costs.is_unknown).then(|| cost.usd()).into()
}

/// Returns the report's name of a request that exceeded a limit.
pub(super) fn failure_kind(kind: FailureKind) -> String {
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
pub(super) fn saved_share(tally: &Tally) -> Value {
    let results = &tally.outcome.tool_results;
    let shown = results.visible_tokens as f64 / results.raw_tokens as f64;
    (results.raw_tokens > 0).then_some(1.0 - shown).into()
}
