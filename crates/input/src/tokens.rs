//! Token counts by published tokenizers, for recordings without a provider's counts.
//!
//! Builds with the feature `tokens` contain the vocabularies. Anthropic and Google publish no tokenizer, so
//! counts for their models are approximations, except what [`of_model`] counts.

mod claude;

use crate::prelude::*;
use crate::profile::Family;
use crate::scenario::TokenizerName;

pub trait Tokenizer {
    /// Returns the number of tokens of a text; special tokens are counted as plain text.
    fn count(&self, text: &str) -> Tokens;
}

/// Returns the tokenizers' published names.
pub fn name(spec: TokenizerName) -> &'static str {
    match spec {
        TokenizerName::O200k => "o200k_base",
        TokenizerName::Cl100k => "cl100k_base",
    }
}

/// Returns how many tokens a model counts in a text, where its vocabulary is known for all of it: texts of ASCII characters under the
/// models of the family `claude-3`.
pub fn of_model(model: &str, text: &str) -> Option<Tokens> {
    let is_known = Family::of_model(model).is_some_and(|it| it.name == claude::FAMILY);
    is_known.then(|| claude::count(text)).flatten()
}

/// Returns a tokenizer, unless this build has none.
#[cfg(feature = "tokens")]
pub fn tokenizer(spec: TokenizerName) -> Option<Box<dyn Tokenizer>> {
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
pub fn tokenizer(_: TokenizerName) -> Option<Box<dyn Tokenizer>> {
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
            (tokenizer(TokenizerName::O200k).unwrap(), tokenizer(TokenizerName::Cl100k).unwrap());

        for (text, by_new, by_old) in PUBLISHED {
            assert_eq!((new.count(text), old.count(text)), (by_new, by_old), "{text}");
        }
    }

    #[test]
    fn special_tokens_in_a_text_are_text() {
        assert!(tokenizer(TokenizerName::O200k).unwrap().count("<|endoftext|>") > 1);
    }
}
