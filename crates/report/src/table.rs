//! A report as tables for a terminal or a pipe.

use super::chart::requests::RunRequests;
use super::names::names_without_folders;
use super::sections::{Detail, Section};
use super::spark;
use crate::prelude::*;
use ctxsim_base::grid::terminal::{DrawnTable, draw, fits, hidden_note};

/// The most notes, unless details are asked for.
const NOTES: usize = 3;

/// How a table is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableLayout<'t> {
    pub on: Terminal,
    /// How much is shown.
    pub detail: Detail,
    /// The requests of its runs, where they were kept.
    pub traces: &'t [RunRequests],
}

/// Returns the report as tables: what they say first, then what was read, the tables, notes, and where to look further.
pub fn report_text(report: &Report, layout: TableLayout<'_>) -> String {
    let drawn = |on, n_notes| {
        let layout = TableLayout { on, ..layout };
        TableText { report, layout, text: String::new(), hidden: Vec::new() }.into_text(n_notes)
    };
    let has_one_table = report.verdicts().len() <= 1;
    let is_brief = layout.detail == Detail::Groups && !report.sessions.is_empty();
    if is_brief && has_one_table { layout.on.fitted(0..=NOTES, drawn) } else { drawn(layout.on, NOTES) }
}

/// A report as it is written.
struct TableText<'r> {
    report: &'r Report,
    layout: TableLayout<'r>,
    text: String,
    /// The headings of columns that had no room.
    hidden: Vec<String>,
}

impl TableText<'_> {
    fn into_text(mut self, n_notes: usize) -> String {
        let (report, on) = (self.report, self.layout.on);
        for [answer, more] in report.verdict_answers_and_details() {
            on.answer(&answer, &more, &mut self.text);
        }
        self.write_paragraphs(Tint::Plain, "Repair: ", report.repair_lines());
        self.write_gap();
        let sessions =
            if self.shows_answer_only() { report.sessions_summary() } else { report.sessions_description() };
        self.write_paragraphs(Tint::Plain, "", sessions);
        self.write_gap();
        self.write_tables();
        self.write_grids(&report.findings_grids());
        if self.shows_everything() {
            self.write_grids(&report.first_report_fill_grids());
            for line in report.filled_lines() {
                self.write_paragraphs(Tint::Plain, "", [line]);
                self.write_gap();
            }
        }
        // The prompts of a single run: as it was, and under what is advised.
        let advised = report.verdicts().into_iter().find_map(|it| it.cheapest).map(|it| it.policy);
        self.text += &spark::draw_prompt_sizes(self.layout.traces, advised.as_deref(), on);
        self.write_gap();
        self.write_guards();
        if !on.is_quiet {
            self.write_notes(n_notes);
            self.write_paragraphs(Tint::Plain, "Next: ", report.next_command_lines(self.shows_everything()));
        }
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
        self.text
    }

    /// Returns whether everything is shown.
    fn shows_everything(&self) -> bool {
        self.layout.detail == Detail::Scenarios
    }

    /// Returns whether only the answer on recorded sessions is shown.
    fn shows_answer_only(&self) -> bool {
        !self.shows_everything() && !self.report.sessions.is_empty()
    }

    fn write_paragraphs(&mut self, tint: Tint, mark: &str, all: impl IntoIterator<Item = impl AsRef<str>>) {
        self.layout.on.paragraphs(tint, mark, all, &mut self.text);
    }

    fn write_gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn write_tables(&mut self) {
        let Self { report, layout, .. } = *self;
        if let Some(figures) = report.figures_grid() {
            self.write_table(&figures.title, draw(&figures, layout.on));
        }
        let mut sections = report.sections(layout.detail);
        if self.shows_answer_only() && sections.iter().any(|it| !it.is_part) {
            sections.retain(|it| !it.is_part);
        }
        for section in sections {
            let title = format!("{} · {} ({})", section.load, section.profile, section.as_of);
            let shortened = section.shortened_ranking().filter(|_| !self.shows_everything());
            self.write_table(
                &title,
                draw_section_to_fit(shortened.as_ref().map_or(&section, |it| &it.0), layout.on),
            );
            if let Some((_, others)) = shortened {
                self.write_paragraphs(Tint::Faint, "", [others]);
            }
            self.write_gap();
        }
    }

    fn write_grids(&mut self, all: &[Grid]) {
        for grid in all {
            self.write_table(&grid.title, draw(grid, self.layout.on));
            self.write_gap();
        }
    }

    fn write_table(&mut self, title: &str, drawn: DrawnTable) {
        self.hidden.extend(drawn.hidden);
        self.write_paragraphs(Tint::Strong, "", [title]);
        self.text += &drawn.text;
        self.text += "\n";
    }

    fn write_guards(&mut self) {
        let Some(heading) = self.report.guards_heading() else { return };
        self.write_paragraphs(Tint::Strong, "", [format!("{heading}:")]);
        let n_failed = self.report.guard_verdicts.iter().filter(|it| !it.holds).count();
        let lines = self.report.guard_lines(self.layout.detail);
        let (failed, held) = lines.split_at(n_failed);
        self.write_paragraphs(Tint::Bad, "  ", failed);
        self.write_paragraphs(Tint::Plain, "  ", held);
        self.write_gap();
    }

    /// Writes notes: all of them and what is assumed, or the first few and how many there are.
    fn write_notes(&mut self, most: usize) {
        let all = self.report.all_notes();
        let assumptions = self.report.assumption_sentences();
        if self.shows_everything() && !assumptions.is_empty() {
            self.write_paragraphs(Tint::Strong, "", ["Assumed:"]);
            self.write_paragraphs(Tint::Faint, "  - ", &assumptions);
            self.write_gap();
        }
        let shown = if self.shows_everything() { all.len() } else { most };
        self.write_paragraphs(Tint::Faint, "Note: ", all.iter().take(shown));
        if self.shows_everything() {
            let hidden = hidden_note(std::mem::take(&mut self.hidden));
            self.write_paragraphs(Tint::Faint, "Note: ", hidden);
        }
        self.write_paragraphs(
            Tint::Faint,
            "Simulated: ",
            [simulation_limits_sentence(self.report, self.shows_everything())],
        );
        let more = self.more_sentence(all.len().saturating_sub(shown), assumptions.len());
        self.write_paragraphs(Tint::Faint, "More: ", [more]);
    }

    /// Says where what is left out is shown.
    fn more_sentence(&self, n_notes: usize, n_assumptions: usize) -> String {
        let rows = "--rows requests for each request, --format json for each field.";
        if self.shows_everything() {
            return format!("--columns for other numbers, {rows}");
        }
        let notes = (n_notes > 0).then(|| counted(n_notes, "more note"));
        let assumptions = (n_assumptions > 0).then(|| counted(n_assumptions, "assumption"));
        let parts = if self.shows_answer_only() { "each model and session" } else { "each scenario" };
        let all = [notes, assumptions, Some(parts.to_owned())].into_iter().flatten().listed();
        let columns = match super::distinct(self.hidden.iter()).len() {
            0 => "--columns for other numbers".to_owned(),
            n => format!("--columns or --width for {} that did not fit", counted(n, "column")),
        };
        format!("--details for {}; {columns}.", listed(&all))
    }
}

