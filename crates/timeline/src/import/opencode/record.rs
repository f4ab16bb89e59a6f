//! What an exported session of opencode writes of its messages and their parts.

use crate::import::prelude::*;

use crate::import::content::Arguments;
use crate::import::image::LoggedFile;
use crate::import::values::Flag;

/// A message with its parts.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct OpencodeMessageRecord<'a> {
    /// What is said of it.
    pub(super) info: Shaped<AboutRecord<'a>>,
    /// Its parts.
    pub(super) parts: Option<Vec<Shaped<OpencodePart<'a>>>>,
}

/// What is said of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct AboutRecord<'a> {
    /// Its id.
    pub(super) id: Text<'a>,
    /// `user` or `assistant`.
    pub(super) role: Text<'a>,
    /// The model that answered.
    #[serde(rename = "modelID")]
    pub(super) model: Text<'a>,
    /// What was billed.
    pub(super) tokens: Value,
    /// What opencode reckons that it cost.
    pub(super) cost: Value,
    /// When it began and ended, in milliseconds since 1970.
    pub(super) time: Value,
    /// How the reply ended.
    pub(super) finish: Text<'a>,
    /// What went wrong.
    pub(super) error: Option<Measured>,
    /// Whether the reply is the summary of a compaction.
    pub(super) summary: Flag,
}

/// A part of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct OpencodePart<'a> {
    /// `text`, `reasoning`, `tool`, `file`, `compaction`, …
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Of a `text` or `reasoning`.
    pub(super) text: Option<Content>,
    /// Whether the harness wrote the text, and not the user.
    pub(super) synthetic: Flag,
    /// Whether the model is not to see it.
    pub(super) ignored: Flag,
    /// Of a `tool`: the tool.
    pub(super) tool: Text<'a>,
    /// The call's name.
    #[serde(rename = "callID")]
    pub(super) call: Text<'a>,
    /// What became of the call.
    pub(super) state: Shaped<StateRecord<'a>>,
    /// Of a `file`: what it is.
    pub(super) mime: Text<'a>,
    /// Of a `file`: where it is, or its content.
    pub(super) url: Option<LoggedFile>,
    /// Of a `subtask`: what it is asked.
    pub(super) prompt: Option<Content>,
    /// Of a `compaction`: whether the harness wanted it.
    pub(super) auto: Option<Flag>,
    /// Of a `compaction`: the first message that stays.
    pub(super) tail_start_id: Text<'a>,
}

/// What became of a call.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct StateRecord<'a> {
    /// `pending`, `running`, `completed` or `error`.
    pub(super) status: Text<'a>,
    /// The arguments.
    pub(super) input: Option<Arguments>,
    /// What came back.
    pub(super) output: Option<Content>,
    /// What went wrong.
    pub(super) error: Option<Content>,
    /// When it came, and when its result left the prompts.
    pub(super) time: Value,
}
