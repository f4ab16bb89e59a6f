//! One line of a Copilot CLI session as written.

use indexmap::IndexMap;

use crate::timeline::import::content::Content;
use crate::timeline::import::usage::{Shaped, TokensRecord};
use crate::timeline::import::values::{CallRecord, Count, MessageContent, Text};

/// An event.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    /// `session.start`, `user.message`, `assistant.message`, `tool.execution_complete`, …
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    /// When it was written, ISO 8601.
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    /// Of a sub-agent's events: which one it is.
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    /// What it holds.
    #[serde(borrow)]
    pub(super) data: Option<Data<'a>>,
}

/// What an event holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Data<'a> {
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    /// Which build wrote the session.
    #[serde(borrow)]
    pub(super) copilot_version: Text<'a>,
    /// The model that answers from here on, by the event.
    #[serde(borrow)]
    pub(super) selected_model: Text<'a>,
    #[serde(borrow)]
    pub(super) new_model: Text<'a>,
    #[serde(borrow)]
    pub(super) current_model: Text<'a>,
    /// The model that answered, or is to answer.
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    /// What was said, and what of it was sent.
    pub(super) content: Option<Content>,
    pub(super) transformed_content: Option<Content>,
    pub(super) reasoning_text: Option<Content>,
    #[serde(borrow)]
    pub(super) message_id: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_requests: Option<Vec<CallRecord<'a>>>,
    pub(super) output_tokens: Option<Count>,
    /// Of a sub-agent's message, in older builds.
    #[serde(borrow)]
    pub(super) parent_tool_call_id: Text<'a>,
    /// Of a result.
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) result: Shaped<OutcomeRecord<'a>>,
    #[serde(borrow)]
    pub(super) error: Shaped<OutcomeRecord<'a>>,
    #[serde(borrow)]
    pub(super) agent_name: Text<'a>,
    pub(super) tool_definitions_tokens: Option<Count>,
    pub(super) model_metrics: Option<IndexMap<String, Metrics>>,
    pub(super) model_cache_state: Option<Vec<CacheState>>,
    /// Of a compaction.
    pub(super) summary_content: Option<Content>,
    pub(super) compaction_tokens_used: Shaped<CompactionUsage<'a>>,
}

/// What a tool gave back, or why it gave nothing back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct OutcomeRecord<'a> {
    #[serde(borrow)]
    pub(super) content: MessageContent<'a>,
    #[serde(borrow)]
    pub(super) message: MessageContent<'a>,
}

/// What a model was used for since the counters began.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Metrics {
    pub(super) requests: RequestCount,
    /// The sums of bills; the input holds what was read and written.
    pub(super) usage: Shaped<TokensRecord>,
}

/// How many requests there were.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct RequestCount {
    pub(super) count: Count,
}

/// How long a model's entries live.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CacheState {
    pub(super) cache_ttl_seconds: Count,
}

/// What the request for a summary was billed.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CompactionUsage<'a> {
    pub(super) input_tokens: Option<Count>,
    pub(super) output_tokens: Count,
    pub(super) cache_read_tokens: Count,
    pub(super) cache_write_tokens: Count,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) copilot_usage: Shaped<CopilotUsage<'a>>,
}

/// The same as the seller bills it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CopilotUsage<'a> {
    #[serde(borrow)]
    pub(super) token_details: Vec<TokenDetail<'a>>,
}

/// One kind of tokens.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TokenDetail<'a> {
    #[serde(borrow)]
    pub(super) token_type: Text<'a>,
    pub(super) token_count: Count,
}
