//! The rules of a scenario.

mod aging;
mod chats;
mod conversation;
pub(super) mod stream;
mod turns;

use super::refetch::{AssumedNumber, Exploration, Refetch};
use super::user_messages::{UserMessages, UserNeeds};
use super::{Assume, ITEM_TOKENS_MAX, LoadSpec, NeedRule, ScenarioFile};
use crate::policy::Kind;
use crate::prelude::*;

/// The most trials.
const TRIALS_MAX: u64 = 1_000_000;

/// How few and how many times the turns an agent may take.
const TURNS_RATIO: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// Checks a scenario and its load.
pub(super) fn scenario(scenario: &ScenarioFile, problems: &mut Problems) {
    check_frame(scenario, problems);
    problems.within("refetch", |to| check_refetch(&scenario.refetch, to));
    problems.within("user_messages", |to| check_user_messages(scenario, to));
    problems.within("load", |problems| match &scenario.load {
        LoadSpec::Turns(turns) => problems.within("turns", |to| turns::written(scenario, turns, to)),
        LoadSpec::Sessions(load) => {
            problems.within("sessions", |to| turns::check_sessions(scenario, load, to));
        }
        LoadSpec::Generate(load) => problems.within("generate", |to| turns::generated(scenario, load, to)),
        LoadSpec::Random { turns } => {
            problems.check_range(Code("generate-length"), "random.turns", *turns, [1, turns::TURNS_MAX]);
        }
        LoadSpec::Conversation(load) => problems.within("conversation", |to| conversation::check(load, to)),
        LoadSpec::Aging(load) => problems.within("aging", |to| aging::check(load, to)),
        LoadSpec::Chats(load) => problems.within("chats", |to| chats::check(load, to)),
        LoadSpec::Recorded { assume, .. } => {
            problems.within("recorded.assume", |to| check_assumptions(assume, to));
        }
    });
}

/// Checks a scenario without its load.
fn check_frame(spec: &ScenarioFile, problems: &mut Problems) {
    let of_load = match &spec.load {
        LoadSpec::Conversation(_) => Some(("conversations", "conversation")),
        LoadSpec::Aging(_) => Some(("session streams", "aging")),
        LoadSpec::Chats(_) => Some(("chats", "chats")),
        _ => None,
    };
    problems.within("trials", |problems| match (of_load, spec.trials) {
        (Some((loads, field)), Some(_)) => {
            let message = format!("{loads} have their own number of trials");
            problems.push(Code("trials-unused"), message, format!("write it as `load.{field}.trials`"));
        }
        (_, trials) => check_trials(trials.unwrap_or(1), problems),
    });
    problems.within_each("stable", &spec.stable, |item, problems| {
        problems.within("tokens", |problems| size(item.tokens, problems));
        if matches!(item.kind, Kind::ToolCall | Kind::ToolResult) {
            let message = "the stable prefix cannot contain tool calls or results";
            let help = "write `system`, `tool_schema` or `memory`";
            problems.push_at(Code("stable-kind"), "kind", message, help);
        }
    });
    // Facts are asked for only if the load can plant them.
    if spec.asks_at_end && !matches!(spec.load, LoadSpec::Turns(_) | LoadSpec::Generate(_)) {
        let message = "`asks_at_end` needs `load.turns` or `load.generate`, which plant facts";
        problems.push_at(Code("asks-nothing"), "asks_at_end", message, "remove it");
    }
    problems.within("answer_overhead_tokens", |problems| size(spec.answer_overhead_tokens, problems));
    problems.within("unread_tokens", |problems| size(spec.unread_tokens, problems));
    problems.within("call_overhead_tokens", |problems| size(spec.call_overhead_tokens, problems));
    if spec.turns_ratio.is_some_and(|it| !TURNS_RATIO.contains(&it.to_f64())) {
        let message = "an agent takes a tenth to ten times the turns";
        let help = "write how many times the turns it takes, as `1.1` for a tenth more";
        problems.push_at(Code("turns-ratio-range"), "turns_ratio", message, help);
    }
    if spec.chars_per_token.is_some_and(|it| it <= Decimal::ZERO) {
        let message = "a token cannot have 0 characters";
        let help = "leave it out, or write `4.0`";
        problems.push_at(Code("chars-per-token-zero"), "chars_per_token", message, help);
    }
}

fn check_trials(trials: u64, problems: &mut Problems) {
    if !(1..=TRIALS_MAX).contains(&trials) {
        let help = format!("write a number from 1 to {TRIALS_MAX}");
        problems.push(Code("trials-range"), format!("{trials} trials is out of range"), help);
    }
}

/// Checks that an interval contains its value.
fn check_interval<T: PartialOrd>([low, value, high]: [T; 3], problems: &mut Problems) {
    if low > value || value > high {
        let message = "the interval's lower end, value and upper end are out of order";
        let help = "write the smaller end first, with the value between the two";
        problems.push(Code("interval-order"), message, help);
    }
}

/// Checks a share with its interval: none of the three may be above 1.
fn check_share_number(share: AssumedNumber<Decimal>, message: &str, problems: &mut Problems) {
    let ends = [("value", share.value), ("low", share.low), ("high", share.high)];
    for (field, _) in ends.into_iter().filter(|it| it.1 > Decimal::ONE) {
        problems.push_at(Code("ratio-above-one"), field, message, "write a number from 0 to 1");
    }
    check_interval([share.low, share.value, share.high], problems);
}

/// Checks the size of one item.
fn size(tokens: Tokens, problems: &mut Problems) {
    if tokens > ITEM_TOKENS_MAX {
        let message = format!("{tokens} tokens is too large for one item");
        problems.push(Code("size-too-large"), message, format!("write at most {ITEM_TOKENS_MAX}"));
    }
}

// The rules of assumptions about a recording.

/// Checks what a scenario assumes of a recording.
pub(in crate::scenario) fn check_assumptions(spec: &Assume, problems: &mut Problems) {
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
fn check_refetch(spec: &Refetch, problems: &mut Problems) {
    if let Some(share) = spec.own_request {
        let message = "the share of calls must be from 0 to 1";
        problems.within("own_request", |to| check_share_number(share, message, to));
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
fn check_user_messages(spec: &ScenarioFile, problems: &mut Problems) {
    let Some(messages) = spec.user_messages else { return };
    if !spec.load.is_of_items() {
        let message = "this load has no messages of users that a need could be of";
        problems.push(Code("user-messages-unused"), message, "remove it");
    }
    let UserMessages::Needed(UserNeeds { earlier, summarised }) = messages else { return };
    for (field, number) in [("earlier", earlier), ("summarised", summarised)] {
        let Some(it) = number else { continue };
        let message = "it must be from 0 to 1";
        problems.within(format_args!("needed.{field}"), |to| check_share_number(it, message, to));
    }
}
