//! The rules of a scenario.

mod aging;
pub(super) mod assume;
mod chats;
mod conversation;
mod refetch;
mod turns;

use super::{ITEM_TOKENS_MAX, Load, ScenarioFile};
use crate::diag::Problems;
use crate::input::policy::Kind;
use crate::quantity::{Decimal, Tokens};

/// Nothing is drawn more often.
const TRIALS_MAX: u64 = 1_000_000;

/// Checks a scenario and its load.
pub(super) fn scenario(scenario: &ScenarioFile, problems: &mut Problems) {
    check_frame(scenario, problems);
    problems.within("refetch", |to| refetch::check(&scenario.refetch, to));
    problems.within("load", |problems| match &scenario.load {
        Load::Turns(turns) => problems.within("turns", |to| turns::written(scenario, turns, to)),
        Load::Generate(load) => problems.within("generate", |to| turns::generated(scenario, load, to)),
        Load::Random { turns } => {
            problems.within("random.turns", |to| turns::length(*turns, turns::TURNS_MAX, to));
        }
        Load::Conversation(load) => problems.within("conversation", |to| conversation::check(load, to)),
        Load::Aging(load) => problems.within("aging", |to| aging::check(load, to)),
        Load::Chats(load) => problems.within("chats", |to| chats::check(load, to)),
        Load::Recorded { assume, .. } => problems.within("recorded.assume", |to| assume::check(assume, to)),
    });
}

/// Checks what a scenario says beside its load.
fn check_frame(spec: &ScenarioFile, problems: &mut Problems) {
    problems.within("trials", |problems| match (spec.trials, &spec.load) {
        (Some(_), Load::Conversation(_)) => problems.push(
            "trials-unused",
            "conversations say themselves how many there are",
            "write it as `load.conversation.trials`",
        ),
        (Some(_), Load::Aging(_)) => problems.push(
            "trials-unused",
            "loads of many sessions say themselves how many streams are drawn",
            "write it as `load.aging.trials`",
        ),
        (Some(_), Load::Chats(_)) => problems.push(
            "trials-unused",
            "chats say themselves how many times they are drawn",
            "write it as `load.chats.trials`",
        ),
        (trials, _) => check_trials(trials.unwrap_or(1), problems),
    });
    for (index, item) in spec.stable.iter().enumerate() {
        problems.within(format_args!("stable.{index}"), |problems| {
            problems.within("tokens", |problems| size(item.tokens, problems));
            if matches!(item.kind, Kind::ToolCall | Kind::ToolResult) {
                problems.push_at(
                    "stable-kind",
                    "kind",
                    "a tool's call or result is no part of the stable prefix",
                    "write `system`, `tool_schema` or `memory`",
                );
            }
        });
    }
    check_asks_at_end(spec, problems);
    problems.within("answer_overhead_tokens", |problems| size(spec.answer_overhead_tokens, problems));
    problems.within("unread_tokens", |problems| size(spec.unread_tokens, problems));
    problems.within("call_overhead_tokens", |problems| size(spec.call_overhead_tokens, problems));
    if spec.chars_per_token.is_some_and(|it| it <= Decimal::ZERO) {
        problems.push_at(
            "chars-per-token-zero",
            "chars_per_token",
            "a token has more than no characters",
            "leave it out, or write `4.0`",
        );
    }
}

/// Checks that facts are asked for where a load can plant them.
fn check_asks_at_end(spec: &ScenarioFile, problems: &mut Problems) {
    if spec.asks_at_end && !matches!(spec.load, Load::Turns(_) | Load::Generate(_)) {
        problems.push_at(
            "asks-nothing",
            "asks_at_end",
            "only turns that are written out, or patterns of them, plant facts that can be asked for",
            "leave it out",
        );
    }
}

/// Checks how many times something is drawn.
fn check_trials(trials: u64, problems: &mut Problems) {
    if !(1..=TRIALS_MAX).contains(&trials) {
        let help = format!("write from 1 to {TRIALS_MAX}");
        problems.push("trials-range", format!("{trials} trials are too few or too many"), help);
    }
}

/// Checks that an interval holds its value.
fn check_interval<T: PartialOrd>([low, value, high]: [T; 3], problems: &mut Problems) {
    if low > value || value > high {
        problems.push(
            "interval-order",
            "the lower end, the value and the upper end are not in this order",
            "write the smaller end as the lower one, and a value between them",
        );
    }
}

/// Checks a size of one item.
fn size(tokens: Tokens, problems: &mut Problems) {
    if tokens > ITEM_TOKENS_MAX {
        let message = format!("{tokens} tokens are too many for one item");
        problems.push("size-too-large", message, format!("write at most {ITEM_TOKENS_MAX}"));
    }
}
