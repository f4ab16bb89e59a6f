//! Comma-separated values as objects.

use serde_json::Map;

use crate::import::prelude::*;

/// Returns the rows of a table, each with the line on which it begins; a header alone is a row without values.
pub(in crate::import) fn rows(text: &str) -> impl Iterator<Item = (usize, Value)> {
    let mut records = Records { rest: text.trim_start_matches('\u{feff}'), line: 1 };
    let header = records.next().map(|it| it.1).unwrap_or_default();
    let mut is_alone = true;
    std::iter::from_fn(move || {
        let row = loop {
            match records.next() {
                Some((_, cells)) if cells.iter().all(|it| it.trim().is_empty()) => {}
                found => break found,
            }
        };
        let row = row.or_else(|| is_alone.then(|| (1, Vec::new())));
        is_alone = false;
        let (line, cells) = row?;
        let mut cells = cells.into_iter();
        let members = header.iter().map(|it| (it.trim().to_owned(), value(cells.next())));
        Some((line, Value::Object(members.collect::<Map<String, Value>>())))
    })
}

/// Returns the records of a table, its header first, each with the line on which it begins.
pub fn csv_records(text: &str) -> impl Iterator<Item = (usize, Vec<String>)> {
    Records { rest: text.trim_start_matches('\u{feff}'), line: 1 }
}

/// Returns what a cell holds: a number, an object or a list, or else a text.
fn value(cell: Option<String>) -> Value {
    let Some(cell) = cell else { return Value::Null };
    let text = cell.trim();
    let is_json = text.starts_with(['{', '[', '-']) || text.starts_with(|it: char| it.is_ascii_digit());
    let json = is_json.then(|| serde_json::from_str(text).ok()).flatten();
    json.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Records of cells, of which quoted ones may hold commas and ends of lines.
struct Records<'t> {
    rest: &'t str,
    line: usize,
}

impl Iterator for Records<'_> {
    type Item = (usize, Vec<String>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, mut cells, mut cell, mut is_quoted) = (self.line, Vec::new(), String::new(), false);
        let mut end = self.rest.len();
        let mut characters = self.rest.char_indices().peekable();
        while let Some((at, it)) = characters.next() {
            self.line += usize::from(it == '\n');
            match it {
                '"' if is_quoted && characters.next_if(|it| it.1 == '"').is_some() => cell.push('"'),
                '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
                '\n' if !is_quoted => {
                    end = at + 1;
                    break;
                }
                _ => cell.push(it),
            }
        }
        cells.push(cell);
        self.rest = &self.rest[end..];
        Some((line, cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_cells_hold_commas_quotes_and_ends_of_lines() {
        let text = "a,b.c\n1,\"x, \"\"y\"\"\nz\"\n\n\"{\"\"d\"\":2}\",\n";

        let rows: Vec<(usize, String)> = rows(text).map(|it| (it.0, it.1.to_string())).collect();

        let expected = [(2, r#"{"a":1,"b.c":"x, \"y\"\nz"}"#), (5, r#"{"a":{"d":2},"b.c":""}"#)];
        assert_eq!(rows, expected.map(|it| (it.0, it.1.to_owned())));
    }
}
