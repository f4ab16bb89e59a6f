//! What a program is told.

use indexmap::IndexMap;
use serde::Serialize;

use crate::own::view::Kind;
use crate::own::{Entry, ItemId};
use ctxsim_base::quantity::Tokens;

/// A line of a program's input.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputLine<'a> {
    /// A run begins.
    Open {
        /// The version of the protocol.
        protocol: &'static str,
        /// Which run.
        run: RunNames<'a>,
        /// Its random seed.
        seed: u64,
        /// The policy's parameters; null where a parameter has no limit.
        params: IndexMap<&'a str, Option<Tokens>>,
        /// What the profile allows.
        limits: Limited,
    },
    /// A request is about to go out.
    Request {
        /// Its number.
        n: u64,
        session: u32,
        turn: u32,
        now_ms: i64,
        idle_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<u64>,
        prompt_tokens: Tokens,
        /// Entries of earlier messages that the history no longer has.
        gone: &'a [ItemId],
        /// Entries that have come.
        add: Vec<Added<'a>>,
    },
}

/// What a run is called.
#[derive(Debug, Serialize)]
pub(super) struct RunNames<'a> {
    pub(super) policy: &'a str,
    pub(super) scenario: &'a str,
}

/// How large things may be, in tokens.
#[derive(Debug, Serialize)]
pub(super) struct Limited {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<Tokens>,
}

/// An entry that has come.
#[derive(Debug, Serialize)]
pub(super) struct Added<'a> {
    id: ItemId,
    kind: Kind,
    #[serde(skip_serializing_if = "str::is_empty")]
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<ItemId>,
    tokens: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "is_no")]
    stable: bool,
}

/// Returns whether a flag is not set.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_no(flag: &bool) -> bool {
    !flag
}

impl<'a> From<&Entry<'a>> for Added<'a> {
    fn from(entry: &Entry<'a>) -> Self {
        let Entry { id, kind, tool, call, text, tokens, is_stable } = *entry;
        Self { id, kind, tool, call, tokens, text, stable: is_stable }
    }
}
