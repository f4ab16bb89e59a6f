//! A recording read line by line, holding only one line and the beginning.
//!
//! JavaScript writes halves of surrogate pairs where it cuts an emoji, and readers of JSON refuse all of a text with one: they are replaced.

use std::io::{self, BufRead};

use memchr::{memchr, memmem};

use crate::import::prelude::*;

/// The most lines at the front that are inspected to detect the format.
const HEAD_LINES: usize = 1_000;

/// The most bytes of them, unless the first line alone is longer.
const HEAD_BYTES: usize = 1 << 20;

/// The longest line, in bytes. A line holds at most one request, and the providers take no request of more than 50 MB; its
/// text is held several times over while it is parsed.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// The longest document that is read as a whole, in bytes.
const DOCUMENT_BYTES_MAX: usize = 1 << 30;

/// A recording that is being read.
pub(super) struct LogLines<'r> {
    reader: &'r mut dyn BufRead,
    /// The lines at the front, until they are read.
    head: String,
    /// How much of them is read.
    from_head: usize,
    /// Where the line that was read last stands at the front, if it stands there.
    in_head: Option<Range<usize>>,
    /// The line that was read last.
    line: Vec<u8>,
    text: String,
    number: usize,
    /// Lines that are not UTF-8, by their numbers.
    broken: Vec<usize>,
    /// What lines have been read that represent themselves.
    known: IndexSet<u128>,
    failed: Option<io::Error>,
    /// The lines that were read from the reader.
    n_filled: usize,
    /// The line that is too long; nothing is read from it on.
    pub(super) too_long: Option<usize>,
}

/// A line and its number, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordLine<'l> {
    /// Its number.
    pub(super) number: usize,
    /// Its text, without what ends it.
    pub(super) text: &'l str,
}

impl<'r> LogLines<'r> {
    /// Begins to read, and holds what the format is found by.
    pub(super) fn new(reader: &'r mut dyn BufRead) -> Self {
        Self::with_head(reader, HEAD_BYTES)
    }

    /// The same, with a front of a few bytes.
    pub(super) fn with_head(reader: &'r mut dyn BufRead, head_bytes: usize) -> Self {
        let mut lines = Self {
            reader,
            head: String::new(),
            from_head: 0,
            in_head: None,
            line: Vec::new(),
            text: String::new(),
            number: 0,
            broken: Vec::new(),
            known: IndexSet::new(),
            failed: None,
            n_filled: 0,
            too_long: None,
        };
        for number in 1..=HEAD_LINES {
            if lines.head.len() >= head_bytes || !lines.fill() {
                break;
            }
            lines.head.push_str(&decoded(&lines.line, number, &mut lines.broken));
        }
        if lines.too_long == Some(1) {
            // The format of a long document can be told from its front.
            let front = lines.line.get(..head_bytes).unwrap_or_default();
            lines.head.push_str(&String::from_utf8_lossy(front));
        }
        lines.from_head = lines.head.len() - lines.head.trim_start_matches('\u{feff}').len();
        lines
    }

    /// Returns what is at the front: whole lines.
    pub(super) fn head(&self) -> &str {
        &self.head[self.from_head..]
    }

    /// Returns the next line; nothing at the end, or where reading fails.
    pub(super) fn next(&mut self) -> Option<RecordLine<'_>> {
        self.text.clear();
        if self.from_head < self.head.len() {
            let rest = &self.head[self.from_head..];
            let length = rest.split_inclusive('\n').next().unwrap_or(rest).len();
            self.in_head = Some(self.from_head..self.from_head + length);
            self.from_head += length;
        } else {
            self.head = String::new();
            (self.from_head, self.in_head) = (0, None);
            if !self.fill() {
                return None;
            }
            self.decode();
        }
        self.number += 1;
        Some(self.last())
    }

    /// Returns the next line that no earlier one is equal to: in formats where each has its time or its place, a second one
    /// is a copy.
    pub(super) fn next_new(&mut self, losses: &mut Losses) -> Option<RecordLine<'_>> {
        loop {
            let line = self.next()?;
            let (number, is_blank, digest) =
                (line.number, line.text.trim_ascii().is_empty(), xxh3_128(line.text.as_bytes()));
            if is_blank || self.known.insert(digest) {
                return Some(self.last());
            }
            losses.add(number, "repeated lines");
        }
    }

    /// Returns the line that was read last.
    fn last(&self) -> RecordLine<'_> {
        let text = self.whole();
        let text = text.strip_suffix('\n').unwrap_or(text);
        RecordLine { number: self.number, text: text.strip_suffix('\r').unwrap_or(text) }
    }

    /// Returns the same with what ends it.
    fn whole(&self) -> &str {
        self.in_head.clone().map_or(&self.text, |it| &self.head[it])
    }

    /// Takes the bytes of a line as text; the buffers change places, so that nothing is copied.
    fn decode(&mut self) {
        match String::from_utf8(std::mem::take(&mut self.line)) {
            Ok(text) => self.line = std::mem::replace(&mut self.text, text).into_bytes(),
            Err(broken) => {
                self.line = broken.into_bytes();
                self.text.push_str(&decoded(&self.line, self.number + 1, &mut self.broken));
            }
        }
    }

    /// Returns everything that is not read yet.
    pub(super) fn rest(&mut self) -> String {
        let mut text = String::new();
        while self.next().is_some() {
            text.push_str(self.whole());
            if text.len() > DOCUMENT_BYTES_MAX {
                self.failed = Some(io::Error::other("the document is longer than 1 GiB"));
                break;
            }
        }
        text
    }

    /// Reports lines that were not text, or says why reading failed.
    pub(super) fn finish(self, losses: &mut Losses) -> io::Result<()> {
        for line in self.broken {
            losses.add(line, "bytes that are not valid UTF-8, which count as one character each");
        }
        self.failed.map_or(Ok(()), Err)
    }

    /// Reads a line as bytes; returns whether there was one.
    fn fill(&mut self) -> bool {
        self.line.clear();
        if self.too_long.is_some() {
            return false;
        }
        self.n_filled += 1;
        match read_line(self.reader, &mut self.line) {
            Ok(n) if n > LINE_BYTES_MAX => {
                self.too_long = Some(self.n_filled);
                false
            }
            Ok(n) => {
                mend(&mut self.line);
                n > 0
            }
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }
}

