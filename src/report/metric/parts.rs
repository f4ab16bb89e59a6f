//! The values of metrics that are more than a field of a tally.

use super::{TTL_CLASSES, Value};
use crate::ledger::{BlockHits, FailureKind};
use crate::measure::{Resets, Tally};
use crate::quantity::{Cost, Tokens, UNLIMITED};

pub(super) fn fields<const N: usize>(fields: [(&'static str, Value); N]) -> Value {
    Value::Fields(fields.into_iter().collect())
}

/// Returns a limit, if there is one.
pub(super) fn limit(tokens: Tokens) -> Value {
    (tokens != UNLIMITED).then_some(tokens).into()
}

/// Returns a value that is only known if the load has needs.
pub(super) fn if_needed(tally: &Tally, value: f64) -> Value {
    tally.has_needs.then_some(value).into()
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

pub(super) fn write_by_ttl(tally: &Tally) -> Value {
    let by_ttl = TTL_CLASSES.into_iter().zip(tally.sums.main.tokens.write).filter(|(_, tokens)| *tokens > 0);
    Value::Fields(by_ttl.map(|(ttl, tokens)| (ttl, tokens.into())).collect())
}

/// Returns the blocks of all prompts, those up to each prompt's first that the store did not hold, their share, and the
/// sub-agents that made some of the requests.
pub(super) fn blocks(hits: &BlockHits) -> Value {
    let ratio = if hits.n_blocks == 0 { 0.0 } else { hits.n_hits as f64 / hits.n_blocks as f64 };
    fields([
        ("blocks", hits.n_blocks.into()),
        ("hit_blocks", hits.n_hits.into()),
        ("block_hit_ratio", ratio.into()),
        ("subagents", hits.n_subagents.into()),
    ])
}

/// Returns the recorded compactions, those that the policy would have avoided, the requests that follow these, the bills of the
/// sessions of which all are avoided, as recorded and with them undone, how many of these have no bills to compare, and in how
/// many the prompt comes to what the harness compacts at later.
pub(super) fn resets(resets: &Resets) -> Value {
    let bill = |nth: usize| resets.bills[nth].into();
    fields([
        ("compactions", resets.recorded.into()),
        ("avoided", resets.avoided.into()),
        ("requests_after", resets.requests.into()),
        ("cost_kept_usd", bill(0)),
        ("cost_undone_usd", bill(1)),
        ("not_compared", resets.n_open.into()),
        ("reached_later", resets.n_reached.into()),
    ])
}

/// Returns the contents that were stored, each in a call of its own, the tokens of these calls, and tokens times hours.
pub(super) fn stored(tally: &Tally) -> Value {
    let stored = &tally.sums.stored;
    let token_hours = stored.token_ms as f64 / 3_600_000.0;
    let of = || {
        fields([
            ("contents", stored.n.into()),
            ("input_tokens", stored.tokens.into()),
            ("token_hours", token_hours.into()),
        ])
    };
    (stored.n > 0).then(of).into()
}

/// Returns the share of the tool results' tokens that their last renditions leave out.
pub(super) fn saved_share(tally: &Tally) -> Value {
    let results = &tally.outcome.tool_results;
    let shown = results.visible_tokens as f64 / results.raw_tokens as f64;
    (results.raw_tokens > 0).then_some(1.0 - shown).into()
}
