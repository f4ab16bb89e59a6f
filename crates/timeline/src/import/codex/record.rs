//! One line of a rollout as written, and the items of the Responses interface that it holds.

use crate::import::content::{Arguments, Content, Measured};
use crate::import::transcript::{Named, Part};
use crate::import::usage::{BillReader, Shaped};
use crate::import::values::{Count, MessageContent, Text};
use crate::{Kind, Usage};
use ctxsim_base::quantity::Tokens;

/// A record.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CodexRecord<'a> {
    /// When it was written, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// `response_item`, `event_msg`, `session_meta`, `turn_context` or `compacted`.
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// What it holds.
    pub(super) payload: Option<ItemRecord<'a>>,
}

/// An item of the conversation, and what records of other types hold.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(in crate::import) struct ItemRecord<'a> {
    /// `message`, `reasoning`, `function_call`, `function_call_output`, … or the type of an event.
    #[serde(rename = "type")]
    pub(in crate::import) kind: Text<'a>,
    /// Of a `session_meta`: the session's name.
    pub(super) id: Text<'a>,
    /// Of a `session_meta`: the session whose turns stand again at the front of this one.
    pub(super) forked_from_id: Text<'a>,
    /// The turn that begins, of what begins one.
    pub(super) turn_id: Text<'a>,
    /// Who speaks, in a `message`.
    pub(in crate::import) role: Text<'a>,
    /// What a `message` says.
    pub(in crate::import) content: MessageContent<'a>,
    /// The tool's name.
    name: Text<'a>,
    /// The call's name.
    call_id: Text<'a>,
    /// The arguments of a function.
    arguments: Option<Content>,
    /// The text that a custom tool is given.
    input: Option<Content>,
    /// What a shell or a search is asked for.
    action: Option<Arguments>,
    /// What came back.
    output: Option<MessageContent<'a>>,
    /// The tools that a search found.
    tools: Option<Measured>,
    /// Which part of the reasoning may be read.
    summary: Option<Measured>,
    /// The reasoning itself.
    encrypted_content: Option<Measured>,
    /// Of a `turn_context`: the model that answers from here on.
    pub(super) model: Text<'a>,
    /// Of a `token_count`.
    pub(super) info: Shaped<CodexTokenInfo>,
    /// Of a `token_count`: how far the account's limits are used up.
    pub(super) rate_limits: Shaped<CodexLimits<'a>>,
    /// Of a `session_meta`: what the session was started by, where that is not a name.
    pub(super) source: Shaped<CodexSource<'a>>,
    /// Of a `session_meta`: the working folder.
    pub(super) cwd: Text<'a>,
    /// Of a `session_meta`: the version of the agent.
    pub(super) cli_version: Text<'a>,
    /// Of a `session_meta`: the system prompt.
    pub(super) base_instructions: Option<Measured>,
    /// The same, of older versions.
    pub(super) instructions: Option<Measured>,
    /// Of a `compacted`: the summary.
    pub(super) message: Option<Content>,
    /// Of a `compacted`: what is in the place of the history.
    pub(super) replacement_history: Option<Vec<ItemRecord<'a>>>,
}

/// How far the limits of an account are used up.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CodexLimits<'a> {
    /// The account's plan.
    pub(super) plan_type: Text<'a>,
}

/// What a session was started by.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CodexSource<'a> {
    /// The kind of sub-agent that it is.
    pub(super) subagent: Text<'a>,
}

/// What was billed so far, and for the last response.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct CodexTokenInfo {
    /// Everything so far.
    pub(super) total_token_usage: Shaped<CodexUsage>,
    /// The last response.
    pub(super) last_token_usage: Shaped<CodexUsage>,
}

/// What was billed.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct CodexUsage {
    /// The whole prompt.
    input_tokens: Option<Count>,
    /// Which part of it was read from the cache.
    cached_input_tokens: Count,
    /// Which part of it was written to the cache, in versions that say so.
    cache_write_input_tokens: Count,
    /// What the model wrote, reasoning included.
    output_tokens: Option<Count>,
    /// The reasoning.
    reasoning_output_tokens: Count,
}

