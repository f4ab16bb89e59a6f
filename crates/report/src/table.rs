//! A report as tables for a terminal or a pipe.

use super::chart::requests::RunRequests;
use super::names::short_names;
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
pub fn report(report: &Report, layout: TableLayout<'_>) -> String {
    let drawn = |on, n_notes| {
        let layout = TableLayout { on, ..layout };
        TableText { report, layout, text: String::new(), hidden: Vec::new() }.written(n_notes)
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
    fn written(mut self, n_notes: usize) -> String {
        let (report, on) = (self.report, self.layout.on);
        for [answer, more] in report.verdict_parts() {
            on.answer(&answer, &more, &mut self.text);
        }
        self.paragraphs(Tint::Plain, "Repair: ", report.repair_lines());
        self.gap();
        let sessions = if self.is_brief() { report.sessions_in_short() } else { report.on_sessions() };
        self.paragraphs(Tint::Plain, "", sessions);
        self.gap();
        self.tables();
        self.grids(&report.grids());
        if self.is_whole() {
            self.grids(&report.filled_of_first());
            for line in report.filled_lines() {
                self.paragraphs(Tint::Plain, "", [line]);
                self.gap();
            }
        }
        // The prompts of a single run: as it was, and under what is advised.
        let advised = report.verdicts().into_iter().find_map(|it| it.cheapest).map(|it| it.policy);
        self.text += &spark::prompts(self.layout.traces, advised.as_deref(), on);
        self.gap();
        self.guards();
        if !on.is_quiet {
            self.notes(n_notes);
            self.paragraphs(Tint::Plain, "Next: ", report.next_lines(self.is_whole()));
        }
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
        self.text
    }

    /// Returns whether everything is shown.
    fn is_whole(&self) -> bool {
        self.layout.detail == Detail::Scenarios
    }

    /// Returns whether only the answer on recorded sessions is shown.
    fn is_brief(&self) -> bool {
        !self.is_whole() && !self.report.sessions.is_empty()
    }

    fn paragraphs(&mut self, tint: Tint, mark: &str, all: impl IntoIterator<Item = impl AsRef<str>>) {
        self.layout.on.paragraphs(tint, mark, all, &mut self.text);
    }

    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn tables(&mut self) {
        let Self { report, layout, .. } = *self;
        if let Some(figures) = report.figures_grid() {
            self.table(&figures.title, draw(&figures, layout.on));
        }
        let mut sections = report.sections(layout.detail);
        if self.is_brief() && sections.iter().any(|it| !it.is_part) {
            sections.retain(|it| !it.is_part);
        }
        for section in sections {
            let title = format!("{} · {} ({})", section.load, section.profile, section.as_of);
            let shortened = section.shortened().filter(|_| !self.is_whole());
            self.table(&title, fitted(shortened.as_ref().map_or(&section, |it| &it.0), layout.on));
            if let Some((_, others)) = shortened {
                self.paragraphs(Tint::Faint, "", [others]);
            }
            self.gap();
        }
    }

    fn grids(&mut self, all: &[Grid]) {
        for grid in all {
            self.table(&grid.title, draw(grid, self.layout.on));
            self.gap();
        }
    }

    fn table(&mut self, title: &str, drawn: DrawnTable) {
        self.hidden.extend(drawn.hidden);
        self.paragraphs(Tint::Strong, "", [title]);
        self.text += &drawn.text;
        self.text += "\n";
    }

    fn guards(&mut self) {
        let Some(heading) = self.report.guards_heading() else { return };
        self.paragraphs(Tint::Strong, "", [format!("{heading}:")]);
        let n_failed = self.report.guard_verdicts.iter().filter(|it| !it.holds).count();
        let lines = self.report.guard_lines(self.layout.detail);
        let (failed, held) = lines.split_at(n_failed);
        self.paragraphs(Tint::Bad, "  ", failed);
        self.paragraphs(Tint::Plain, "  ", held);
        self.gap();
    }

    /// Writes notes: all of them and what is assumed, or the first few and how many there are.
    fn notes(&mut self, most: usize) {
        let all = self.report.all_notes();
        let assumptions = self.report.assumptions();
        if self.is_whole() && !assumptions.is_empty() {
            self.paragraphs(Tint::Strong, "", ["Assumed:"]);
            self.paragraphs(Tint::Faint, "  - ", &assumptions);
            self.gap();
        }
        let shown = if self.is_whole() { all.len() } else { most };
        self.paragraphs(Tint::Faint, "Note: ", all.iter().take(shown));
        if self.is_whole() {
            let hidden = hidden_note(std::mem::take(&mut self.hidden));
            self.paragraphs(Tint::Faint, "Note: ", hidden);
        }
        self.paragraphs(Tint::Faint, "Simulated: ", [limits(self.report, self.is_whole())]);
        let more = self.more(all.len().saturating_sub(shown), assumptions.len());
        self.paragraphs(Tint::Faint, "More: ", [more]);
    }

    /// Says where what is left out is shown.
    fn more(&self, n_notes: usize, n_assumptions: usize) -> String {
        let rows = "--rows requests for each request, --format json for each field.";
        if self.is_whole() {
            return format!("--columns for other numbers, {rows}");
        }
        let notes = (n_notes > 0).then(|| counted(n_notes, "more note"));
        let assumptions = (n_assumptions > 0).then(|| counted(n_assumptions, "assumption"));
        let parts = if self.is_brief() { "each model and session" } else { "each scenario" };
        let all = [notes, assumptions, Some(parts.to_owned())].into_iter().flatten().listed();
        let columns = match super::distinct(self.hidden.iter()).len() {
            0 => "--columns for other numbers".to_owned(),
            n => format!("--columns or --width for {} that did not fit", counted(n, "column")),
        };
        format!("--details for {}; {columns}.", listed(&all))
    }
}

/// Says what a simulation is not, and how recovery was counted.
fn limits(report: &Report, is_whole: bool) -> String {
    let is_drawn = report.briefs().any(|it| it.figures.is_drawn);
    let is_played = report.briefs().any(|it| it.figures.n_played > 0);
    let recovery = match (is_drawn, is_played) {
        _ if !is_whole => "",
        (true, _) => " recovery was sampled;",
        (_, true) => " recovery is an expected value, or the mean of sampled runs;",
        _ => " recovery is an expected value;",
    };
    let needs = report.briefs().any(|it| it.figures.has_needs);
    let evidence = if needs { " evidence is text that a later step uses again;" } else { "" };
    format!("no model ran, no answer was judged;{recovery}{evidence} prices as of the dates shown.")
}

/// Draws a table in full, or what fits: short numbers and names first, then fewer columns.
fn fitted(section: &Section, on: Terminal) -> DrawnTable {
    let names: Vec<&str> = section.lines.iter().map(|it| it.policy.as_str()).listed();
    let names = short_names(&names);
    let named = |mut grid: Grid| {
        for (row, name) in grid.rows.iter_mut().zip(&names) {
            (*name).clone_into(&mut row.cells[0]);
        }
        grid
    };
    let grid = named(section.grid(thousands));
    if fits(&grid, on.width) { draw(&grid, on) } else { draw(&named(section.grid(numbers::short)), on) }
}
