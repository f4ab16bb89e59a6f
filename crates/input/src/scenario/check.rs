//! The rules of a scenario.

mod aging;
pub(super) mod assume;
mod chats;
mod conversation;
pub(super) mod stream;
mod turns;

use super::{ITEM_TOKENS_MAX, LoadSpec, ScenarioFile};
use crate::policy::Kind;
use crate::prelude::*;

/// The most trials.
const TRIALS_MAX: u64 = 1_000_000;

/// How few and how many times the turns an agent may take.
const TURNS_RATIO: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// Checks a scenario and its load.
pub(super) fn scenario(scenario: &ScenarioFile, problems: &mut Problems) {
    check_frame(scenario, problems);
    problems.within("refetch", |to| assume::check_refetch(&scenario.refetch, to));
    problems.within("user_messages", |to| assume::check_user_messages(scenario, to));
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
            problems.within("recorded.assume", |to| assume::check(assume, to));
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
    for (index, item) in spec.stable.iter().enumerate() {
        problems.within(format_args!("stable.{index}"), |problems| {
            problems.within("tokens", |problems| size(item.tokens, problems));
            if matches!(item.kind, Kind::ToolCall | Kind::ToolResult) {
                let message = "the stable prefix cannot contain tool calls or results";
                let help = "write `system`, `tool_schema` or `memory`";
                problems.push_at(Code("stable-kind"), "kind", message, help);
            }
        });
    }
    check_asks_at_end(spec, problems);
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

/// Checks that facts are asked for only if the load can plant them.
fn check_asks_at_end(spec: &ScenarioFile, problems: &mut Problems) {
    if spec.asks_at_end && !matches!(spec.load, LoadSpec::Turns(_) | LoadSpec::Generate(_)) {
        let message = "`asks_at_end` needs `load.turns` or `load.generate`, which plant facts";
        let help = "remove it";
        problems.push_at(Code("asks-nothing"), "asks_at_end", message, help);
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

/// Checks the size of one item.
fn size(tokens: Tokens, problems: &mut Problems) {
    if tokens > ITEM_TOKENS_MAX {
        let message = format!("{tokens} tokens is too large for one item");
        problems.push(Code("size-too-large"), message, format!("write at most {ITEM_TOKENS_MAX}"));
    }
}