impl CodexUsage {
    /// Returns the numbers of a sum, which is only compared with others: nothing depends on what of it was written.
    pub(super) fn sum(shaped: Shaped<Self>, bill: BillReader<'_>) -> Option<Usage> {
        let shaped = match shaped {
            Shaped::Object(it) => Shaped::Object(Self { cache_write_input_tokens: Count::default(), ..it }),
            other => other,
        };
        Self::usage(shaped, bill).map(|it| it.0)
    }

    /// Returns the numbers, and how many tokens of the output were reasoning, if the record has them all.
    pub(super) fn usage(shaped: Shaped<Self>, mut bill: BillReader<'_>) -> Option<(Usage, Tokens)> {
        let record = bill.record(shaped);
        let prompt = bill.required("input_tokens", record.input_tokens);
        let cache_read = bill.count("cached_input_tokens", record.cached_input_tokens);
        let unread = bill.less(prompt, "cached_input_tokens", cache_read);
        let cache_write = bill.count("cache_write_input_tokens", record.cache_write_input_tokens);
        let uncached = bill.less(unread, "cache_write_input_tokens", cache_write);
        let output = bill.required("output_tokens", record.output_tokens);
        let reasoning = bill.count("reasoning_output_tokens", record.reasoning_output_tokens).min(output);
        let usage = Usage { prompt, cache_read, cache_write, uncached, output, ..Usage::default() };
        bill.is_complete().then_some((usage, reasoning))
    }
}

impl ItemRecord<'_> {
    /// Returns what an item of history is that no request shows any more: each side's words, calls and results among them.
    pub(super) fn to_history(&self) -> Part {
        let kind = match self.kind.0.as_ref() {
            "message" if self.role.0 == "assistant" => Kind::Assistant,
            "message" => Kind::User,
            _ => Kind::Summary,
        };
        match item_output(self).or_else(|| item_call(self)) {
            Some(named) => named.part.with_kind(kind),
            None if kind == Kind::Summary => item_reasoning(self).with_kind(kind),
            None => Part::of(kind, self.content.to_content()),
        }
    }

    /// Returns whether its turn began before a session, if the times in their names say so.
    pub(super) fn is_turn_before(&self, session: &str) -> Option<bool> {
        Some(uuid_ms(&self.turn_id.0)? < uuid_ms(session)?)
    }
}

/// Returns the time in a name that is a UUID of version 7, in milliseconds since 1970.
fn uuid_ms(name: &str) -> Option<u64> {
    let digits: Vec<&str> = name.split('-').collect();
    let [high, low, version, _, _] = digits[..] else { return None };
    let is_v7 = high.len() == 8 && low.len() == 4 && version.starts_with('7');
    is_v7.then(|| u64::from_str_radix(&format!("{high}{low}"), 16).ok()).flatten()
}

/// Returns the call that an item is, if it is one.
pub(in crate::import) fn item_call(item: &ItemRecord<'_>) -> Option<Named> {
    let kind = item.kind.0.as_ref();
    if !kind.ends_with("_call") {
        return None;
    }
    let asked = item.arguments.clone().or_else(|| item.input.clone()).or(item.action.clone().map(|it| it.0));
    let tool = if item.name.0.is_empty() { kind.trim_end_matches("_call") } else { item.name.0.as_ref() };
    Some(Named::call(&item.call_id.0, tool, asked.unwrap_or_default()))
}

/// Returns the result that an item is, if it is one.
pub(in crate::import) fn item_output(item: &ItemRecord<'_>) -> Option<Named> {
    if !item.kind.0.ends_with("_output") {
        return None;
    }
    let output = item
        .output
        .as_ref()
        .map_or_else(|| item.tools.unwrap_or_default().into(), MessageContent::to_content);
    Some(Named { call: item.call_id.0.as_ref().to_owned(), part: Part::of(Kind::ToolResult, output) })
}

pub(in crate::import) fn item_reasoning(item: &ItemRecord<'_>) -> Part {
    Part::of(Kind::Reasoning, item.encrypted_content.or(item.summary).unwrap_or_default())
}
