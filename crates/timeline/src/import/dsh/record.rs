//! One line of a DeepSeek Harness session as written.

use crate::import::content::{Content, Measured};
use crate::import::usage::{Shaped, UsageTokens};
use crate::import::values::{Count, MessageContent, Text};

/// An event, or the header.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct DshRecord<'a> {
    /// `session`, `user/message`, `assistant/message`, `tool/result`, …
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Its place in the session.
    pub(super) seq: Option<Count>,
    /// When it was written, in milliseconds.
    pub(super) time: Option<Count>,
    pub(super) data: Option<DshData<'a>>,
    /// The events that it follows from.
    pub(super) source_event_seqs: Option<Vec<Count>>,
    /// Of the header: the session, the one that started it, and how many events it took over from that one.
    pub(super) id: Text<'a>,
    pub(super) created_at: Option<Count>,
    pub(super) parent_session: Text<'a>,
    pub(super) seed_length: Option<Count>,
}

/// What an event holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct DshData<'a> {
    pub(super) turn: Option<Count>,
    pub(super) step: Option<Count>,
    pub(super) content: MessageContent<'a>,
    pub(super) source: Shaped<Speaker<'a>>,
    pub(super) message: Shaped<DshMessage<'a>>,
    pub(super) usage: Shaped<UsageTokens>,
    pub(super) chunk: Shaped<Chunk<'a>>,
    pub(super) header: Shaped<Header<'a>>,
    pub(super) model: Text<'a>,
    pub(super) call_id: Text<'a>,
    pub(super) summary: MessageContent<'a>,
    /// Of a compaction: the events that it hides.
    pub(super) shadowed_range: Shaped<EventRange>,
}

/// Who said something.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Speaker<'a> {
    pub(super) kind: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) call_id: Text<'a>,
}

/// A reply, or what a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct DshMessage<'a> {
    pub(super) content: Option<Vec<DshPiece<'a>>>,
    pub(super) source: Shaped<Speaker<'a>>,
}

/// A part of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct DshPiece<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) text: Option<Content>,
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) arguments: Option<Content>,
    pub(super) tool_call_id: Text<'a>,
    pub(super) content: MessageContent<'a>,
}

/// A part of a stream.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Chunk<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) usage: Shaped<UsageTokens>,
}

/// What stands before every prompt.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Header<'a> {
    pub(super) system: Option<Content>,
    pub(super) tools: DshTools,
    pub(super) config: Shaped<ModelConfig<'a>>,
}

/// The tools' schemas; a text is none.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
pub(super) enum DshTools {
    /// One by one.
    List(Vec<Measured>),
    /// Anything else.
    Other(Measured),
}

impl Default for DshTools {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// How the model is asked.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ModelConfig<'a> {
    pub(super) model: Text<'a>,
}

/// Events from one to another.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct EventRange {
    pub(super) end: Option<Count>,
}
