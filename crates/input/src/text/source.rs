//! An input file: its name, format and text, and the places of its fields; and texts of either format decoded and encoded.

use crate::prelude::*;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _};
use std::path::Path;
use std::sync::OnceLock;

use ron::extensions::Extensions;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::problems;
use super::read::{Decode, Shape, TreeReader, Unwanted};
use super::said::{Encode, Said};
use super::spelling::spell;
use super::tree::{Node, Tree, TreeEntry, Value};
use ctxsim_base::error::Error;

/// The largest input file, in bytes: thousands of times what people write, and parsed as a whole.
const INPUT_BYTES_MAX: u64 = 64 << 20;

/// The most bytes that are taken from a device or a pipe, and held until the end.
const STREAM_BYTES_MAX: u64 = 256 << 20;

/// The largest file of data that is read as a whole, in bytes.
const BYTES_MAX: u64 = 1 << 30;

/// An input file with its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path, or its bundled name.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Its text.
    pub text: String,
    /// Its text as a tree, once someone has asked for it.
    tree: Arc<OnceLock<Tree>>,
}

impl Source {
    /// Returns a source with a given text.
    pub fn new(file: impl Into<String>, format: Format, text: impl Into<String>) -> Self {
        Self { file: file.into(), format, text: text.into(), tree: Arc::default() }
    }

    /// Reads a file; its extension determines the format.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or is neither `.ron` nor `.toml`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let Some(format) = Format::from_path(path) else {
            let problem =
                Diagnostic::at(Code("file-format"), "", "not a policy, scenario, profile or suite file");
            let problem = problem.help("inputs end in `.ron` or `.toml`");
            return Err(vec![problem.in_file(path.display().to_string())].into());
        };
        Ok(Self::new(path.display().to_string(), format, read_up_to(path, INPUT_BYTES_MAX)?))
    }

    /// Returns the text as a tree.
    pub(super) fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| Tree::new(&self.text, self.format))
    }

    /// Reads an input from the text.
    ///
    /// # Errors
    /// Every problem, with its place.
    pub fn decode<T: Decode>(&self) -> Result<T, Error> {
        let decoded = decode_tree(self.tree(), &self.text);
        decoded.map_err(|problems| self.locate_all(problems).into())
    }

    /// Returns the keys at the top of the text.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.tree().root.entries().iter().filter_map(TreeEntry::name)
    }

    /// Returns whether the text sets a field path itself, not only a parent of it.
    pub fn gives(&self, field: &str) -> bool {
        let above = field.split_once('.').and_then(|(above, _)| self.find(above));
        self.find(field).is_some_and(|it| above.as_ref() != Some(&it))
    }

    /// Returns the bytes of the deepest existing field of a dotted path, or nothing if none exists.
    pub fn find(&self, field: &str) -> Option<Range<usize>> {
        self.tree().find(field)
    }

    /// Adds places to problems of this file.
    pub fn locate_all(&self, problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        problems.into_iter().map(|it| self.locate(it)).collect()
    }

    /// Adds the place to a problem of this file, from its span or its field path.
    pub fn locate(&self, mut problem: Diagnostic) -> Diagnostic {
        problem.help = problem.help.map(|it| spell(&it, self.format));
        Diagnostic { place: self.complete(problem.place), ..problem }
    }

    /// Completes a place in this file that has its span or its field path.
    pub fn complete(&self, place: Place) -> Place {
        let span = place.span.or_else(|| self.find(&place.field));
        let line_column = span.as_ref().map(|it| line_column(&self.text, it.start));
        Place { file: self.file.clone(), span, line_column, ..place }
    }
}

/// Opens a file of any length for streaming.
///
/// # Errors
/// The file cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let file = fs::File::open(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// Reads a file as text, up to a maximum size.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Error> {
    read_up_to(path, BYTES_MAX)
}

/// Reads the bytes of a device, a pipe or a socket, up to a maximum size: it can be read only once, and may have no end.
///
/// # Errors
/// It cannot be read, or has no end within that size.
pub fn read_stream(path: &Path) -> Result<Vec<u8>, Error> {
    read_bytes(path, STREAM_BYTES_MAX)
}

/// Reads a file as text, up to so many bytes, whatever its metadata say of its length.
fn read_up_to(path: &Path, bytes_max: u64) -> Result<String, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let bytes = read_bytes(path, bytes_max)?;
    let mut text =
        String::from_utf8(bytes).map_err(|it| failed(io::Error::new(ErrorKind::InvalidData, it)))?;
    // A byte order mark (BOM) is no part of the text.
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Reads a file, up to so many bytes.
///
/// # Errors
/// The file cannot be read, or is larger.
pub fn read_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let too_large = || {
        let message = format!("it is larger than {} MiB", bytes_max >> 20);
        failed(io::Error::new(ErrorKind::FileTooLarge, message))
    };
    let file = fs::File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    if length > bytes_max {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max { Err(too_large()) } else { Ok(bytes) }
}

/// Returns the line and the column of a byte, both from 1.
pub fn line_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |it| it + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

// Texts of RON or TOML read and written, with one form of syntax error for both.

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
fn decode_tree<T: Decode>(tree: &Tree, text: &str) -> Result<T, Vec<Diagnostic>> {
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

// Explains errors in JSON texts, with their places and fixes.

/// Serde's names of value types, and readable ones.
const WORDS: [(&str, &str); 3] = [
    ("expected f64", "expected a number"),
    ("expected u64", "expected a whole number that is not negative"),
    ("expected u32", "expected a whole number that is not negative"),
];

/// Explains a JSON parser's error, with its place and a fix.
pub fn json_problem(text: &str, error: &serde_json::Error) -> Diagnostic {
    let whole = error.to_string();
    let message = whole.split(" at line ").next().unwrap_or(&whole);
    let message = match message.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected an object"),
        None => WORDS.iter().fold(message.to_owned(), |text, (from, to)| text.replace(from, to)),
    };
    let is_double = message.starts_with("duplicate field") || message.ends_with("occurs twice");
    let help = match (error.classify(), message.rsplit_once(", expected ")) {
        (Category::Eof, _) => "the file ends too early: write or download it again".to_owned(),
        _ if message.starts_with("recursion limit") => "nest at most 128 lists or objects".to_owned(),
        _ if is_double => "remove one of the two".to_owned(),
        _ if message.starts_with("missing field") => "add it".to_owned(),
        (Category::Data, Some((_, wanted))) => format!("write {wanted}"),
        _ => "write valid JSON: finite numbers, text and keys in double quotes, commas between values"
            .to_owned(),
    };
    let mut problem = Diagnostic::at(Code("syntax"), "", message).help(help);
    if error.line() > 0 {
        let (line, column) = (error.line(), error.column().max(1));
        let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let at = (start + column - 1).min(text.len());
        problem.place.line_column = Some((line, column));
        problem.place.span = text.is_char_boundary(at).then_some(at..at);
    }
    problem
}
