//! A report as Markdown tables, for a code review.

use super::Report;
use super::sections::{Detail, Section};
use crate::prelude::*;

/// Returns the report as Markdown.
pub fn report(report: &Report, detail: Detail) -> Markdown {
    let mut text = Markdown::default();
    report.on_sessions().iter().for_each(|it| text.paragraph(it));
    report.figures_grid().iter().for_each(|it| text.table(it));
    for section in report.sections(detail) {
        write_shortened(&section, detail, &mut text);
    }
    report.grids_of_first().iter().for_each(|it| text.table(it));
    report.filled_lines().iter().for_each(|it| text.paragraph(it));
    if let Some(heading) = report.guards_heading() {
        text.list(&heading, report.guard_lines(detail));
    }
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    text.list("Notes", report.all_notes().into_iter().chain(references));
    text.list("Assumptions", report.assumptions());
    text.list("Verdict", report.verdict_lines());
    text.list("Next", report.next_lines(true));
    text
}

/// Returns the report as a job summary: verdict and tables visible; scenarios, notes and assumptions folded.
pub fn summary(report: &Report) -> Markdown {
    let mut text = Markdown::default();
    report.on_sessions().into_iter().chain(report.verdict_lines()).for_each(|it| text.paragraph(&it));
    report.figures_grid().iter().for_each(|it| text.table(it));
    let sections = report.sections(Detail::Groups);
    sections.iter().for_each(|it| write_shortened(it, Detail::Groups, &mut text));
    report.grids_of_first().iter().for_each(|it| text.table(it));
    if let Some(heading) = report.guards_heading() {
        text.strong(&heading);
        text.items(report.guard_verdicts.iter().filter(|it| !it.holds).map(|failed| format!("❌ {failed}")));
    }
    text.folded("Scenarios, notes and assumptions", |text| {
        let single = report.sections(Detail::Scenarios);
        single.iter().filter(|it| !sections.contains(it)).for_each(|it| write_section(it, text));
        let held = report.guard_verdicts.iter().filter(|it| it.holds).map(ToString::to_string);
        text.list("Guards that hold", held);
        text.list("Notes", report.all_notes());
        text.list("Assumptions", report.assumptions());
    });
    text
}

/// Writes one table, without the policies of a long ranking that changed nothing.
fn write_shortened(section: &Section, detail: Detail, text: &mut Markdown) {
    match section.shortened().filter(|_| detail == Detail::Groups) {
        Some((short, others)) => {
            write_section(&short, text);
            text.paragraph(&others);
        }
        None => write_section(section, text),
    }
}

/// Writes one table with its heading.
fn write_section(section: &Section, text: &mut Markdown) {
    text.table(&section.grid(thousands));
}
