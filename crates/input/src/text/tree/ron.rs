//! RON as a tree: the dialect of inputs, in which a value of `Some` and the fields of a variant need no brackets of their own.
//!
//! The `ron` crate gives no places, so this reader stands in for it; `tests/suite/trees.rs` holds the two against each other. It reads
//! on behind an error, so that the fields of a broken text are known, and keeps the first one. Ranges, bytes and numbers with
//! the suffix of a Rust type, which no input has, are errors.

mod literal;
mod mistake;

use crate::prelude::*;

use super::{Node, TreeEntry, Value};
pub(super) use mistake::CURLY;
use mistake::Mistake;

/// The deepest nesting of brackets, which bounds the depth of every recursion over a tree.
const DEPTH_MAX: usize = 64;

/// Words that are values without brackets.
const BARE: [&str; 3] = ["true", "false", "None"];

/// Parses a RON text, with its first syntax error.
pub(in crate::text) fn parse(text: &str) -> (Node, Option<(Diagnostic, Range<usize>)>) {
    let mut reader = RonReader { text, at: 0, depth: 0, first: None };
    reader.skip();
    // What `#![enable(…)]` and the like ask for, the dialect of inputs has anyway.
    while reader.eat("#![") {
        reader.eat_while(|it| it != ']');
        reader.eat("]");
        reader.skip();
    }
    if reader.rest().is_empty() {
        reader.wrong(Mistake::Empty, reader.at..reader.at);
    }
    let root = reader.value();
    reader.skip();
    if !reader.rest().is_empty() {
        let is_behind = text.trim_start().starts_with('(');
        reader.wrong(if is_behind { Mistake::Behind } else { Mistake::NotOne }, reader.here());
    }
    (root, reader.first)
}

/// A place in a text.
struct RonReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The first error.
    first: Option<(Diagnostic, Range<usize>)>,
}

/// What the entries in brackets are.
#[derive(Clone, Copy, PartialEq)]
enum BracketKind {
    /// Elements in `[…]`, or values in `(…)`.
    Elements,
    /// Names with their values in `(…)`.
    Fields,
    /// Keys with their values in `{…}`.
    Keys,
}

