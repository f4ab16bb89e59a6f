//! An explained request: tables for people and JSON for programs, with the same sentences.

pub mod table;
mod words;

use super::rows::{ExploredCalls, RequestInContext, RowContext};
use crate::prelude::*;
use ctxsim_engine::cache::{EntryFound, MarkFound};
use ctxsim_engine::explain::{By, Done, EditCause, Explanation, Same, StandingItem};
use ctxsim_engine::ledger::NeedRow;
use ctxsim_input::Policy;
use ctxsim_timeline::row::fields;

pub use words::rendered;

/// Returns who broke a prefix; nobody where a line changed that changes with every request.
pub fn who_broke_prefix(by: Option<By>, policy: &Policy) -> String {
    match by {
        Some(By::Memory) => "recalled memory".to_owned(),
        Some(By::TakenBack) => "edits undone after one request".to_owned(),
        Some(By::Harness) => "the recorded harness".to_owned(),
        Some(by) => words::by(by, policy),
        None => "other content".to_owned(),
    }
}

#[derive(Debug, Serialize)]
struct ExplainDocument<'a> {
    schema: &'static str,
    policy: &'a str,
    scenario: &'a str,
    profile: &'a str,
    request: usize,
    requests: usize,
    asked_by: Option<String>,
    row: Value,
    cost_picodollars: IndexMap<&'static str, Option<u128>>,
    cache: CacheJson<'a>,
    prefix: Value,
    stages: Vec<Value>,
    recoveries: Vec<Value>,
    tokens_beside_items: Tokens,
    #[serde(skip_serializing_if = "is_none")]
    tokens_unread: Tokens,
    items: Vec<Value>,
}

/// Returns whether there are no tokens.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_none(tokens: &Tokens) -> bool {
    *tokens == 0
}

/// What the cache did.
#[derive(Debug, Serialize)]
struct CacheJson<'a> {
    says: String,
    marks: &'a [MarkFound],
    entries: Vec<EntryJson<'a>>,
}

/// An entry, and what happened to it.
#[derive(Debug, Serialize)]
struct EntryJson<'a> {
    #[serde(flatten)]
    entry: &'a EntryFound,
    says: String,
}

/// Returns an explanation as one JSON document, with the texts of the prompt if requested.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json(it: &Explanation, context: RowContext<'_>, has_texts: bool) -> Result<String, serde_json::Error> {
    let (policy, rules) = (context.policy, &context.profile.cache);
    let entry = |it| EntryJson { entry: it, says: words::entry(it, rules) };
    let cost = |it: Cost| Some(it.0);
    let finding = it.finding.as_ref();
    let document = ExplainDocument {
        schema: "ctxsim.explanation/1",
        policy: &policy.name,
        scenario: context.scenario,
        profile: &context.profile.name,
        request: it.n,
        requests: it.of,
        asked_by: it.asked_by.map(|it| words::by(it, policy)),
        row: fields(&RequestInContext {
            row: &it.row,
            id: it.id,
            due: None,
            cost: None,
            explored: it.explored.as_ref().map(ExploredCalls::of),
            context: RowContext { misses: it.missed.as_slice(), ..context },
        }),
        cost_picodollars: IndexMap::from([
            ("cache_read", cost(it.bill.read)),
            ("cache_write", cost(it.bill.write)),
            ("uncached", cost(it.bill.uncached)),
            ("output", cost(it.bill.output)),
            ("total", it.bill.total().map(|it| it.0)),
        ]),
        cache: CacheJson {
            says: words::verdict(it, rules),
            marks: finding.map_or(&[], |it| it.marks.as_slice()),
            entries: finding.map_or(Vec::new(), |it| it.entries.iter().map(entry).listed()),
        },
        prefix: prefix(it, context),
        stages: it.since.iter().map(|it| done(it, policy)).listed(),
        recoveries: it.needs.iter().map(need).listed(),
        tokens_beside_items: it.beside,
        tokens_unread: it.unread,
        items: it.items.iter().map(|it| item(it, changes(&it.causes, context), has_texts)).listed(),
    };
    json_text(&document)
}

/// Returns what a stage did since the previous request.
fn done(it: &Done, policy: &Policy) -> Value {
    group! {
        "by": words::by(it.by, policy),
        "items": it.n_items,
        "tokens_before": it.tokens[0],
        "tokens_after": it.tokens[1],
    }
}

/// Returns something that was due.
fn need(it: &NeedRow) -> Value {
    group! {
        "level": Value::serialised(&it.level),
        "weight": it.weight,
        "met": it.met,
        "expected_calls": it.calls,
        "fetched_tokens": it.fetched,
        "expected_failures": it.failed,
    }
}

/// Returns where the prefix differs.
fn prefix(it: &Explanation, context: RowContext<'_>) -> Value {
    let prefix = it.prefix.as_ref();
    let differs = prefix.and_then(|it| match &it.same {
        Same::Until { item, causes } => Some((*item, changes(causes, context))),
        _ => None,
    });
    group! {
        "says": words::prefix(it, context.policy),
        "compared_with_request": prefix.map(|it| it.of),
        "previous_tokens": prefix.map(|it| it.tokens),
        "same_tokens": prefix.map(|it| it.same_tokens),
        "differs_at_item": differs.as_ref().map(|it| it.0),
        "changes": differs.map(|it| it.1).unwrap_or_default(),
    }
}

/// Returns the changes of an item.
fn changes(causes: &[EditCause], context: RowContext<'_>) -> Vec<Value> {
    let change = |it: &EditCause| {
        let [before, after] = it.change;
        group! {
            "by": words::by(it.by, context.policy),
            "at": it.at.map(words::word),
            "request": it.request,
            "from": words::stood(&before),
            "from_tokens": before.tokens,
            "to": words::stood(&after),
            "to_tokens": after.tokens,
        }
    };
    causes.iter().map(change).listed()
}

fn item(it: &StandingItem, changes: Vec<Value>, has_text: bool) -> Value {
    let all = group! {
        "item": it.item,
        "kind": words::word(it.kind),
        "tool": it.tool.clone(),
        "turn": it.turn_ix,
        "step": it.step,
        "is_new": it.is_new,
        "raw_tokens": it.raw,
        "shown": words::stood(&it.now),
        "shown_tokens": it.now.tokens,
        "behind_summary_at": it.behind,
        "cache_read_tokens": it.cached.read,
        "cache_write_tokens": it.cached.written,
        "uncached_tokens": it.cached.uncached,
        "changes": changes,
    };
    if !has_text || it.now.tokens == 0 {
        return all;
    }
    all.and(group! { "text": words::of_item(it) })
}
