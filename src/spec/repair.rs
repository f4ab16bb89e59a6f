//! Everything in a text that does not fit: after each fault its entry is taken out and the rest is read again.

use std::ops::Range;

use serde::de::{DeserializeOwned, IgnoredAny};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::decode::{Format, ron_options};
use super::fault::{self, Fault};
use super::node::{Node, of_ron, of_toml};
use crate::diag::{Diagnostic, Place, nearest};

/// No more problems of one text are told.
const PROBLEMS_MAX: usize = 64;

/// No longer value is repeated in a message, in bytes.
const WORD_MAX: usize = 40;

/// No more entries of one text are taken out.
const ATTEMPTS_MAX: usize = 512;

/// Returns everything that keeps a text from being a spec; at least one thing for a text that is none.
pub(super) fn problems<T: DeserializeOwned>(text: &str, format: Format) -> Vec<Diagnostic> {
    let mut found = Found { text, list: Vec::new(), damage: Vec::new() };
    match format {
        Format::Ron => found.in_ron::<T>(),
        Format::Toml => found.in_toml::<T>(),
    }
    found.list
}

/// Returns the keys of a RON text that are given twice in one place; the parser lets the last one win.
pub(super) fn duplicates(text: &str) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    let root = of_ron(text);
    let mut nodes = vec![&root];
    while let Some(node) = nodes.pop() {
        let mut keys = indexmap::IndexSet::new();
        for entry in &node.entries {
            if let Some(key) = &entry.key
                && !keys.insert(key)
            {
                let place = Place { span: Some(entry.key_span.clone()), ..Place::default() };
                let problem = Diagnostic {
                    place,
                    ..Diagnostic::at("duplicate-key", "", format!("`{key}` is given twice"))
                };
                list.push(problem.help("keep one of the two"));
            }
        }
        nodes.extend(node.entries.iter().rev().map(|it| &it.value));
    }
    list
}

/// What has been found, and what has been taken out to go on.
struct Found<'a> {
    text: &'a str,
    list: Vec<Diagnostic>,
    /// Where something was taken out, and what it was called.
    damage: Vec<(Range<usize>, Option<String>)>,
}

