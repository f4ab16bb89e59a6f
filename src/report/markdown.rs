//! A report as Markdown tables, for a code review.

use std::fmt::Write as _;

use super::Report;
use super::sections::{Detail, Section};
use super::{numbers, retention};

/// Returns the report as Markdown.
#[must_use]
pub fn report(report: &Report, detail: Detail) -> String {
    let mut text = String::new();
    for line in report.on_sessions() {
        let _ = writeln!(text, "{line}\n");
    }
    for section in report.sections(detail) {
        write_section(&section, &mut text);
    }
    for grid in report.retention_grids() {
        retention::markdown(&grid, &mut text);
    }
    if let Some(heading) = report.guards_heading() {
        write_list(&heading, report.guard_lines(detail).iter().map(String::as_str), &mut text);
    }
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    let notes: Vec<String> = report.all_notes().into_iter().chain(references).collect();
    write_list("Notes", notes.iter().map(String::as_str), &mut text);
    write_list("Assumptions", report.assumptions().iter().map(String::as_str), &mut text);
    write_list("Verdict", report.verdict_lines().iter().map(String::as_str), &mut text);
    text
}

/// Writes one table under its heading.
fn write_section(section: &Section, text: &mut String) {
    let _ = writeln!(text, "### {} under {} ({})\n", section.load, section.profile, section.as_of);
    let _ = writeln!(text, "| {} |", section.headings().join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(section.headings().len() - 1));
    for (mut cells, line) in section.cells(numbers::thousands).into_iter().zip(&section.lines) {
        if let Some(note) = line.note() {
            let _ = write!(cells[0], " ({note})");
        }
        let cells: Vec<String> = cells.iter().map(|it| it.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push('\n');
}

/// Writes a list under its heading, if there is anything in it.
fn write_list<'a>(heading: &str, items: impl Iterator<Item = &'a str>, text: &mut String) {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return;
    }
    let _ = writeln!(text, "{heading}:\n");
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
    text.push('\n');
}
