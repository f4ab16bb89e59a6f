//! One line of a Claude Code session as written: flat, borrowed, and forgiving about fields that do not matter.

use crate::timeline::import::values::{Count, MessageContent, Text};

/// A record.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    /// `user`, `assistant`, or one of many that are never part of a prompt.
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    /// Its name.
    #[serde(borrow)]
    pub(super) uuid: Text<'a>,
    /// The record that it follows.
    #[serde(borrow)]
    pub(super) parent_uuid: Text<'a>,
    /// The record that it follows over a compaction.
    #[serde(borrow)]
    pub(super) logical_parent_uuid: Text<'a>,
    /// When it was written, ISO 8601.
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    /// Whether it belongs to a sub-agent.
    pub(super) is_sidechain: Option<bool>,
    /// Whether the user did not type it.
    pub(super) is_meta: Option<bool>,
    /// Whether it is a summary of what was before.
    pub(super) is_compact_summary: Option<bool>,
    /// Of a `system` record.
    #[serde(borrow)]
    pub(super) subtype: Text<'a>,
    /// What was said.
    #[serde(borrow)]
    pub(super) message: Option<Message<'a>>,
    /// The harness's version.
    #[serde(borrow)]
    pub(super) version: Text<'a>,
    /// The request's name, for replies without a name of their own.
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
}

/// What was said.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    /// The reply's name; its lines share it.
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    /// The model; `<synthetic>` for text that no model wrote.
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    /// Its parts.
    #[serde(borrow)]
    pub(super) content: MessageContent<'a>,
    /// What the provider billed.
    pub(super) usage: Option<UsageRecord>,
}

/// What the provider billed.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct UsageRecord {
    /// Neither read nor written.
    pub(super) input_tokens: Count,
    /// Read from the cache.
    pub(super) cache_read_input_tokens: Count,
    /// Written to the cache, of any lifetime.
    pub(super) cache_creation_input_tokens: Count,
    /// Written by the model.
    pub(super) output_tokens: Count,
}
