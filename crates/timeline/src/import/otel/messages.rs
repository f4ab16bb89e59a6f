//! What a request's content says, where the emitter exports it: messages of parts, in the shapes of the emitters.

use super::attributes::{Attributes, arguments, content};
use super::record::OtelRecord;
use crate::import::prelude::*;

#[derive(Clone, Debug)]
pub(super) struct OtelMessage {
    /// `system`, `user`, `assistant` or `tool`.
    pub(super) role: String,
    /// What represents it.
    pub(super) digest: u64,
    /// Its parts; calls and results carry the name of the call.
    pub(super) parts: Vec<Part>,
}

impl OtelRecord {
    /// Returns the messages that were sent; `None` where they are not exported.
    pub(super) fn input(&self) -> Option<Vec<OtelMessage>> {
        let keys = ["gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages"];
        let found =
            self.attributes.structure(&keys).or_else(|| self.attributes.spelt_out("llm.input_messages"));
        let found = found.map(|it| messages(&it, "user"));
        let of_events = || {
            let told = self.events.iter().filter_map(|(name, it)| of_event(name, it));
            Some(told.collect::<Vec<_>>()).filter(|it| !it.is_empty())
        };
        found.or_else(of_events)
    }

    /// Returns the parts of the reply, as far as they are exported.
    pub(super) fn output(&self) -> Vec<Part> {
        let found = self.attributes.structure(&["gen_ai.output.messages", "gen_ai.completion"]);
        let found = found.or_else(|| self.attributes.spelt_out("llm.output_messages"));
        let mut parts: Vec<Part> =
            found.iter().flat_map(|it| messages(it, "assistant")).flat_map(|message| message.parts).collect();
        for (_, event) in self.events.iter().filter(|it| it.0 == "gen_ai.choice") {
            let message = event.structure(&["message"]).or_else(|| event.structure(&["content"]));
            parts.extend(message.iter().flat_map(|it| message_of(it, "assistant").parts));
        }
        if let Some(text) = self.attributes.any(&["ai.response.text", "response_text"]) {
            parts.push(Part::of(Kind::Assistant, content(Some(text))));
        }
        let calls = self.attributes.structure(&["ai.response.toolCalls"]);
        parts.extend(calls.iter().filter_map(Value::as_array).flatten().map(call));
        parts
    }

    /// Returns what stands before every prompt: the tools' schemas, and the system prompt.
    pub(super) fn front(&self) -> Vec<Part> {
        let tools = self.attributes.structure(&["gen_ai.tool.definitions", "ai.prompt.tools"]);
        let tools = tools.or_else(|| self.attributes.spelt_out("llm.tools"));
        let tools = tools.as_ref().and_then(Value::as_array).into_iter().flatten();
        let schema = |it: &Value| arguments(Some(it.get("json_schema").unwrap_or(it)));
        let mut front: Vec<Part> = tools.map(|it| Part::of(Kind::ToolSchema, schema(it))).collect();
        if let Some(system) = self.attributes.structure(&["gen_ai.system_instructions"]) {
            let parts = message_of(&system, "system").parts.into_iter().map(|it| it.with_kind(Kind::System));
            front.extend(parts);
        }
        front
    }
}

/// Reads a list of messages, or a text that is one.
fn messages(value: &Value, role: &str) -> Vec<OtelMessage> {
    match value {
        Value::Array(list) => list.iter().map(|it| message_of(it, role)).collect(),
        value => vec![message_of(value, role)],
    }
}

/// Reads a message; one without a role has the usual one.
fn message_of(value: &Value, usual: &str) -> OtelMessage {
    let role = value.get("role").and_then(Value::as_str).unwrap_or(usual);
    let within = ["parts", "content", "contents", "message"].iter().find_map(|it| value.get(it));
    let mut parts = match within.unwrap_or(value) {
        Value::Array(list) => list.iter().map(|it| piece(it, role)).collect(),
        Value::Null => Vec::new(),
        Value::Object(_) if within.is_none() && value.get("type").is_none() => Vec::new(),
        one => vec![piece(one, role)],
    };
    let calls = value.get("tool_calls").and_then(Value::as_array);
    parts.extend(calls.into_iter().flatten().map(call));
    let id = value.get("tool_call_id").or(value.get("id")).and_then(Value::as_str);
    if let (Some(id), "tool") = (id, role) {
        parts.iter_mut().filter(|it| it.call.is_empty()).for_each(|part| id.clone_into(&mut part.call));
    }
    let digest = xxh3_64(format!("{role}{}", within.unwrap_or(value)).as_bytes());
    OtelMessage { role: role.to_owned(), digest, parts }
}

/// Reads a part of a message.
fn piece(value: &Value, role: &str) -> Part {
    let text = |keys: &[&str]| content(keys.iter().find_map(|it| value.get(it)));
    let name = |keys: &[&str]| keys.iter().find_map(|it| value.get(it)?.as_str()).unwrap_or_default();
    let kind = match role {
        "assistant" | "model" => Kind::Assistant,
        "tool" => Kind::ToolResult,
        "system" => Kind::System,
        _ => Kind::User,
    };
    match name(&["type"]).replace('-', "_").as_str() {
        "tool_call" | "tool_use" => call(value),
        "tool_call_response" | "tool_result" => {
            let id = name(&["id", "toolCallId", "tool_use_id"]);
            let result = text(&["response", "result", "output", "content"]);
            Part::result(id, name(&["name", "toolName"]), result)
        }
        "reasoning" | "thinking" => Part::of(Kind::Reasoning, text(&["content", "text", "thinking"])),
        "" if value.is_string() => Part::of(kind, content(Some(value))),
        "text" | "" => Part::of(kind, text(&["content", "text"])),
        _ => {
            let file: LoggedFile = serde_json::from_value(value.clone()).unwrap_or_default();
            Part::of(kind, file.content(!value.to_string().contains("application/pdf")))
        }
    }
}

/// Reads a call.
fn call(value: &Value) -> Part {
    let function = value.get("function").unwrap_or(value);
    let text = |of: &Value, keys: &[&str]| {
        keys.iter().find_map(|it| of.get(it)?.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let asked = ["arguments", "args", "input"].iter().find_map(|it| function.get(it));
    Part::call(&text(value, &["id", "toolCallId"]), &text(function, &["name", "toolName"]), arguments(asked))
}

/// Reads a message that is an event of its span.
fn of_event(name: &str, event: &Attributes) -> Option<OtelMessage> {
    let role = name.strip_prefix("gen_ai.")?.strip_suffix(".message")?;
    let mut value = serde_json::Map::new();
    for key in ["content", "tool_calls", "id"] {
        value.extend(event.structure(&[key]).map(|it| (key.to_owned(), it)));
    }
    Some(message_of(&Value::Object(value), role))
}
