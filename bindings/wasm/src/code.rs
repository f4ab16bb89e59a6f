//! Policies as functions: what they see of a run, and what they answer.

use ctxsim::{BoxError, CodePolicy, Cx, Entry, ItemId, Kind, ModelCall, Part, Text, View};
use js_sys::{Array, Error, Function, JSON, Reflect};
use send_wrapper::SendWrapper;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
export type Kind = "system" | "tool_schema" | "user" | "assistant" | "reasoning" | "tool_call" | "tool_result" | "summary" | "memory" | "approval" | "image";
/** One entry of a history, as it arrived; earlier views never change it. */
export interface Entry {
  /** Its number, in order of arrival across all sessions of a run. */
  readonly id: number;
  readonly kind: Kind;
  /** The tool of a call or a result; empty for others. */
  readonly tool: string;
  /** For a result, the number of its call. */
  readonly call: number | null;
  /** Its text, if the session has text; for a call, its input as JSON. */
  readonly text: string | null;
  readonly tokens: number;
  /** Whether every request sends it unchanged, in front of everything else. */
  readonly isStable: boolean;
}
/** The circumstances of a request. */
export interface Cx {
  /** The number of the request, from 0. */
  readonly request: number;
  /** The session, from 0. */
  readonly session: number;
  /** The turn, from 0. */
  readonly turn: number;
  /** Milliseconds from the start of the scenario to this request. */
  readonly nowMs: number;
  /** Milliseconds since the last request started. */
  readonly idleMs: number;
  /** How long a cache entry lives after its last use; null if the provider does not say. */
  readonly ttlMs: number | null;
  /** The size of the request in tokens if nothing were changed. */
  readonly promptTokens: number;
  /** The profile's prompt limit in tokens; null if it sets none. */
  readonly promptLimit: number | null;
  /** The index in the history of the first entry added since the last view. */
  readonly newFrom: number;
  /** The numbers of the entries that the recorded harness removed since the last view. */
  readonly gone: readonly number[];
  /** Whether the last request has expired from the provider's cache by now. */
  readonly isCold: boolean;
}
/** What happens in a run. */
export interface Trace {
  readonly name: string;
  readonly turns: number;
  readonly requests: number;
  /** The random seed of the run, in decimal. */
  readonly seed: string;
  readonly promptLimit: number | null;
}
/** A text, or one that is known only by its size in tokens and a number that tells it from others. */
export type Words = string | { tokens: number; number: number };
/** What can be said of a text of the policy's own. */
export interface About {
  /** The text names a handle with which the agent can fetch the entry again. */
  handle?: boolean;
  /** The text keeps the exact evidence in the entry. */
  exact?: boolean;
  /** The model call that wrote it, billed once; sizes are tokens. */
  writtenBy?: { input: number; output: number; sharesPrefix?: boolean };
}
/** A part of a view: an entry or its number, which is kept; an entry with new text; or text of the policy's own. */
export type Part = Entry | number
  | ({ rewrite: number; text: Words } & About)
  | ({ insert: Kind; text: Words; replaces?: number[] } & About);
export type View = (cx: Cx, history: readonly Entry[]) => readonly Part[];
export type Make = (trace: Trace) => View;
"#;

/// An entry as JavaScript writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: u32,
    kind: Kind,
    tool: &'a str,
    call: Option<u32>,
    text: Option<&'a str>,
    tokens: u64,
    is_stable: bool,
}

/// The circumstances of a request as JavaScript writes them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Seen<'a> {
    request: u64,
    session: u32,
    turn: u32,
    now_ms: i64,
    idle_ms: u64,
    ttl_ms: Option<u64>,
    prompt_tokens: u64,
    prompt_limit: Option<u64>,
    new_from: usize,
    gone: &'a [ItemId],
    is_cold: bool,
}

/// What happens in a run as JavaScript writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    name: &'a str,
    turns: usize,
    requests: usize,
    seed: String,
    prompt_limit: Option<u64>,
}

/// A part that is not just kept.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Answer {
    rewrite: Option<u32>,
    insert: Option<Kind>,
    text: Words,
    #[serde(default)]
    replaces: Vec<u32>,
    #[serde(default)]
    handle: bool,
    #[serde(default)]
    exact: bool,
    written_by: Option<Call>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Text(String),
    Sized { tokens: u64, number: u64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Call {
    input: u64,
    output: u64,
    #[serde(default)]
    shares_prefix: bool,
}

/// Makes a policy of a function that makes a view for each run.
pub(crate) fn code(name: &str, make: Function) -> CodePolicy {
    let make = SendWrapper::new(make);
    CodePolicy::view(name, move |trace| {
        let told = Told {
            name: trace.name(),
            turns: trace.turns(),
            requests: trace.requests(),
            seed: trace.seed().to_string(),
            prompt_limit: trace.prompt_limit(),
        };
        let view = object(&told).and_then(|it| make.call1(&JsValue::NULL, &it).map_err(|it| said(&it)));
        let view = view.and_then(|it| {
            it.dyn_into::<Function>()
                .map_err(|_| "the policy returned no function: return `view(cx, history)`".to_owned())
        });
        Viewed { view: SendWrapper::new(view), ids: Vec::new(), history: SendWrapper::new(Array::new()) }
    })
}

/// A view in JavaScript, with the entries that it has been shown: nobody has to follow what has gone.
struct Viewed {
    view: SendWrapper<Result<Function, String>>,
    /// The numbers of the entries of the last history, in its order.
    ids: Vec<u32>,
    history: SendWrapper<Array>,
}

impl View for Viewed {
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        self.show(history)?;
        let view = self.view.as_ref().map_err(Clone::clone)?;
        let seen = object(&Seen::new(cx))?;
        // What the function does to its list changes nothing of the next.
        let shown = self.history.slice(0, self.history.length());
        let answer = view.call2(&JsValue::NULL, &seen, &shown).map_err(|it| said(&it))?;
        let Ok(parts) = answer.dyn_into::<Array>() else {
            return Err("the view is no list of parts; it must answer at once, not with a promise".into());
        };
        parts.iter().map(|it| part(&it)).collect()
    }
}

