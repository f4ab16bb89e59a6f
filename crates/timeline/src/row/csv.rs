//! Rows as comma-separated values: what is within a group becomes a column with a dotted name.

use crate::prelude::*;

use super::{Rows, Value};
use ctxsim_base::foreign::{Foreign, runner};

/// What begins a formula in spreadsheets; letters of full width do so, too.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

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
    let heads: Vec<String> = columns.iter().map(|it| inert(it)).collect();
    let mut text = joined(heads.iter().map(String::as_str));
    for row in &rows {
        text.push_str(&joined(columns.iter().map(|it| row.get(*it).map_or("", String::as_str))));
    }
    Ok(text.into_bytes())
}

/// Adds the cells of a value.
fn flatten(name: String, value: &Value, cells: &mut IndexMap<String, String>) {
    match value {
        Value::Fields(within) => {
            within.iter().for_each(|(below, it)| flatten(format!("{name}.{below}"), it, cells));
        }
        Value::Text(_) | Value::List(_) => drop(cells.insert(name, inert(&cell(value)))),
        _ => drop(cells.insert(name, cell(value))),
    }
}

/// Returns words that no spreadsheet, terminal or runner obeys: one line, and an apostrophe before what would begin a formula. Numbers stay.
fn inert(words: &str) -> String {
    let words = Foreign(words).to_string();
    let is_number = |it: &str| it.parse::<f64>().is_ok_and(f64::is_finite);
    let is_formula = words.starts_with(FORMULA) && !words.split("; ").all(is_number);
    let words = if is_formula { format!("'{words}") } else { words };
    runner::disarmed(&words).into_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_no_formula_and_numbers_stay() {
        let texts = [
            "=1+1",
            "+x",
            "-x",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            "＝1",
            "a=b",
            "-3",
            "+1.5e3",
            "-1; 2",
            "a\nb\u{1b}[2J",
            "::error::x",
        ];

        let shown: Vec<String> = texts.iter().map(|it| inert(it)).collect();

        let expected = [
            "'=1+1",
            "'+x",
            "'-x",
            "'@SUM(1)",
            "␉=1",
            "␍=1",
            "'＝1",
            "a=b",
            "-3",
            "+1.5e3",
            "-1; 2",
            "a␊b␛[2J",
            ":∶error::x",
        ];
        assert_eq!(shown, expected);
        let row = vec![("a".into(), Value::Below(-3)), ("=b".into(), Value::Text("x,\"y\"\n".into()))];
        let rows = Rows { rows: vec![row], ..Rows::default() };
        assert_eq!(String::from_utf8(table(&[rows]).unwrap()).unwrap(), "a,'=b\n-3,\"x,\"\"y\"\"␊\"\n");
    }
}
