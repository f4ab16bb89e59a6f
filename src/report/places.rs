//! The metrics of a run in the JSON report, which guards name.

use std::sync::OnceLock;

use serde_json::Value;

use super::json::run_value;
use super::{Assumed, Run};
use crate::aging::Summary;
use crate::diag::nearest;
use crate::input::Limits;
use crate::ledger::{
    BlockHits, ExplicitCacheSums, Failure, FailureKind, MemorySums, NeedSums, Outcome, Sums, ToolResults,
};
use crate::measure::trial::{Hits, Trial};
use crate::measure::{Resets, Retention, Statistic, Tally};
use crate::price::Costs;

/// Fields whose own fields have data-dependent names: numbers of messages, policies.
const OPEN: [&str; 6] =
    ["by_length", "paired", "aging.span", "aging.span_all_hops", "aging.depth", "aging.hop"];
/// A field of any name.
const ANY: &str = "*";

/// Checks that a run of some report can have a number at a dotted path.
///
/// # Errors
/// No run can; returns the path that was probably meant, if any.
pub fn check(place: &str) -> Result<(), Option<String>> {
    let known = known();
    if known.iter().any(|it| is_at(it, place)) {
        return Ok(());
    }
    let inner = known.iter().find(|it| it.strip_suffix(place).is_some_and(|front| front.ends_with('.')));
    // A group of numbers was named without the number.
    let group = || {
        let mean = known.iter().find(|it| **it == format!("{place}.mean"));
        mean.or_else(|| known.iter().find(|it| it.starts_with(&format!("{place}."))))
    };
    let near = || nearest(place, known.iter().map(String::as_str));
    let near_inner = || {
        let below = |it: &'_ String| it.split_once('.').map(|(_, rest)| rest.to_owned());
        let rests: Vec<String> = known.iter().filter_map(below).collect();
        let rest = nearest(place, rests.iter().map(String::as_str))?.to_owned();
        known.iter().find(|it| below(it).as_ref() == Some(&rest))
    };
    let meant = inner.cloned().or_else(|| near().map(str::to_owned));
    Err(group().cloned().or(meant).or_else(|| near_inner().cloned()))
}

/// Returns whether a known place is that one.
fn is_at(known: &str, place: &str) -> bool {
    let mut steps = place.split('.');
    known.split('.').all(|it| steps.next().is_some_and(|step| it == ANY || it == step))
        && steps.next().is_none()
}

/// Returns every path that can have a number.
fn known() -> &'static [String] {
    static PLACES: OnceLock<Vec<String>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut places = Vec::new();
        collect(&run_value(&sample()), String::new(), &mut places);
        places
    })
}

/// Collects the places of numbers below a value.
fn collect(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Number(_) => places.push(at),
        Value::Object(fields) => {
            let is_open = OPEN.iter().any(|it| at.ends_with(it));
            for (name, inner) in fields {
                let name = if is_open { ANY } else { name };
                collect(inner, if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }, places);
            }
        }
        _ => {}
    }
}

/// Returns a run that has a number wherever a run can have one.
fn sample() -> Run {
    let hits = Hits { found: 1, total: 1 };
    let trial = Trial {
        length: 1,
        context_tokens: 1,
        total_tokens: 1,
        explicit: hits,
        implicit: hits,
        quartiles: [hits; 4],
        ..Trial::default()
    };
    let mut retention = Retention::new(&[trial]);
    retention.paired.extend(Statistic::new([0.0].into_iter()).map(|it| (String::new(), it)));
    let mut sums = Sums {
        needs: NeedSums { weight: 1.0, ..NeedSums::default() },
        stored: ExplicitCacheSums { n: 1, ..ExplicitCacheSums::default() },
        memory: MemorySums { writes: 1, ..MemorySums::default() },
        ..Sums::default()
    };
    sums.main.n = 1;
    sums.main.tokens.write = [1; 2];
    let outcome = Outcome {
        // Equal turns: a run that stopped has no costs of what it kept.
        failure: Some(Failure { turn: 1, kind: FailureKind::FinalNoTool }),
        blocks: Some(BlockHits::default()),
        tool_results: ToolResults { raw_tokens: 1, ..ToolResults::default() },
        ..Outcome::default()
    };
    let costs = Costs { recovery: 1.0, ..Costs::default() };
    let tally = Tally {
        n_runs: 1,
        sums,
        outcome,
        costs,
        limits: Limits { prompt: 1, output: 1, ..Limits::NONE },
        limit_pressure: Some(0.0),
        has_needs: true,
        recovery_input: 0.0,
        recovery_output: 0.0,
        recovery_interval: Some([0.0; 2]),
        recovery_by_assumption: None,
        n_played: 0,
        latency_ms: 0.0,
        resets: Some(Resets { bills: [Some(0.0); 2], ..Resets::default() }),
        summariser_limit: None,
        bound: None,
    };
    Run {
        looks_ahead: false,
        policy: String::new(),
        scenario: String::new(),
        profile: String::new(),
        seed: 0,
        trials: 1,
        retention: Some(std::sync::Arc::new(retention)),
        aging: Some(std::sync::Arc::new(Summary::sample())),
        runner: Some(std::sync::Arc::new(crate::runner::Summary::sample())),
        tally,
        assumed: std::sync::Arc::new(Assumed::default()),
        stages: std::sync::Arc::new([]),
        apply: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_or_answered_with_the_one_that_is_meant() {
        for known in [
            "totals.requests",
            "totals.cost_usd.total",
            "totals.cost_usd.total_high",
            "totals.blocks.hit_blocks",
            "totals.stored.token_hours",
            "totals.cache_write_by_ttl.1h",
            "totals.failure_turn",
            "totals.prompt_limit_tokens",
            "retention.gap",
            "retention.compression_ratio.mean",
            "retention.non_empty.gap.mean",
            "retention.depth_accuracy.early (0-25%).mean",
            "retention.by_length.500.accuracy.mean",
            "retention_cost.accuracy_per_usd",
            "memory_calls.writes",
            "memory_calls.ingestion.put_context",
            "memory_calls.accuracy.counting.mean",
            "memory_calls.latency_ms.total",
            "memory_calls.storage.shards",
        ] {
            assert_eq!(check(known), Ok(()), "{known}");
        }
        let meant = |place: &str| check(place).err().flatten();
        assert_eq!(meant("totals.request").as_deref(), Some("totals.requests"));
        assert_eq!(meant("evidence_kept").as_deref(), Some("totals.evidence_kept"));
        assert_eq!(meant("evidnce_kept").as_deref(), Some("totals.evidence_kept"));
        assert_eq!(meant("retention.accuracy").as_deref(), Some("retention.accuracy.mean"));
        assert_eq!(check("policy"), Err(None), "a name is no number");
        assert_eq!(check("colour"), Err(None));
    }
}
