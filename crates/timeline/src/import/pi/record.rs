//! One line of a pi session as written.

use crate::import::prelude::*;

/// An entry.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct PiRecord<'a> {
    /// `session`, `message`, `compaction`, `branch_summary`, `custom_message`, or one that is never part of a prompt.
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Its name; sessions of the first version have none.
    pub(super) id: Text<'a>,
    /// The entry that it follows.
    pub(super) parent_id: Text<'a>,
    /// When it was written, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// What was said.
    pub(super) message: Option<PiMessage<'a>>,
    /// What represents the history before a compaction, or for a branch.
    pub(super) summary: Option<Content>,
    /// The first entry that a compaction keeps.
    pub(super) first_kept_entry_id: Text<'a>,
    /// The same by its place in the file, in sessions of the first version.
    pub(super) first_kept_entry_index: Option<Count>,
    /// Of a `custom_message`.
    pub(super) content: MessageContent<'a>,
}

/// What was said.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct PiMessage<'a> {
    /// `user`, `assistant`, `toolResult`, `bashExecution`, `custom`, …
    pub(super) role: Text<'a>,
    /// Its parts.
    pub(super) content: MessageContent<'a>,
    /// Which interface answered.
    pub(super) api: Text<'a>,
    /// Whose it was.
    pub(super) provider: Text<'a>,
    /// Which model did.
    pub(super) model: Text<'a>,
    /// Why it ended: `stop`, `toolUse`, `length`, `error` or `aborted`.
    pub(super) stop_reason: Text<'a>,
    /// What was billed.
    pub(super) usage: Value,
    /// When the request began, in milliseconds.
    pub(super) timestamp: Option<Count>,
    /// The call that a result answers.
    pub(super) tool_call_id: Text<'a>,
    /// The tool of a result.
    pub(super) tool_name: Text<'a>,
    /// What the user ran.
    pub(super) command: Option<Content>,
    /// What it printed.
    pub(super) output: Option<Content>,
    /// Whether the model is not to see it.
    pub(super) exclude_from_context: Option<bool>,
    /// Of a summary.
    pub(super) summary: Option<Content>,
}
