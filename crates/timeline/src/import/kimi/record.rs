//! One line of a Kimi session as written: messages of the older protocol, records of the newer one.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::import::content::{Arguments, Content, Measured};
use crate::import::usage::Shaped;
use crate::import::values::{Count, MessageContent, Text};

/// A line.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct KimiRecord<'a> {
    /// `metadata`, or a type of the newer protocol.
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) protocol_version: Text<'a>,
    /// Seconds, in the older protocol.
    pub(super) timestamp: Option<&'a RawValue>,
    /// Milliseconds, in the newer one.
    pub(super) time: Option<Count>,
    /// A message of the older protocol.
    pub(super) message: Option<&'a RawValue>,
}

/// A message of the older protocol.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct KimiMessage<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) payload: Option<KimiPayload<'a>>,
}

/// What it holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct KimiPayload<'a> {
    pub(super) user_input: MessageContent<'a>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) think: Option<Content>,
    pub(super) text: Option<Content>,
    pub(super) id: Text<'a>,
    pub(super) function: Shaped<Function<'a>>,
    pub(super) arguments_part: Text<'a>,
    pub(super) token_usage: Value,
    pub(super) tool_call_id: Text<'a>,
    pub(super) return_value: Shaped<ReturnValue<'a>>,
    /// Of a sub-agent's: who it is, and its own message.
    pub(super) agent_id: Text<'a>,
    pub(super) task_tool_call_id: Text<'a>,
    pub(super) event: Option<&'a RawValue>,
}

/// What a call calls.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Function<'a> {
    pub(super) name: Text<'a>,
    pub(super) arguments: Text<'a>,
}

/// What a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ReturnValue<'a> {
    pub(super) output: MessageContent<'a>,
    pub(super) message: Option<Content>,
}

/// A record of the newer protocol.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Newer<'a> {
    pub(super) kind: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) system_prompt: Text<'a>,
    pub(super) tools: Option<Vec<Measured>>,
    pub(super) input: MessageContent<'a>,
    pub(super) usage: Value,
    pub(super) usage_scope: Text<'a>,
    pub(super) event: Shaped<KimiEvent<'a>>,
    pub(super) message: Shaped<NewerMessage<'a>>,
    pub(super) summary: MessageContent<'a>,
    pub(super) context_summary: MessageContent<'a>,
}

/// A step of the loop.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct KimiEvent<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) part: Shaped<KimiPayload<'a>>,
    pub(super) name: Text<'a>,
    pub(super) tool_call_id: Text<'a>,
    pub(super) args: Option<Arguments>,
    pub(super) result: Shaped<ReturnValue<'a>>,
}

/// A message that is put into the context.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct NewerMessage<'a> {
    pub(super) role: Text<'a>,
    pub(super) content: MessageContent<'a>,
}