/// Reads up to the end of a line, or up to a byte more than a line may have; the standard library looks for the end without
/// wide registers.
///
/// # Errors
/// The reader fails.
pub fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    while line.len() <= LINE_BYTES_MAX && !line.ends_with(b"\n") {
        let bytes = match reader.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr(b'\n', bytes).map_or(bytes.len(), |it| it + 1).min(LINE_BYTES_MAX + 1 - line.len());
        line.extend_from_slice(&bytes[..end]);
        reader.consume(end);
    }
    Ok(line.len())
}

impl LogLines<'_> {
    /// Puts more of what is not read yet in the place of a part, however long the lines are; returns whether there is more.
    pub(super) fn refill(&mut self, part: &mut Vec<u8>) -> bool {
        part.clear();
        let head = std::mem::take(&mut self.head);
        let from_head = std::mem::take(&mut self.from_head);
        self.in_head = None;
        let long = self.too_long.take();
        // Of a first line that is too long, the front is a copy.
        if long != Some(1) {
            part.extend_from_slice(head.as_bytes().get(from_head..).unwrap_or_default());
        }
        if long.is_some() {
            part.append(&mut self.line);
        }
        if part.is_empty() {
            match self.reader.fill_buf() {
                Ok(bytes) => {
                    part.extend_from_slice(bytes);
                    self.reader.consume(part.len());
                }
                Err(error) => self.failed = Some(error),
            }
        }
        !part.is_empty()
    }
}

/// Returns bytes as text, noting what is none.
fn decoded<'b>(bytes: &'b [u8], number: usize, broken: &mut Vec<usize>) -> Cow<'b, str> {
    // The check of a whole line is many times as fast as the search for what is broken in it.
    std::str::from_utf8(bytes).map_or_else(
        |_| {
            broken.push(number);
            String::from_utf8_lossy(bytes)
        },
        Cow::Borrowed,
    )
}

/// How an escape begins, of a character by its number.
const ESCAPE: &[u8] = b"\\u";

/// What stands for a half.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// Replaces each half that stands alone by U+FFFD. It is as long, so that nothing moves.
pub(super) fn mend(text: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|it| memmem::find(it, ESCAPE)).map(|it| from + it) {
        let n_before = text[..at].iter().rev().take_while(|it| **it == b'\\').count();
        from = at + ESCAPE.len();
        // A backslash behind another one is a letter.
        let unit = if n_before % 2 == 0 { unit(text, at) } else { None };
        match unit {
            Some(0xD800..=0xDBFF)
                if matches!(self::unit(text, at + REPLACEMENT.len()), Some(0xDC00..=0xDFFF)) =>
            {
                from = at + 2 * REPLACEMENT.len();
            }
            Some(0xD800..=0xDFFF) => text[at..at + REPLACEMENT.len()].copy_from_slice(REPLACEMENT),
            _ => {}
        }
    }
}

/// Returns the number of an escape that begins in a place.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + REPLACEMENT.len())?.strip_prefix(ESCAPE)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    is_hex.then(|| std::str::from_utf8(digits).ok()).flatten().and_then(|it| u32::from_str_radix(it, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> (Vec<(usize, String)>, Vec<String>) {
        let mut lines = LogLines::new(&mut bytes);
        let mut found = Vec::new();
        while let Some(line) = lines.next() {
            found.push((line.number, line.text.to_owned()));
        }
        let mut losses = Losses::default();
        lines.finish(&mut losses).unwrap();
        (found, losses.in_order().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn lines_are_numbered_and_come_without_what_ends_them() {
        let (lines, losses) = all("\u{feff}a\r\n\nb".as_bytes());

        assert_eq!(lines, [(1, "a".to_owned()), (2, String::new()), (3, "b".to_owned())]);
        assert_eq!(losses, [""; 0]);
    }

    #[test]
    fn bytes_that_are_no_text_are_reported_with_their_line() {
        let (lines, losses) = all(b"a\nb\xff\n");

        assert_eq!(lines[1].1, "b\u{fffd}");
        assert_eq!(losses, ["line 2: bytes that are not valid UTF-8, which count as one character each"]);
    }

    #[test]
    fn halves_alone_are_replaced_and_whole_characters_stay() {
        let mended = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            mend(&mut bytes);
            String::from_utf8(bytes).unwrap()
        };

        assert_eq!(mended(r#""a \ud83d""#), r#""a \ufffd""#);
        assert_eq!(
            mended(r#""\uD83D\uDE00 \uDE00\ud83d\ud83d\ude00""#),
            r#""\uD83D\uDE00 \ufffd\ufffd\ud83d\ude00""#
        );
        for whole in [r#""\\ud83d""#, r#""\u2019""#, r#""\ud8"#, r"\ud83", r#"no escapes"#, ""] {
            assert_eq!(mended(whole), whole);
        }
        assert_eq!(mended(r#""\\\ud83d""#), r#""\\\ufffd""#, "a backslash, and then a half");
    }
}
