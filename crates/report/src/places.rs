//! The metrics of a run that guards can name: the columns of a run that have numbers.

use std::sync::OnceLock;

use super::runs::RunRow;
use crate::prelude::*;
use ctxsim_base::diag::nearest;
use ctxsim_timeline::row::{ANY, Head, heads, heads_of};

/// Checks that a run of some report can have a number at a dotted path.
///
/// # Errors
/// No run can; returns the path that was probably meant, if any.
pub fn check_or_suggest_metric_path(path: &str) -> Result<(), Option<String>> {
    // A place that is right is found in its own group; only for one that is wrong are all of them listed.
    let own = heads_of::<RunRow<'_>>(|it| path.split('.').next() == Some(it));
    if own.iter().any(|it| it.unit.is_number() && matches_known_path(&it.name, path)) {
        return Ok(());
    }
    static PLACES: OnceLock<Vec<Head>> = OnceLock::new();
    let heads = PLACES.get_or_init(heads::<RunRow<'_>>).iter();
    let mut known = heads.filter(|it| it.unit.is_number()).map(|head| head.name.as_str()).listed();
    // Of several that are equally near, the first by name is meant.
    known.order_by(|one, other| one.split('.').cmp(other.split('.')));
    let inner = known.iter().find(|it| it.strip_suffix(path).is_some_and(|front| front.ends_with('.')));
    // A group of numbers was named without the number.
    let group = || {
        let mean = known.iter().find(|it| **it == format!("{path}.mean"));
        mean.or_else(|| known.iter().find(|it| it.starts_with(&format!("{path}."))))
    };
    let near = || nearest(path, known.iter().copied());
    let near_inner = || {
        let below = |it: &&'static str| it.split_once('.').map(|(_, rest)| rest);
        let rest = nearest(path, known.iter().filter_map(below))?;
        known.iter().find(|it| below(it) == Some(rest))
    };
    Err(group().or(inner).copied().or_else(near).or_else(|| near_inner().copied()).map(str::to_owned))
}

/// Returns whether a known place is that one.
fn matches_known_path(known: &str, place: &str) -> bool {
    let mut steps = place.split('.');
    known.split('.').all(|it| steps.next().is_some_and(|step| it == ANY || it == step))
        && steps.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_or_answered_with_the_one_that_is_meant() {
        for known in [
            "totals.cost_usd.total_high",
            "totals.blocks.hit_blocks",
            "totals.stored.token_hours",
            "totals.cache_write_by_ttl.1h",
            "totals.failure_turn",
            "totals.prompt_limit_tokens",
            "retention.compression_ratio.mean",
            "retention.non_empty.gap.mean",
            "retention.by_length.500.accuracy.mean",
            "retention_cost.accuracy_per_usd",
            "memory_calls.writes",
            "memory_calls.accuracy.counting.mean",
            "memory_calls.storage.shards",
        ] {
            assert_eq!(check_or_suggest_metric_path(known), Ok(()), "{known}");
        }
        let meant = |place: &str| check_or_suggest_metric_path(place).err().flatten();
        assert_eq!(meant("totals.request").as_deref(), Some("totals.requests"));
        assert_eq!(meant("evidence_kept").as_deref(), Some("totals.evidence_kept"));
        assert_eq!(meant("evidnce_kept").as_deref(), Some("totals.evidence_kept"));
        assert_eq!(meant("retention.accuracy").as_deref(), Some("retention.accuracy.mean"));
        assert_eq!(check_or_suggest_metric_path("policy"), Err(None), "a name is no number");
        assert_eq!(check_or_suggest_metric_path("colour"), Err(None));
    }
}
