//! One line of a rollout as written, and the items of the Responses interface that it holds.

use crate::import::prelude::*;

use crate::import::content::Arguments;

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
    pub(super) info: Value,
    /// Of a `token_count`: how far the account's limits are used up.
    pub(super) rate_limits: Value,
    /// Of a `session_meta`: what the session was started by, where that is not a name.
    pub(super) source: Value,
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
