//! One line of a chat of Qwen Code as written.

use crate::Kind;
use crate::import::gemini_cli::GeminiContent;
use crate::import::transcript::Part;
use crate::import::usage::{BillReader, Billed, Shaped};
use crate::import::values::{Count, Flag, Text};

/// A record.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct QwenRecord<'a> {
    /// Its name.
    pub(super) uuid: Text<'a>,
    /// The record that it follows.
    pub(super) parent_uuid: Text<'a>,
    /// The session.
    pub(super) session_id: Text<'a>,
    /// The sub-agent that wrote it.
    pub(super) agent_id: Text<'a>,
    /// Whether a sub-agent wrote it.
    pub(super) is_sidechain: Flag,
    /// When it was written, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// `user`, `assistant`, `tool_result` or `system`.
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// What the harness says that it is.
    pub(super) subtype: Text<'a>,
    /// What is said.
    pub(super) message: Option<QwenMessageRecord<'a>>,
    /// The model that answered.
    pub(super) model: Text<'a>,
    /// What was billed.
    pub(super) usage_metadata: Shaped<QwenUsage>,
    system_payload: Shaped<PayloadRecord<'a>>,
}

/// What is said.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct QwenMessageRecord<'a> {
    role: Text<'a>,
    /// Its parts.
    pub(super) parts: Option<GeminiContent<'a>>,
}

/// What a record of the harness holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct PayloadRecord<'a> {
    /// The history from here on.
    compressed_history: Option<Vec<Shaped<QwenMessageRecord<'a>>>>,
}

impl QwenRecord<'_> {
    /// Returns what stands in place of the history: a summary, and what is kept.
    pub(super) fn compressed(self) -> Vec<Part> {
        let Shaped::Object(payload) = self.system_payload else { return Vec::new() };
        let messages = payload.compressed_history.into_iter().flatten().enumerate();
        let parts = messages.filter_map(|(nth, message)| {
            let Shaped::Object(message) = message else { return None };
            let kind = match message.role.0.as_ref() {
                _ if nth == 0 => Kind::Summary,
                "model" => Kind::Assistant,
                _ => Kind::User,
            };
            Some(Part::of(kind, message.parts.unwrap_or_default().into_content()))
        });
        parts.collect()
    }
}

/// What was billed.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct QwenUsage {
    /// The whole prompt.
    prompt_token_count: Option<Count>,
    /// Written by the model.
    candidates_token_count: Count,
    /// Which part of the prompt was read from the cache.
    cached_content_token_count: Count,
    /// Thoughts, beside what is written or a part of it.
    thoughts_token_count: Count,
    /// All of it.
    total_token_count: Option<Count>,
}

impl QwenUsage {
    /// Reads the numbers; thoughts are a part of what is written only if the total says so.
    pub(super) fn billed(shaped: Shaped<Self>, mut bill: BillReader<'_>) -> Billed {
        let record = bill.record(shaped);
        let prompt = bill.required("promptTokenCount", record.prompt_token_count);
        let output = bill.count("candidatesTokenCount", record.candidates_token_count);
        let cache_read = bill.count("cachedContentTokenCount", record.cached_content_token_count);
        let reasoning = bill.count("thoughtsTokenCount", record.thoughts_token_count);
        let uncached = bill.less(prompt, "cachedContentTokenCount", cache_read);
        let is_there = bill.is_complete();
        let output = bill.output(prompt, output, reasoning, "totalTokenCount", record.total_token_count);
        Billed { usage: bill.apart(uncached, cache_read, 0, output), reasoning, is_there }
    }
}
