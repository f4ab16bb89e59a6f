//! Decodes RON or TOML text and encodes inputs, with one form of syntax error for both.

use std::path::Path;

use ron::extensions::Extensions;
use serde::Serialize;
use serde::de::{DeserializeOwned, DeserializeSeed};

use super::once::{self, Fault, Grow, Grown, Hint, Said, Shape, Sink, Source};
use super::{node, repair};
use crate::diag::Diagnostic;

/// The language of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Rusty Object Notation, `.ron`.
    Ron,
    /// TOML, `.toml`.
    Toml,
}

impl Format {
    /// Returns the format of a file's extension.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ron" => Some(Self::Ron),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// An input as a tree, on which `--set` works; both formats yield the same tree.
pub type Tree = toml::Value;

/// The RON dialect of inputs: no `Some(…)`, no wrapping of newtypes.
pub(super) fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    )
}

/// Parses an input.
///
/// # Errors
/// Every problem, with its place in the text; the caller adds the file's name.
pub fn decode<T: DeserializeOwned>(text: &str, format: Format) -> Result<T, Vec<Diagnostic>> {
    let decoded = once::read(|grow| read_text(text, format, grow)).ok().flatten();
    decoded.ok_or_else(|| problems_of(text, format, Shape::of::<T>()))
}

/// Reads a text, which must not say anything twice.
fn read_text<'de>(text: &'de str, format: Format, grow: &mut Grow<'_, 'de>) -> Result<(), Refused> {
    match format {
        Format::Toml => read_toml(text, grow).map_err(|_| Refused),
        Format::Ron => {
            read_ron(text, grow).map_err(|_| Refused)?;
            if repair::duplicates(text).is_empty() { Ok(()) } else { Err(Refused) }
        }
    }
}

/// A text has problems, which [`problems_of`] finds.
struct Refused;

/// Returns the problems of a text that was refused, in its order.
fn problems_of(text: &str, format: Format, shape: Shape) -> Vec<Diagnostic> {
    let more = repair::problems(text, format, shape);
    if format == Format::Toml {
        return sorted(more);
    }
    let twice = repair::duplicates(text);
    sorted(twice.into_iter().chain(more.into_iter().filter(|it| it.code != "duplicate-key")).collect())
}

/// Returns problems in the order of their places in the text.
fn sorted(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    problems.sort_by_key(|it| it.place.span.as_ref().map(|it| it.start));
    problems
}

/// Reads a RON text.
pub(super) fn read_ron<'de>(text: &'de str, grow: &mut Grow<'_, 'de>) -> ron::error::SpannedResult<()> {
    ron_options().from_str_seed(text, Grown(grow))
}

/// Reads a TOML text.
fn read_toml<'de>(text: &'de str, grow: &mut Grow<'_, 'de>) -> Result<(), toml::de::Error> {
    Grown(grow).deserialize(toml::de::Deserializer::parse(text)?)
}

/// Writes an input as text that parses to the same input.
///
/// # Errors
/// A value that the format cannot represent.
pub fn encode<T: Serialize>(spec: &T, format: Format) -> Result<String, Box<Diagnostic>> {
    write(&said(spec)?, format)
}

/// Writes what an input says of itself.
fn write(said: &Said, format: Format) -> Result<String, Box<Diagnostic>> {
    match format {
        Format::Toml => toml::to_string_pretty(said).map_err(|error| syntax(error.to_string())),
        Format::Ron => {
            let pretty = ron::ser::PrettyConfig::new().depth_limit(4).compact_arrays(false);
            let text = ron_options().to_string_pretty(said, pretty);
            text.map(|it| it + "\n").map_err(|error| syntax(error.to_string()))
        }
    }
}

/// Returns what an input says of itself.
fn said<T: Serialize>(spec: &T) -> Result<Said, Box<Diagnostic>> {
    Said::by(spec).map_err(|error| syntax(error.to_string()))
}

/// Returns an input's top-level fields.
#[must_use]
pub fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    fields_of(Shape::of::<T>())
}

/// Returns the fields that an input of a shape has at its top.
pub(super) fn fields_of(shape: Shape) -> &'static [&'static str] {
    let mut asked = Asked::default();
    // The answer is never an input: the source notes what it is asked for and refuses.
    let _refused = shape.try_read(&mut asked);
    asked.fields
}

/// Returns a text's top-level keys.
#[must_use]
pub fn keys(text: &str, format: Format) -> Vec<String> {
    let root = match format {
        Format::Ron => node::of_ron(text),
        Format::Toml => node::of_toml(toml::de::DeTable::parse_recoverable(text).0.get_ref()),
    };
    root.entries.into_iter().filter_map(|it| it.key).collect()
}

/// Records the requested fields.
#[derive(Default)]
struct Asked {
    fields: &'static [&'static str],
}

impl Source<'_> for Asked {
    fn read(&mut self, hint: Hint, _: &mut dyn Sink<'_>) -> Result<(), Fault> {
        if let Hint::Struct(_, fields) = hint {
            self.fields = fields;
        }
        Err(serde::de::Error::custom("only asked"))
    }
}

/// Converts an input to a tree.
///
/// # Errors
/// A value that TOML cannot represent.
pub fn to_tree<T: Serialize>(spec: &T) -> Result<Tree, Box<Diagnostic>> {
    Tree::try_from(said(spec)?).map_err(|error| syntax(error.to_string()))
}

/// Converts an input to JSON.
///
/// # Errors
/// A value that JSON cannot represent.
pub fn to_json<T: Serialize>(spec: &T) -> Result<serde_json::Value, Box<Diagnostic>> {
    serde_json::to_value(said(spec)?).map_err(|error| syntax(error.to_string()))
}

/// Converts a tree to an input.
///
/// # Errors
/// The first problem; a tree has no places.
pub fn from_tree<T: DeserializeOwned>(tree: Tree) -> Result<T, Box<Diagnostic>> {
    let read = once::read(|grow| Grown(grow).deserialize(tree));
    let value = read.map_err(|error: toml::de::Error| syntax(error.message().to_owned()))?;
    value.ok_or_else(|| syntax("there is nothing in it".to_owned()))
}

/// Parses one value as TOML; text that is not a TOML value becomes a string.
#[must_use]
pub fn value(text: &str) -> Tree {
    let document = format!("value = {text}");
    let parsed: Option<toml::Table> = toml::from_str(&document).ok();
    parsed.and_then(|mut it| it.remove("value")).unwrap_or_else(|| Tree::String(text.to_owned()))
}

/// Makes a diagnostic of serde's error about a tree.
fn syntax(message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::at("syntax", "", message))
}
