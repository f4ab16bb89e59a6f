//! The TOML half: the first syntax error, or else every invalid entry.

use serde::de::DeserializeSeed;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::{ATTEMPTS_MAX, Found, word_at};
use crate::diag::Diagnostic;
use crate::input::text::decode::Format;
use crate::input::text::fault::{self, Fault};
use crate::input::text::node::of_toml;
use crate::input::text::once::Grown;

impl Found<'_> {
    pub(super) fn in_toml(&mut self) {
        let (mut document, errors) = DeTable::parse_recoverable(self.text);
        if let Some(error) = errors.iter().min_by_key(|it| it.span().map(|it| it.start)) {
            let span = error.span().unwrap_or(0..0);
            self.push(syntax(error.message(), &self.text[span.start..]), span);
            return;
        }
        for _ in 0..ATTEMPTS_MAX {
            let shape = self.shape;
            let read = Grown(&mut |it| shape.try_read(it)).deserialize(Deserializer::from(document.clone()));
            let Err(error) = read else { return };
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
}

/// Explains a TOML syntax error; `rest` begins with it.
fn syntax(message: &str, rest: &str) -> Diagnostic {
    if rest.starts_with(':') {
        return Diagnostic::at("syntax", "", "`:` is used instead of `=`").help("write `name = value`");
    }
    if message.starts_with("string values must be quoted") {
        let help = "put text in double quotes; write numbers with digits only, as in `200_000`";
        return Diagnostic::at("syntax", "", "expected text or a number").help(help);
    }
    if message.starts_with("unexpected key or value, expected newline") {
        let problem = Diagnostic::at("syntax", "", "unexpected text at the end of the line");
        return problem.help("write one value; use a decimal point, as in `15.0`");
    }
    let (what, help) = match message.split_once(", expected ") {
        Some((what, expected)) => (what, format!("write {expected} here")),
        None if message.starts_with("duplicate") => (message, "remove one of the two".to_owned()),
        None => (message, "write `name = value`, with text in double quotes".to_owned()),
    };
    Diagnostic::at("syntax", "", what).help(help)
}

/// Removes an entry from a TOML document.
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
