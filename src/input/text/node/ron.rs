//! Parses the brackets of a RON text as a tree, tolerating errors.

use super::{Entry, Node};

/// The deepest nesting of brackets; the parser rejects deeper texts.
const DEPTH_MAX: usize = 128;

/// Parses the tree of a RON text.
pub(in crate::floors::input::text) fn of_ron(text: &str) -> Node {
    let mut scanner = Scanner { text, at: 0, depth: 0 };
    scanner.skip();
    while scanner.rest().starts_with("#!") {
        scanner.at += scanner.rest().find(']').map_or(scanner.rest().len(), |it| it + 1);
        scanner.skip();
    }
    scanner.value()
}

/// A place in a text.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += block_comment(rest);
            } else {
                return;
            }
        }
    }

    /// Reads a value.
    fn value(&mut self) -> Node {
        let start = self.at;
        if let Some(length) = string(self.rest()) {
            self.at += length;
            return leaf(start..self.at, None);
        }
        if matches!(self.peek(), Some(b'(' | b'[' | b'{')) {
            return self.group(start, None);
        }
        let word = self.rest().split(|it: char| it.is_whitespace() || ",:()[]{}\"/".contains(it)).next();
        let word = word.unwrap_or_default();
        self.at += word.len();
        let end = self.at;
        let tag = Some(word.to_owned()).filter(|it| !it.is_empty());
        self.skip();
        if self.peek() == Some(b'(') && tag.is_some() {
            return self.group(start, tag);
        }
        self.at = end;
        leaf(start..end, tag)
    }

    /// Reads what is in brackets.
    fn group(&mut self, start: usize, tag: Option<String>) -> Node {
        self.at += 1;
        self.depth += 1;
        let mut entries = Vec::new();
        if self.depth > DEPTH_MAX {
            self.at = self.text.len();
        }
        loop {
            self.skip();
            match self.peek() {
                None => break,
                Some(b')' | b']' | b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                Some(_) => entries.push(self.entry()),
            }
        }
        self.depth -= 1;
        Node { span: start..self.at, tag, entries, is_leaf: false }
    }

    /// Reads an element, or a key and its value.
    fn entry(&mut self) -> Entry {
        let start = self.at;
        let first = self.value();
        let end = self.at;
        self.skip();
        if self.peek() != Some(b':') {
            // Something that begins no value must not be read again.
            self.at = end.max(start + self.rest_char(start, end));
            return Entry { key: None, key_span: start..start, span: first.span.clone(), value: first };
        }
        self.at += 1;
        self.skip();
        let value = self.value();
        let key = self.text.get(first.span.clone()).unwrap_or_default();
        let key = key.strip_prefix("r#").unwrap_or(key).trim_matches('"').to_owned();
        Entry { key: Some(key), key_span: first.span, span: start..value.span.end.max(end), value }
    }

    /// Returns the length of the character at a place where nothing was read.
    fn rest_char(&self, start: usize, end: usize) -> usize {
        if end > start {
            return 0;
        }
        self.text.get(start..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8)
    }
}

fn leaf(span: std::ops::Range<usize>, tag: Option<String>) -> Node {
    Node { span, tag, entries: Vec::new(), is_leaf: true }
}

/// Returns the length of the block comment that a text begins with; such comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Returns the length of the string or the character that a text begins with.
fn string(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('r') {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        if rest[hashes..].starts_with('"') {
            let close = format!("\"{}", &rest[..hashes]);
            let begin = hashes + 1;
            let end = rest[begin..].find(&close).map_or(rest.len(), |it| begin + it + close.len());
            return Some(1 + end);
        }
    }
    let quote = text.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let mut is_escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if it == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(text.len())
}
