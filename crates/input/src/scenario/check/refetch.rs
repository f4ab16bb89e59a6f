//! The rules of fetching something again.

use super::check_interval;
use crate::scenario::refetch::{Exploration, Refetch};
use ctxsim_base::diag::{Code, Problems};
use ctxsim_base::quantity::Decimal;

/// Checks what a scenario says of it.
pub(super) fn check(spec: &Refetch, problems: &mut Problems) {
    if let Some(share) = spec.own_request {
        problems.within("own_request", |problems| {
            let ends = [("value", share.value), ("low", share.low), ("high", share.high)];
            for (field, _) in ends.into_iter().filter(|it| it.1 > Decimal::ONE) {
                let message = "the share of calls must be from 0 to 1";
                problems.push_at(Code::RatioAboveOne, field, message, "write a number from 0 to 1");
            }
            check_interval([share.low, share.value, share.high], problems);
        });
    }
    if spec.unseen_weight_high.is_some_and(|it| it > Decimal::ONE) {
        let message = "a weight must be a probability";
        problems.push_at(Code::RatioAboveOne, "unseen_weight_high", message, "write a number from 0 to 1");
    }
    if let Some(fetched) = spec.fetched_tokens_max {
        problems.within("fetched_tokens_max", |problems| {
            check_interval([fetched.low, fetched.value, fetched.high], problems);
        });
    }
    if let Some(exploration) = &spec.exploration {
        problems.within("exploration", |problems| explored(exploration, problems));
    }
}

/// Checks what a scenario says of what is looked up anew.
fn explored(spec: &Exploration, problems: &mut Problems) {
    let numbers = [("calls_per_request", spec.calls_per_request), ("fetched_scale", spec.fetched_scale)];
    for (field, it) in numbers.into_iter().filter_map(|(field, it)| Some((field, it?))) {
        problems.within(field, |problems| check_interval([it.low, it.value, it.high], problems));
    }
    if let Some(bend) = spec.bend {
        problems.within("bend", |problems| {
            let ends = [("value", bend.value), ("low", bend.low), ("high", bend.high)];
            for (field, _) in ends.into_iter().filter(|it| !(-1.0..=1.0).contains(&it.1)) {
                let message = "a part may count from nothing to twice its proportion: from -1 to 1";
                problems.push_at(Code::BendOutOfRange, field, message, "write a number from -1 to 1");
            }
            check_interval([bend.low, bend.value, bend.high], problems);
        });
    }
    if spec.fades_in_requests == Some(0) {
        let message = "what was removed must count for at least one request";
        problems.push_at(Code::FadeZero, "fades_in_requests", message, "write 1 or more");
    }
}
