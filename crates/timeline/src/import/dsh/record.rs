//! One line of a DeepSeek Harness session as written.

use crate::import::prelude::*;

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
    pub(super) content: MessageContent<'a>,
    /// Who said it.
    pub(super) source: Value,
    pub(super) message: Shaped<DshMessage<'a>>,
    pub(super) usage: Value,
    /// A part of a stream.
    pub(super) chunk: Value,
    /// What stands before every prompt.
    pub(super) header: Option<&'a RawValue>,
    pub(super) model: Text<'a>,
    pub(super) call_id: Text<'a>,
    /// Of a compaction: the events that it hides.
    pub(super) shadowed_range: Value,
}

/// A reply, or what a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct DshMessage<'a> {
    pub(super) content: Option<Vec<DshPiece<'a>>>,
    /// Who said it.
    pub(super) source: Value,
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
