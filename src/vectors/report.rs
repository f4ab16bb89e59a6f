//! Played vectors as text: for programs in the shape of the file, for people as a count and what differs.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Serialize;

use super::file::ExpectedRow;
use super::{From, NotPlayed, Played, Row, Series};

/// Rows of one series, in the shape of the file's own expectations.
#[derive(Debug, Serialize)]
struct SeriesJson<'a> {
    rows: &'a [Row],
    #[serde(skip_serializing_if = "Option::is_none")]
    total_picodollars: Option<u128>,
    /// Nothing where the file expects nothing.
    as_expected: Option<bool>,
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
    not_played: &'a [NotPlayed],
    passed_over: &'a [String],
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
    as_expected: Option<bool>,
}

/// Returns everything as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json(played: &Played) -> Result<String, serde_json::Error> {
    let (rows, rows_as_expected) = counts(&played.series);
    let Played { series, not_played, passed_over } = played;
    let mut document = Document {
        schema: "ctxsim.vectors/1",
        rows,
        rows_as_expected,
        not_played,
        passed_over,
        ..Document::default()
    };
    for series in series {
        let total_picodollars = series.total();
        let as_expected = series.expects().then(|| series.is_as_expected());
        let json = SeriesJson { rows: &series.rows, total_picodollars, as_expected };
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
pub fn lines(played: &Played) -> Result<Vec<String>, serde_json::Error> {
    let mut lines = Vec::new();
    for series in &played.series {
        let different = series.different();
        for (n, row) in series.rows.iter().enumerate() {
            lines.push(serde_json::to_string(&LineJson {
                name: &series.name,
                policy: &series.policy,
                rule: &series.rule,
                from: series.from,
                n,
                row,
                as_expected: series.expects().then(|| !different.contains(&n)),
            })?);
        }
    }
    Ok(lines)
}

/// Returns how many rows are as expected, every one that is not, and what was not played and not looked at.
#[must_use]
pub fn table(played: &Played) -> String {
    let all = &played.series;
    let (n_rows, n_equal) = counts(all);
    let n_expecting = all.iter().filter(|it| it.expects()).count();
    let n_series = all.iter().filter(|it| it.expects() && it.is_as_expected()).count();
    let mut text =
        format!("{n_equal} of {n_rows} rows are as expected, {n_series} of {n_expecting} series\n");
    let n_silent = all.len() - n_expecting;
    if n_silent > 0 {
        let _ =
            writeln!(text, "{n_silent} series have nothing to be compared with; --rows requests prints them");
    }
    for series in all.iter().filter(|it| !it.is_as_expected()) {
        differing(series, &mut text);
    }
    text.push_str(&missing(played));
    text
}

/// Returns what was not played, by reason, and what was not looked at.
#[must_use]
pub fn missing(played: &Played) -> String {
    let mut text = String::new();
    let mut by_reason: IndexMap<&str, Vec<String>> = IndexMap::new();
    for it in &played.not_played {
        by_reason.entry(&it.reason).or_default().push(it.to_string());
    }
    for (reason, places) in by_reason {
        let more = if places.len() > 3 { format!("; and {} more", places.len() - 3) } else { String::new() };
        let first = places.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("; ");
        let _ = writeln!(text, "not played, {reason}: {first}{more}");
    }
    for it in &played.passed_over {
        let _ = writeln!(text, "passed over: {it}");
    }
    text
}

/// Writes the rows of a series that differ, field by field.
fn differing(series: &Series, text: &mut String) {
    let policy = if series.policy.is_empty() { String::new() } else { format!(", {}", series.policy) };
    let _ = writeln!(text, "{}{policy}, {}, from {}:", series.name, series.rule, series.from);
    for n in series.different() {
        let expected = series.expected.as_ref().and_then(|it| it.get(n));
        let _ = match (series.rows.get(n), expected) {
            (Some(row), Some(expected)) => writeln!(text, "  row {n}: {}", difference(row, expected)),
            (Some(_), None) => writeln!(text, "  row {n}: none was expected"),
            (None, _) => writeln!(text, "  row {n}: there is none"),
        };
    }
    if let (Some(total), Some(expected)) = (series.total(), series.expected_total)
        && total != expected
    {
        let _ = writeln!(text, "  in all: {total} picodollars, expected {expected}");
    }
}

/// Says in which fields a row is not as expected.
fn difference(row: &Row, expected: &ExpectedRow) -> String {
    let mut fields = Vec::new();
    let mut compare = |name: &str, is: u128, expected: Option<u128>| {
        if expected.is_some_and(|it| it != is) {
            fields.push(format!("{name} {is}, expected {}", expected.unwrap_or_default()));
        }
    };
    compare("prompt", row.prompt.into(), expected.prompt.map(u128::from));
    compare("read", row.read.into(), Some(expected.read.into()));
    let names: indexmap::IndexSet<&String> = row.write.keys().chain(expected.write.keys()).collect();
    for name in names {
        let tokens = |it: &IndexMap<String, u64>| u128::from(it.get(name).copied().unwrap_or(0));
        compare(&format!("written for {name}"), tokens(&row.write), Some(tokens(&expected.write)));
    }
    compare("uncached", row.uncached.into(), Some(expected.uncached.into()));
    compare("output", row.output.into(), expected.output.map(u128::from));
    compare("picodollars", row.picodollars.unwrap_or(0), expected.picodollars);
    fields.join("; ")
}

/// Returns how many rows are expected, and how many are so.
fn counts(all: &[Series]) -> (usize, usize) {
    all.iter().filter_map(|it| Some((it, it.expected.as_ref()?))).fold(
        (0, 0),
        |(rows, equal), (it, expected)| {
            let n = it.rows.len().max(expected.len());
            (rows + n, equal + n - it.different().len())
        },
    )
}
