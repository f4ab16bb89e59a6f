//! The RON half: the first syntax error, or else every invalid entry.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::{ATTEMPTS_MAX, Found, word_at};
use crate::diag::Diagnostic;
use crate::input::text::decode::{read_ron, ron_options};
use crate::input::text::fault::{self, Fault};
use crate::input::text::node::{Node, of_ron};

impl Found<'_> {
    pub(super) fn in_ron(&mut self) {
        if let Err(error) = ron_options().from_str::<IgnoredAny>(self.text) {
            let (problem, span) = syntax(self.text, &error);
            self.push(problem, span);
            return;
        }
        let mut copy = self.text.to_owned();
        for _ in 0..ATTEMPTS_MAX {
            let Err(error) = read_ron(&copy, &mut |it| self.shape.try_read(it)) else { return };
            let root = of_ron(&copy);
            let fault = ron_fault(&copy, &root, &error);
            let Some(way) = self.take(&root, &fault) else { return };
            let Some(entry) = root.at(&way) else { return };
            blank(&mut copy, entry.span.clone());
        }
    }
}

/// Explains a RON syntax error, with its place.
fn syntax(text: &str, error: &ron::error::SpannedError) -> (Diagnostic, Range<usize>) {
    use ron::Error as E;
    let span = ron_span(text, error);
    let start = text.len() - text[span.start..].trim_start().len();
    let here = text[start..].chars().next();
    let one = start..start + here.map_or(0, char::len_utf8);
    let (message, help, span) = match (&error.code, here) {
        (E::Eof, _) if text.trim().is_empty() => {
            ("the file is empty", "start with `(name: \"…\", about: \"…\")`", span)
        }
        (_, Some('#')) => ("`#` does not start a comment here", "start comments with `//`", one),
        (_, Some('=')) => ("`=` is used instead of `:`", "write `name: value`", one),
        (E::ExpectedChar, _) | (_, Some('\'')) => {
            ("text in single quotes", "use double quotes: `\"…\"`", one)
        }
        (E::InvalidEscape(_), _) => {
            let help = "write `\\\\` for a backslash";
            ("unknown escape after `\\`", help, span)
        }
        (E::ExpectedComma, Some(')' | ']' | '}')) => {
            ("this bracket does not match the one that is open", "close the inner bracket first", one)
        }
        (E::ExpectedComma, _) => return comma(text, start),
        (E::UnexpectedChar(_), Some(',' | ')' | ']' | '}')) => {
            ("missing value", "write a value in front of this", one)
        }
        (E::TrailingCharacters, _) if text.trim_start().starts_with('(') => {
            ("unexpected text after the last bracket", "move it inside the bracket, or remove it", one)
        }
        (E::TrailingCharacters, _) => {
            ("the file must be one `( … )`", "put everything between `(` and `)`", one)
        }
        (E::ExpectedIdentifier, Some('(' | '[' | '{')) => {
            let help = "close the previous bracket, or write `name: value`";
            ("expected a field name", help, one)
        }
        (code, _) => {
            let fault = fault::of_ron(code, "");
            let problem = Diagnostic::at("syntax", "", fault.message);
            return (Diagnostic { help: fault.help, ..problem }, span);
        }
    };
    (Diagnostic::at("syntax", "", message).help(help), span)
}

/// Explains what is between two values where missing comma.
fn comma(text: &str, start: usize) -> (Diagnostic, Range<usize>) {
    let before = text[..start].trim_end();
    let is_number_part = |it: char| it.is_ascii_digit() || matches!(it, '.' | '_');
    let digits = before.len() - before.trim_end_matches(is_number_part).len();
    let word = text[start..].find(|it: char| !(it.is_alphanumeric() || it == '%' || it == '_'));
    let end = start + word.unwrap_or(text.len() - start);
    let from_number = before.len() - digits..end.max(start);
    if digits > 0 && (before.len() == start || text[start..].starts_with(|it: char| it.is_ascii_digit())) {
        let message = format!("`{}` is not a number", &text[from_number.clone()]);
        let help = "use digits only, as in `14_000`, and write shares as in `0.8`";
        return (Diagnostic::at("syntax", "", message).help(help), from_number);
    }
    let is_field = text[end..].trim_start().starts_with(':');
    if digits > 0 && end > start && !is_field && text[start..].starts_with(char::is_alphabetic) {
        let (number, unit) = (&before[from_number.start..], &text[start..end]);
        let problem = Diagnostic::at("syntax", "", format!("`{number} {unit}` is not a size"));
        return (problem.help(format!("write the unit first: `{unit}({number})`")), from_number);
    }
    let problem = Diagnostic::at("syntax", "", "missing comma").help("put a `,` between the two");
    (problem, before.len().saturating_sub(1)..before.len())
}

