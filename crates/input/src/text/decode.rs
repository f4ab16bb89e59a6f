//! Decodes RON or TOML text and encodes inputs, with one form of syntax error for both.

use std::path::Path;

use ron::extensions::Extensions;
use serde::de::DeserializeOwned;

use super::problems;
use super::read::{Decode, Shape, TreeReader, Unwanted};
use super::said::{Encode, Said};
use super::tree::{Node, Tree, Value};
use crate::prelude::*;

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
    pub fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ron" => Some(Self::Ron),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// The RON dialect of inputs: no `Some(…)`, no wrapping of newtypes.
fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    )
}

/// Parses an input.
///
/// # Errors
/// Every problem, with its place in the text; the caller adds the file's name.
pub fn decode<T: Decode>(text: &str, format: Format) -> Result<T, Vec<Diagnostic>> {
    decode_tree(&Tree::new(text, format), text)
}

/// Parses a table that ships with its only reader, and is compiled there.
///
/// # Errors
/// Every problem, with its place in the text.
pub fn decode_table<T: DeserializeOwned>(text: &str, format: Format) -> Result<T, Vec<Diagnostic>> {
    let tree = Tree::new(text, format);
    sound(&tree, T::deserialize).ok_or_else(|| problems::found_problems(&tree, text, Shape::of_table::<T>()))
}

/// Reads a table that ships, or what this process reads in its place; a table that cannot be read says nothing.
pub fn declared<T: DeserializeOwned + Default>(shipped: &'static str) -> T {
    decode_table(ctxsim_assumptions::current(shipped), Format::Toml).unwrap_or_default()
}

/// Reads an input from the tree of its text, which must not say anything twice.
pub(super) fn decode_tree<T: Decode>(tree: &Tree, text: &str) -> Result<T, Vec<Diagnostic>> {
    sound(tree, T::read).ok_or_else(|| problems::found_problems(tree, text, Shape::of::<T>()))
}

/// Reads a tree that has no fault.
fn sound<'t, T>(tree: &'t Tree, read: impl FnOnce(TreeReader<'t>) -> Result<T, Unwanted>) -> Option<T> {
    // The parser of TOML refuses a key that is set twice.
    let is_sound = tree.fault.is_none() && (tree.format == Format::Toml || !tree.root.says_twice());
    is_sound.then(|| read(TreeReader::new(&tree.root, tree.format)).ok()).flatten()
}

/// Writes an input as text that parses to the same input.
///
/// # Errors
/// A value that the format cannot represent.
pub fn encode<T: Encode>(spec: &T, format: Format) -> Result<String, Box<Diagnostic>> {
    write(&said(spec)?, format)
}

/// Writes a table that has no type of its own as TOML; `None` if TOML cannot hold it.
pub fn table_text(tree: &serde_json::Value) -> Option<String> {
    toml::to_string(tree).ok()
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
fn said<T: Encode>(spec: &T) -> Result<Said, Box<Diagnostic>> {
    spec.said().map_err(|error| syntax(error.to_string()))
}

/// Returns an input's top-level fields.
pub fn fields<T: Decode>() -> &'static [&'static str] {
    Shape::of::<T>().fields()
}

/// Converts an input to a tree, on which `--set` works, in the shapes of TOML.
///
/// # Errors
/// A value that refuses to be written.
pub fn to_tree<T: Encode>(spec: &T) -> Result<Node, Box<Diagnostic>> {
    said(spec).map(Node::from)
}

/// Converts an input to JSON.
///
/// # Errors
/// A value that JSON cannot represent.
pub fn to_json<T: Encode>(spec: &T) -> Result<serde_json::Value, Box<Diagnostic>> {
    serde_json::to_value(said(spec)?).map_err(|error| syntax(error.to_string()))
}

/// Parses one value as TOML; text that is not a TOML value becomes a string.
pub fn value(text: &str) -> Node {
    let tree = Tree::new(&format!("value = {text}"), Format::Toml);
    let value = tree.root.get("value").filter(|_| tree.fault.is_none() && tree.root.entries().len() == 1);
    value.cloned().unwrap_or_else(|| Node::of(Value::Text(text.to_owned())))
}

/// Writes a value as TOML has it within a line, as overrides take it; `None` if TOML cannot hold it.
pub fn value_text(value: &impl serde::Serialize) -> Option<String> {
    toml::Value::try_from(value).ok().map(|it| it.to_string())
}

/// Makes a diagnostic of an error of a writer.
fn syntax(message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::at(Code("syntax"), "", message))
}
