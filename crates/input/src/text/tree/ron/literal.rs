//! Numbers, texts and characters of RON.

use super::mistake::Mistake;
use super::{RonReader, Value};

impl RonReader<'_> {
    /// Reads a number, a text or a character, if one is next.
    pub(super) fn literal(&mut self) -> Option<Value> {
        match self.peek()? {
            '"' | 'r' => self.string().map(Value::Text),
            '\'' => Some(self.letter()),
            '0'..='9' | '+' | '-' | '.' => Some(self.number()),
            _ => None,
        }
    }

    /// Returns whether a literal is next, or nothing at the end.
    pub(super) fn literal_is_next(&self) -> Option<bool> {
        let is_raw = raw_quote(self.rest()).is_some();
        self.peek().map(|it| is_raw || matches!(it, '"' | '\'' | '0'..='9' | '+' | '-' | '.'))
    }

    pub(super) fn name_is_next(&self) -> bool {
        self.literal_is_next() == Some(false) && self.peek().is_some_and(|it| it.is_alphabetic() || it == '_')
    }

    /// Reads a text in quotes, raw or with escapes, if one is next.
    pub(super) fn string(&mut self) -> Option<String> {
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