impl Viewed {
    /// Brings the list of entries up to a history; an entry is made once, however often it is shown.
    fn show(&mut self, history: &[Entry<'_>]) -> Result<(), BoxError> {
        let same = self.ids.iter().zip(history).take_while(|(had, it)| **had == it.id.0).count();
        let had: Vec<(u32, JsValue)> = (same..self.ids.len())
            .map(|at| (self.ids[at], self.history.at(i32::try_from(at).unwrap_or(i32::MAX))))
            .collect();
        self.ids.truncate(same);
        self.history.set_length(u32::try_from(same)?);
        for it in &history[same..] {
            let entry = match had.binary_search_by_key(&it.id.0, |it| it.0) {
                Ok(at) => had[at].1.clone(),
                Err(_) => object(&Shown::new(it))?,
            };
            self.ids.push(it.id.0);
            self.history.push(&entry);
        }
        Ok(())
    }
}

impl<'a> Shown<'a> {
    fn new(it: &Entry<'a>) -> Self {
        Self {
            id: it.id.0,
            kind: it.kind,
            tool: it.tool,
            call: it.call.map(|it| it.0),
            text: it.text,
            tokens: it.tokens,
            is_stable: it.is_stable,
        }
    }
}

impl<'a> Seen<'a> {
    fn new(cx: &Cx<'a>) -> Self {
        Self {
            request: cx.request,
            session: cx.session,
            turn: cx.turn,
            now_ms: cx.now_ms,
            idle_ms: cx.idle_ms,
            ttl_ms: cx.ttl_ms,
            prompt_tokens: cx.prompt_tokens,
            prompt_limit: cx.prompt_limit,
            new_from: cx.new_from,
            gone: cx.gone,
            is_cold: cx.is_cold(),
        }
    }
}

/// Reads one part of a view.
fn part(it: &JsValue) -> Result<Part, BoxError> {
    if let Some(id) = number(it) {
        return Ok(Part::keep(ItemId(id)));
    }
    let is_entry = Reflect::get(it, &"tokens".into()).is_ok_and(|it| !it.is_undefined());
    if let Some(id) = Reflect::get(it, &"id".into()).ok().and_then(|it| number(&it)).filter(|_| is_entry) {
        return Ok(Part::keep(ItemId(id)));
    }
    let text = JSON::stringify(it).ok().map(String::from).filter(|_| it.is_object());
    let text = text.ok_or("a view is made of entries, their numbers and parts")?;
    let answer: Answer = serde_json::from_str(&text).map_err(|it| format!("a part cannot be read: {it}"))?;
    answer.part()
}

/// Returns a number that can be an entry's.
fn number(it: &JsValue) -> Option<u32> {
    let number = it.as_f64()?;
    let is_id = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number of this range"
    )]
    is_id.then_some(number as u32)
}

impl Answer {
    fn part(self) -> Result<Part, BoxError> {
        let text = match self.text {
            Words::Text(words) => Text::from(words),
            Words::Sized { tokens, number } => Text::sized(tokens, number),
        };
        let part = match (self.rewrite, self.insert) {
            (Some(id), None) => Part::rewrite(ItemId(id), text),
            (None, Some(kind)) => Part::insert(kind, text).replacing(self.replaces.into_iter().map(ItemId)),
            _ => return Err("a part with text has either `rewrite` or `insert`".into()),
        };
        let part = if self.handle { part.with_handle() } else { part };
        let part = if self.exact { part.exact() } else { part };
        Ok(match self.written_by {
            Some(call) if call.shares_prefix => {
                part.written_by(ModelCall::new(call.input, call.output).sharing_prefix())
            }
            Some(call) => part.written_by(ModelCall::new(call.input, call.output)),
            None => part,
        })
    }
}

/// Returns a value as JavaScript has it.
fn object(value: &impl Serialize) -> Result<JsValue, String> {
    let text = serde_json::to_string(value).map_err(|it| it.to_string())?;
    JSON::parse(&text).map_err(|it| said(&it))
}

/// Says what was thrown, and where.
fn said(thrown: &JsValue) -> String {
    let Some(error) = thrown.dyn_ref::<Error>() else {
        let words = JSON::stringify(thrown).map_or_else(|_| "something".to_owned(), String::from);
        return format!("threw {words}");
    };
    let words = String::from(error.to_string());
    let stack = Reflect::get(error, &"stack".into()).ok().and_then(|it| it.as_string()).unwrap_or_default();
    let place = stack.lines().find(|it| it.trim_start().starts_with("at ")).map(str::trim);
    match place {
        Some(place) => format!("{words} ({place})"),
        None => words,
    }
}
