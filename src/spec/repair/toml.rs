//! The TOML half: a line that is no TOML is left out where that is safe, then entries are taken out as in RON.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::{ATTEMPTS_MAX, Found, PROBLEMS_MAX, word_at};
use crate::diag::Diagnostic;
use crate::spec::decode::Format;
use crate::spec::fault::{self, Fault};
use crate::spec::node::of_toml;

impl Found<'_> {
    pub(super) fn in_toml<T: DeserializeOwned>(&mut self) {
        let mut copy = self.text.to_owned();
        if !self.syntax_of_toml(&mut copy) {
            return;
        }
        let mut document = DeTable::parse_recoverable(&copy).0;
        for _ in 0..ATTEMPTS_MAX {
            let Err(error) = T::deserialize(Deserializer::from(document.clone())) else { return };
            let root = of_toml(document.get_ref());
            let span = error.span().unwrap_or(0..0);
            let found = word_at(self.text, &root, span.start);
            let fault = Fault { span, ..fault::of_words(error.message(), found, Format::Toml) };
            let Some(way) = self.take::<T>(&root, &fault) else { return };
            if !remove(&mut document, &way) {
                return;
            }
        }
    }

    /// Reports what is no TOML at all; returns whether the copy is TOML now.
    fn syntax_of_toml(&mut self, copy: &mut String) -> bool {
        for _ in 0..PROBLEMS_MAX {
            let mut errors = DeTable::parse_recoverable(copy).1;
            errors.sort_by_key(|it| it.span().map(|it| it.start));
            let Some(error) = errors.first() else { return true };
            let span = error.span().unwrap_or(0..0);
            self.push(syntax(error.message(), &copy[span.start..]), span.clone());
            let line = line_of(copy, span.start);
            if line.is_empty() || !stands_alone(&copy[line.clone()]) {
                return false;
            }
            self.is_partial = true;
            copy.replace_range(line.clone(), &" ".repeat(line.len()));
        }
        false
    }
}

/// Says what is no TOML; `rest` begins with it.
fn syntax(message: &str, rest: &str) -> Diagnostic {
    if rest.starts_with(':') {
        return Diagnostic::at("syntax", "", "`:` stands where a `=` belongs").help("write `name = value`");
    }
    if message.starts_with("string values must be quoted") {
        let help = "write text in double quotes, and numbers with digits alone, as in `200_000`";
        return Diagnostic::at("syntax", "", "this is neither text nor a number").help(help);
    }
    if message.starts_with("unexpected key or value, expected newline") {
        let problem = Diagnostic::at("syntax", "", "there is more on this line than belongs there");
        return problem.help("write one value, and decimals with a point, as in `15.0`");
    }
    let (what, help) = match message.split_once(", expected ") {
        Some((what, expected)) => (what, format!("write {expected} here")),
        None if message.starts_with("duplicate") => (message, "keep one of the two".to_owned()),
        None => (message, "write `name = value`, and text in double quotes".to_owned()),
    };
    Diagnostic::at("syntax", "", what).help(help)
}

/// Returns the bytes of the line that a byte is in.
fn line_of(text: &str, byte: usize) -> Range<usize> {
    let start = text[..byte].rfind('\n').map_or(0, |it| it + 1);
    let end = text[byte..].find('\n').map_or(text.len(), |it| byte + it);
    start..end
}

/// Returns whether a line can be left out without changing what others mean: no section, no bracket that others close.
fn stands_alone(line: &str) -> bool {
    let count = |brackets: [char; 2]| line.matches(brackets).count();
    let is_whole =
        count(['[', '{']) == count([']', '}']) && !line.contains("\"\"\"") && !line.contains("'''");
    is_whole && !line.trim_start().starts_with(['[', ']', '{', '}', ','])
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
