//! TOML as a tree.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeFloat, DeInteger, DeTable, DeValue};

use super::{Node, TreeEntry, Value};
use ctxsim_base::diag::{Code, Diagnostic};

/// Parses a TOML text, with its first syntax error.
pub(super) fn parse(text: &str) -> (Node, Option<(Diagnostic, Range<usize>)>) {
    let (document, errors) = DeTable::parse_recoverable(text);
    let first = errors.iter().min_by_key(|it| it.span().map(|it| it.start)).map(|error| {
        let span = error.span().unwrap_or(0..0);
        (syntax(error.message(), text.get(span.start..).unwrap_or_default()), span)
    });
    (Node::new(0..0, Value::Map(of_table(document.get_ref()))), first)
}

fn of_table(table: &DeTable<'_>) -> Vec<TreeEntry> {
    let key =
        |it: &Spanned<toml::de::DeString<'_>>| Node::new(it.span(), Value::Text(it.get_ref().to_string()));
    table.iter().map(|(name, value)| TreeEntry { key: Some(key(name)), value: of_value(value) }).collect()
}

fn of_array(array: &DeArray<'_>) -> Vec<TreeEntry> {
    array.iter().map(|it| TreeEntry { key: None, value: of_value(it) }).collect()
}

fn of_value(value: &Spanned<DeValue<'_>>) -> Node {
    let what = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Whole(of_integer(number)),
        DeValue::Float(number) => of_float(number),
        DeValue::Boolean(it) => Value::Bool(*it),
        // Inputs write dates as text, so one without quotes is a name that no type knows.
        DeValue::Datetime(date) => Value::Word(date.to_string()),
        DeValue::Array(array) => Value::List(of_array(array)),
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

/// Explains a TOML syntax error; `rest` begins with it.
fn syntax(message: &str, rest: &str) -> Diagnostic {
    if rest.starts_with(':') {
        return Diagnostic::at(Code::Syntax, "", "`:` is used instead of `=`").help("write `name = value`");
    }
    if message.starts_with("string values must be quoted") {
        let help = "put text in double quotes; write numbers with digits only, as in `200_000`";
        return Diagnostic::at(Code::Syntax, "", "expected text or a number").help(help);
    }
    if message.starts_with("unexpected key or value, expected newline") {
        let problem = Diagnostic::at(Code::Syntax, "", "unexpected text at the end of the line");
        return problem.help("write one value; use a decimal point, as in `15.0`");
    }
    let (what, help) = match message.split_once(", expected ") {
        Some((what, expected)) => (what, format!("write {expected} here")),
        None if message.starts_with("duplicate") => (message, "remove one of the two".to_owned()),
        None => (message, "write `name = value`, with text in double quotes".to_owned()),
    };
    Diagnostic::at(Code::Syntax, "", what).help(help)
}
