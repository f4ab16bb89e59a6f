//! What a log writes of its events and messages.

use crate::import::prelude::*;

/// An event.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct EventRecord<'a> {
    /// `model`, `span_begin`, `compaction`, or one that says nothing about prompts.
    pub(super) event: Text<'a>,
    /// The span in which it happened.
    pub(super) span_id: Text<'a>,
    /// Of a span: its id.
    pub(super) id: Text<'a>,
    /// Of a span: the one around it.
    pub(super) parent_id: Text<'a>,
    /// Of a span: `agent`, `solver`, `scorer`, `tool`, …
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Of a span: what it is called.
    pub(super) name: Text<'a>,
    /// When it began, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// When it ended.
    pub(super) completed: Text<'a>,
    /// Of a request: the model.
    pub(super) model: Text<'a>,
    /// Of a request: what the model was asked as, such as `grader`.
    pub(super) role: Text<'a>,
    /// Of a request: the messages.
    pub(super) input: Option<Vec<Shaped<InspectMessageRecord<'a>>>>,
    /// Of a request: where its messages stand in the pool.
    pub(super) input_refs: Option<Vec<Vec<Count>>>,
    /// Of a request: the tools' schemas.
    pub(super) tools: Option<Vec<Measured>>,
    /// Of a request: the reply.
    pub(super) output: Shaped<OutputRecord<'a>>,
    /// Of a request: `read`, where inspect itself knew the reply.
    pub(super) cache: Text<'a>,
    /// Whether it is not over.
    pub(super) pending: Flag,
}

/// A reply.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct OutputRecord<'a> {
    choices: Option<Vec<Shaped<InspectChoice<'a>>>>,
    /// What was billed.
    pub(super) usage: Value,
}

/// One of several replies.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct InspectChoice<'a> {
    message: Shaped<InspectMessageRecord<'a>>,
}

impl<'a> OutputRecord<'a> {
    /// Returns the message of the first reply, taken out.
    pub(super) fn message(&mut self) -> Option<InspectMessageRecord<'a>> {
        self.choices.take()?.into_iter().next()?.object()?.message.object()
    }
}

/// A message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct InspectMessageRecord<'a> {
    /// `system`, `user`, `assistant` or `tool`.
    pub(super) role: Text<'a>,
    /// What is said.
    pub(super) content: MessageContent<'a>,
    /// The calls of a reply, as written.
    pub(super) tool_calls: Option<&'a RawValue>,
    /// The call that a result answers.
    pub(super) tool_call_id: Text<'a>,
    /// The tool of a result.
    pub(super) function: Text<'a>,
    /// What went wrong in a tool; its `message` is what the model is told.
    pub(super) error: Shaped<Members<'a>>,
}

/// Reads a bill, and how much of its output was reasoning. What the cache has to do with stands beside the input only if the total says so:
/// providers differ.
pub(super) fn billed(mut bill: BillReader<'_>) -> (Option<Usage>, Tokens) {
    let input = bill.needed("input_tokens");
    let output = bill.tokens("output_tokens");
    let cache_read = bill.tokens("input_tokens_cache_read");
    let cache_write = bill.tokens("input_tokens_cache_write");
    let reasoning = bill.tokens("reasoning_tokens");
    let total = bill.tokens("total_tokens");
    let cached = cache_read + cache_write;
    let is_beside = cached > input || cached > 0 && total == input + cached + output;
    let uncached = if is_beside { input } else { input - cached };
    (bill.apart([uncached, cache_read, cache_write, output]), reasoning.min(output))
}
