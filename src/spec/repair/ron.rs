//! The RON half: syntax is mended or taken out where that is safe, then entries are taken out as in TOML.

use std::ops::Range;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::{ATTEMPTS_MAX, Found, PROBLEMS_MAX, word_at};
use crate::diag::Diagnostic;
use crate::spec::decode::ron_options;
use crate::spec::fault::{self, Fault};
use crate::spec::node::{Node, of_ron};

/// How to go on behind a syntax error, without moving any byte.
enum Mend {
    /// Write one character for another.
    Replace(usize, &'static str),
    /// Write spaces over what is wrong.
    Blank(Range<usize>),
    /// Take out the smallest entry that holds a byte.
    TakeOut(usize),
    /// Nothing behind it can be told for certain.
    Stop,
}

impl Found<'_> {
    pub(super) fn in_ron<T: DeserializeOwned>(&mut self) {
        let mut copy = self.text.to_owned();
        if !self.syntax_of_ron(&mut copy) {
            return;
        }
        for _ in 0..ATTEMPTS_MAX {
            let Err(error) = ron_options().from_str::<T>(&copy) else { return };
            let root = of_ron(&copy);
            let fault = ron_fault(&copy, &root, &error);
            let Some(way) = self.take::<T>(&root, &fault) else { return };
            let Some(entry) = root.at(&way) else { return };
            blank(&mut copy, entry.span.clone());
        }
    }

    /// Reports what is no RON at all; returns whether the copy is RON now.
    fn syntax_of_ron(&mut self, copy: &mut String) -> bool {
        for _ in 0..PROBLEMS_MAX {
            let Err(error) = ron_options().from_str::<IgnoredAny>(copy) else { return true };
            let (problem, span, mend) = syntax(copy, &error);
            self.push(problem, span);
            let is_mended = match mend {
                Mend::Replace(at, with) => {
                    copy.replace_range(at..at + with.len(), with);
                    true
                }
                Mend::Blank(span) => {
                    blank(copy, span);
                    true
                }
                Mend::TakeOut(byte) => self.take_out(copy, byte),
                Mend::Stop => false,
            };
            if !is_mended {
                return false;
            }
        }
        false
    }

    /// Takes out the smallest entry at a place, if its brackets close.
    fn take_out(&mut self, copy: &mut String, byte: usize) -> bool {
        let root = of_ron(copy);
        let way = root.way_to(byte);
        let Some(entry) = root.at(&way) else { return false };
        if !is_closed(copy, &entry.value) {
            return false;
        }
        let holder = root.at(&way[..way.len() - 1]).map_or(&root, |it| &it.value);
        self.damage.push((holder.span.clone(), entry.key.clone()));
        blank(copy, entry.span.clone());
        true
    }
}

/// Says what is no RON, where, and how to go on.
fn syntax(text: &str, error: &ron::error::SpannedError) -> (Diagnostic, Range<usize>, Mend) {
    use ron::Error as E;
    let span = ron_span(text, error);
    let start = text.len() - text[span.start..].trim_start().len();
    let here = text[start..].chars().next();
    let one = start..start + here.map_or(0, char::len_utf8);
    let say = |message: &str, help: &str| Diagnostic::at("syntax", "", message).help(help);
    match (&error.code, here) {
        (E::Eof, _) if text.trim().is_empty() => {
            (say("the file is empty", "begin with `(name: \"…\", about: \"…\")`"), span, Mend::Stop)
        }
        (_, Some('#')) => {
            let line = text[start..].find('\n').unwrap_or(text.len() - start);
            let problem = say("`#` begins no comment here", "comments begin with `//`");
            (problem, one, Mend::Blank(start..start + line))
        }
        (_, Some('=')) => {
            (say("`=` stands where a `:` belongs", "write `name: value`"), one, Mend::Replace(start, ":"))
        }
        (E::ExpectedChar, _) | (_, Some('\'')) => {
            let problem = say("text stands in single quotes", "write it in double quotes: `\"…\"`");
            (problem, one, Mend::TakeOut(start))
        }
        (E::InvalidEscape(_), _) => {
            let problem =
                say("a `\\` in this text begins no known escape", "write `\\\\` for the character itself");
            (problem, span, Mend::TakeOut(start))
        }
        (E::ExpectedComma, Some(')' | ']' | '}')) => {
            let problem = say("a bracket is open that this one does not close", "close the inner one first");
            (problem, one, Mend::Stop)
        }
        (E::ExpectedComma, _) => comma(text, start),
        (E::UnexpectedChar(_), Some(',' | ')' | ']' | '}')) => {
            let before = text[..start].trim_end().len().saturating_sub(1);
            (say("a value is missing", "write one in front of this"), one, Mend::TakeOut(before))
        }
        (E::TrailingCharacters, _) if text.trim_start().starts_with('(') => {
            let problem = say("there is more behind the last bracket", "move it inside, or leave it out");
            (problem, one, Mend::Blank(start..text.len()))
        }
        (E::TrailingCharacters, _) => {
            (say("a file is one `( … )`", "put everything between `(` and `)`"), one, Mend::Stop)
        }
        (E::ExpectedIdentifier, Some('(' | '[' | '{')) => {
            let problem =
                say("a field's name belongs here", "close the bracket before it, or write `name: value`");
            (problem, one, Mend::Stop)
        }
        (code, _) => {
            let fault = fault::of_ron(code, "");
            let mut problem = Diagnostic::at("syntax", "", fault.message);
            problem.help = fault.help;
            let is_open = matches!(code, E::Eof | E::ExpectedStringEnd | E::UnclosedBlockComment);
            (problem, span, if is_open { Mend::Stop } else { Mend::TakeOut(start) })
        }
    }
}