impl<'a> RonReader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the bytes of the next character.
    fn here(&self) -> Range<usize> {
        self.at..self.at + self.peek().map_or(0, char::len_utf8)
    }

    /// Returns the bytes of the last character that is no white space.
    fn last(&self) -> Range<usize> {
        let text = self.text.trim_end();
        text.len() - text.chars().next_back().map_or(0, char::len_utf8)..text.len()
    }

    /// Notes an error unless there was one.
    fn wrong(&mut self, mistake: Mistake, span: Range<usize>) {
        if self.first.is_none() {
            self.first = Some(mistake.told(self.text, span));
        }
    }

    /// Passes over a text if it is next.
    fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    /// Passes over the characters of a kind, and returns them.
    fn eat_while(&mut self, is_of_kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|it| !is_of_kind(it)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Passes over white space and comments.
    fn skip(&mut self) {
        loop {
            self.eat_while(is_space);
            let start = self.at;
            if self.eat("//") {
                self.eat_while(|it| it != '\n');
            } else if self.rest().starts_with("/*") {
                self.at += block_comment(self.rest()).unwrap_or_else(|| {
                    self.wrong(Mistake::OpenComment, start..start + 2);
                    self.rest().len()
                });
            } else {
                return;
            }
        }
    }

    /// Returns whether a text is next behind white space.
    fn is_ahead(&mut self, text: &str) -> bool {
        self.skip();
        self.rest().starts_with(text)
    }

    /// Reads a name: of a field, a choice or a map's key.
    fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if let Some(raw) = rest.strip_prefix("r#") {
            let is_raw = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '+' | '-');
            return raw.starts_with(is_raw).then(|| {
                self.at += 2;
                self.eat_while(is_raw)
            });
        }
        rest.starts_with(|it: char| it.is_alphabetic() || it == '_')
            .then(|| self.eat_while(|it| it.is_alphanumeric() || it == '_'))
    }

    /// Reads a value.
    fn value(&mut self) -> Node {
        let start = self.at;
        if let Some(value) = self.literal() {
            return Node::new(start..self.at, value);
        }
        if let Some('(' | '[' | '{') = self.peek() {
            return self.group(start, String::new());
        }
        let Some(tag) = self.name().map(str::to_owned) else { return self.no_value(start) };
        let end = self.at;
        self.skip();
        if self.peek() == Some('(') && !BARE.contains(&tag.as_str()) {
            return self.group(start, tag);
        }
        self.at = end;
        Node::new(start..end, Value::Word(tag))
    }

    /// Passes over what begins no value.
    fn no_value(&mut self, start: usize) -> Node {
        let (mistake, span) = match self.peek() {
            None => (Mistake::End, self.last()),
            Some(',' | ')' | ']' | '}') => (Mistake::NoValue, self.here()),
            Some(it) => (Mistake::Unexpected(it), self.here()),
        };
        self.wrong(mistake, span);
        let word = self.eat_while(|it| !it.is_whitespace() && !",:()[]{}\"/".contains(it)).to_owned();
        Node::new(start..self.at, Value::Word(word))
    }

    /// Reads what is in brackets.
    fn group(&mut self, start: usize, tag: String) -> Node {
        let close = match self.peek() {
            Some('[') => ']',
            Some('{') => '}',
            _ => ')',
        };
        if self.depth == DEPTH_MAX {
            self.wrong(Mistake::Depth, self.here());
            self.at = self.text.len();
        }
        self.at = (self.at + 1).min(self.text.len());
        self.depth += 1;
        self.skip();
        let kind = match close {
            '}' => BracketKind::Keys,
            ')' if self.is_field() => BracketKind::Fields,
            _ => BracketKind::Elements,
        };
        let entries = self.entries(kind, close);
        self.depth -= 1;
        let value = match close {
            ']' => Value::List(entries),
            '}' => Value::Map(entries),
            _ => Value::Group(tag, entries),
        };
        Node::new(start..self.at, value)
    }

    /// Returns whether a name with a colon is next.
    fn is_field(&self) -> bool {
        // What is wrong on the way is found again when it is read.
        let mut ahead = RonReader { first: None, ..*self };
        ahead.name_is_next() && ahead.name().is_some() && ahead.is_ahead(":")
    }

    /// Reads entries up to the closing bracket.
    fn entries(&mut self, kind: BracketKind, close: char) -> Vec<TreeEntry> {
        let (mut entries, mut is_parted) = (Vec::new(), true);
        loop {
            self.skip();
            let Some(next) = self.peek() else {
                self.wrong(Mistake::End, self.last());
                return entries;
            };
            if next == close {
                self.at += 1;
                return entries;
            }
            let no_entry = if kind == BracketKind::Fields { Mistake::NoName } else { Mistake::NoValue };
            match next {
                ')' | ']' | '}' => {
                    self.wrong(if is_parted { no_entry } else { Mistake::Bracket }, self.here());
                    self.at += 1;
                    return entries;
                }
                ',' => {
                    if is_parted {
                        self.wrong(no_entry, self.here());
                    }
                    self.at += 1;
                    is_parted = true;
                }
                _ => {
                    if !is_parted {
                        self.wrong(Mistake::Comma, self.here());
                    }
                    entries.push(self.entry(kind));
                    is_parted = false;
                }
            }
        }
    }

    /// Reads the name of a field.
    fn field(&mut self) -> Node {
        let start = self.at;
        if !self.name_is_next() {
            self.wrong(Mistake::NoName, self.here());
            return self.value();
        }
        let name = self.name().unwrap_or_default().to_owned();
        Node::new(start..self.at, Value::Word(name))
    }

    /// Reads an element, or a key and its value.
    fn entry(&mut self, kind: BracketKind) -> TreeEntry {
        let start = self.at;
        let first = if kind == BracketKind::Fields { self.field() } else { self.value() };
        let end = self.at;
        self.skip();
        if !self.eat(":") {
            if kind != BracketKind::Elements {
                self.wrong(Mistake::Colon, end..end);
            }
            // Something that begins no value must not be read again.
            self.at = if end > start { end } else { self.here().end };
            return TreeEntry { key: None, value: first };
        }
        if kind == BracketKind::Elements {
            self.wrong(Mistake::Comma, self.at - 1..self.at);
        }
        self.skip();
        TreeEntry { key: Some(first), value: self.value() }
    }
}

/// Returns whether RON takes a character for white space.
fn is_space(it: char) -> bool {
    matches!(it, ' ' | '\t'..='\r' | '\u{85}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}')
}

/// Returns the length of the block comment that a text begins with, if it ends; such comments nest.
fn block_comment(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let rest = text.get(at..).filter(|it| !it.is_empty())?;
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
}
