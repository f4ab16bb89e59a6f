//! Tokens of a text by a published tokenizer, for recordings of which no provider counted any.
//!
//! The vocabularies are in builds with the feature `tokens`. Anthropic and Google publish no tokenizer: for their models every
//! count here is an approximation.

use crate::quantity::Tokens;
use crate::spec::scenario::TokenizerSpec;

/// What counts texts.
pub trait Tokenizer {
    /// Returns how many tokens a text has; special tokens in it are counted as the text that they are.
    fn count(&self, text: &str) -> Tokens;
}

/// Returns what tokenizers are called by those who publish them.
#[must_use]
pub fn name(spec: TokenizerSpec) -> &'static str {
    match spec {
        TokenizerSpec::O200k => "o200k_base",
        TokenizerSpec::Cl100k => "cl100k_base",
    }
}

/// Returns a tokenizer, unless this build has none.
#[cfg(feature = "tokens")]
#[must_use]
pub fn tokenizer(spec: TokenizerSpec) -> Option<Box<dyn Tokenizer>> {
    struct Vocabulary(&'static tiktoken::CoreBpe);

    impl Tokenizer for Vocabulary {
        fn count(&self, text: &str) -> Tokens {
            self.0.count(text) as Tokens
        }
    }

    tiktoken::get_encoding(name(spec)).map(|it| Box::new(Vocabulary(it)) as Box<dyn Tokenizer>)
}

/// Returns a tokenizer, unless this build has none.
#[cfg(not(feature = "tokens"))]
#[must_use]
pub fn tokenizer(_: TokenizerSpec) -> Option<Box<dyn Tokenizer>> {
    None
}

#[cfg(all(test, feature = "tokens"))]
mod tests {
    use super::*;

    /// Texts with their counts under both vocabularies, from OpenAI's cookbook, "How to count tokens with tiktoken".
    const PUBLISHED: [(&str, Tokens, Tokens); 4] = [
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 8, 9),
    ];

    #[test]
    fn counts_are_the_published_ones() {
        let (new, old) =
            (tokenizer(TokenizerSpec::O200k).unwrap(), tokenizer(TokenizerSpec::Cl100k).unwrap());

        for (text, by_new, by_old) in PUBLISHED {
            assert_eq!((new.count(text), old.count(text)), (by_new, by_old), "{text}");
        }
    }

    #[test]
    fn special_tokens_in_a_text_are_text() {
        assert!(tokenizer(TokenizerSpec::O200k).unwrap().count("<|endoftext|>") > 1);
    }
}
