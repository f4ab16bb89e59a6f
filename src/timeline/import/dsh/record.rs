//! One line of a DeepSeek Harness session as written.

use crate::timeline::import::content::{Content, Measured};
use crate::timeline::import::usage::{Shaped, TokensRecord};
use crate::timeline::import::values::{Count, MessageContent, Text};

/// An event, or the header.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    /// `session`, `user/message`, `assistant/message`, `tool/result`, …
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    /// Its place in the session.
    pub(super) seq: Option<Count>,
    /// When it was written, in milliseconds.
    pub(super) time: Option<Count>,
    #[serde(borrow)]
    pub(super) data: Option<Data<'a>>,
    /// The events that it follows from.
    pub(super) source_event_seqs: Option<Vec<Count>>,
    /// Of the header: the session, the one that started it, and how many events it took over from that one.
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) created_at: Option<Count>,
    #[serde(borrow)]
    pub(super) parent_session: Text<'a>,
    pub(super) seed_length: Option<Count>,
}

/// What an event holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Data<'a> {
    pub(super) turn: Option<Count>,
    pub(super) step: Option<Count>,
    #[serde(borrow)]
    pub(super) content: MessageContent<'a>,
    #[serde(borrow)]
    pub(super) source: Shaped<Source<'a>>,
    #[serde(borrow)]
    pub(super) message: Shaped<Message<'a>>,
    pub(super) usage: Shaped<TokensRecord>,
    #[serde(borrow)]
    pub(super) chunk: Shaped<Chunk<'a>>,
    #[serde(borrow)]
    pub(super) header: Shaped<Header<'a>>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) summary: MessageContent<'a>,
    /// Of a compaction: the events that it hides.
    pub(super) shadowed_range: Shaped<Range>,
}

/// Who said something.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Source<'a> {
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
}

/// A reply, or what a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Vec<Piece<'a>>>,
    #[serde(borrow)]
    pub(super) source: Shaped<Source<'a>>,
}

/// A part of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) text: Option<Content>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) arguments: Option<Content>,
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) content: MessageContent<'a>,
}

/// A part of a stream.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) usage: Shaped<TokensRecord>,
}

/// What stands before every prompt.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Header<'a> {
    pub(super) system: Option<Content>,
    pub(super) tools: Tools,
    #[serde(borrow)]
    pub(super) config: Shaped<Config<'a>>,
}

/// The tools' schemas; a text is none.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
pub(super) enum Tools {
    /// One by one.
    List(Vec<Measured>),
    /// Anything else.
    Other(Measured),
}

impl Default for Tools {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// How the model is asked.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Config<'a> {
    #[serde(borrow)]
    pub(super) model: Text<'a>,
}

/// Events from one to another.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Range {
    pub(super) end: Option<Count>,
}
