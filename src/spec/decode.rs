//! RON or TOML text to a spec and back, with one shape of syntax error for both.

use std::ops::Range;
use std::path::Path;

use ron::extensions::Extensions;
use serde::{Serialize, de::DeserializeOwned};

use crate::diag::{Diagnostic, Place, nearest};

/// The language of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Rusty Object Notation, `.ron`.
    Ron,
    /// TOML, `.toml`.
    Toml,
}

impl Format {
    /// Returns the format that a file's extension names.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ron" => Some(Self::Ron),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// A spec as a tree, on which `--set` works; both formats lead to the same tree.
pub type Tree = toml::Value;

/// The RON that inputs are written in: no `Some(…)`, no wrapping of newtypes.
pub(super) fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    )
}

/// Reads a spec from text.
///
/// # Errors
/// The first thing that does not fit, with its place in the text; the file's name is the caller's to add.
pub fn decode<T: DeserializeOwned>(text: &str, format: Format) -> Result<T, Box<Diagnostic>> {
    match format {
        Format::Ron => ron_options().from_str(text).map_err(|error| {
            let start = byte_of(text, error.span.start.line, error.span.start.col);
            let end = byte_of(text, error.span.end.line, error.span.end.col).max(start);
            syntax(error.code.to_string(), Some(start..end))
        }),
        Format::Toml => {
            toml::from_str(text).map_err(|error| syntax(error.message().to_owned(), error.span()))
        }
    }
}

/// Writes a spec as a tree.
///
/// # Errors
/// A value that TOML cannot hold.
pub fn to_tree<T: Serialize>(spec: &T) -> Result<Tree, Box<Diagnostic>> {
    Tree::try_from(spec).map_err(|error| syntax(error.to_string(), None))
}

/// Reads a spec from a tree.
///
/// # Errors
/// The first thing that does not fit; a tree has no places.
pub fn from_tree<T: DeserializeOwned>(tree: Tree) -> Result<T, Box<Diagnostic>> {
    tree.try_into().map_err(|error: toml::de::Error| syntax(error.message().to_owned(), None))
}

/// Reads one value as TOML writes it; text that is no TOML value is taken as a string.
#[must_use]
pub fn value(text: &str) -> Tree {
    let document = format!("value = {text}");
    let parsed: Option<toml::Table> = toml::from_str(&document).ok();
    parsed.and_then(|mut it| it.remove("value")).unwrap_or_else(|| Tree::String(text.to_owned()))
}

/// Makes a diagnostic of what a parser said.
fn syntax(message: String, span: Option<Range<usize>>) -> Box<Diagnostic> {
    let (message, help) = plain_words(message);
    let place = Place { span, ..Place::default() };
    Box::new(Diagnostic { code: "syntax", message, place, help })
}

/// Rewrites the parser messages that lead astray.
fn plain_words(message: String) -> (String, Option<String>) {
    let found = message
        .strip_prefix("Found invalid std identifier")
        .or_else(|| message.strip_prefix("Found invalid identifier"));
    if let Some(found) = found {
        let found = found.trim().trim_matches(['`', '"']);
        if found.starts_with(|it: char| it.is_ascii_digit() || it == '-') {
            let help = format!("write `tokens({found})`, or `ratio(…)` for a share of the limit");
            return (format!("a bare number stands where a size belongs: `{found}`"), Some(help));
        }
    }
    let help = one_of(&message);
    (message, help)
}

/// Returns the way out of a message that says what was found and what was expected, both in backticks.
fn one_of(message: &str) -> Option<String> {
    let (found, expected) = message.split_once(", expected ")?;
    let wrong = found.split('`').nth(1)?;
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    match nearest(wrong, known.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if known.is_empty() => None,
        None => Some(format!("write one of `{}`", known.join("`, `"))),
    }
}

/// Turns a line and a column in characters, both from 1, into a byte position.
fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(offset, _)| offset)
}
