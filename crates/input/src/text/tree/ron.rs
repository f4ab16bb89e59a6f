//! RON as a tree: the dialect of inputs, in which a value of `Some` and the fields of a variant need no brackets of their own.
//!
//! The `ron` crate gives no places, so this reader stands in for it; `tests/suite/trees.rs` holds the two against each other. It reads
//! on behind an error, so that the fields of a broken text are known, and keeps the first one. Ranges, bytes and numbers with
//! the suffix of a Rust type, which no input has, are errors.

use crate::prelude::*;

use super::{Node, TreeEntry, Value};
use crate::text::fault::meant;

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
        let is_name = ahead.name_is_next() && ahead.name().is_some();
        ahead.skip();
        is_name && ahead.rest().starts_with(':')
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
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t'..='\r' | '\u{85}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}')
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

// Numbers, texts and characters of RON.

impl RonReader<'_> {
    /// Reads a number, a text or a character, if one is next.
    fn literal(&mut self) -> Option<Value> {
        match self.peek()? {
            '"' | 'r' => self.string().map(Value::Text),
            '\'' => Some(self.letter()),
            '0'..='9' | '+' | '-' | '.' => Some(self.number()),
            _ => None,
        }
    }

    /// Returns whether a name is next, and not a raw text.
    fn name_is_next(&self) -> bool {
        let begins_name = |it: char| it.is_alphabetic() || it == '_';
        raw_quote(self.rest()).is_none() && self.peek().is_some_and(begins_name)
    }

    /// Reads a text in quotes, raw or with escapes, if one is next.
    fn string(&mut self) -> Option<String> {
        let start = self.at;
        if let Some(hashes) = raw_quote(self.rest()) {
            self.at += hashes + 2;
            let close = format!("\"{}", "#".repeat(hashes));
            let Some(length) = self.rest().find(&close) else { return Some(self.open_text(start)) };
            let text = self.rest()[..length].to_owned();
            self.at += length + close.len();
            return Some(text);
        }
        self.eat("\"").then(|| self.escaped(start))
    }

    /// Reads the rest of a text with escapes.
    fn escaped(&mut self, start: usize) -> String {
        let mut text = self.eat_while(|it| it != '"' && it != '\\').to_owned();
        loop {
            if self.eat("\"") {
                return text;
            }
            if self.rest().is_empty() {
                return self.open_text(start);
            }
            let escape = self.at;
            self.at += 1;
            if self.eat("\n") || self.eat("\r\n") {
                self.eat_while(|it| matches!(it, ' ' | '\t' | '\n' | '\r'));
            } else if let Some(letter) = self.escape(false) {
                text.push(letter);
            } else {
                self.wrong(Mistake::Escape, escape..self.at);
            }
            text.push_str(self.eat_while(|it| it != '"' && it != '\\'));
        }
    }

    /// Passes over a text without an end.
    fn open_text(&mut self, start: usize) -> String {
        self.wrong(Mistake::OpenText, start..start + 1);
        self.at = self.text.len();
        String::new()
    }

    /// Reads a character in single quotes.
    fn letter(&mut self) -> Value {
        let start = self.at;
        self.at += 1;
        let letter = self.peek();
        self.at = self.here().end;
        let letter = if letter == Some('\\') { self.escape(true) } else { letter };
        let Some(letter) = letter.filter(|_| self.eat("'")) else {
            self.wrong(Mistake::SingleQuotes, start..start + 1);
            self.eat_while(|it| it != '\'' && it != '\n');
            self.eat("'");
            return Value::Word(self.text[start..self.at].to_owned());
        };
        Value::Letter(letter)
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, is_letter: bool) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(match letter {
            '\'' | '"' | '\\' => letter,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'x' => return self.bytes(is_letter),
            'u' => return self.code_point(),
            _ => return None,
        })
    }

    /// Reads the bytes of a character, `\xHH` for each; the first `\x` is already read.
    fn bytes(&mut self, is_letter: bool) -> Option<char> {
        let mut bytes = Vec::new();
        loop {
            let digits = self.rest().get(..2).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            self.at += 2;
            if let Ok(whole) = std::str::from_utf8(&bytes) {
                return whole.chars().next();
            }
            if is_letter || bytes.len() == 4 || !self.eat("\\x") {
                return None;
            }
        }
    }

    /// Reads the rest of `\u{…}`.
    fn code_point(&mut self) -> Option<char> {
        if !self.eat("{") {
            return None;
        }
        let digits = self.eat_while(|it| it.is_ascii_hexdigit());
        let letter =
            u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() <= 6).and_then(char::from_u32);
        letter.filter(|_| self.eat("}"))
    }

    /// Reads a number.
    fn number(&mut self) -> Value {
        let start = self.at;
        let is_negative = self.rest().starts_with('-');
        self.at += usize::from(self.rest().starts_with(['+', '-']));
        for (word, number) in [("inf", f64::INFINITY), ("NaN", f64::NAN)] {
            if self.eat(word) {
                return Value::Real(if is_negative { -number } else { number });
            }
        }
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
            if self.eat(prefix) {
                let digits = self.eat_while(|it| it.is_ascii_hexdigit() || it == '_');
                return self.whole(start, is_negative, digits, radix);
            }
        }
        let digits =
            self.eat_while(|it| it.is_ascii_digit() || matches!(it, '_' | '.' | 'e' | 'E' | '+' | '-'));
        if !digits.contains(['.', 'e', 'E', '+', '-']) {
            return self.whole(start, is_negative, digits, 10);
        }
        let is_parted = digits.starts_with('_') || digits.contains("._");
        match self.text[start..self.at].replace('_', "").parse() {
            Ok(number) if !is_parted => Value::Real(number),
            _ => {
                self.wrong(Mistake::Digits, start..self.at.max(start + 1));
                Value::Word(self.text[start..self.at].to_owned())
            }
        }
    }

    fn whole(&mut self, start: usize, is_negative: bool, digits: &str, radix: u32) -> Value {
        let is_number = !digits.is_empty() && !digits.starts_with('_');
        if !is_number || !digits.bytes().all(|it| it == b'_' || char::from(it).is_digit(radix)) {
            self.wrong(Mistake::Digits, start..self.at.max(start + 1));
            return Value::Word(self.text[start..self.at].to_owned());
        }
        let digits = digits.replace('_', "");
        let (sign, beyond) = if is_negative { ("-", i128::MIN) } else { ("", i128::MAX) };
        Value::Whole(i128::from_str_radix(&format!("{sign}{digits}"), radix).unwrap_or(beyond))
    }
}

