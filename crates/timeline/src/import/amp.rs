//! Amp's threads: one JSON document per thread, with the usage of each reply.

use serde_json::{Value, json};

use super::bodies::{self, any, count, list, text};
use super::format::{Checked, LogFormat};
use super::usage::BillReader;

/// The field of the bill.
const USAGE: &str = "usage";

pub(super) const FORMAT: LogFormat = LogFormat {
    name: "amp",
    looks_like: "one JSON document with an `id` and `messages`, whose replies have `usage` with `inputTokens`",
    place: "~/.local/share/amp/threads/T-*.json",
    reads: "messages, thoughts, tool calls and results, usage per reply with what was read and written",
    omits: "the system prompt and the tool schemas; what the ledger bills beside replies; credits",
    checked: Checked::Structure("a made-up thread, after the fields that ccusage reads"),
    detect,
    read: |lines, losses| bodies::read(lines, USAGE, thread, losses),
    scan: None,
};

fn detect(head: &str) -> bool {
    let has = |word: &str| head.contains(word);
    has("\"messages\"") && has("\"inputTokens\"") && bodies::first(head).is_some_and(|it| is_thread(&it))
}

fn is_thread(value: &Value) -> bool {
    let is_reply = |it: &Value| it["role"] == "assistant" && it["usage"].get("inputTokens").is_some();
    value["id"].is_string() && list(&value["messages"]).iter().any(is_reply)
}

fn thread(value: &Value, bill: &mut BillReader<'_>) -> Option<Value> {
    if !is_thread(value) {
        return None;
    }
    let messages: Vec<Value> = list(&value["messages"]).iter().map(|it| message(it, bill)).collect();
    Some(json!({ "messages": messages }))
}

fn message(message: &Value, bill: &mut BillReader<'_>) -> Value {
    let usage = &message["usage"];
    let [sent, written] = [&message["meta"]["sentAt"], &usage["timestamp"]];
    let content = match &message["content"] {
        Value::Array(blocks) => Value::Array(blocks.iter().map(block).collect()),
        said => said.clone(),
    };
    json!({
        "role": message["role"],
        "content": content,
        "timestamp": if written.is_null() { sent } else { written },
        "model": usage["model"],
        "usage": usage.is_object().then(|| billed(usage, bill)),
    })
}

/// Says a bill, whose input is without what was read and written.
fn billed(usage: &Value, bill: &mut BillReader<'_>) -> Value {
    json!({
        "input_tokens": count(bill, usage, "inputTokens"),
        "output_tokens": count(bill, usage, "outputTokens"),
        "cache_read_input_tokens": count(bill, usage, "cacheReadInputTokens"),
        "cache_creation_input_tokens": count(bill, usage, "cacheCreationInputTokens"),
    })
}

/// Says a block; results have other names than those of the interface.
fn block(block: &Value) -> Value {
    if block["type"] != "tool_result" {
        return block.clone();
    }
    let shown = any(&block["run"], &["result", "error"]);
    let shown = if shown.is_null() { String::new() } else { text(shown) };
    json!({"type": "tool_result", "tool_use_id": block["toolUseID"], "content": shown})
}
