//! An input file: its name, format and text, and the places of its fields.

use crate::prelude::*;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _};
use std::path::Path;
use std::sync::OnceLock;

use serde_json::error::Category;

use crate::text::decode::{self, Format};
use crate::text::read::Decode;
use crate::text::spelling::spell;
use crate::text::tree::{Tree, TreeEntry};
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
            let mut problem =
                Diagnostic::at(Code("file-format"), "", "not a policy, scenario, profile or suite file");
            problem.place.file = path.display().to_string();
            return Err(vec![problem.help("inputs end in `.ron` or `.toml`")].into());
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
        let decoded = decode::decode_tree(self.tree(), &self.text);
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
