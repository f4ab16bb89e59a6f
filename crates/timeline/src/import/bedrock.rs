//! Logs of Amazon Bedrock: requests of `Converse`, and the records that Bedrock itself writes of invocations.

use std::fmt::Write as _;

use serde_json::json;

use super::bodies::{self, any, sent};
use super::documents::LineCount;
use super::losses::member;
use super::{documents, messages};
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat = LogFormat { name: "bedrock", detect, read };

/// What a block of `Converse` has instead of a type.
const BLOCKS: [&str; 8] =
    ["text", "toolUse", "toolResult", "reasoningContent", "cachePoint", "image", "document", "guardContent"];

fn detect(head: &str) -> bool {
    if !head.contains("\"content\"") {
        return false;
    }
    let Some(first) = bodies::first(head) else { return false };
    first.pointer("/input/inputBodyJson").is_some_and(|it| sent(it, "messages").is_some())
        || sent(&first, "messages").is_some_and(is_converse)
}

/// Returns whether the messages are those of `Converse`.
fn is_converse(body: &Value) -> bool {
    let blocks = || list(&body["messages"]).iter().flat_map(|it| list(&it["content"]));
    blocks().all(|it| it.get("type").is_none())
        && blocks().any(|it| BLOCKS.iter().any(|name| it.get(name).is_some()))
}

/// Reads a log: each request is said in the words of `messages`, on the line on which it stands.
fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let text = lines.rest();
    let (mut said, mut at_line) = (String::new(), 1);
    let mut known = IndexSet::new();
    documents::each(&text, losses, |line, raw, losses| {
        // Where each has its time, a second one is a copy.
        if !known.insert(xxh3_128(raw.get().as_bytes())) && raw.get().contains("\"timestamp\"") {
            return losses.add(line, "repeated lines");
        }
        let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        let Some(request) = request(&value, &mut BillReader::new(line, "usage", losses)) else {
            return losses.add(line, "values without messages");
        };
        losses.locate_by(line, |field| LineCount::new(&text).place(member(raw.get(), field)));
        said.extend(std::iter::repeat_n('\n', line.saturating_sub(at_line)));
        at_line = at_line.max(line);
        // Writing to a text does not fail.
        let _ = write!(said, "{request} ");
    });
    drop(text);
    let mut transcripts = messages::read_text(&said, losses);
    transcripts.iter_mut().for_each(|it| it.tools_of = Some(messages::FORMAT.name));
    transcripts
}

/// Rewrites a request and its reply in the format of `messages`; nothing if it is not a request.
fn request(value: &Value, bill: &mut BillReader<'_>) -> Option<Value> {
    let logged = value.pointer("/input/inputBodyJson");
    let body = sent(logged.unwrap_or(value), "messages")?;
    let response = match (value.pointer("/output/outputBodyJson"), any(value, &["response"])) {
        (Some(logged), _) => logged,
        (None, Value::Null) => any(body, &["response"]),
        (None, found) => found,
    };
    let model = [any(value, &["modelId", "model"]), any(body, &["modelId", "model"])];
    let model = model.into_iter().find_map(Value::as_str).unwrap_or_default();
    // An inference profile is named by its resource.
    let model = model.rsplit('/').next().unwrap_or_default();
    let timestamp = any(value, &["startTime", "timestamp"]);
    if !is_converse(body) {
        // The interface of the model's maker, whose words `messages` knows.
        return Some(json!({
            "timestamp": timestamp, "model": model, "system": body.get("system"), "tools": body.get("tools"),
            "messages": body["messages"], "response": response,
        }));
    }
    let tools: Vec<&Value> =
        list(&body["toolConfig"]["tools"]).iter().map(|it| it.get("toolSpec").unwrap_or(it)).collect();
    let messages: Vec<Value> = list(&body["messages"])
        .iter()
        .map(|it| json!({"role": it["role"], "content": blocks(&it["content"])}))
        .collect();
    Some(json!({
        "timestamp": timestamp,
        "model": model,
        "system": blocks(&body["system"]),
        "tools": tools,
        "messages": messages,
        "response": reply(response, bill),
    }))
}

fn reply(response: &Value, bill: &mut BillReader<'_>) -> Option<Value> {
    let content = blocks(response.pointer("/output/message/content")?);
    let usage = response.get("usage").filter(|it| !it.is_null()).and_then(|it| billed(it, bill));
    Some(json!({"content": content, "usage": usage}))
}

/// Says a bill, whose input is without what was read and written.
fn billed(usage: &Value, bill: &mut BillReader<'_>) -> Option<Value> {
    bill.tell_unknown(usage);
    let mut count = |record: &Value, field: &str| bill.count(field, Count::of(&record[field]));
    let input = count(usage, "inputTokens");
    let output = count(usage, "outputTokens");
    let read = count(usage, "cacheReadInputTokens");
    let written = count(usage, "cacheWriteInputTokens");
    let of_hour = list(&usage["cacheDetails"]).iter().filter(|it| it["ttl"] == "1h");
    let long = of_hour.map(|it| count(it, "inputTokens")).fold(0, u64::saturating_add);
    bill.less(written, "cacheDetails", long);
    (bill.is_complete && usage.get("inputTokens").is_some()).then(|| {
        let lifetimes = usage.get("cacheDetails").map(|_| json!({"ephemeral_1h_input_tokens": long}));
        json!({
            "input_tokens": input,
            "output_tokens": output,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": lifetimes,
        })
    })
}

/// Says blocks; a cache point is a mark of the block before it.
fn blocks(content: &Value) -> Vec<Value> {
    let mut said: Vec<Value> = Vec::new();
    for block in list(content) {
        match said.last_mut() {
            Some(Value::Object(last)) if block.get("cachePoint").is_some() => {
                let mark = json!({"type": "ephemeral", "ttl": block["cachePoint"].get("ttl")});
                last.insert("cache_control".to_owned(), mark);
            }
            _ => said.extend(self::block(block)),
        }
    }
    said
}

fn block(block: &Value) -> Option<Value> {
    let (name, inner) = block.as_object()?.iter().find(|it| BLOCKS.contains(&it.0.as_str()))?;
    Some(match name.as_str() {
        "text" => json!({"type": "text", "text": inner}),
        "toolUse" => {
            json!({"type": "tool_use", "id": inner["toolUseId"], "name": inner["name"], "input": inner["input"]})
        }
        "toolResult" => {
            let content = list(&inner["content"]).iter().map(|it| match it.get("json") {
                Some(value) => json!({"type": "text", "text": value.to_string()}),
                None => self::block(it).unwrap_or_default(),
            });
            json!({"type": "tool_result", "tool_use_id": inner["toolUseId"], "content": content.collect::<Vec<_>>()})
        }
        "reasoningContent" => json!({"type": "thinking", "thinking": inner.pointer("/reasoningText/text")}),
        "cachePoint" => return None,
        "guardContent" => json!({"type": "text", "text": inner.pointer("/text/text")}),
        picture => json!({"type": picture, "source": inner}),
    })
}
