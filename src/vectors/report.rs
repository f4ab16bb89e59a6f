//! Played vectors as text: for programs in the shape of the file, for people as a count and what differs.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Serialize;

use super::{From, Row, Series};

/// Rows of one series, in the shape of the file's own expectations.
#[derive(Debug, Serialize)]
struct SeriesJson<'a> {
    rows: &'a [Row],
    #[serde(skip_serializing_if = "Option::is_none")]
    total_picodollars: Option<u128>,
    as_expected: bool,
}

/// A session's runs by policy; then where the prompts come from; then the rule.
type Runs<'a> = IndexMap<&'a str, IndexMap<From, IndexMap<&'a str, SeriesJson<'a>>>>;

/// The document.
#[derive(Debug, Default, Serialize)]
struct Document<'a> {
    schema: &'static str,
    rows: usize,
    rows_as_expected: usize,
    sessions: IndexMap<&'a str, Runs<'a>>,
    cache_vectors: IndexMap<&'a str, SeriesJson<'a>>,
    not_played: &'a [String],
}

/// One row by itself.
#[derive(Debug, Serialize)]
struct LineJson<'a> {
    name: &'a str,
    policy: &'a str,
    rule: &'a str,
    from: From,
    n: usize,
    #[serde(flatten)]
    row: &'a Row,
    as_expected: bool,
}

/// Returns everything as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json(all: &[Series], not_played: &[String]) -> Result<String, serde_json::Error> {
    let (rows, rows_as_expected) = counts(all);
    let mut document =
        Document { schema: "ctxsim.vectors/1", rows, rows_as_expected, not_played, ..Document::default() };
    for series in all {
        let total_picodollars = series.total();
        let json = SeriesJson { rows: &series.rows, total_picodollars, as_expected: series.is_as_expected() };
        if series.policy.is_empty() {
            document.cache_vectors.insert(&series.name, json);
        } else {
            let runs = document.sessions.entry(&series.name).or_default();
            let of_policy = runs.entry(&series.policy).or_default();
            of_policy.entry(series.from).or_default().insert(&series.rule, json);
        }
    }
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Returns every row as one JSON object a line.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn lines(all: &[Series]) -> Result<Vec<String>, serde_json::Error> {
    let mut lines = Vec::new();
    for series in all {
        let different = series.different();
        for (n, row) in series.rows.iter().enumerate() {
            lines.push(serde_json::to_string(&LineJson {
                name: &series.name,
                policy: &series.policy,
                rule: &series.rule,
                from: series.from,
                n,
                row,
                as_expected: !different.contains(&n),
            })?);
        }
    }
    Ok(lines)
}

/// Returns how many rows are as expected, and every one that is not.
#[must_use]
pub fn table(all: &[Series], not_played: &[String]) -> String {
    let (n_rows, n_equal) = counts(all);
    let n_series = all.iter().filter(|it| it.is_as_expected()).count();
    let mut text = format!("{n_equal} of {n_rows} rows as expected, {n_series} of {} series\n", all.len());
    for series in all.iter().filter(|it| !it.is_as_expected()) {
        let policy = if series.policy.is_empty() { String::new() } else { format!(", {}", series.policy) };
        let _ = writeln!(text, "{}{policy}, {}, from {}", series.name, series.rule, series.from);
        for n in series.different() {
            let row = series.rows.get(n).map_or("nothing".to_owned(), |it| format!("{it:?}"));
            let expected = series.expected.get(n).map_or("nothing".to_owned(), |it| format!("{it:?}"));
            let _ = writeln!(text, "  {n}: {row}\n     expected {expected}");
        }
    }
    for reason in not_played {
        let _ = writeln!(text, "not played: {reason}");
    }
    text
}

/// Returns how many rows there are or should be, and how many are as expected.
fn counts(all: &[Series]) -> (usize, usize) {
    all.iter().fold((0, 0), |(rows, equal), it| {
        let n = it.rows.len().max(it.expected.len());
        (rows + n, equal + n - it.different().len())
    })
}