/// Returns the number of hashes before the quote of a raw text, if one is next.
fn raw_quote(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('r')?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then_some(hashes)
}

// Syntax errors of RON in words, with their places and fixes.

/// Quotes that an editor of prose writes in the place of `"`.
pub(in crate::text::tree) const CURLY: [char; 5] = ['“', '”', '„', '‘', '’'];

/// What is wrong at a place.
#[derive(Clone, Copy)]
enum Mistake {
    /// There is nothing.
    Empty,
    /// The text ends inside of brackets.
    End,
    /// Something follows the last bracket.
    Behind,
    /// The text does not begin with its bracket.
    NotOne,
    /// A value is missing in front of this.
    NoValue,
    /// A name is missing.
    NoName,
    /// A comma is missing.
    Comma,
    /// A colon is missing.
    Colon,
    /// A bracket that is not the one that is open.
    Bracket,
    /// Too many brackets.
    Depth,
    OpenComment,
    OpenText,
    SingleQuotes,
    Escape,
    /// Digits that are no number.
    Digits,
    /// A character that begins no value.
    Unexpected(char),
}

impl Mistake {
    /// Returns the error in words.
    fn told(self, text: &str, span: Range<usize>) -> (Diagnostic, Range<usize>) {
        if !matches!(self, Self::Empty) && is_toml(text) {
            let help = "name the file `.toml`, or write RON: `(name: \"…\", about: \"…\")`";
            let problem = Diagnostic::at(Code("syntax"), "", "this is TOML, but it is read as RON");
            return (problem.help(help), span);
        }
        let (message, help) = match (self, text[span.start..].trim_start().chars().next()) {
            (Self::Empty, _) => ("the file is empty", "start with `(name: \"…\", about: \"…\")`"),
            (_, Some('#')) => ("`#` does not start a comment here", "start comments with `//`"),
            (_, Some('=')) => (
                "`=` is used instead of `:`",
                "write `name: value`: this is RON, and `name = value` would be TOML",
            ),
            (Self::SingleQuotes, _) | (_, Some('\'')) => {
                ("text in single quotes", "use double quotes: `\"…\"`")
            }
            (Self::Escape, _) => ("unknown escape after `\\`", "write `\\\\` for a backslash"),
            (Self::Comma, _) => return comma(text, span.start),
            (Self::Bracket, _) => {
                ("this bracket does not match the one that is open", "close the inner bracket first")
            }
            (Self::NoValue, _) => ("missing value", "write a value in front of this"),
            (Self::Behind, _) => {
                ("unexpected text after the last bracket", "move it inside the bracket, or remove it")
            }
            (Self::NotOne, _) => ("the file must be one `( … )`", "put everything between `(` and `)`"),
            (Self::NoName, Some('(' | '[' | '{')) => {
                ("expected a field name", "close the previous bracket, or write `name: value`")
            }
            (Self::NoName, _) => ("expected a field name", "write `name: value`, in one pair of parentheses"),
            (Self::Colon, _) => ("a `:` is missing", "write `name: value`"),
            (Self::End, _) => ("the file ends too early", "close every open bracket"),
            (Self::Depth, _) => ("brackets are nested too deeply", "nest at most 64 brackets"),
            (Self::OpenComment, _) => ("unterminated comment", "close it with `*/`"),
            (Self::OpenText, _) => ("unterminated text", "close it with `\"`"),
            (Self::Digits, _) => return digits(text, span),
            (Self::Unexpected(it), _) if CURLY.contains(&it) => {
                ("text in typographic quotes", "use straight double quotes: `\"…\"`")
            }
            (Self::Unexpected(it), _) => {
                let problem = Diagnostic::at(Code("syntax"), "", format!("unexpected `{it}`"));
                return (problem.help("write `name: value`, or leave it out"), span);
            }
        };
        let rest = text[span.start..].trim_start();
        let start = text.len() - rest.len();
        let span = if rest.starts_with(['#', '=', '\'']) { start..start + 1 } else { span };
        (Diagnostic::at(Code("syntax"), "", message).help(help), span)
    }
}

