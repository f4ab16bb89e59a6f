//! Rows as comma-separated values: what is within a group becomes a column with a dotted name.

use indexmap::{IndexMap, IndexSet};

use super::{Rows, Value};

/// Returns rows under one header; a row that lacks a column leaves it empty.
///
/// # Errors
/// None; other writers of rows have some.
pub fn table(all: &[Rows]) -> Result<Vec<u8>, serde_json::Error> {
    let mut rows: Vec<IndexMap<String, String>> = Vec::new();
    for row in all.iter().flat_map(Rows::each) {
        let mut cells = IndexMap::new();
        row.for_each(|(name, value)| flatten(name.to_string(), value, &mut cells));
        rows.push(cells);
    }
    let columns: IndexSet<&str> = rows.iter().flat_map(|it| it.keys().map(String::as_str)).collect();
    let mut text = joined(columns.iter().copied());
    for row in &rows {
        text.push_str(&joined(columns.iter().map(|it| row.get(*it).map_or("", String::as_str))));
    }
    Ok(text.into_bytes())
}

/// Adds the cells of a value.
fn flatten(name: String, value: &Value, cells: &mut IndexMap<String, String>) {
    if let Value::Fields(within) = value {
        within.iter().for_each(|(below, it)| flatten(format!("{name}.{below}"), it, cells));
    } else {
        cells.insert(name, cell(value));
    }
}

/// Returns a value as a cell.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(it) => it.to_string(),
        Value::Count(count) => count.to_string(),
        Value::Below(number) => number.to_string(),
        Value::Real(it) => serde_json::Number::from_f64(*it).map(|it| it.to_string()).unwrap_or_default(),
        Value::Text(text) => text.to_string(),
        Value::List(all) => all.iter().map(cell).collect::<Vec<_>>().join("; "),
        // Within a list, as JSON with its names in order.
        Value::Fields(_) => serde_json::to_value(value).unwrap_or_default().to_string(),
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
