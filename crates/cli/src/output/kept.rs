//! What a result must not replace: the inputs of the command, and files that ctxsim did not write.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use ctxsim_app::catalog::Files;
use ctxsim_base::diag::Code;
use ctxsim_base::error::Error;
use ctxsim_input::Format;

use super::file::unlinked;
use crate::wrong_at;

/// The sentence in the first line of every file whose format has comments; in HTML it follows the document type.
const REMARK: &str = "Written by ctxsim.";

/// What stands around the sentence in the formats that have comments.
const COMMENT_SIGNS: [char; 8] = ['<', '!', '-', '>', '/', '#', ' ', '\r'];

/// The first line of a page, before which nothing may stand.
const DOCTYPE: &str = "<!DOCTYPE html>";

/// How the other formats begin: parts of the text that follow each other, the first of them at the beginning.
const BEGINNINGS: [&[&str]; 15] = [
    &["{\n  \"schema\": \"ctxsim."],
    &["{\"policy\":\"", "\",\"scenario\":\"", "\",\"profile\":\""],
    &["{\"session\":", ",\"turn\":", ",\"step\":", ",\"n\":", ",\"role\":\""],
    &["{\"card_type\":\"agingbench.AgingCard\""],
    &["{\"dependency_graph\":{\"accumulators\":"],
    &["policy,scenario,profile,"],
    &["session,turn,step,n,", "role,"],
    &["scenario,as_of,profile,policy,"],
    &["<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ctxsim\""],
    &["{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\"", "\"name\": \"ctxsim\""],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"PolicyFile\","],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"ScenarioFile\","],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"ProfileFile\","],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"SuiteFile\","],
    &[".ie \\n(.g .ds Aq", "\n.TH ctxsim"],
];

/// How much of a file is read to recognise it.
const HEAD_BYTES: u64 = 4 << 10;

/// What a command must keep.
#[derive(Clone, Copy)]
pub(crate) struct KeptFile<'a> {
    /// Its inputs, which are always kept.
    pub inputs: &'a Files,
    /// Which other files it may replace.
    pub replaced: Replaced,
}

/// Which files may be replaced, besides empty ones and those that have the text already.
#[derive(Clone, Copy)]
pub(crate) enum Replaced {
    /// Results that ctxsim wrote.
    Results,
    /// Those that begin so, and no other: what is kept beside the inputs, by a name that nobody typed.
    Beginning(&'static str),
    /// All: the user says so.
    All,
}

impl KeptFile<'_> {
    /// Checks that writing to a path loses nothing; a file with the text that is to be written loses nothing either.
    ///
    /// # Errors
    /// The path leads through a link, to an input, or to a file that ctxsim did not write.
    pub(crate) fn check(self, path: &Path, text: Option<&[u8]>) -> Result<(), Error> {
        if fs::metadata(path).is_ok_and(|it| it.is_file()) && self.inputs.contains(path) {
            return Err(wrong_at(
                Code("output-input"),
                path,
                "this file is one of the inputs",
                "name another file",
            ));
        }
        unlinked(path)?;
        // Devices and pipes keep nothing, and may have no end.
        let Some(there) = fs::metadata(path).ok().filter(fs::Metadata::is_file) else { return Ok(()) };
        let is_replaced = match self.replaced {
            Replaced::Results => is_own(path),
            Replaced::Beginning(text) => begins_with(path, text),
            Replaced::All => true,
        };
        if is_replaced || there.len() == 0 || text.is_some_and(|it| is_equal(path, &there, it)) {
            return Ok(());
        }
        let help = match self.replaced {
            Replaced::Beginning(_) => "move it away: a file of ctxsim's own is kept at this path",
            Replaced::Results | Replaced::All => "name another file, or add `--force` to replace this one",
        };
        Err(wrong_at(Code("output-exists"), path, "this file exists, and ctxsim did not write it", help))
    }
}

/// Returns whether a file has a text, reading no more than that text is long.
fn is_equal(path: &Path, there: &fs::Metadata, text: &[u8]) -> bool {
    there.len() == text.len() as u64 && head(path, there.len()).is_ok_and(|it| it == text)
}

/// Returns whether a file, and not a link, begins with a text, whatever its line ends.
pub(crate) fn begins_with(path: &Path, text: &str) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    is_file
        && head(path, HEAD_BYTES)
            .is_ok_and(|it| String::from_utf8_lossy(&it).replace("\r\n", "\n").starts_with(text))
}

/// Returns whether a file says that ctxsim wrote it.
fn is_own(path: &Path) -> bool {
    let Ok(head) = head(path, HEAD_BYTES) else { return false };
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines().skip_while(|it| *it == DOCTYPE);
    let has_remark = lines.next().is_some_and(|it| it.trim_matches(COMMENT_SIGNS) == REMARK);
    // Rows are the same as lines and in a list.
    let head = head.strip_prefix("[\n").unwrap_or(&head);
    has_remark || BEGINNINGS.iter().any(|it| begins(head, it))
}

/// Returns whether a text begins with the first of some parts, and has the others after it, in order.
fn begins(text: &str, parts: &[&str]) -> bool {
    let Some((first, others)) = parts.split_first() else { return false };
    let after = |text: &'_ str, part: &&str| text.find(*part).map(|it| it + part.len());
    let mut at = first.len();
    text.starts_with(first) && others.iter().all(|it| after(&text[at..], it).map(|n| at += n).is_some())
}

/// Reads the beginning of a file.
fn head(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(bytes).read_to_end(&mut head)?;
    Ok(head)
}

/// How a file says that ctxsim wrote it.
#[derive(Clone, Copy)]
pub(crate) enum Remark {
    /// A line of its own.
    Line,
    /// A comment between these signs.
    Comment(&'static str, &'static str),
    /// A comment after the document type.
    AfterDoctype,
    /// Nothing: the format has no comments, or what is written is the user's from now on.
    None,
}

impl Remark {
    /// Returns how an input file says it.
    pub(crate) fn of_input(format: Format) -> Self {
        Self::Comment(if format == Format::Ron { "// " } else { "# " }, "")
    }

    /// Adds the remark to a text.
    pub(crate) fn on(self, text: impl AsRef<[u8]>) -> Vec<u8> {
        let text = text.as_ref();
        let (before, rest) = match self {
            Self::Line => (format!("{REMARK}\n\n"), text),
            Self::Comment(open, close) => (format!("{open}{REMARK}{close}\n"), text),
            Self::AfterDoctype => {
                let rest = text.strip_prefix(DOCTYPE.as_bytes()).unwrap_or(text);
                (format!("{DOCTYPE}\n<!-- {REMARK} -->"), rest)
            }
            Self::None => (String::new(), text),
        };
        [before.as_bytes(), rest].concat()
    }
}
