//! A report as one page of HTML that needs nothing else: every table, and charts beside the numbers that they show.

use std::fmt::Write as _;

use super::sections::{COLUMNS, Detail};
use super::{Report, chart, numbers};

/// How the page looks.
const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}\
table{border-collapse:collapse;margin:.5rem 0 1.5rem;font-size:.9rem}\
th,td{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}\
th.name,td.name{text-align:left}thead th{border-bottom:2px solid #888}\
.beside{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start}figure{margin:0}svg{max-width:100%;height:auto}";

/// Returns the report as a page.
#[must_use]
pub fn report(report: &Report, detail: Detail) -> String {
    let title = report.suite.as_deref().unwrap_or("comparison");
    let mut text = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let _ = writeln!(text, "<title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>", escaped(title));
    let _ = writeln!(text, "<h1>{}</h1>", escaped(title));
    for section in report.sections(detail) {
        let heading = format!("{} under {} ({})", section.load, section.profile, section.as_of);
        let _ = writeln!(text, "<h2>{}</h2>", escaped(&heading));
        let mut rows = section.cells(numbers::thousands);
        for (cells, line) in rows.iter_mut().zip(&section.lines) {
            if let Some(stopped) = &line.stopped {
                let _ = write!(cells[0], " ({stopped})");
            }
        }
        table(&COLUMNS.map(str::to_owned), 1, &rows, &mut text);
    }
    for grid in report.retention_grids() {
        let _ = writeln!(text, "<h2>{}</h2>\n<div class=\"beside\">", escaped(&grid.title));
        if let Some(svg) = grid.chart.as_ref().and_then(chart::svg) {
            let _ = writeln!(text, "<figure>\n{}\n</figure>", svg.trim_end());
        }
        table(&grid.columns, grid.n_names, &grid.rows, &mut text);
        text.push_str("</div>\n");
    }
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    let notes = report.notes.iter().cloned().chain(references).chain(report.note_on_needs());
    list("Notes", &notes.collect::<Vec<_>>(), &mut text);
    list("Assumptions", &report.assumptions(), &mut text);
    text.push_str("</body>\n</html>\n");
    text
}

/// Writes a table whose first columns are names.
fn table(columns: &[String], n_names: usize, rows: &[Vec<String>], text: &mut String) {
    let class = |index: usize| if index < n_names { " class=\"name\"" } else { "" };
    text.push_str("<table>\n<thead><tr>");
    for (index, column) in columns.iter().enumerate() {
        let _ = write!(text, "<th{}>{}</th>", class(index), escaped(column));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            let _ = write!(text, "<td{}>{}</td>", class(index), escaped(cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n");
}

/// Writes a list under its heading, if there is anything in it.
fn list(heading: &str, items: &[String], text: &mut String) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "<h2>{heading}</h2>\n<ul>");
    for item in items {
        let _ = writeln!(text, "<li>{}</li>", escaped(item));
    }
    text.push_str("</ul>\n");
}

/// Writes text so that a browser shows it as it is.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
