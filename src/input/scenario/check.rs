//! The rules of a scenario.

pub(super) mod assume;
mod conversation;
mod refetch;

use indexmap::{IndexMap, IndexSet};

use super::{Call, ITEM_TOKENS_MAX, Level, Load, ResultSizes, Revisit, ScenarioFile, Turn};
use crate::diag::Problems;
use crate::input::policy::Kind;
use crate::quantity::{Decimal, Tokens};

/// Nothing is drawn more often.
const TRIALS_MAX: u64 = 1_000_000;
/// No written load has more items.
const ITEMS_MAX: usize = 10_000_000;

/// Checks a scenario and its load.
pub(super) fn scenario(scenario: &ScenarioFile, problems: &mut Problems) {
    check_frame(scenario, problems);
    problems.within("refetch", |to| refetch::check(&scenario.refetch, to));
    problems.within("load", |problems| match &scenario.load {
        Load::Turns(turns) => problems.within("turns", |to| check_turns(scenario, turns, to)),
        Load::Conversation(load) => problems.within("conversation", |to| conversation::check(load, to)),
        Load::Recorded { assume, .. } => problems.within("recorded.assume", |to| assume::check(assume, to)),
        // The generators know what they take.
        Load::Generate { .. } => {}
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

/// Checks how many times something is drawn.
fn check_trials(trials: u64, problems: &mut Problems) {
    if !(1..=TRIALS_MAX).contains(&trials) {
        let help = format!("write from 1 to {TRIALS_MAX}");
        problems.push("trials-range", format!("{trials} trials are too few or too many"), help);
    }
}

/// Checks turns.
fn check_turns(spec: &ScenarioFile, turns: &[Turn], problems: &mut Problems) {
    if turns.is_empty() {
        problems.push("load-empty", "there is no turn", "write at least one turn");
    }
    let n_items = turns.iter().map(|it| it.calls.len().saturating_mul(2).saturating_add(2));
    let n_items = n_items.fold(spec.stable.len(), usize::saturating_add);
    if n_items > ITEMS_MAX {
        let message = format!("the load has {n_items} items, more than {ITEMS_MAX}");
        problems.push("load-too-large", message, "split it into several scenarios");
    }
    let mut tools = IndexSet::new();
    for (index, spec_turn) in turns.iter().enumerate() {
        problems.within(index, |problems| check_turn(spec_turn, spec.call_overhead_tokens, problems));
        tools.extend(spec_turn.calls.iter().map(|it| it.tool.as_str()));
    }
    if tools.len() >= usize::from(u16::MAX) {
        problems.push("tools-too-many", format!("{} different tools", tools.len()), "use fewer names");
    }
}

/// Checks one turn.
fn check_turn(spec: &Turn, overhead: Tokens, problems: &mut Problems) {
    problems.within("user_tokens", |problems| size(spec.user_tokens, problems));
    problems.within("answer_tokens", |problems| size(spec.answer_tokens, problems));
    for (index, call) in spec.calls.iter().enumerate() {
        problems.within(format_args!("calls.{index}"), |problems| check_call(call, overhead, problems));
    }
    problems.within("answer_needs", |problems| check_weights(&spec.answer_needs, problems));
    problems.within("follow_up_needs", |problems| check_weights(&spec.follow_up_needs, problems));
    for (index, revisit) in spec.revisits.iter().enumerate() {
        problems.within(format_args!("revisits.{index}"), |problems| check_revisit(revisit, problems));
    }
}

/// Checks one call and its result.
fn check_call(spec: &Call, overhead: Tokens, problems: &mut Problems) {
    if spec.tool.is_empty() {
        problems.push_at("tool-unnamed", "tool", "a call names its tool", "write the tool's name");
    }
    problems.within("purpose_tokens", |problems| size(spec.purpose_tokens, problems));
    problems.within("args_tokens", |problems| size(spec.args_tokens, problems));
    let parts_fit = [spec.purpose_tokens, spec.args_tokens, overhead].iter().all(|it| *it <= ITEM_TOKENS_MAX);
    if parts_fit && call_tokens(spec, overhead) > ITEM_TOKENS_MAX {
        let message = "purpose, arguments and overhead together are too large for one item";
        problems.push("size-too-large", message, format!("keep their sum at or below {ITEM_TOKENS_MAX}"));
    }
    problems.within("result", |problems| {
        let ResultSizes { raw, excerpt, summary, handle } = spec.result;
        for (field, tokens) in
            [("raw", Some(raw)), ("excerpt", excerpt), ("summary", summary), ("handle", handle)]
        {
            problems.within(field, |problems| size(tokens.unwrap_or(0), problems));
        }
    });
    for (level, tokens) in &spec.recover {
        problems.within(format_args!("recover.{}", level.name()), |problems| {
            size(*tokens, problems);
            if matches!(level, Level::None | Level::GlobalConclusion | Level::RawContent) {
                problems.push(
                    "recover-unused",
                    "nothing asks for this number: a conclusion costs nothing, and the whole is fetched at its raw size",
                    "leave it out",
                );
            }
        });
    }
}

/// Checks weights that are normalised later.
fn check_weights(weights: &IndexMap<Level, f64>, problems: &mut Problems) {
    for (level, weight) in weights {
        problems.within(level.name(), |problems| check_weight(*weight, problems));
    }
    let total: f64 = weights.values().sum();
    if weights.values().all(|it| it.is_finite()) && !total.is_finite() {
        problems.push(
            "weight-invalid",
            "the weights add up to more than a number can hold",
            "use smaller ones",
        );
    }
}

/// Checks one weight.
fn check_weight(weight: f64, problems: &mut Problems) {
    if !weight.is_finite() || weight < 0.0 {
        problems.push("weight-invalid", format!("{weight} is no weight"), "write a number from 0 up");
    }
}

/// Checks one revisit.
fn check_revisit(spec: &Revisit, problems: &mut Problems) {
    if spec.turns_back == 0 {
        problems.push_at(
            "revisit-of-itself",
            "turns_back",
            "a turn cannot come back to itself",
            "write how many turns back, from 1 up",
        );
    }
    problems.within("weight", |problems| check_weight(spec.weight, problems));
    problems.within("recover_tokens", |problems| size(spec.recover_tokens.unwrap_or(0), problems));
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

/// Returns the tokens that a model writes for a call.
fn call_tokens(spec: &Call, overhead: Tokens) -> Tokens {
    spec.purpose_tokens.saturating_add(spec.args_tokens).saturating_add(overhead)
}
