//! TOML as a tree.

use crate::prelude::*;

use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::ron::CURLY;
use super::{Node, TreeEntry, Value};
use crate::text::spelling::spell;

/// Parses a TOML text, with its first syntax error.
pub(super) fn parse(text: &str) -> (Node, Option<(Diagnostic, Range<usize>)>) {
    let (document, errors) = DeTable::parse_recoverable(text);
    let first = errors.iter().min_by_key(|it| it.span().map(|it| it.start)).map(|error| {
        let span = error.span().unwrap_or(0..0);
        let rest = text.get(span.start..).unwrap_or_default();
        (of_ron(text, rest).unwrap_or_else(|| syntax(error.message(), rest)), span)
    });
    (Node::new(0..0, Value::Map(of_table(document.get_ref()))), first)
}

fn of_table(table: &DeTable<'_>) -> Vec<TreeEntry> {
    let key =
        |it: &Spanned<toml::de::DeString<'_>>| Node::new(it.span(), Value::Text(it.get_ref().to_string()));
    table.iter().map(|(name, value)| TreeEntry { key: Some(key(name)), value: of_value(value) }).collect()
}

fn of_value(value: &Spanned<DeValue<'_>>) -> Node {
    let what = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Whole(of_integer(number)),
        DeValue::Float(number) => of_float(number),
        DeValue::Boolean(it) => Value::Bool(*it),
        // Inputs write dates as text, so one without quotes is a name that no type knows.
        DeValue::Datetime(date) => Value::Word(date.to_string()),
        DeValue::Array(array) => Node::list(array.iter().map(of_value).collect()).value,
        DeValue::Table(table) => Value::Map(of_table(table)),
    };
    Node::new(value.span(), what)
}

fn of_integer(number: &DeInteger<'_>) -> i128 {
    let beyond = if number.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
    i128::from_str_radix(number.as_str(), number.radix()).unwrap_or(beyond)
}

/// Returns a number; one with so many digits that it is infinite is none.
fn of_float(number: &DeFloat<'_>) -> Value {
    let text = number.as_str();
    let finite = text.parse().ok().filter(|it: &f64| it.is_finite() || text.contains(['i', 'n']));
    finite.map_or_else(|| Value::Word(text.to_owned()), Value::Real)
}

/// Explains RON or JSON in a TOML text: all of it, or a call such as `turns(3)` where `rest` begins with an error.
fn of_ron(text: &str, rest: &str) -> Option<Diagnostic> {
    let first = text.lines().map(str::trim).find(|it| !it.is_empty() && !it.starts_with(['#', '/']))?;
    if first.starts_with(['(', '{']) {
        let (name, help) = match first.starts_with('(') {
            true => ("RON", "name the file `.ron`, or write TOML: `name = \"…\"`"),
            false => ("JSON", "write TOML: `name = \"…\"`, or RON in a file that ends in `.ron`"),
        };
        let message = format!("this is {name}, but it is read as TOML");
        return Some(Diagnostic::at(Code("syntax"), "", message).help(help));
    }
    let call = call(rest)?;
    let help = spell(&format!("write `{call}`"), Format::Toml);
    let problem = Diagnostic::at(Code("syntax"), "", format!("`{call}` is RON, and this is TOML"));
    help.contains('=').then(|| problem.help(help))
}

/// Returns the call that a text begins with: a name and what is in its parentheses, on one line.
fn call(text: &str) -> Option<&str> {
    let name = text.find(|it: char| !it.is_ascii_lowercase() && it != '_').filter(|it| *it > 0)?;
    let line = text.lines().next().filter(|it| it[name..].starts_with('('))?;
    let mut depth = 0_usize;
    let end = line.char_indices().find(|(_, it)| {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *it == ')' && depth == 0
    })?;
    Some(&line[..=end.0])
}

/// Explains a TOML syntax error; `rest` begins with it.
fn syntax(message: &str, rest: &str) -> Diagnostic {
    if rest.starts_with(':') {
        let help = "write `name = value`: this is TOML, and colons belong to RON";
        return Diagnostic::at(Code("syntax"), "", "`:` is used instead of `=`").help(help);
    }
    if rest.starts_with(CURLY) {
        let problem = Diagnostic::at(Code("syntax"), "", "text in typographic quotes");
        return problem.help("use straight double quotes: `\"…\"`");
    }
    if message.starts_with("string values must be quoted") {
        let help = "put text in double quotes; write numbers with digits only, as in `200_000`";
        return Diagnostic::at(Code("syntax"), "", "expected text or a number").help(help);
    }
    if message.starts_with("unexpected key or value, expected newline") {
        let problem = Diagnostic::at(Code("syntax"), "", "unexpected text at the end of the line");
        return problem.help("write one value; use a decimal point, as in `15.0`");
    }
    let (what, help) = match message.split_once(", expected ") {
        Some((what, expected)) => (what, format!("write {expected} here")),
        None if message.starts_with("duplicate") => (message, "remove one of the two".to_owned()),
        None => (message, "write `name = value`, with text in double quotes".to_owned()),
    };
    Diagnostic::at(Code("syntax"), "", what).help(help)
}
