//! An input file: its name, its format, its text, and where in the text a field stands.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::diag::{Diagnostic, Place};
use crate::error::Error;
use crate::spec::decode::{self, Format};
use crate::spec::spelling::spell;

/// The largest input file that is read whole, in bytes.
const BYTES_MAX: u64 = 1 << 30;

/// An input file with its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path, or what it is called when it is bundled.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Its text.
    pub text: String,
}

impl Source {
    /// Takes text that is already at hand.
    #[must_use]
    pub fn new(file: impl Into<String>, format: Format, text: impl Into<String>) -> Self {
        Self { file: file.into(), format, text: text.into() }
    }

    /// Reads a file; the extension names its format.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or is neither `.ron` nor `.toml`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let Some(format) = Format::of(path) else {
            let mut problem =
                Diagnostic::at("file-format", "", "not a policy, scenario, profile or suite file");
            problem.place.file = path.display().to_string();
            return Err(vec![problem.help("inputs end in `.ron` or `.toml`")].into());
        };
        Ok(Self { file: path.display().to_string(), format, text: read_text(path)? })
    }

    /// Reads the text as a spec.
    ///
    /// # Errors
    /// Everything that does not fit, each with its place.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        decode::decode(&self.text, self.format).map_err(|problems| self.locate_all(problems).into())
    }

    /// Gives problems of this file their place in the text.
    #[must_use]
    pub fn locate_all(&self, problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        problems.into_iter().map(|it| self.locate(it)).collect()
    }

    /// Gives a problem of this file its place in the text, from its span or its field path.
    #[must_use]
    pub fn locate(&self, mut problem: Diagnostic) -> Diagnostic {
        let place: &mut Place = &mut problem.place;
        place.file.clone_from(&self.file);
        problem.help = problem.help.map(|it| spell(&it, self.format));
        if place.span.is_none() {
            place.span = crate::spec::place::find(&self.text, self.format, &place.field);
        }
        place.line_column = place.span.as_ref().map(|it| line_column(&self.text, it.start));
        problem
    }
}

/// Opens a file that is read as a stream, of any length.
///
/// # Errors
/// The file cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let file = fs::File::open(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// Reads a file as text, refusing what is too large to hold.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let bytes = fs::metadata(path).map_err(failed)?.len();
    if bytes > BYTES_MAX {
        return Err(failed(std::io::Error::other("larger than 1 GiB")));
    }
    fs::read_to_string(path).map_err(failed)
}

/// Returns the line and the column, both from 1, of a byte.
#[must_use]
pub fn line_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |it| it + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// How serde calls kinds of values, and how people do.
const WORDS: [(&str, &str); 3] = [
    ("expected f64", "expected a number"),
    ("expected u64", "expected a whole number that is not negative"),
    ("expected u32", "expected a whole number that is not negative"),
];

/// Says what a JSON parser found in a text, with its place and a way out.
#[must_use]
pub fn json_problem(text: &str, error: &serde_json::Error) -> Diagnostic {
    let whole = error.to_string();
    let message = whole.split(" at line ").next().unwrap_or(&whole);
    let message = match message.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected an object"),
        None => WORDS.iter().fold(message.to_owned(), |text, (from, to)| text.replace(from, to)),
    };
    let is_double = message.starts_with("duplicate field") || message.ends_with("stands twice");
    let help = match (error.classify(), message.rsplit_once(", expected ")) {
        (Category::Eof, _) => "the text ends in the middle: write or fetch the whole file again".to_owned(),
        _ if message.starts_with("recursion limit") => "nest no deeper than 128 lists or objects".to_owned(),
        _ if is_double => "keep one of the two".to_owned(),
        _ if message.starts_with("missing field") => "add it".to_owned(),
        (Category::Data, Some((_, wanted))) => format!("write {wanted}"),
        _ => "write JSON: finite numbers, text and keys in double quotes, commas between values".to_owned(),
    };
    let mut problem = Diagnostic::at("syntax", "", message).help(help);
    if error.line() > 0 {
        let (line, column) = (error.line(), error.column().max(1));
        let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let at = (start + column - 1).min(text.len());
        problem.place.line_column = Some((line, column));
        problem.place.span = text.is_char_boundary(at).then_some(at..at);
    }
    problem
}
