//! What lines of a Kimi session hold that is read as a whole.

use crate::import::prelude::*;

/// What a message of the older protocol holds, and a part of the newer one.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct KimiPayload<'a> {
    pub(super) user_input: MessageContent<'a>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) think: Option<Content>,
    pub(super) text: Option<Content>,
    pub(super) id: Text<'a>,
    /// What a call calls.
    pub(super) function: Value,
    pub(super) arguments_part: Text<'a>,
    pub(super) token_usage: Value,
    pub(super) tool_call_id: Text<'a>,
    pub(super) return_value: Shaped<ReturnValue<'a>>,
    /// Of a sub-agent's: who it is, and its own message.
    pub(super) agent_id: Text<'a>,
    pub(super) task_tool_call_id: Text<'a>,
    pub(super) event: Option<&'a RawValue>,
}

/// What a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ReturnValue<'a> {
    pub(super) output: MessageContent<'a>,
    pub(super) message: Option<Content>,
}
