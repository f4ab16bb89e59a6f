//! An explained request: tables for people and JSON for programs, with the same sentences.

pub mod table;
mod words;

use super::rows::{ExploredCalls, RequestInContext, RowContext};
use crate::prelude::*;
use ctxsim_engine::cache::EntryFound;
use ctxsim_engine::explain::{By, Done, EditCause, Explanation, Same, StandingItem};
use ctxsim_engine::ledger::NeedRow;
use ctxsim_input::Policy;
use ctxsim_input::profile::CacheRules;
use ctxsim_timeline::row::fields;

pub use words::render_prompt_text;

/// Returns who broke a prefix; nobody where a line changed that changes with every request.
pub fn who_broke_prefix(by: Option<By>, policy: &Policy) -> String {
    match by {
        Some(By::Memory) => "recalled memory".to_owned(),
        Some(By::TakenBack) => "edits undone after one request".to_owned(),
        Some(By::Harness) => "the recorded harness".to_owned(),
        Some(by) => words::describe_editor(by, policy),
        None => "other content".to_owned(),
    }
}

/// Returns an explanation as one JSON document, with the texts of the prompt if requested.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn explanation_json(
    explanation: &Explanation,
    context: RowContext<'_>,
    with_texts: bool,
) -> serde_json::Result<String> {
    let (policy, bill, explored) = (context.policy, &explanation.bill, explanation.explored.as_ref());
    let cost = |cost: Option<Cost>| Value::serialised(&cost.map(|it| it.0));
    let item = |it: &StandingItem| item_json(it, item_changes_json(&it.causes, context), with_texts);
    let head = group! {
        "schema": "ctxsim.explanation/1",
        "policy": policy.name.clone(),
        "scenario": context.scenario.to_owned(),
        "profile": context.profile.name.clone(),
        "request": explanation.n,
        "requests": explanation.of,
        "asked_by": explanation.asked_by.map(|it| words::describe_editor(it, policy)),
        "row": fields(&RequestInContext {
            row: &explanation.row,
            id: explanation.id,
            due: None,
            cost: None,
            explored: explored.map(|it| ExploredCalls { calls: it.calls, fetched: it.fetched }),
            context: RowContext { misses: explanation.missed.as_slice(), ..context },
        }),
        "cost_picodollars": group! {
            "cache_read": cost(Some(bill.read)),
            "cache_write": cost(Some(bill.write)),
            "uncached": cost(Some(bill.uncached)),
            "output": cost(Some(bill.output)),
            "total": cost(bill.total()),
        },
        "cache": cache_json(explanation, &context.profile.cache),
        "prefix": prefix_json(explanation, context),
        "stages": explanation.since.iter().map(|it| stage_edit_json(it, policy)).listed(),
        "recoveries": explanation.needs.iter().map(need_json).listed(),
        "tokens_beside_items": explanation.beside,
    };
    let unread = (explanation.unread > 0).then(|| group! { "tokens_unread": explanation.unread });
    let head = unread.into_iter().fold(head, Value::and);
    json_text(&head.and(group! { "items": explanation.items.iter().map(item).listed() }))
}

/// Returns what the cache did, its marks, and each entry with what happened to it.
fn cache_json(explanation: &Explanation, rules: &CacheRules) -> Value {
    let finding = explanation.finding.as_ref();
    let says = |it: &EntryFound| group! { "says": words::describe_cache_entry(it, rules) };
    let entry = |it: &EntryFound| Value::serialised(it).and(says(it));
    group! {
        "says": words::describe_cache_use(explanation, rules),
        "marks": Value::serialised(finding.map_or(&[][..], |it| &it.marks)),
        "entries": finding.map_or(Vec::new(), |it| it.entries.iter().map(entry).listed()),
    }
}

/// Returns what a stage did since the previous request.
fn stage_edit_json(done: &Done, policy: &Policy) -> Value {
    group! {
        "by": words::describe_editor(done.by, policy),
        "items": done.n_items,
        "tokens_before": done.tokens[0],
        "tokens_after": done.tokens[1],
    }
}

/// Returns something that was due.
fn need_json(need: &NeedRow) -> Value {
    group! {
        "level": Value::serialised(&need.level),
        "weight": need.weight,
        "met": need.met,
        "expected_calls": need.calls,
        "fetched_tokens": need.fetched,
        "expected_failures": need.failed,
    }
}

/// Returns where the prefix differs.
fn prefix_json(explanation: &Explanation, context: RowContext<'_>) -> Value {
    let prefix = explanation.prefix.as_ref();
    let differs = prefix.and_then(|compared| match &compared.same {
        Same::Until { item, causes } => Some((*item, item_changes_json(causes, context))),
        _ => None,
    });
    group! {
        "says": words::prefix_comparison(explanation, context.policy),
        "compared_with_request": prefix.map(|it| it.of),
        "previous_tokens": prefix.map(|it| it.tokens),
        "same_tokens": prefix.map(|it| it.same_tokens),
        "differs_at_item": differs.as_ref().map(|it| it.0),
        "changes": differs.map(|it| it.1).unwrap_or_default(),
    }
}

/// Returns the changes of an item.
fn item_changes_json(causes: &[EditCause], context: RowContext<'_>) -> Vec<Value> {
    let change = |cause: &EditCause| {
        let [before, after] = cause.change;
        group! {
            "by": words::describe_editor(cause.by, context.policy),
            "at": cause.at.map(serialized_name),
            "request": cause.request,
            "from": words::describe_state(&before),
            "from_tokens": before.tokens,
            "to": words::describe_state(&after),
            "to_tokens": after.tokens,
        }
    };
    causes.iter().map(change).listed()
}

fn item_json(item: &StandingItem, changes: Vec<Value>, with_text: bool) -> Value {
    let all = group! {
        "item": item.item,
        "kind": serialized_name(item.kind),
        "tool": item.tool.clone(),
        "turn": item.turn_ix,
        "step": item.step,
        "is_new": item.is_new,
        "raw_tokens": item.raw,
        "shown": words::describe_state(&item.now),
        "shown_tokens": item.now.tokens,
        "behind_summary_at": item.behind,
        "cache_read_tokens": item.cached.read,
        "cache_write_tokens": item.cached.written,
        "uncached_tokens": item.cached.uncached,
        "changes": changes,
    };
    let text = (with_text && item.now.tokens > 0).then(|| group! { "text": words::item_text(item) });
    text.into_iter().fold(all, Value::and)
}
