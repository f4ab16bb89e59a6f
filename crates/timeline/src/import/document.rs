//! JSON documents piece by piece: the elements of a long list come one at a time, so that a document of any length can be read.

use super::lines::mend;
use super::losses::{NOT_JSON, REST_NOT_JSON, member};
use crate::import::prelude::*;

/// The longest piece, in bytes: what a line may have, in formats that have one record a line.
const PIECE_BYTES_MAX: usize = 64 << 20;

/// How deep objects and lists may be opened.
const DEPTH_MAX: usize = 32;

/// The most bytes of a value that an outline keeps.
const OUTLINED_BYTES: usize = 120;

/// A value of a document, or the end of an opened one.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentPiece<'t> {
    /// The keys that lead to it, joined by dots; `[]` stands for the elements of a list.
    pub(super) path: &'t str,
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// The value, or nothing where an opened object or list ends.
    pub(super) text: Option<&'t str>,
}

/// Hands over the pieces of all documents of a recording, in order. Objects and lists on these paths are opened; the one at the top always is.
pub(super) fn each(
    lines: &mut LogLines<'_>,
    opened: &[&str],
    losses: &mut Losses,
    mut take: impl FnMut(DocumentPiece<'_>, &mut Losses),
) {
    let is_opened = |path: &str| path.is_empty() || opened.contains(&path);
    walk(&mut |part| lines.refill(part), &is_opened, losses, &mut |piece, column, losses| {
        take(piece, losses);
        let text = piece.text.unwrap_or_default();
        losses.locate_by(piece.line, |field| place(piece.line, column, text, member(text, field)));
    });
}

/// The paths and the first values at the front of a recording, whatever is behind it.
#[derive(Debug, Default)]
pub(super) struct FrontOutline(Vec<(String, String)>);

impl FrontOutline {
    /// Reads the front of a recording.
    pub(super) fn of(head: &str) -> Self {
        let mut outline = Self::default();
        if !head.trim_start().starts_with(['{', '[']) {
            return outline;
        }
        let mut rest = head;
        let mut refill = |part: &mut Vec<u8>| {
            *part = std::mem::take(&mut rest).into();
            !part.is_empty()
        };
        // Deeper values say nothing about the format.
        let is_opened = |path: &str| path.matches(['.', '[']).count() < 4;
        walk(&mut refill, &is_opened, &mut Losses::default(), &mut |piece, _, _| {
            let Some(text) = piece.text.filter(|_| !outline.has(piece.path)) else { return };
            let value = text.trim_matches('"');
            let end = value.char_indices().nth(OUTLINED_BYTES).map_or(value.len(), |it| it.0);
            outline.0.push((piece.path.to_owned(), value[..end].to_owned()));
        });
        outline
    }

    /// Returns whether a value is there.
    pub(super) fn has(&self, path: &str) -> bool {
        self.get(path).is_some()
    }

    /// Returns the beginning of the first value on a path; a text without its quotes.
    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|it| it.0 == path).map(|piece| piece.1.as_str())
    }
}

/// Returns line and column of a part of a piece.
fn place(line: usize, column: usize, text: &str, part: &str) -> (usize, usize) {
    let before = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    let before = before.and_then(|it| text.get(..it)).unwrap_or_default();
    match before.rsplit_once('\n') {
        Some((above, own)) => (line + 1 + above.matches('\n').count(), own.chars().count() + 1),
        None => (line, column + before.chars().count()),
    }
}

/// An opened object or list.
struct OpenedLevel {
    path: String,
    is_list: bool,
    line: usize,
}

/// How a value ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Whole,
    CutOff,
    TooLong,
}

/// Puts the next part of the bytes in place of the last one; returns whether there is one.
type Refill<'f> = dyn FnMut(&mut Vec<u8>) -> bool + 'f;

type TakePiece<'f> = dyn FnMut(DocumentPiece<'_>, usize, &mut Losses) + 'f;

/// A walk along the bytes of documents.
struct DocumentWalk<'s> {
    refill: &'s mut Refill<'s>,
    is_opened: &'s dyn Fn(&str) -> bool,
    losses: &'s mut Losses,
    take: &'s mut TakePiece<'s>,
    part: Vec<u8>,
    at: usize,
    line: usize,
    /// The characters before this place on its line.
    column: usize,
    levels: Vec<OpenedLevel>,
    value: Vec<u8>,
    /// Whether an element of a list was handed over since the document began.
    has_elements: bool,
}

/// Walks along documents to their end.
fn walk<'s>(
    refill: &'s mut Refill<'s>,
    is_opened: &'s dyn Fn(&str) -> bool,
    losses: &'s mut Losses,
    take: &'s mut TakePiece<'s>,
) {
    let mut walk = DocumentWalk {
        refill,
        is_opened,
        losses,
        take,
        part: Vec::new(),
        at: 0,
        line: 1,
        column: 0,
        levels: Vec::new(),
        value: Vec::new(),
        has_elements: false,
    };
    let mut is_going = true;
    while is_going {
        is_going = match walk.levels.last().map(|it| it.is_list) {
            None => walk.top(),
            Some(is_list) => walk.inside(is_list),
        };
    }
    if let Some(level) = walk.levels.first() {
        walk.losses.add(
            walk.line,
            format!("the rest of the document that begins on line {}, which is cut off", level.line),
        );
    }
    walk.close_all();
}

