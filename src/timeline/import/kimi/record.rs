//! One line of a Kimi session as written: messages of the older protocol, records of the newer one.

use serde_json::value::RawValue;

use crate::timeline::import::content::{Arguments, Content, Measured};
use crate::timeline::import::usage::Shaped;
use crate::timeline::import::values::{Count, MessageContent, Text};

/// A line.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    /// `metadata`, or a type of the newer protocol.
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) protocol_version: Text<'a>,
    /// Seconds, in the older protocol.
    #[serde(borrow)]
    pub(super) timestamp: Option<&'a RawValue>,
    /// Milliseconds, in the newer one.
    pub(super) time: Option<Count>,
    /// A message of the older protocol.
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
}

/// A message of the older protocol.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) payload: Option<Payload<'a>>,
}

/// What it holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow)]
    pub(super) user_input: MessageContent<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) think: Option<Content>,
    pub(super) text: Option<Content>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) function: Shaped<Function<'a>>,
    #[serde(borrow)]
    pub(super) arguments_part: Text<'a>,
    pub(super) token_usage: Shaped<UsageRecord>,
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) return_value: Shaped<ReturnValue<'a>>,
    /// Of a sub-agent's: who it is, and its own message.
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) task_tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) event: Option<&'a RawValue>,
}

/// What a call calls.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Text<'a>,
}

/// What a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ReturnValue<'a> {
    #[serde(borrow)]
    pub(super) output: MessageContent<'a>,
    pub(super) message: Option<Content>,
}

/// What was billed; the input is without what was read and written. The names are those of either protocol.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct UsageRecord {
    #[serde(alias = "inputOther")]
    pub(super) input_other: Option<Count>,
    pub(super) output: Count,
    #[serde(alias = "inputCacheRead")]
    pub(super) input_cache_read: Count,
    #[serde(alias = "inputCacheCreation")]
    pub(super) input_cache_creation: Count,
}

/// A record of the newer protocol.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Newer<'a> {
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) system_prompt: Text<'a>,
    pub(super) tools: Option<Vec<Measured>>,
    #[serde(borrow)]
    pub(super) input: MessageContent<'a>,
    pub(super) usage: Shaped<UsageRecord>,
    #[serde(borrow)]
    pub(super) usage_scope: Text<'a>,
    #[serde(borrow)]
    pub(super) event: Shaped<Event<'a>>,
    #[serde(borrow)]
    pub(super) message: Shaped<NewerMessage<'a>>,
    #[serde(borrow)]
    pub(super) summary: MessageContent<'a>,
    #[serde(borrow)]
    pub(super) context_summary: MessageContent<'a>,
}

/// A step of the loop.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) part: Shaped<Payload<'a>>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    pub(super) args: Option<Arguments>,
    #[serde(borrow)]
    pub(super) result: Shaped<ReturnValue<'a>>,
}

/// A message that is put into the context.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct NewerMessage<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) content: MessageContent<'a>,
}