/// Explains the RON parser's error, with the place moved back to the word just passed.
fn ron_fault(text: &str, root: &Node, error: &ron::error::SpannedError) -> Fault {
    let mut span = ron_span(text, error);
    if matches!(error.code, ron::Error::ExpectedComma | ron::Error::ExpectedStructLikeEnd)
        && let Some(fault) = parentheses(text, root, span.start)
    {
        return fault;
    }
    let is_of_holder = matches!(
        error.code,
        ron::Error::MissingStructField { .. } | ron::Error::ExpectedDifferentLength { .. }
    );
    let rest = text[span.start..].trim_start();
    if !is_of_holder && rest.starts_with([')', ']', '}', ',']) {
        let before = text[..span.start].trim_end();
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        span = before.len() - last..before.len();
    } else if !is_of_holder {
        let skipped = text.len() - rest.len() - span.start;
        span = span.start + skipped..span.end.max(span.start + skipped);
    }
    let fault = fault::of_ron(&error.code, word_at(text, root, span.start));
    Fault { span, ..fault }
}

/// Reports a word that takes no parentheses.
fn parentheses(text: &str, root: &Node, byte: usize) -> Option<Fault> {
    if !text[byte..].trim_start().starts_with('(') {
        return None;
    }
    let word = text[..byte].trim_end();
    let start = word.len() - word.chars().rev().take_while(|it| it.is_alphanumeric() || *it == '_').count();
    let name = word.get(start..).filter(|it| !it.is_empty())?;
    let node = root.at(&root.way_to(start)).map(|it| &it.value).filter(|it| it.span.start == start)?;
    Some(fault::no_parentheses(name, node.span.clone()))
}

/// Returns the byte position of the RON parser.
fn ron_span(text: &str, error: &ron::error::SpannedError) -> Range<usize> {
    let start = byte_of(text, error.span.start.line, error.span.start.col);
    let end = byte_of(text, error.span.end.line, error.span.end.col);
    start..end.max(start)
}

/// Turns a line and a column in characters, both from 1, into a byte position.
fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(offset, _)| offset)
}

/// Overwrites an entry and the following comma with spaces, so that all other bytes keep their places.
fn blank(text: &mut String, span: Range<usize>) {
    let behind = &text[span.end..];
    let gap = behind.len() - behind.trim_start().len();
    let end = if behind[gap..].starts_with(',') { span.end + gap + 1 } else { span.end };
    let spaces: String =
        text[span.start..end].bytes().map(|it| if it == b'\n' { '\n' } else { ' ' }).collect();
    text.replace_range(span.start..end, &spaces);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_syntax_error_is_named() {
        let cases = [
            ("(a: 1, # b\n)", "`#` does not start a comment here", "#"),
            ("(a = 1, b = 2)", "`=` is used instead of `:`", "="),
            ("(a: 'b c')", "text in single quotes", "'"),
            ("(a: , b: 1)", "missing value", ","),
            ("(a: [\"b\\q\"])", "unknown escape after `\\`", "b\\q"),
            ("(a: 5k)", "`5k` is not a number", "5k"),
            ("(a: 80%)", "`80%` is not a number", "80%"),
            ("(a: 5 tokens)", "`5 tokens` is not a size", "5 tokens"),
            ("(a: 1 b: 2)", "missing comma", "1"),
            ("(a: [1)", "this bracket does not match the one that is open", ")"),
            ("(a: 1)\nbehind", "unexpected text after the last bracket", "b"),
        ];

        for (text, message, at) in cases {
            let error = ron_options().from_str::<IgnoredAny>(text).unwrap_err();
            let (problem, span) = syntax(text, &error);
            assert_eq!((problem.message.as_str(), &text[span]), (message, at), "{text}");
            assert!(problem.help.is_some(), "{text}");
        }
    }
}