/// Returns whether a text begins as TOML does: with a section, or with a name and `=`.
fn is_toml(text: &str) -> bool {
    let is_name = |it: &str| {
        !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | '.'))
    };
    let first = text.lines().map(str::trim).find(|it| !it.is_empty() && !it.starts_with('#'));
    first.is_some_and(|it| {
        let section = it.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        section.is_some_and(|it| is_name(it.trim_matches(['[', ']'])))
            || it.split_once('=').is_some_and(|(name, _)| is_name(name.trim()))
    })
}

/// Explains digits that are no number.
fn digits(text: &str, span: Range<usize>) -> (Diagnostic, Range<usize>) {
    let message = format!("`{}` is not a number", &text[span.clone()]);
    let help = match meant(&text[span.clone()]) {
        Some([size, number]) => format!("write `{size}` for a size, and `{number}` for a plain number"),
        None => "use digits only, as in `14_000`, and write shares as in `0.8`".to_owned(),
    };
    (Diagnostic::at(Code("syntax"), "", message).help(help), span)
}

/// Explains what is between two values where a comma is missing.
fn comma(text: &str, start: usize) -> (Diagnostic, Range<usize>) {
    let before = text[..start].trim_end();
    let is_number_part = |it: char| it.is_ascii_digit() || matches!(it, '.' | '_');
    let n_digits = before.len() - before.trim_end_matches(is_number_part).len();
    let word = text[start..].find(|it: char| !(it.is_alphanumeric() || it == '%' || it == '_'));
    let end = start + word.unwrap_or(text.len() - start);
    let from_number = before.len() - n_digits..end.max(start);
    if n_digits > 0 && (before.len() == start || text[start..].starts_with(|it: char| it.is_ascii_digit())) {
        return digits(text, from_number);
    }
    let is_field = text[end..].trim_start().starts_with(':');
    if n_digits > 0 && end > start && !is_field && text[start..].starts_with(char::is_alphabetic) {
        let (number, unit) = (&before[from_number.start..], &text[start..end]);
        let problem = Diagnostic::at(Code("syntax"), "", format!("`{number} {unit}` is not a size"));
        return (problem.help(format!("write the unit first: `{unit}({number})`")), from_number);
    }
    let problem = Diagnostic::at(Code("syntax"), "", "missing comma").help("put a `,` between the two");
    (problem, before.len().saturating_sub(1)..before.len())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_first_syntax_error_is_named() {
        let cases = [
            ("(a: 1, # b\n)", "`#` does not start a comment here", "#"),
            ("(a = 1, b = 2)", "`=` is used instead of `:`", "="),
            ("(a: 'b c')", "text in single quotes", "'"),
            ("(a: , b: 1)", "missing value", ","),
            ("(a: [\"b\\q\"])", "unknown escape after `\\`", "\\q"),
            ("(a: 5k)", "`5k` is not a number", "5k"),
            ("(a: 80%)", "`80%` is not a number", "80%"),
            ("(a: 5 tokens)", "`5 tokens` is not a size", "5 tokens"),
            ("(a: 1 b: 2)", "missing comma", "1"),
            ("(a: [1)", "this bracket does not match the one that is open", ")"),
            ("(a: 1)\nbehind", "unexpected text after the last bracket", "b"),
        ];

        for (text, message, at) in cases {
            let (problem, span) = parse(text).1.unwrap();
            assert_eq!((problem.message.as_str(), &text[span]), (message, at), "{text}");
            assert!(problem.help.is_some(), "{text}");
        }
    }
}