/// Says what a simulation is not, and how recovery was counted.
fn simulation_limits_sentence(report: &Report, is_whole: bool) -> String {
    let is_drawn = report.run_briefs().any(|it| it.figures.is_drawn);
    let is_played = report.run_briefs().any(|it| it.figures.n_played > 0);
    let recovery = match (is_drawn, is_played) {
        _ if !is_whole => "",
        (true, _) => " recovery was sampled;",
        (_, true) => " recovery is an expected value, or the mean of sampled runs;",
        _ => " recovery is an expected value;",
    };
    let needs = report.run_briefs().any(|it| it.figures.has_needs);
    let evidence = if needs { " evidence is text that a later step uses again;" } else { "" };
    format!("no model ran, no answer was judged;{recovery}{evidence} prices as of the dates shown.")
}

/// Draws a table in full, or what fits: short numbers and names first, then fewer columns.
fn draw_section_to_fit(section: &Section, terminal: Terminal) -> DrawnTable {
    let names: Vec<&str> = section.lines.iter().map(|it| it.policy.as_str()).listed();
    let names = names_without_folders(&names);
    let named = |mut grid: Grid| {
        for (row, name) in grid.rows.iter_mut().zip(&names) {
            (*name).clone_into(&mut row.cells[0]);
        }
        grid
    };
    let grid = named(section.to_grid(thousands));
    if fits(&grid, terminal.width) {
        draw(&grid, terminal)
    } else {
        draw(&named(section.to_grid(numbers::short)), terminal)
    }
}