impl Found<'_> {
    fn in_ron<T: DeserializeOwned>(&mut self) {
        let mut copy = self.text.to_owned();
        if !self.syntax_of_ron(&mut copy) {
            return;
        }
        for _ in 0..ATTEMPTS_MAX {
            let Err(error) = ron_options().from_str::<T>(&copy) else { return };
            let root = of_ron(&copy);
            let fault = ron_fault(&copy, &root, &error);
            let Some(way) = self.take(&root, &fault) else { return };
            let Some(entry) = root.at(&way) else { return };
            blank(&mut copy, entry.span.clone());
        }
    }

    /// Reports what is no RON at all, going on past missing commas; returns whether the copy is RON now.
    fn syntax_of_ron(&mut self, copy: &mut String) -> bool {
        let mut last = None;
        while let Err(error) = ron_options().from_str::<IgnoredAny>(copy) {
            let span = ron_span(copy, &error);
            if error.code == ron::Error::ExpectedComma && copy[span.start..].starts_with([')', ']', '}']) {
                let problem = Diagnostic::at("syntax", "", "a bracket is open that this one does not close");
                self.push(problem.help("close the inner one first"), span.start..span.start + 1);
                return false;
            }
            if error.code == ron::Error::ExpectedComma && last != Some(span.start) {
                let end = copy[..span.start].trim_end().len();
                let problem = Diagnostic::at("syntax", "", "a comma is missing");
                self.push(problem.help("put a `,` between the two"), end.saturating_sub(1)..end);
                last = Some(span.start);
                let is_free = copy[..span.start].ends_with(char::is_whitespace);
                if is_free && self.list.len() < PROBLEMS_MAX {
                    copy.replace_range(span.start - 1..span.start, ",");
                    continue;
                }
                return false;
            }
            let fault = fault::of_ron(&error.code, "");
            let mut problem = Diagnostic::at("syntax", "", fault.message);
            problem.help = fault.help;
            self.push(problem, span);
            return false;
        }
        true
    }

    fn in_toml<T: DeserializeOwned>(&mut self) {
        let (mut document, errors) = DeTable::parse_recoverable(self.text);
        for error in errors.iter().take(PROBLEMS_MAX) {
            let span = error.span().unwrap_or(0..0);
            self.push(Diagnostic::at("syntax", "", error.message()), span);
        }
        if !errors.is_empty() {
            return;
        }
        for _ in 0..ATTEMPTS_MAX {
            let Err(error) = T::deserialize(toml::de::Deserializer::from(document.clone())) else { return };
            let root = of_toml(document.get_ref());
            let span = error.span().unwrap_or(0..0);
            let found = word_at(self.text, &root, span.start);
            let fault = Fault { span, ..fault::of_words(error.message(), found, Format::Toml) };
            let Some(way) = self.take(&root, &fault) else { return };
            if !remove(&mut document, &way) {
                return;
            }
        }
    }

    /// Reports a fault unless it only follows from what was taken out; returns the entry to take out next.
    fn take(&mut self, root: &Node, fault: &Fault) -> Option<Vec<usize>> {
        let way = match fault {
            // TOML gives what the document itself lacks no place.
            Fault { missing: Some(_), span, .. } if *span == (0..0) => Vec::new(),
            Fault { code: "unknown-field", span, .. } => root.way_to_key(span.start),
            Fault { span, .. } => root.way_to(span.start),
        };
        let node = root.at(&way).map_or(root, |it| &it.value);
        let mut harmed =
            self.damage.iter().filter(|(span, _)| *span == node.span).map(|(_, key)| key.as_deref());
        let follows = match &fault.missing {
            Some(field) => harmed.any(|it| it.is_some_and(|it| nearest(it, [field.as_str()]).is_some())),
            None => harmed.next().is_some(),
        };
        if !follows {
            self.report(root, &way, fault);
        }
        if way.is_empty() || self.list.len() >= PROBLEMS_MAX {
            return None;
        }
        let holder = root.at(&way[..way.len() - 1]).map_or(root, |it| &it.value);
        self.damage.push((holder.span.clone(), root.at(&way).and_then(|it| it.key.clone())));
        Some(way)
    }

    fn report(&mut self, root: &Node, way: &[usize], fault: &Fault) {
        let mut problem = Diagnostic::at(fault.code, root.path(self.text, way), fault.message.clone());
        problem.help.clone_from(&fault.help);
        let value = root.at(way).map(|it| &it.value);
        let is_value = !matches!(fault.code, "unknown-field" | "unknown-choice" | "missing-field");
        let span = match value {
            Some(value) if is_value && value.is_leaf && !value.span.is_empty() => value.span.clone(),
            Some(value) if fault.missing.is_some() => value.span.clone(),
            _ => fault.span.clone(),
        };
        self.push(problem, span);
    }

    fn push(&mut self, mut problem: Diagnostic, span: Range<usize>) {
        problem.place.span = Some(span);
        self.list.push(problem);
    }
}

/// Reads what the RON parser says, with the place moved back to the word that it has just passed.
fn ron_fault(text: &str, root: &Node, error: &ron::error::SpannedError) -> Fault {
    let mut span = ron_span(text, error);
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

/// Returns the value at a place as it is written; nothing for a long one.
fn word_at<'t>(text: &'t str, root: &Node, byte: usize) -> &'t str {
    let span = root.at(&root.way_to(byte)).map(|it| it.value.span.clone()).filter(|it| it.contains(&byte));
    let word = span.and_then(|it| text.get(it)).unwrap_or_default();
    if word.len() <= WORD_MAX && !word.contains('\n') { word } else { "" }
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

/// Takes an entry out of a TOML document.
fn remove(document: &mut Spanned<DeTable<'_>>, way: &[usize]) -> bool {
    let Some((first, rest)) = way.split_first() else { return false };
    remove_in_table(document.get_mut(), *first, rest)
}

fn remove_in_table(table: &mut DeTable<'_>, index: usize, rest: &[usize]) -> bool {
    let Some(key) = table.iter().nth(index).map(|(key, _)| key.clone()) else { return false };
    match rest.split_first() {
        None => table.remove(&key).is_some(),
        Some((next, rest)) => {
            table.get_mut(&key).is_some_and(|it| remove_in_value(it.get_mut(), *next, rest))
        }
    }
}

fn remove_in_value(value: &mut DeValue<'_>, index: usize, rest: &[usize]) -> bool {
    match value {
        DeValue::Table(table) => remove_in_table(table, index, rest),
        DeValue::Array(array) if index < array.len() => match rest.split_first() {
            Some((next, rest)) => {
                array.get_mut(index).is_some_and(|it| remove_in_value(it.get_mut(), *next, rest))
            }
            None => {
                let kept = array.iter().enumerate().filter(|(it, _)| *it != index).map(|(_, it)| it.clone());
                *array = kept.collect();
                true
            }
        },
        _ => false,
    }
}
