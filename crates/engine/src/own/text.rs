//! Words of code outside this crate: spoken out, or known by their size and a digest.

use std::borrow::Cow;

use crate::projection;
use ctxsim_base::quantity::{Decimal, Tokens, saturated};
use ctxsim_timeline::Timeline;

/// Words that code puts into a prompt: given as they are, or as a size and a digest.
///
/// Caches know a text by its content, so the same words are the same text wherever and whenever they are said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(TextForm);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TextForm {
    Words(String),
    Sized { tokens: u32, digest: u64 },
}

impl Text {
    /// Creates a text of a known size whose words are not given.
    ///
    /// `tokens` is its size in tokens of the model. Equal texts must have equal digests, and different texts different ones.
    #[must_use]
    pub fn sized(tokens: Tokens, digest: u64) -> Self {
        // What is larger is refused as it stands: no prompt has room for it.
        Self(TextForm::Sized { tokens: saturated(tokens), digest })
    }

    /// Returns the words, if they were given.
    #[must_use]
    pub fn words(&self) -> Option<&str> {
        match &self.0 {
            TextForm::Words(words) => Some(words),
            TextForm::Sized { .. } => None,
        }
    }

    /// Returns the same, with words counted by so many characters per token.
    #[doc(hidden)]
    pub fn counted_by(&self, chars_per_token: Decimal) -> projection::PromptText {
        match &self.0 {
            TextForm::Words(words) => projection::PromptText::counted(words, None, chars_per_token),
            TextForm::Sized { tokens, digest } => projection::PromptText::sized(*tokens, *digest),
        }
    }

    /// Returns the size and the content that a prompt holds; words are counted as the timeline counts texts of policies.
    #[doc(hidden)]
    pub fn counted(&self, timeline: &Timeline) -> projection::PromptText {
        match &self.0 {
            TextForm::Words(words) => projection::PromptText::of(words, timeline),
            TextForm::Sized { tokens, digest } => projection::PromptText::sized(*tokens, *digest),
        }
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self(TextForm::Words(words.to_owned()))
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self(TextForm::Words(words))
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        words.as_str().into()
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(words: Cow<'_, str>) -> Self {
        Self(TextForm::Words(words.into_owned()))
    }
}
