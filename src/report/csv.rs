//! Comma-separated values of anything with fields: nested fields become columns with dotted names.

use indexmap::IndexMap;
use serde_json::Value;

use super::{ALL, Report, json};

/// Returns the runs of a report, one per line, without sums over scenarios, so that adding up a column counts
/// each run once.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn report(report: &Report) -> Result<String, serde_json::Error> {
    let lines = json::lines(report)?;
    let mut rows = Vec::new();
    for (line, (run, _)) in lines.lines().zip(report.labelled()) {
        let mut row = flat(line)?;
        row.insert("stages".to_owned(), run.stages_in_a_cell());
        row.extend(report.verdicts_in_a_cell(run).map(|it| ("guards".to_owned(), it)));
        rows.push(row);
    }
    rows.retain(|row| row.get("scenario").is_none_or(|it| it != ALL));
    Ok(table(&rows))
}

/// Returns rows under one header; a row that lacks a column leaves it empty.
#[must_use]
pub fn table(rows: &[IndexMap<String, String>]) -> String {
    let mut columns: indexmap::IndexSet<&str> = indexmap::IndexSet::new();
    for row in rows {
        columns.extend(row.keys().map(String::as_str));
    }
    let mut text = joined(columns.iter().copied());
    for row in rows {
        text.push_str(&joined(columns.iter().map(|it| row.get(*it).map_or("", String::as_str))));
    }
    text
}

/// Reads a JSON object as columns, in the object's own order.
///
/// # Errors
/// The text is no JSON object.
pub fn flat(text: &str) -> Result<IndexMap<String, String>, serde_json::Error> {
    let fields: IndexMap<String, Box<serde_json::value::RawValue>> = serde_json::from_str(text)?;
    let mut columns = IndexMap::new();
    for (name, field) in fields {
        let inner = field.get();
        if inner.starts_with('{') {
            for (below, value) in flat(inner)? {
                columns.insert(format!("{name}.{below}"), value);
            }
            continue;
        }
        columns.insert(name, cell(serde_json::from_str(inner)?));
    }
    Ok(columns)
}

/// Returns a value as a cell.
fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Array(items) => items.into_iter().map(cell).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

/// Joins cells to a line, quoting where a cell needs it.
fn joined<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = cells.map(|it| {
        if it.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", it.replace('"', "\"\""))
        } else {
            it.to_owned()
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}
