//! A report as tables for a terminal or a pipe.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableStyle, Width};

use super::fit::{Fitted, draw, fits, hidden_note, short_names};
use super::prose::wrap;
use super::sections::{Detail, Line, Section, columns_of};
use super::{Report, numbers};

/// How a table is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// The width of the terminal; `None` for any width.
    pub width: Option<usize>,
    /// How much is shown.
    pub detail: Detail,
}

/// What a column of a grid takes beside its content: a blank on each side, and one to the next column.
const PADDING: usize = 3;
/// What the further lines of a broken name begin with.
const INDENT: &str = "  ";

/// Returns the report as tables: what was read, the tables, notes, where to look further, and what the tables say.
#[must_use]
pub fn report(report: &Report, layout: Layout) -> String {
    let mut text = String::new();
    for line in report.on_sessions() {
        wrap(&line, "", layout.width, &mut text);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let mut hidden: Vec<String> = Vec::new();
    for section in report.sections(layout.detail) {
        let title = format!("{} · {} ({})", section.load, section.profile, section.as_of);
        wrap(&title, "", layout.width, &mut text);
        let drawn = fitted(&section, layout.width);
        hidden.extend(drawn.hidden);
        let _ = writeln!(text, "{}\n", drawn.text);
    }
    for grid in report.grids() {
        let _ = writeln!(text, "{}\n{}\n", grid.title, drawn(&grid, layout.width));
    }
    if let Some(heading) = report.guards_heading() {
        let _ = writeln!(text, "{heading}:");
        for line in report.guard_lines(layout.detail) {
            wrap(&line, "  ", layout.width, &mut text);
        }
        text.push('\n');
    }
    let assumptions = report.assumptions();
    if layout.detail == Detail::Scenarios && !assumptions.is_empty() {
        text.push_str("Assumed:\n");
        for sentence in &assumptions {
            wrap(sentence, "  - ", layout.width, &mut text);
        }
        text.push('\n');
    }
    for note in report.all_notes() {
        wrap(&note, "Note: ", layout.width, &mut text);
    }
    if let Some(note) = hidden_note(hidden) {
        wrap(&note, "Note: ", layout.width, &mut text);
    }
    let more = "--details for each scenario, --rows requests for each request, --format json for each field.";
    wrap(more, "More: ", layout.width, &mut text);
    wrap(&limits(report, layout.detail), "Simulated: ", layout.width, &mut text);
    for line in report.verdict_lines() {
        wrap(&line, "Verdict: ", layout.width, &mut text);
    }
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
    let is_drawn = report.runs.iter().any(|it| it.tally.sums.needs.sent_calls > 0.0);
    let is_played = report.runs.iter().any(|it| it.tally.n_played > 0);
    let recovery = match (is_drawn, is_played) {
        (true, _) => "recovery was sampled",
        (_, true) => "recovery is an expected value, or the mean of sampled runs",
        _ => "recovery is an expected value",
    };
    format!("no model ran and no answer was judged; {recovery}; prices as of the dates shown.{count}")
}

/// Draws a table in full, or what fits: short numbers and names first, then fewer columns.
fn fitted(section: &Section, width: Option<usize>) -> Fitted {
    let columns = columns_of(section.has_spread());
    let names: Vec<&str> = section.lines.iter().map(|it| it.policy.as_str()).collect();
    let named = |mut rows: Vec<Vec<String>>| {
        for (row, name) in rows.iter_mut().zip(short_names(&names)) {
            name.clone_into(&mut row[0]);
        }
        rows
    };
    let mut rows = named(section.cells(numbers::thousands));
    if !fits(&columns, &rows, width) {
        rows = named(section.cells(numbers::short));
    }
    let notes: Vec<Option<String>> = section.lines.iter().map(Line::note).collect();
    draw(&columns, &rows, &notes, width)
}

/// Draws a grid; if it is wider than a terminal, headings and names take more lines, and whatever else must.
pub(super) fn drawn(grid: &super::retention::Grid, width: Option<usize>) -> String {
    let text = laid_out(grid, grid.columns.clone(), str::to_owned).trim_fmt();
    let is_wide = |width: &usize| text.lines().any(|it| it.chars().count() > *width);
    let Some(width) = width.filter(is_wide) else { return text };
    let column = |at: usize| width_of(&grid.columns[at], grid.rows.iter().map(|it| it[at].as_str()));
    let rest: usize = (1..grid.columns.len()).map(column).sum();
    let fragment = |row: &Vec<String>| fragments(&row[0]).map(|it| it.chars().count() + INDENT.len()).max();
    let room = width.saturating_sub(rest + PADDING);
    let names_fit = grid.rows.iter().filter_map(fragment).all(|it| it <= room);
    let headings = grid.columns.iter().map(|it| header(it)).collect();
    let mut table = laid_out(grid, headings, |name| broken(name, room));
    if let Some(names) = table.column_mut(0).filter(|_| names_fit) {
        let room = u16::try_from(room + PADDING).unwrap_or(u16::MAX);
        names.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(room)));
    }
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table.trim_fmt()
}

/// Returns a grid as a table, with its headings and its names written so.
fn laid_out(grid: &super::retention::Grid, headings: Vec<String>, name: impl Fn(&str) -> String) -> Table {
    let mut table = plain_table();
    table.set_header(headings);
    for row in &grid.rows {
        let mut row = row.clone();
        if let Some(first) = row.first_mut() {
            *first = name(first);
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(grid.n_names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Returns a table without frames, as wide as it must be.
fn plain_table() -> Table {
    let mut table = Table::new();
    let style = TableStyle::new().header_separator(comfy_table::LineStyle::none().fill('─').junction('─'));
    table.load_style(style);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// Breaks a name between its fragments where it is wider than that.
fn broken(name: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for part in fragments(name) {
        let last = lines.len() - 1;
        let is_full = lines[last].chars().count() + part.chars().count() > width;
        if is_full && !lines[last].is_empty() {
            lines.push(format!("{INDENT}{part}"));
        } else {
            lines[last].push_str(part);
        }
    }
    lines.join("\n")
}

/// Returns what a name may be broken into: after slashes, underscores and hyphens.
fn fragments(name: &str) -> impl Iterator<Item = &str> {
    name.split_inclusive(['/', '_', '-'])
}

/// Returns a column's heading; headings of two words take two lines.
fn header(name: &str) -> String {
    name.replacen(' ', "\n", 1)
}

/// Returns the width that cells need below a heading of which each word may take a line.
fn width_of<'a>(heading: &'a str, cells: impl Iterator<Item = &'a str>) -> usize {
    heading.split(' ').chain(cells).map(|it| it.chars().count()).max().unwrap_or(0) + PADDING
}
