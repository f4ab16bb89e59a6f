//! One line of a Copilot CLI session as written.

use crate::import::prelude::*;

use crate::import::values::CallRecord;

/// An event.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct CopilotEvent<'a> {
    /// `session.start`, `user.message`, `assistant.message`, `tool.execution_complete`, …
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// When it was written, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// Of a sub-agent's events: which one it is.
    pub(super) agent_id: Text<'a>,
    /// What it holds.
    pub(super) data: Option<CopilotData<'a>>,
}

/// What an event holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct CopilotData<'a> {
    pub(super) session_id: Text<'a>,
    /// The model that answers from here on, by the event.
    pub(super) selected_model: Text<'a>,
    pub(super) new_model: Text<'a>,
    /// The model that answered, or is to answer.
    pub(super) model: Text<'a>,
    /// What was said, and what of it was sent.
    pub(super) content: Option<Content>,
    pub(super) transformed_content: Option<Content>,
    pub(super) reasoning_text: Option<Content>,
    pub(super) message_id: Text<'a>,
    pub(super) tool_requests: Option<Vec<CallRecord<'a>>>,
    pub(super) output_tokens: Option<Count>,
    /// Of a sub-agent's message, in older builds.
    pub(super) parent_tool_call_id: Text<'a>,
    /// Of a result.
    pub(super) tool_call_id: Text<'a>,
    pub(super) result: Shaped<OutcomeRecord<'a>>,
    pub(super) error: Shaped<OutcomeRecord<'a>>,
    pub(super) agent_name: Text<'a>,
    pub(super) tool_definitions_tokens: Option<Count>,
    /// By model, what it was used for since the counters began.
    pub(super) model_metrics: Option<IndexMap<String, Value>>,
    /// How long the models' entries live.
    pub(super) model_cache_state: Value,
    /// Of a compaction.
    pub(super) summary_content: Option<Content>,
    pub(super) compaction_tokens_used: Value,
}

/// What a tool gave back, or why it gave nothing back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct OutcomeRecord<'a> {
    pub(super) content: MessageContent<'a>,
    pub(super) message: MessageContent<'a>,
}
