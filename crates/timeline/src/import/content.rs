//! What a recording says in one place: how long it is, what represents it, and its text.

use crate::import::prelude::*;

use super::image::{LoggedImage, size_of};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

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
        let characters = text.chars().count() as u64;
        Self { characters, digest: xxh3_64(text.as_bytes()) }
    }

    /// Measures what is after this.
    pub(super) fn then(self, next: Self, punctuation: u64) -> Self {
        Self {
            characters: self.characters.saturating_add(next.characters).saturating_add(punctuation),
            digest: xxh3_64_with_seed(&next.digest.to_le_bytes(), self.digest),
        }
    }
}

/// A measured value with its text, which is held once however often the content is cloned.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// Its length and its digest.
    pub(super) measured: Measured,
    /// Its text; `None` for anything but a string.
    pub(super) text: Option<Arc<str>>,
    /// The images in it, which are no part of its length.
    pub(super) images: Vec<LoggedImage>,
}

impl Content {
    /// Keeps and measures a text.
    pub(super) fn new(text: &str) -> Self {
        Self { measured: Measured::text(text), text: Some(Arc::from(text)), images: Vec::new() }
    }

    /// An image.
    pub(super) fn image(image: LoggedImage) -> Self {
        Self { measured: Measured { characters: 0, digest: image.digest }, text: None, images: vec![image] }
    }

    /// Joins contents, one a line; the lines' ends are not counted.
    pub(super) fn join(contents: impl Iterator<Item = Self>) -> Self {
        let mut measured = Measured::default();
        let mut texts: Vec<Arc<str>> = Vec::new();
        let mut images = Vec::new();
        for content in contents {
            measured = measured.then(content.measured, 0);
            texts.extend(content.text);
            images.extend(content.images);
        }
        let text = if texts.len() < 2 { texts.pop() } else { Some(Arc::from(texts.join("\n"))) };
        Self { measured, text, images }
    }
}

/// What a call asks for, as its recording writes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments(pub(super) Content);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = <&RawValue>::deserialize(deserializer)?.get();
        let measured = serde_json::from_str(written).map_err(de::Error::custom)?;
        Ok(Self(Content { measured, text: Some(Arc::from(written)), images: Vec::new() }))
    }
}

impl From<Measured> for Content {
    fn from(measured: Measured) -> Self {
        Self { measured, text: None, images: Vec::new() }
    }
}

/// Takes whatever a visitor has no use for: it is read over, and a value stands in its place.
macro_rules! ignores_the_rest {
    ($value:expr; $($visit:ident$(: $type:ty)?),*) => {
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("any value")
        }
        $(ignores_the_rest!(@$visit $($type)?, $value);)*
    };
    (@visit_unit, $value:expr) => {
        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> { Ok($value) }
    };
    (@visit_seq, $value:expr) => {
        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            skip_list(list).map(|()| $value)
        }
    };
    (@visit_map, $value:expr) => {
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            skip_map(map).map(|()| $value)
        }
    };
    (@$visit:ident $type:ty, $value:expr) => {
        fn $visit<E: de::Error>(self, _: $type) -> Result<Self::Value, E> { Ok($value) }
    };
}

/// Reads over a list or a map.
pub(super) fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Reads over a map.
pub(super) fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

pub(super) use ignores_the_rest;

/// Takes values that are no texts as what they look like.
macro_rules! measures {
    ($($visit:ident: $type:ty),+) => {
        $(fn $visit<E: de::Error>(self, value: $type) -> Result<Self::Value, E> {
            Ok(Measured::text(&value.to_string()).into())
        })+
    };
}

impl<'de> Deserialize<'de> for Measured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        MeasuringVisitor::<false, false>.deserialize(deserializer).map(|it| it.measured)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        MeasuringVisitor::<true, false>.deserialize(deserializer)
    }
}

/// Measures any value; of a text, it may keep the text, and it may find the sizes of images whose bytes are in it.
pub(super) struct MeasuringVisitor<const KEEPS_TEXT: bool, const FINDS_SIZES: bool>;

impl<'de, const KEEPS_TEXT: bool, const FINDS_SIZES: bool> DeserializeSeed<'de>
    for MeasuringVisitor<KEEPS_TEXT, FINDS_SIZES>
{
    type Value = Content;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, const KEEPS_TEXT: bool, const FINDS_SIZES: bool> Visitor<'de>
    for MeasuringVisitor<KEEPS_TEXT, FINDS_SIZES>
{
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
        let mut content = if KEEPS_TEXT { Content::new(text) } else { Measured::text(text).into() };
        if let Some(size) = FINDS_SIZES.then(|| size_of(text)).flatten() {
            content.images.push(LoggedImage { digest: content.measured.digest, size: Some(size) });
        }
        Ok(content)
    }

    measures!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);

    fn visit_unit<E: de::Error>(self) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut all = Content::from(Measured { characters: 2, digest: 1 });
        while let Some(element) = list.next_element_seed(MeasuringVisitor::<false, FINDS_SIZES>)? {
            all.measured = all.measured.then(element.measured, 1);
            all.images.extend(element.images);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut all = Content::from(Measured { characters: 2, digest: 2 });
        while let Some(key) = map.next_key::<Measured>()? {
            let value = map.next_value_seed(MeasuringVisitor::<false, FINDS_SIZES>)?;
            // A cache mark is not content: moving it does not change the prompt.
            if key != Measured::text("cache_control") {
                all.measured = all.measured.then(key, 3).then(value.measured, 1);
                all.images.extend(value.images);
            }
        }
        Ok(all)
    }
}
