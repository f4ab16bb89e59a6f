//! A report as tables for a terminal or a pipe.

use std::fmt::Write as _;

use super::Report;
use super::names::short_names;
use super::sections::{Detail, Section};
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers;
use ctxsim_base::grid::prose::{wrap, wrap_all};
use ctxsim_base::grid::terminal::{DrawnTable, draw, fits, hidden_note};
use ctxsim_base::list::Listed as _;

/// How a table is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableLayout {
    /// The width of the terminal; `None` for any width.
    pub width: Option<usize>,
    /// How much is shown.
    pub detail: Detail,
}

/// Returns the report as tables: what was read, the tables, notes, where to look further, and what the tables say.
pub fn report(report: &Report, layout: TableLayout) -> String {
    let mut text = String::new();
    wrap_all(report.on_sessions(), "", layout.width, &mut text);
    if !text.is_empty() {
        text.push('\n');
    }
    let mut hidden: Vec<String> = Vec::new();
    if let Some(figures) = report.figures_grid() {
        let drawn = draw(&figures, layout.width);
        hidden.extend(drawn.hidden);
        let _ = writeln!(text, "{}\n{}\n", figures.title, drawn.text);
    }
    for section in report.sections(layout.detail) {
        let title = format!("{} · {} ({})", section.load, section.profile, section.as_of);
        wrap(&title, "", layout.width, &mut text);
        let shortened = section.shortened().filter(|_| layout.detail == Detail::Groups);
        let drawn = fitted(shortened.as_ref().map_or(&section, |it| &it.0), layout.width);
        hidden.extend(drawn.hidden);
        let _ = writeln!(text, "{}", drawn.text);
        if let Some((_, others)) = shortened {
            wrap(&others, "", layout.width, &mut text);
        }
        text.push('\n');
    }
    for grid in report.grids_of_first() {
        let drawn = draw(&grid, layout.width);
        hidden.extend(drawn.hidden);
        wrap(&grid.title, "", layout.width, &mut text);
        let _ = writeln!(text, "{}\n", drawn.text);
    }
    for line in report.filled_lines() {
        wrap(&line, "", layout.width, &mut text);
        text.push('\n');
    }
    if let Some(heading) = report.guards_heading() {
        let _ = writeln!(text, "{heading}:");
        wrap_all(report.guard_lines(layout.detail), "  ", layout.width, &mut text);
        text.push('\n');
    }
    let assumptions = report.assumptions();
    if layout.detail == Detail::Scenarios && !assumptions.is_empty() {
        text.push_str("Assumed:\n");
        wrap_all(&assumptions, "  - ", layout.width, &mut text);
        text.push('\n');
    }
    wrap_all(report.all_notes(), "Note: ", layout.width, &mut text);
    wrap_all(hidden_note(hidden), "Note: ", layout.width, &mut text);
    let more = "--details for each scenario, --columns for other numbers, --rows requests for each request, --format json for each field.";
    wrap(more, "More: ", layout.width, &mut text);
    wrap(&limits(report, layout.detail), "Simulated: ", layout.width, &mut text);
    wrap_all(report.verdict_lines(), "Verdict: ", layout.width, &mut text);
    wrap_all(report.repair_lines(), "Repair: ", layout.width, &mut text);
    wrap_all(report.next_lines(), "Next: ", layout.width, &mut text);
    text
}

/// Says what a simulation is not, and how recovery was counted.
fn limits(report: &Report, detail: Detail) -> String {
    let count = match (report.assumptions().len(), detail) {
        (0, _) => String::new(),
        (1, Detail::Groups) => " One assumption: see --details.".to_owned(),
        (n, Detail::Groups) => format!(" {n} assumptions: see --details."),
        (_, Detail::Scenarios) => " See the assumptions above.".to_owned(),
    };
    let is_drawn = report.briefs().any(|it| it.figures.is_drawn);
    let is_played = report.briefs().any(|it| it.figures.n_played > 0);
    let recovery = match (is_drawn, is_played) {
        (true, _) => "recovery was sampled",
        (_, true) => "recovery is an expected value, or the mean of sampled runs",
        _ => "recovery is an expected value",
    };
    format!("no model ran and no answer was judged; {recovery}; prices as of the dates shown.{count}")
}

/// Draws a table in full, or what fits: short numbers and names first, then fewer columns.
fn fitted(section: &Section, width: Option<usize>) -> DrawnTable {
    let names: Vec<&str> = section.lines.iter().map(|it| it.policy.as_str()).listed();
    let names = short_names(&names);
    let named = |mut grid: Grid| {
        for (row, name) in grid.rows.iter_mut().zip(&names) {
            (*name).clone_into(&mut row.cells[0]);
        }
        grid
    };
    let grid = named(section.grid(numbers::thousands));
    if fits(&grid, width) { draw(&grid, width) } else { draw(&named(section.grid(numbers::short)), width) }
}
