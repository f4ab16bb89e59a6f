//! The rules of fetching something again.

use super::check_interval;
use crate::diag::Problems;
use crate::input::scenario::refetch::Refetch;
use crate::quantity::Decimal;

/// Checks what a scenario says of it.
pub(super) fn check(spec: &Refetch, problems: &mut Problems) {
    if let Some(share) = spec.own_request {
        problems.within("own_request", |problems| {
            let ends = [("value", share.value), ("low", share.low), ("high", share.high)];
            for (field, _) in ends.into_iter().filter(|it| it.1 > Decimal::ONE) {
                let message = "the share of calls must be from 0 to 1";
                problems.push_at("ratio-above-one", field, message, "write a number from 0 to 1");
            }
            check_interval([share.low, share.value, share.high], problems);
        });
    }
    if spec.unseen_weight_high.is_some_and(|it| it > Decimal::ONE) {
        let message = "a weight must be a probability";
        problems.push_at("ratio-above-one", "unseen_weight_high", message, "write a number from 0 to 1");
    }
    if let Some(fetched) = spec.fetched_tokens_max {
        problems.within("fetched_tokens_max", |problems| {
            check_interval([fetched.low, fetched.value, fetched.high], problems);
        });
    }
}
