//! Text in a prompt: its size, and what caches know it by.
//!
//! **Identity is content.** Caches identify a slot by its role, its size and a digest of its words (`TextContent` in `projection/text.rs`),
//! whichever slot shows them and whenever they were said. Equal words are equal, different words of equal size are not, and words that come
//! back are the same again. The words are known for text that code gives the editor, for a template's renditions and folds, and for items
//! as they arrived. A rendition whose size alone is known is identified by its item, the rendition and the size. A fold without words is
//! identified by what it contains and omits. A model's summary is identified by its call, because a model that is asked twice writes
//! different words. The role is the provider's: summaries, memory and approvals have the user's role, like text that users type.

use std::num::NonZeroU64;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::num::tokens_of_chars;
use crate::prelude::*;
use ctxsim_base::quantity::Decimal;
use ctxsim_input::{TokenizerName, tokens};

/// What caches know words by: equal words, equal content, in whichever slot and whenever they are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextContent(NonZeroU64);

impl TextContent {
    /// The content of words of a digest.
    pub fn of_digest(digest: u64) -> Self {
        Self(NonZeroU64::new(digest).unwrap_or(NonZeroU64::MIN))
    }

    /// The content of words.
    pub fn of_words(words: &str) -> Self {
        Self::of_digest(xxh3_64(words.as_bytes()))
    }

    /// What the n-th call of a run wrote, whose words nobody knows: no two calls write the same.
    pub(super) fn of_call(n: u32) -> Self {
        const CALLS: u64 = 1;
        Self::of_digest(xxh3_64_with_seed(&n.to_le_bytes(), CALLS))
    }

    #[inline]
    pub fn digest(self) -> u64 {
        self.0.get()
    }
}

/// Text that a policy puts into a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptText {
    /// Its size.
    pub tokens: u32,
    /// What caches know it by.
    pub content: TextContent,
}

impl PromptText {
    /// Words of which the size and a digest are known; whoever says them twice gives the same digest twice.
    pub fn sized(tokens: u32, digest: u64) -> Self {
        Self { tokens, content: TextContent::of_digest(digest) }
    }

    /// Words, counted as a timeline counts what policies write.
    pub fn of(words: &str, timeline: &Timeline) -> Self {
        Self::counted(words, timeline.tokenizer, timeline.chars_per_token)
    }

    /// Words, counted by a tokenizer, else by their characters.
    pub fn counted(words: &str, tokenizer: Option<TokenizerName>, chars_per_token: Decimal) -> Self {
        let tokens = match tokenizer.and_then(tokens::tokenizer) {
            Some(tokenizer) => tokenizer.count(words),
            None => {
                let chars = words.chars().count() as u64;
                tokens_of_chars(chars, chars_per_token)
            }
        };
        Self { tokens: saturated(tokens), content: TextContent::of_words(words) }
    }
}
