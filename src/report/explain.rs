//! An explained request: tables for people and JSON for programs, with the same sentences.

mod render;
pub mod table;
mod words;

use indexmap::IndexMap;
use serde::Serialize;

use super::rows::{self, Context, RequestJson};
use crate::cache::{EntryFound, MarkFound};
use crate::explain::{By, Cause, Explanation, Prefix, Same, Standing};
use crate::input::Policy;
use crate::quantity::{Cost, Tokens};
use crate::timeline::Level;

pub use render::rendered;

/// Returns who broke a prefix; nobody where a line changed that changes with every request.
#[must_use]
pub fn who(by: Option<By>, policy: &Policy) -> String {
    match by {
        Some(By::Memory) => "recalled memory".to_owned(),
        Some(By::TakenBack) => "edits undone after one request".to_owned(),
        Some(By::Harness) => "the recorded harness".to_owned(),
        Some(by) => words::by(by, policy),
        None => "other content".to_owned(),
    }
}

/// The document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    policy: &'a str,
    scenario: &'a str,
    profile: &'a str,
    request: usize,
    requests: usize,
    asked_by: Option<String>,
    row: RequestJson<'a>,
    cost_picodollars: IndexMap<&'static str, Option<u128>>,
    cache: CacheJson<'a>,
    prefix: PrefixJson,
    stages: Vec<DoneJson>,
    recoveries: Vec<NeedJson>,
    tokens_beside_items: Tokens,
    #[serde(skip_serializing_if = "is_none")]
    tokens_unread: Tokens,
    items: Vec<ItemJson<'a>>,
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

/// Where the prefix differs.
#[derive(Debug, Serialize)]
struct PrefixJson {
    says: String,
    compared_with_request: Option<usize>,
    previous_tokens: Option<Tokens>,
    same_tokens: Option<Tokens>,
    differs_at_item: Option<u32>,
    changes: Vec<ChangeJson>,
}

/// A change of an item.
#[derive(Debug, Serialize)]
struct ChangeJson {
    by: String,
    at: Option<String>,
    request: Option<usize>,
    from: String,
    from_tokens: u32,
    to: String,
    to_tokens: u32,
}

/// What a stage did since the previous request.
#[derive(Debug, Serialize)]
struct DoneJson {
    by: String,
    items: usize,
    tokens_before: Tokens,
    tokens_after: Tokens,
}

/// Something that was due.
#[derive(Debug, Serialize)]
struct NeedJson {
    level: Level,
    weight: f64,
    met: f64,
    expected_calls: f64,
    fetched_tokens: Tokens,
    expected_failures: f64,
}

/// An item.
#[derive(Debug, Serialize)]
struct ItemJson<'a> {
    item: u32,
    kind: String,
    tool: Option<&'a str>,
    turn: Option<u32>,
    step: u32,
    is_new: bool,
    raw_tokens: u32,
    shown: String,
    shown_tokens: u32,
    behind_summary_at: Option<u32>,
    cache_read_tokens: Tokens,
    cache_write_tokens: Tokens,
    uncached_tokens: Tokens,
    changes: Vec<ChangeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Returns an explanation as one JSON document, with the texts of the prompt if requested.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json(it: &Explanation, context: Context<'_>, has_texts: bool) -> Result<String, serde_json::Error> {
    let (policy, rules) = (context.policy, &context.profile.cache);
    let entry = |it| EntryJson { entry: it, says: words::entry(it, rules) };
    let cost = |it: Cost| Some(it.0);
    let changes = |causes: &[Cause]| causes.iter().map(|it| change(it, context)).collect();
    let finding = it.finding.as_ref();
    let document = Document {
        schema: "ctxsim.explanation/1",
        policy: &policy.name,
        scenario: context.scenario,
        profile: &context.profile.name,
        request: it.n,
        requests: it.of,
        asked_by: it.asked_by.map(|it| words::by(it, policy)),
        row: rows::request(&it.row, None, context),
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
            entries: finding.map_or(Vec::new(), |it| it.entries.iter().map(entry).collect()),
        },
        prefix: prefix(it, context),
        stages: it
            .since
            .iter()
            .map(|it| DoneJson {
                by: words::by(it.by, policy),
                items: it.n_items,
                tokens_before: it.tokens[0],
                tokens_after: it.tokens[1],
            })
            .collect(),
        recoveries: it
            .needs
            .iter()
            .map(|it| NeedJson {
                level: it.level,
                weight: it.weight,
                met: it.met,
                expected_calls: it.calls,
                fetched_tokens: it.fetched,
                expected_failures: it.failed,
            })
            .collect(),
        tokens_beside_items: it.beside,
        tokens_unread: it.unread,
        items: it.items.iter().map(|it| item(it, changes(&it.causes), has_texts)).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn prefix(it: &Explanation, context: Context<'_>) -> PrefixJson {
    let says = words::prefix(it, context.policy);
    let mut json = PrefixJson {
        says,
        compared_with_request: None,
        previous_tokens: None,
        same_tokens: None,
        differs_at_item: None,
        changes: Vec::new(),
    };
    if let Some(Prefix { of, tokens, same_tokens, same, .. }) = &it.prefix {
        json.compared_with_request = Some(*of);
        json.previous_tokens = Some(*tokens);
        json.same_tokens = Some(*same_tokens);
        if let Same::Until { item, causes } = same {
            json.differs_at_item = Some(*item);
            json.changes = causes.iter().map(|it| change(it, context)).collect();
        }
    }
    json
}

fn change(it: &Cause, context: Context<'_>) -> ChangeJson {
    let [before, after] = it.change;
    ChangeJson {
        by: words::by(it.by, context.policy),
        at: it.at.map(words::word),
        request: it.request,
        from: words::stood(&before),
        from_tokens: before.tokens,
        to: words::stood(&after),
        to_tokens: after.tokens,
    }
}

fn item<'a>(it: &'a Standing, changes: Vec<ChangeJson>, has_text: bool) -> ItemJson<'a> {
    ItemJson {
        item: it.item,
        kind: words::word(it.kind),
        tool: it.tool.as_deref(),
        turn: it.turn_ix,
        step: it.step,
        is_new: it.is_new,
        raw_tokens: it.raw,
        shown: words::stood(&it.now),
        shown_tokens: it.now.tokens,
        behind_summary_at: it.behind,
        cache_read_tokens: it.cached.read,
        cache_write_tokens: it.cached.written,
        uncached_tokens: it.cached.uncached,
        changes,
        text: (has_text && it.now.tokens > 0).then(|| render::of_item(it)),
    }
}
