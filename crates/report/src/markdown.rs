//! A report as Markdown tables, for a code review.

use super::sections::{Detail, Section};
use crate::prelude::*;

/// Returns the report as Markdown.
pub fn report_markdown(report: &Report, detail: Detail) -> Markdown {
    let mut text = Markdown::default();
    report.sessions_description().iter().for_each(|it| text.paragraph(it));
    write_tables(report, &report.sections(detail), detail, &mut text);
    report.filled_lines().iter().for_each(|it| text.paragraph(it));
    if let Some(heading) = report.guards_heading() {
        text.list(&heading, report.guard_lines(detail));
    }
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    text.list("Notes", report.all_notes().into_iter().chain(references));
    text.list("Assumptions", report.assumption_sentences());
    text.list("Verdict", report.verdict_lines());
    text.list("Next", report.next_command_lines(true));
    text
}

/// Returns the report as a job summary: verdict and tables visible; scenarios, notes and assumptions folded.
pub fn job_summary_markdown(report: &Report) -> Markdown {
    let mut text = Markdown::default();
    report
        .sessions_description()
        .into_iter()
        .chain(report.verdict_lines())
        .for_each(|it| text.paragraph(&it));
    let sections = report.sections(Detail::Groups);
    write_tables(report, &sections, Detail::Groups, &mut text);
    if let Some(heading) = report.guards_heading() {
        text.strong(&heading);
        text.items(report.guard_verdicts.iter().filter(|it| !it.holds).map(|failed| format!("❌ {failed}")));
    }
    text.folded("Scenarios, notes and assumptions", |text| {
        let single = report.sections(Detail::Scenarios);
        single.iter().filter(|it| !sections.contains(it)).for_each(|it| text.table(&it.to_grid(thousands)));
        let held = report.guard_verdicts.iter().filter(|it| it.holds).map(ToString::to_string);
        text.list("Guards that hold", held);
        text.list("Notes", report.all_notes());
        text.list("Assumptions", report.assumption_sentences());
    });
    text
}

/// Writes all tables: published figures, the tables of bills, and what worlds found. Those of groups leave out the policies of a long ranking
/// that changed nothing.
fn write_tables(report: &Report, sections: &[Section], detail: Detail, text: &mut Markdown) {
    report.figures_grid().iter().for_each(|grid| text.table(grid));
    for section in sections {
        match section.shortened_ranking().filter(|_| detail == Detail::Groups) {
            Some((short, others)) => {
                text.table(&short.to_grid(thousands));
                text.paragraph(&others);
            }
            None => text.table(&section.to_grid(thousands)),
        }
    }
    report.findings_grids().iter().chain(&report.first_report_fill_grids()).for_each(|grid| text.table(grid));
}
