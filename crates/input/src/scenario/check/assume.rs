//! The rules of assumptions about a recording.

use super::check_interval;
use crate::prelude::*;
use crate::scenario::refetch::{Exploration, Refetch};
use crate::scenario::user_messages::{UserMessages, UserNeeds};
use crate::scenario::{Assume, NeedRule, ScenarioFile};

/// Checks what a scenario assumes of a recording.
pub(in crate::scenario) fn check(spec: &Assume, problems: &mut Problems) {
    if spec.tokenizer.is_some() && !cfg!(feature = "tokens") {
        let help = "build with `--features tokens`, or remove it and declare `chars_per_token`";
        problems.push_at(Code("tokenizer-not-built"), "tokenizer", "this build has no tokenizers", help);
    }
    let ratios =
        [("chars_per_token", spec.chars_per_token), ("user_chars_per_token", spec.user_chars_per_token)];
    for (field, _) in ratios.into_iter().filter(|(_, it)| it.is_some_and(|it| it <= Decimal::ZERO)) {
        let help = "write a number above 0, or leave it out";
        problems.push_at(Code("chars-per-token-zero"), field, "a token cannot have 0 characters", help);
    }
    let shares = [
        ("rewind_share_max", spec.rewind_share_max, "a prompt cannot shrink by more than its size"),
        ("compaction_margin", spec.compaction_margin, "a prompt cannot shrink by more than its size"),
        ("side_request_share", spec.side_request_share, "the share of turns must be from 0 to 1"),
    ];
    for (field, _, message) in shares.into_iter().filter(|it| it.1.is_some_and(|it| it > Decimal::ONE)) {
        problems.push_at(Code("ratio-above-one"), field, message, "write a number from 0 to 1");
    }
    problems.within("needs", |problems| {
        for (rule, spec) in &spec.needs {
            problems.within(rule, |problems| check_rule(rule, spec, problems));
        }
    });
}

/// Checks one need rule.
fn check_rule(rule: &str, spec: &NeedRule, problems: &mut Problems) {
    // Every rule has its defaults.
    let rules = &Assume::defaults().needs;
    if !rules.contains_key(rule) {
        let known: Vec<String> = rules.keys().map(|it| format!("`{it}`")).collect();
        let message = format!("unknown need rule `{rule}`");
        problems.push(Code("need-rule-unknown"), message, format!("the rules are {}", known.join(", ")));
    }
    if let Some(weight) = spec.weight {
        problems.within("weight", |problems| check_probability(weight, problems));
    }
    if let Some([low, high]) = spec.interval {
        problems.within("interval", |problems| {
            [low, high].into_iter().for_each(|it| check_probability(it, problems));
            check_interval([low, spec.weight.unwrap_or(low), high], problems);
        });
    }
}

fn check_probability(share: f64, problems: &mut Problems) {
    if !(0.0..=1.0).contains(&share) {
        let message = format!("{share} is not a probability");
        problems.push(Code("weight-invalid"), message, "write a number from 0 to 1");
    }
}

// The rules of fetching something again.

/// Checks what a scenario says of it.
pub(super) fn check_refetch(spec: &Refetch, problems: &mut Problems) {
    if let Some(share) = spec.own_request {
        problems.within("own_request", |problems| {
            let ends = [("value", share.value), ("low", share.low), ("high", share.high)];
            for (field, _) in ends.into_iter().filter(|it| it.1 > Decimal::ONE) {
                let message = "the share of calls must be from 0 to 1";
                problems.push_at(Code("ratio-above-one"), field, message, "write a number from 0 to 1");
            }
            check_interval([share.low, share.value, share.high], problems);
        });
    }
    if spec.unseen_weight_high.is_some_and(|it| it > Decimal::ONE) {
        let message = "a weight must be a probability";
        let help = "write a number from 0 to 1";
        problems.push_at(Code("ratio-above-one"), "unseen_weight_high", message, help);
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
                problems.push_at(Code("bend-out-of-range"), field, message, "write a number from -1 to 1");
            }
            check_interval([bend.low, bend.value, bend.high], problems);
        });
    }
    if spec.fades_in_requests == Some(0) {
        let message = "what was removed must count for at least one request";
        problems.push_at(Code("fade-zero"), "fades_in_requests", message, "write 1 or more");
    }
}

// The rules of what is assumed of users' messages.

/// Checks what a scenario says of them, and that its load has any.
pub(super) fn check_user_messages(spec: &ScenarioFile, problems: &mut Problems) {
    let Some(messages) = spec.user_messages else { return };
    if !spec.load.is_of_items() {
        let message = "this load has no messages of users that a need could be of";
        problems.push(Code("user-messages-unused"), message, "remove it");
    }
    let UserMessages::Needed(UserNeeds { earlier, summarised }) = messages else { return };
    for (field, number) in [("earlier", earlier), ("summarised", summarised)] {
        let Some(it) = number else { continue };
        problems.within(format_args!("needed.{field}"), |problems| {
            let ends = [("value", it.value), ("low", it.low), ("high", it.high)];
            for (end, _) in ends.into_iter().filter(|it| it.1 > Decimal::ONE) {
                let message = "it must be from 0 to 1";
                problems.push_at(Code("ratio-above-one"), end, message, "write a number from 0 to 1");
            }
            check_interval([it.low, it.value, it.high], problems);
        });
    }
}
