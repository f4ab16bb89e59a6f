//! Logs of the Gemini interface: requests of `generateContent` with their `contents`.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::bodies::{self, any, count, list, sent};
use super::format::{Checked, LogFormat};
use super::usage::BillReader;

/// The field of the bill.
const USAGE: &str = "response.usageMetadata";

pub(super) const FORMAT: LogFormat = LogFormat {
    name: "gemini-api",
    looks_like: "JSON: requests with a list of `contents` that have `parts`, and a `response`",
    place: "logs of `generateContent`, wherever they are written",
    reads: "system instructions, tools, contents with calls and their results, replies (also in pieces), usage",
    omits: "explicit caches, whose contents stand in no request; what a log leaves out",
    checked: Checked::Structure("made-up requests, after the interface's documents"),
    detect,
    read: |lines, losses| bodies::read(lines, USAGE, request, losses),
    scan: None,
};

fn detect(head: &str) -> bool {
    let has = |word: &str| head.contains(word);
    if !has("\"contents\"") || !has("\"parts\"") {
        return false;
    }
    let first = bodies::first(head).unwrap_or_default();
    sent(&first, "contents")
        .is_some_and(|it| list(&it["contents"]).iter().any(|it| it.get("parts").is_some()))
}

fn request(value: &Value, bill: &mut BillReader<'_>) -> Option<Value> {
    let body = sent(value, "contents")?;
    let config = any(body, &["config"]);
    let either = |names: &[&str]| match any(body, names) {
        Value::Null => any(config, names),
        found => found,
    };
    let system = parts(either(&["systemInstruction", "system_instruction"]));
    let tools: Vec<&Value> = list(either(&["tools"]))
        .iter()
        .flat_map(|it| match any(it, &["functionDeclarations", "function_declarations"]) {
            Value::Array(declared) => declared.iter().collect(),
            _ => vec![it],
        })
        .collect();
    let mut calls = Calls::default();
    let messages: Vec<Value> = list(&body["contents"])
        .iter()
        .map(|it| {
            let role = if it["role"] == "model" { "assistant" } else { "user" };
            json!({"role": role, "content": calls.blocks(parts(it))})
        })
        .collect();
    let response = match any(value, &["response"]) {
        Value::Null => any(body, &["response"]),
        found => found,
    };
    let model = [any(value, &["model"]), any(body, &["model"])].into_iter().find(|it| it.is_string());
    Some(json!({
        "timestamp": any(value, &["startTime", "timestamp"]),
        "model": model,
        "system": calls.blocks(system),
        "tools": tools,
        "messages": messages,
        "response": reply(response, &mut calls, bill),
    }))
}

/// Says a reply, which may be in pieces.
fn reply(response: &Value, calls: &mut Calls, bill: &mut BillReader<'_>) -> Option<Value> {
    let pieces = match response {
        Value::Array(pieces) => pieces.as_slice(),
        Value::Object(_) => std::slice::from_ref(response),
        _ => return None,
    };
    let said =
        pieces.iter().flat_map(|it| parts(it.pointer("/candidates/0/content").unwrap_or(&Value::Null)));
    let blocks = calls.blocks(&said.cloned().collect::<Vec<_>>());
    let last = |names: &[&str]| pieces.iter().rev().map(|it| any(it, names)).find(|it| !it.is_null());
    let usage = last(&["usageMetadata", "usage_metadata"]).and_then(|it| billed(it, bill));
    Some(json!({
        "id": last(&["responseId", "response_id"]).unwrap_or(&Value::Null),
        "model": last(&["modelVersion", "model_version"]),
        "content": blocks,
        "usage": usage,
    }))
}

/// Says a bill, in which what was read from the cache is a part of the prompt, and thoughts are no part of what was said.
fn billed(usage: &Value, bill: &mut BillReader<'_>) -> Option<Value> {
    let prompt = count(bill, usage, "promptTokenCount") + count(bill, usage, "toolUsePromptTokenCount");
    let read = count(bill, usage, "cachedContentTokenCount");
    let thoughts = count(bill, usage, "thoughtsTokenCount");
    let output = count(bill, usage, "candidatesTokenCount") + thoughts;
    bill.less(prompt, "cachedContentTokenCount", read);
    (bill.is_complete() && prompt > 0).then(|| {
        json!({
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "prompt_tokens_details": {"cached_tokens": read},
            "completion_tokens_details": {"reasoning_tokens": thoughts},
        })
    })
}

/// Returns the parts of a content.
fn parts(content: &Value) -> &[Value] {
    match content.get("parts") {
        Some(Value::Array(parts)) => parts,
        Some(part) => std::slice::from_ref(part),
        None if content.is_string() => std::slice::from_ref(content),
        None => &[],
    }
}

/// The calls of a conversation so far: most have no name of their own, and a result goes by the tool's.
#[derive(Default)]
struct Calls {
    /// By tool, how many calls there were, and how many results.
    by_tool: IndexMap<String, [usize; 2]>,
}

impl Calls {
    /// Returns what a call is called (0), or the call that a result answers (1).
    fn name(&mut self, function: &Value, which: usize) -> String {
        let tool = function["name"].as_str().unwrap_or_default();
        let counts = self.by_tool.entry(tool.to_owned()).or_default();
        counts[which] += 1;
        function["id"].as_str().map_or_else(|| format!("{tool}/{}", counts[which]), str::to_owned)
    }

    /// Says the parts of a content as blocks.
    fn blocks(&mut self, parts: &[Value]) -> Vec<Value> {
        parts.iter().map(|it| self.block(it)).collect()
    }

    fn block(&mut self, part: &Value) -> Value {
        match (
            any(part, &["functionCall", "function_call"]),
            any(part, &["functionResponse", "function_response"]),
        ) {
            (Value::Null, Value::Null) => {}
            (Value::Null, result) => {
                let call = self.name(result, 1);
                return json!({"type": "tool_result", "tool_use_id": call, "content": answer(&result["response"])});
            }
            (call, _) => {
                let id = self.name(call, 0);
                return json!({"type": "tool_use", "id": id, "name": call["name"], "input": call["args"]});
            }
        }
        let text = if part.is_string() { part } else { &part["text"] };
        match any(part, &["inlineData", "inline_data", "fileData", "file_data"]) {
            Value::Null if part["thought"] == true => json!({"type": "thinking", "thinking": text}),
            Value::Null => json!({"type": "text", "text": text.as_str().unwrap_or_default()}),
            data => json!({"type": "image", "source": data}),
        }
    }
}

/// Returns what a tool answers: most give one text.
fn answer(response: &Value) -> String {
    match any(response, &["output", "result", "error", "content"]) {
        Value::String(text) => text.clone(),
        _ => response.to_string(),
    }
}