/// Says what stands between two values where a comma belongs.
fn comma(text: &str, start: usize) -> (Diagnostic, Range<usize>, Mend) {
    let before = text[..start].trim_end();
    let is_number_part = |it: char| it.is_ascii_digit() || matches!(it, '.' | '_');
    let digits = before.len() - before.trim_end_matches(is_number_part).len();
    let word = text[start..].find(|it: char| !(it.is_alphanumeric() || it == '%' || it == '_'));
    let end = start + word.unwrap_or(text.len() - start);
    if digits > 0 && (before.len() == start || text[start..].starts_with(|it: char| it.is_ascii_digit())) {
        let span = before.len() - digits..end.max(start);
        let message = format!("`{}` is no number", &text[span.clone()]);
        let help = "write digits alone, as in `14_000`, and shares as in `0.8`";
        return (Diagnostic::at("syntax", "", message).help(help), span, Mend::TakeOut(start));
    }
    let is_field = text[end..].trim_start().starts_with(':');
    if digits > 0 && end > start && !is_field && text[start..].starts_with(char::is_alphabetic) {
        let (number, unit) = (&before[before.len() - digits..], &text[start..end]);
        let problem = Diagnostic::at("syntax", "", format!("`{number} {unit}` is no size"));
        let span = before.len() - digits..end;
        return (
            problem.help(format!("write the unit in front: `{unit}({number})`")),
            span,
            Mend::TakeOut(start),
        );
    }
    let problem = Diagnostic::at("syntax", "", "a comma is missing").help("put a `,` between the two");
    let is_free = text[..start].ends_with(char::is_whitespace);
    let mend = if is_free { Mend::Replace(start - 1, ",") } else { Mend::Stop };
    (problem, before.len().saturating_sub(1)..before.len(), mend)
}

/// Returns whether every bracket in a value is closed by one of its kind.
fn is_closed(text: &str, node: &Node) -> bool {
    let written = text.get(node.span.clone()).unwrap_or_default();
    let open = written.trim_start_matches(|it: char| it.is_alphanumeric() || it == '_').chars().next();
    let close = match open {
        Some('(') => ')',
        Some('[') => ']',
        Some('{') => '}',
        _ => return true,
    };
    node.is_leaf || (written.ends_with(close) && node.entries.iter().all(|it| is_closed(text, &it.value)))
}

/// Reads what the RON parser says, with the place moved back to the word that it has just passed.
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

/// Says that a word takes no parentheses, where the parser stands in front of some.
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

/// Returns the bytes at which the RON parser stands.
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

/// Writes spaces over an entry and the comma behind it, so that every other byte keeps its place.
fn blank(text: &mut String, span: Range<usize>) {
    let behind = &text[span.end..];
    let gap = behind.len() - behind.trim_start().len();
    let end = if behind[gap..].starts_with(',') { span.end + gap + 1 } else { span.end };
    let spaces: String =
        text[span.start..end].bytes().map(|it| if it == b'\n' { '\n' } else { ' ' }).collect();
    text.replace_range(span.start..end, &spaces);
}
