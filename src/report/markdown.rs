//! A report as Markdown tables, for a code review.

use std::fmt::Write as _;

use super::Report;
use super::sections::{Detail, Section};
use crate::grid::markdown;
use crate::grid::numbers;

/// Returns the report as Markdown.
pub fn report(report: &Report, detail: Detail) -> String {
    let mut text = String::new();
    for line in report.on_sessions() {
        let _ = writeln!(text, "{line}\n");
    }
    text += &report.figures_grid().map(|it| markdown::table(&it)).unwrap_or_default();
    for section in report.sections(detail) {
        write_shortened(&section, detail, &mut text);
    }
    for grid in report.grids_of_first() {
        text += &markdown::table(&grid);
    }
    for line in report.filled_lines() {
        let _ = writeln!(text, "{line}\n");
    }
    if let Some(heading) = report.guards_heading() {
        write_list(&heading, report.guard_lines(detail).iter(), &mut text);
    }
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    let notes: Vec<String> = report.all_notes().into_iter().chain(references).collect();
    write_list("Notes", notes.iter(), &mut text);
    write_list("Assumptions", report.assumptions().iter(), &mut text);
    write_list("Verdict", report.verdict_lines().iter(), &mut text);
    write_list("Next", report.next_lines().iter(), &mut text);
    text
}

/// Returns the report as a job summary: verdict and tables visible; scenarios, notes and assumptions folded.
pub fn summary(report: &Report) -> String {
    let mut text = String::new();
    for line in report.on_sessions().into_iter().chain(report.verdict_lines()) {
        let _ = writeln!(text, "{}\n", broken(&line, ""));
    }
    text += &report.figures_grid().map(|it| markdown::table(&it)).unwrap_or_default();
    let sections = report.sections(Detail::Groups);
    sections.iter().for_each(|it| write_shortened(it, Detail::Groups, &mut text));
    for grid in report.grids_of_first() {
        text += &markdown::table(&grid);
    }
    if let Some(heading) = report.guards_heading() {
        let failed = report.guard_verdicts.iter().filter(|it| !it.holds).map(|failed| format!("❌ {failed}"));
        let _ = writeln!(text, "**{heading}**\n");
        write_items(failed, &mut text);
    }
    text.push_str("<details><summary>Scenarios, notes and assumptions</summary>\n\n");
    let single = report.sections(Detail::Scenarios);
    single.iter().filter(|it| !sections.contains(it)).for_each(|section| write_section(section, &mut text));
    let held = report.guard_verdicts.iter().filter(|it| it.holds).map(ToString::to_string);
    write_list("Guards that hold", held, &mut text);
    write_list("Notes", report.all_notes().into_iter(), &mut text);
    write_list("Assumptions", report.assumptions().into_iter(), &mut text);
    text.push_str("</details>\n");
    text
}

/// Writes one table, without the policies of a long ranking that changed nothing.
fn write_shortened(section: &Section, detail: Detail, text: &mut String) {
    match section.shortened().filter(|_| detail == Detail::Groups) {
        Some((short, others)) => {
            write_section(&short, text);
            let _ = writeln!(text, "{others}\n");
        }
        None => write_section(section, text),
    }
}

/// Writes one table with its heading.
fn write_section(section: &Section, text: &mut String) {
    *text += &markdown::table(&section.grid(numbers::thousands));
}

/// Returns a text whose lines stay lines in Markdown.
fn broken(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("  \n{indent}"))
}

/// Writes a list with its heading, unless it is empty.
fn write_list(heading: &str, items: impl Iterator<Item = impl AsRef<str>>, text: &mut String) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        let _ = writeln!(text, "{heading}:\n");
        write_items(items, text);
    }
}

/// Writes the items of a list, if there are any.
fn write_items(items: impl Iterator<Item = impl AsRef<str>>, text: &mut String) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        items.for_each(|it| {
            let _ = writeln!(text, "- {}", broken(it.as_ref(), "  "));
        });
        text.push('\n');
    }
}
