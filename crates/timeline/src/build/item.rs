//! An item about to be appended, and its sizes.

use crate::prelude::*;

use crate::evidence::Recover;
use crate::tool_form::ToolForm;
use crate::{Capability, Preserve};
use ctxsim_input::profile::ImageSize;

/// The sizes of an item in its renditions, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemSizes {
    /// As received.
    pub raw: u32,
    /// Its exact excerpt.
    pub excerpt: u32,
    pub summary: u32,
    /// Its recovery handle.
    pub handle: u32,
}

impl ItemSizes {
    /// Sizes of an item with no other rendition than the full one.
    pub fn whole(raw: u32) -> Self {
        Self { raw, excerpt: raw, summary: raw, handle: 0 }
    }
}

/// An item about to be appended.
#[derive(Clone, Copy, Debug)]
pub struct NewItem<'a> {
    /// What it is.
    pub kind: Kind,
    pub sizes: ItemSizes,
    /// The tool, for calls and results.
    pub tool: &'a str,
    /// Why it may be needed again.
    pub preserve: Preserve,
    /// What an agent needs to fetch it again.
    pub recover: Recover,
    /// For a result: the index of the call among the reply's calls.
    pub answers: usize,
    /// Of an image: its size, if it is known.
    pub image: Option<ImageSize>,
    /// A digest of its content. Default: from its index.
    pub digest: Option<u64>,
    /// Its text, if there is one; of a call, its input as JSON.
    pub text: Option<&'a Arc<str>>,
    /// Of a call without text: what stands for the file that it names.
    pub file: Option<u64>,
    /// How its harness writes it, if that is known.
    pub form: Option<&'static ToolForm>,
    /// Its tool's capability, if policies may use it.
    pub capability: Option<Capability>,
}

impl<'a> NewItem<'a> {
    /// An item with only a kind and a size.
    pub fn plain(kind: Kind, tokens: u32) -> Self {
        let sizes = ItemSizes::whole(tokens);
        Self {
            kind,
            sizes,
            tool: "",
            preserve: Preserve::None,
            recover: Recover::default(),
            answers: 0,
            image: None,
            digest: None,
            text: None,
            file: None,
            form: None,
            capability: None,
        }
    }

    /// An image, which takes so many tokens.
    pub fn image(image: Option<ImageSize>, tokens: u32) -> Self {
        Self { image, ..Self::plain(Kind::Image, tokens) }
    }

    /// A tool call.
    pub fn call(tool: &'a str, tokens: u32) -> Self {
        Self { tool, ..Self::plain(Kind::ToolCall, tokens) }
    }

    /// The result of the reply's n-th call.
    pub fn result(
        tool: &'a str,
        answers: usize,
        sizes: ItemSizes,
        preserve: Preserve,
        recover: Recover,
    ) -> Self {
        Self { kind: Kind::ToolResult, sizes, preserve, recover, answers, ..Self::call(tool, 0) }
    }
}