impl DocumentWalk<'_> {
    fn peek(&mut self) -> Option<u8> {
        if self.at == self.part.len() {
            self.at = 0;
            if !(self.refill)(&mut self.part) {
                self.part.clear();
                return None;
            }
        }
        self.part.get(self.at).copied()
    }

    fn step(&mut self, byte: u8) {
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        } else if byte & 0xc0 != 0x80 {
            self.column += 1;
        }
    }

    /// Goes to the next byte that is no blank, and none of some others.
    fn skip(&mut self, also: &[u8]) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !byte.is_ascii_whitespace() && !also.contains(&byte) {
                return Some(byte);
            }
            self.step(byte);
        }
        None
    }

    /// Reads a value; its bytes are held until the next one, unless there are too many.
    fn read_value(&mut self) -> Ending {
        self.value.clear();
        let (mut depth, mut in_string, mut is_escaped, mut is_long) = (0_u32, false, false, false);
        let ending = |is_long| if is_long { Ending::TooLong } else { Ending::Whole };
        while let Some(byte) = self.peek() {
            let is_text = in_string;
            if in_string {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' => is_escaped = true,
                    b'"' => in_string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth = depth.saturating_add(1),
                    b'}' | b']' if depth == 0 => return ending(is_long),
                    b'}' | b']' => depth -= 1,
                    b',' | b':' if depth == 0 => return ending(is_long),
                    _ if depth == 0 && byte.is_ascii_whitespace() => return ending(is_long),
                    _ => {}
                }
            }
            is_long |= self.value.len() >= PIECE_BYTES_MAX;
            if is_long {
                self.value = Vec::new();
            } else {
                self.value.push(byte);
            }
            self.step(byte);
            let closes =
                matches!(byte, b'"' if is_text && !in_string) || matches!(byte, b'}' | b']' if !is_text);
            if depth == 0 && closes {
                return ending(is_long);
            }
        }
        // A number at the top may end with the recording.
        if depth == 0 && !in_string { ending(is_long) } else { Ending::CutOff }
    }

    /// Begins the next document; what is none is skipped line by line.
    fn top(&mut self) -> bool {
        match self.skip(b"\xef\xbb\xbf,") {
            Some(b'{' | b'[') => self.enter(String::new()),
            Some(_) => {
                self.losses.add(self.line, NOT_JSON);
                while let Some(byte) = self.peek().filter(|it| *it != b'\n') {
                    self.step(byte);
                }
                true
            }
            None => false,
        }
    }

    /// Reads the next member of an object, or the next element of a list.
    fn inside(&mut self, is_list: bool) -> bool {
        match self.skip(b",") {
            Some(byte) if byte == if is_list { b']' } else { b'}' } => {
                self.step(byte);
                self.close();
                true
            }
            Some(byte) if is_list && !matches!(byte, b'}' | b':') => {
                let above = self.levels.last().map_or("", |it| &it.path);
                // A list of documents is as good as one after the other.
                let path = if above.is_empty() { String::new() } else { format!("{above}[]") };
                self.enter(path)
            }
            Some(b'"') => {
                if self.read_value() != Ending::Whole {
                    return false;
                }
                let text = String::from_utf8_lossy(&self.value);
                let key = serde_json::from_str::<String>(&text).unwrap_or_default();
                if self.skip(b"") != Some(b':') {
                    return self.give_up();
                }
                self.step(b':');
                let above = self.levels.last().map_or("", |it| &it.path);
                let path = if above.is_empty() { key } else { format!("{above}.{key}") };
                self.enter(path)
            }
            Some(_) => self.give_up(),
            None => false,
        }
    }

    /// Opens a value, or hands it over; returns whether there is more.
    fn enter(&mut self, path: String) -> bool {
        let Some(byte) = self.skip(b"") else { return false };
        let (line, column) = (self.line, self.column + 1);
        if matches!(byte, b'{' | b'[') && self.levels.len() < DEPTH_MAX && (self.is_opened)(&path) {
            self.step(byte);
            self.levels.push(OpenedLevel { path, is_list: byte == b'[', line });
            return true;
        }
        if matches!(byte, b'}' | b']' | b',' | b':') {
            return self.give_up();
        }
        match self.read_value() {
            Ending::Whole => {
                let mut value = std::mem::take(&mut self.value);
                mend(&mut value);
                let text = String::from_utf8_lossy(&value);
                if matches!(text, Cow::Owned(_)) {
                    self.losses
                        .add(line, "bytes that are not valid UTF-8, which count as one character each");
                }
                self.has_elements |= path.contains("[]");
                (self.take)(DocumentPiece { path: &path, line, text: Some(&text) }, column, self.losses);
                self.value = value;
                true
            }
            Ending::TooLong => {
                self.losses.add(line, format!("values of more than {} MiB", PIECE_BYTES_MAX >> 20));
                true
            }
            Ending::CutOff => false,
        }
    }

    /// Ends the innermost opened value.
    fn close(&mut self) {
        if let Some(level) = self.levels.pop() {
            if level.path.is_empty() && !level.is_list && !std::mem::take(&mut self.has_elements) {
                self.losses.add(level.line, "documents that hold nothing of this format");
            }
            (self.take)(
                DocumentPiece { path: &level.path, line: self.line, text: None },
                self.column,
                self.losses,
            );
        }
    }

    /// Ends a document that breaks off, which was told.
    fn close_all(&mut self) {
        self.has_elements = true;
        while !self.levels.is_empty() {
            self.close();
        }
    }

    /// Leaves a document whose structure is broken; the next one begins on a line of its own.
    fn give_up(&mut self) -> bool {
        self.losses.add(self.line, REST_NOT_JSON);
        self.close_all();
        loop {
            while let Some(byte) = self.peek().filter(|it| *it != b'\n') {
                self.step(byte);
            }
            if self.peek().is_none() {
                return false;
            }
            self.step(b'\n');
            if self.peek() == Some(b'{') {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = (String, usize, Option<String>);

    /// The pieces of a text, and what is told.
    fn pieces(text: &str, opened: &[&str]) -> (Vec<Found>, Vec<String>) {
        let mut bytes = text.as_bytes();
        let mut lines = LogLines::new(&mut bytes);
        let (mut found, mut losses) = (Vec::new(), Losses::default());
        each(&mut lines, opened, &mut losses, |it, _| {
            found.push((it.path.to_owned(), it.line, it.text.map(str::to_owned)));
        });
        (found, losses.in_order().iter().map(ToString::to_string).collect())
    }

    fn piece(path: &str, line: usize, text: &str) -> Found {
        (path.to_owned(), line, Some(text.to_owned()).filter(|it| !it.is_empty()))
    }

    #[test]
    fn elements_of_an_opened_list_come_one_at_a_time_with_their_lines() {
        let text =
            "{\"a\": 1,\n \"list\": [{\"x\": \"]}\\\"\"},\n\n  \"two\", [3]\n], \"b\": null}\n{\"a\": 2}";

        let (found, told) = pieces(text, &["list"]);

        let expected = [
            piece("a", 1, "1"),
            piece("list[]", 2, "{\"x\": \"]}\\\"\"}"),
            piece("list[]", 4, "\"two\""),
            piece("list[]", 4, "[3]"),
            piece("list", 5, ""),
            piece("b", 5, "null"),
            piece("", 5, ""),
            piece("a", 6, "2"),
            piece("", 6, ""),
        ];
        assert_eq!(found, expected);
        assert_eq!(told, ["line 6: documents that hold nothing of this format"]);
    }

    #[test]
    fn after_a_broken_document_the_next_one_is_read() {
        let text = "{\"a\" 1}\nnonsense\n{\"b\": 2}\nmore";

        let (found, told) = pieces(text, &[]);

        assert_eq!(found, [piece("", 1, ""), piece("b", 3, "2"), piece("", 3, "")]);
        assert_eq!(
            told,
            [
                "line 1: the rest of a document that is not JSON",
                "line 3: documents that hold nothing of this format",
                "line 4: text that is not JSON"
            ]
        );
    }

    #[test]
    fn a_document_on_one_line_may_be_longer_than_any_line() {
        let elements = vec!["\"0123456789abcdef\""; 1000].join(",");
        let one = format!("{{\"list\":[{elements}");
        let n = 70 * (1 << 20) / elements.len();
        let mut bytes = one.as_bytes().to_vec();
        for _ in 0..n {
            bytes.push(b',');
            bytes.extend_from_slice(elements.as_bytes());
        }
        bytes.extend_from_slice(b"]}");
        let mut reader = bytes.as_slice();
        let mut lines = LogLines::new(&mut reader);
        let (mut n_found, mut losses) = (0, Losses::default());

        each(&mut lines, &["list"], &mut losses, |it, _| n_found += usize::from(it.path == "list[]"));

        assert_eq!(n_found, 1000 * (n + 1));
        assert_eq!(lines.too_long, None);
        assert_eq!(losses.in_order().len(), 0);
    }

    #[test]
    fn an_outline_has_the_first_values_of_a_front_that_breaks_off() {
        let outline = FrontOutline::of(
            "{\"info\": {\"id\": \"ses_1\"}, \"messages\": [{\"info\": {\"role\": \"user\"}, \"pa",
        );

        assert_eq!(outline.get("info.id"), Some("ses_1"));
        assert_eq!(outline.get("messages[].info.role"), Some("user"));
        assert!(!outline.has("messages[].parts"));
    }
}
