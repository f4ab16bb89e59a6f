//! An item about to be appended, and its sizes.

use std::sync::Arc;

use crate::timeline::evidence::Recover;
use crate::timeline::tool_form::ToolForm;
use crate::timeline::{Capability, Kind, Preserve};

/// The sizes of an item in its renditions, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// As it came.
    pub raw: u32,
    /// Its exact excerpt.
    pub excerpt: u32,
    /// Its summary.
    pub summary: u32,
    /// Its recovery handle.
    pub handle: u32,
}

impl Sizes {
    /// Sizes of an item that has no other rendition than its whole.
    #[must_use]
    pub fn whole(raw: u32) -> Self {
        Self { raw, excerpt: raw, summary: raw, handle: 0 }
    }
}

/// An item about to be appended.
#[derive(Clone, Copy, Debug)]
pub struct NewItem<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its sizes.
    pub sizes: Sizes,
    /// The tool, for calls and results.
    pub tool: &'a str,
    /// Why it may be needed again.
    pub preserve: Preserve,
    /// What it takes to fetch it again.
    pub recover: Recover,
    /// Of a result: which call of the same step it answers, counted among the reply's calls.
    pub answers: usize,
    /// Stands for its content; made from its place, when silent.
    pub digest: Option<u64>,
    /// Its text, where there is one; of a call, its input as JSON.
    pub text: Option<&'a Arc<str>>,
    /// How its harness writes it, where that is known.
    pub form: Option<&'static ToolForm>,
    /// What its tool does, where policies may know it by that.
    pub capability: Option<Capability>,
}

impl<'a> NewItem<'a> {
    /// An item that is nothing but its kind and its size.
    #[must_use]
    pub fn plain(kind: Kind, tokens: u32) -> Self {
        let sizes = Sizes::whole(tokens);
        Self {
            kind,
            sizes,
            tool: "",
            preserve: Preserve::None,
            recover: Recover::default(),
            answers: 0,
            digest: None,
            text: None,
            form: None,
            capability: None,
        }
    }

    /// A tool call.
    #[must_use]
    pub fn call(tool: &'a str, tokens: u32) -> Self {
        Self { tool, ..Self::plain(Kind::ToolCall, tokens) }
    }

    /// The result of the reply's n-th call.
    #[must_use]
    pub fn result(tool: &'a str, answers: usize, sizes: Sizes, preserve: Preserve, recover: Recover) -> Self {
        Self { kind: Kind::ToolResult, sizes, preserve, recover, answers, ..Self::call(tool, 0) }
    }
}
