//! Values of recordings as written: borrowed where they can be, and forgiving about what they hold.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Prompts and outputs beyond this many tokens are not believed.
pub(super) const TOKENS_MAX: u64 = 100_000_000;

/// What an image counts as, in characters; its encoding says nothing about its tokens.
pub(super) const IMAGE_CHARACTERS: u64 = 6_000;

/// One block of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    /// `text`, `thinking`, `tool_use`, `tool_result`, `image`, …
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    /// Of a `text`.
    pub(super) text: Option<Measured>,
    /// Of a `thinking`.
    pub(super) thinking: Option<Measured>,
    /// Of a `redacted_thinking`.
    pub(super) data: Option<Measured>,
    /// Of an `image`.
    pub(super) source: Option<Measured>,
    /// Of an `image_url`.
    pub(super) image_url: Option<Measured>,
    /// The call's name.
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    /// The tool's name.
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    /// The call's arguments.
    pub(super) input: Option<Measured>,
    /// The same, under another name.
    pub(super) arguments: Option<Measured>,
    /// The call that a result answers.
    #[serde(borrow)]
    pub(super) tool_use_id: Text<'a>,
    /// What a result holds.
    #[serde(borrow)]
    pub(super) content: Content<'a>,
}

impl Block<'_> {
    /// Measures what it shows; a picture or a document counts the same whatever its encoding.
    pub(super) fn measured(&self) -> Measured {
        let is_picture =
            matches!(self.kind.0.as_ref(), "image" | "document" | "input_image" | "image_url" | "input_file");
        if is_picture {
            let digest = self.source.or(self.image_url).or(self.data).map_or(0, |it| it.digest);
            return Measured { characters: IMAGE_CHARACTERS, digest };
        }
        self.text.unwrap_or_default()
    }
}

/// A text that borrows where it can; anything but a string is taken as none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// A count; `None` for anything but a whole number from 0 up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count(pub(super) Option<u64>);

impl Default for Count {
    fn default() -> Self {
        Self(Some(0))
    }
}

/// A value of which only the length in characters and a digest are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Measured {
    /// The characters of its strings and numbers, and of the punctuation between them.
    pub(super) characters: u64,
    /// Stands for its content.
    pub(super) digest: u64,
}

impl Measured {
    /// Measures a text.
    pub(super) fn text(text: &str) -> Self {
        let characters = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        Self { characters, digest: xxh3_64(text.as_bytes()) }
    }

    /// Measures what stands after this.
    pub(super) fn then(self, next: Self, punctuation: u64) -> Self {
        Self {
            characters: self.characters.saturating_add(next.characters).saturating_add(punctuation),
            digest: xxh3_64_with_seed(&next.digest.to_le_bytes(), self.digest),
        }
    }
}

/// The content of a message or of a result: one text, or blocks.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// Plain text.
    Plain(Measured),
    /// Blocks.
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Content<'_> {
    /// Measures what it shows.
    pub(super) fn measured(&self) -> Measured {
        match self {
            Self::Plain(text) => *text,
            Self::Blocks(blocks) => {
                blocks.iter().fold(Measured::default(), |sum, block| sum.then(block.measured(), 0))
            }
        }
    }
}

/// Takes whatever a visitor has no use for.
macro_rules! ignores_the_rest {
    ($value:expr; $($visit:ident: $type:ty),*) => {
        $(fn $visit<E: de::Error>(self, _: $type) -> Result<Self::Value, E> { Ok($value) })*
    };
}

/// Reads over a list or a map.
fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Reads over a map.
fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Cow::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip_list(list).map(|()| Cow::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        skip_map(map).map(|()| Cow::default())
    }

    ignores_the_rest!(Cow::default(); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor).map(Self)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 up")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Some(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip_list(list).map(|()| None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        skip_map(map).map(|()| None)
    }

    ignores_the_rest!(None; visit_bool: bool, visit_i64: i64, visit_f64: f64, visit_str: &str);
}

impl<'de> Deserialize<'de> for Measured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MeasuredVisitor)
    }
}

struct MeasuredVisitor;

impl<'de> Visitor<'de> for MeasuredVisitor {
    type Value = Measured;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Measured, E> {
        Ok(Measured::text(text))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Measured, E> {
        Ok(Measured::text(if value { "true" } else { "false" }))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Measured, E> {
        Ok(Measured::text(&value.to_string()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Measured, E> {
        Ok(Measured::text(&value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Measured, E> {
        Ok(Measured::text(&value.to_string()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Measured, E> {
        Ok(Measured::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Measured, A::Error> {
        let mut sum = Measured { characters: 2, digest: 1 };
        while let Some(element) = list.next_element::<Measured>()? {
            sum = sum.then(element, 1);
        }
        Ok(sum)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Measured, A::Error> {
        let mut sum = Measured { characters: 2, digest: 2 };
        while let Some((key, value)) = map.next_entry::<Measured, Measured>()? {
            sum = sum.then(key, 3).then(value, 1);
        }
        Ok(sum)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Plain(Measured::text(text)))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = list.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        MeasuredVisitor.visit_map(map).map(Content::Plain)
    }
}
