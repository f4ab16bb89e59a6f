//! A report as tables for a terminal, or plain for a pipe.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableStyle, Width};

use super::Report;
use super::metric::dispensable;
use super::numbers;
use super::sections::{Detail, Section, headings};

/// How a table is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// How many columns the terminal has; as wide as needed, when silent.
    pub width: Option<usize>,
    /// How much is shown.
    pub detail: Detail,
}

/// The narrowest that the column of names becomes; longer names wrap.
const NAME_WIDTH_MIN: usize = 24;
/// What a column takes beside its content: a blank on each side, and one to the next column.
const PADDING: usize = 3;
/// What the further lines of a broken name begin with.
const INDENT: &str = "  ";

/// Returns the report as tables, with notes and where to look further.
#[must_use]
pub fn report(report: &Report, layout: Layout) -> String {
    let mut text = String::new();
    let mut hidden: Vec<&str> = Vec::new();
    let headings = headings();
    for section in report.sections(layout.detail) {
        let _ = writeln!(text, "{} · {} ({})", section.load, section.profile, section.as_of);
        let grid = Grid::new(&section, layout.width);
        let is_hidden = |it: &&str| !grid.columns.iter().any(|at| headings[*at] == *it);
        hidden.extend(dispensable().into_iter().filter(is_hidden));
        let _ = writeln!(text, "{}\n", grid.draw(&section));
    }
    for grid in report.retention_grids() {
        let _ = writeln!(text, "{}\n{}\n", grid.title, drawn(&grid, layout.width));
    }
    let assumptions = report.assumptions();
    if layout.detail == Detail::Scenarios && !assumptions.is_empty() {
        text.push_str("Assumed:\n");
        for sentence in &assumptions {
            wrap(sentence, "  - ", layout.width, &mut text);
        }
        text.push('\n');
    }
    for note in report.notes.iter().cloned().chain(report.note_on_needs()) {
        wrap(&note, "Note: ", layout.width, &mut text);
    }
    let hidden = super::distinct(hidden.into_iter());
    if !hidden.is_empty() {
        let note = format!("no room for {}; a wider terminal or a pipe shows all.", hidden.join(", "));
        wrap(&note, "Note: ", layout.width, &mut text);
    }
    let more = "--details for each scenario, --rows requests for each request, --format json for each field.";
    wrap(more, "More: ", layout.width, &mut text);
    let count = match (assumptions.len(), layout.detail) {
        (0, _) => String::new(),
        (1, Detail::Groups) => " One assumption: --details tells it.".to_owned(),
        (n, Detail::Groups) => format!(" {n} assumptions: --details lists them."),
        (_, Detail::Scenarios) => " They hold under the assumptions above.".to_owned(),
    };
    let is_drawn = report.runs.iter().any(|it| it.tally.sums.needs.sent_calls > 0.0);
    let is_played = report.runs.iter().any(|it| it.tally.n_played > 0);
    let recovery = match (is_drawn, is_played) {
        (true, _) => "recovery was drawn",
        (_, true) => "recovery is an expected value, or the mean of drawn runs",
        _ => "recovery is an expected value",
    };
    let limits = format!(
        "no model ran and no answer was judged; {recovery}, prices are of the days in brackets.{count}"
    );
    wrap(&limits, "Simulated: ", layout.width, &mut text);
    text
}

/// Draws a grid; where it is wider than a terminal, headings and names take more lines, and whatever else must.
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

/// What of a section is drawn.
struct Grid {
    columns: Vec<usize>,
    cells: Vec<Vec<String>>,
    name_width: Option<usize>,
}

impl Grid {
    /// Takes all columns in full, or what fits: short numbers first, then fewer columns, then a wrapped name.
    fn new(section: &Section, width: Option<usize>) -> Self {
        let headings = headings();
        let all: Vec<usize> = (0..headings.len()).collect();
        let full = section.cells(numbers::thousands);
        let Some(width) = width.filter(|it| needed(&full, &all) > *it) else {
            return Self { columns: all, cells: full, name_width: None };
        };
        let cells = section.cells(numbers::short);
        let mut columns = all;
        for name in dispensable() {
            if rest(&cells, &columns) + name_width(&cells).min(NAME_WIDTH_MIN) <= width {
                break;
            }
            columns.retain(|it| headings[*it] != name);
        }
        let room = width.saturating_sub(rest(&cells, &columns)).max(NAME_WIDTH_MIN);
        Self { columns, cells, name_width: Some(room) }
    }

    /// Draws the table.
    fn draw(&self, section: &Section) -> String {
        let mut table = plain_table();
        let headings = headings();
        table.set_header(self.columns.iter().map(|it| header(headings[*it])));
        for (cells, line) in self.cells.iter().zip(&section.lines) {
            let mut row: Vec<String> = self.columns.iter().map(|it| cells[*it].clone()).collect();
            if let Some(name) = row.first_mut() {
                *name = self
                    .name_width
                    .map_or_else(|| name.clone(), |it| broken(name, it.saturating_sub(PADDING)));
                if let Some(stopped) = &line.stopped {
                    let _ = write!(name, "\n  {stopped}");
                }
            }
            table.add_row(row);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            if index > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            } else if let Some(width) = self.name_width {
                let width = u16::try_from(width).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(width)));
            }
        }
        table.trim_fmt()
    }
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

/// Returns what a name may be broken into: behind slashes, underscores and hyphens.
fn fragments(name: &str) -> impl Iterator<Item = &str> {
    name.split_inclusive(['/', '_', '-'])
}

/// Returns a column's heading; headings of two words take two lines.
fn header(name: &str) -> String {
    name.replacen(' ', "\n", 1)
}

/// Returns the width that these columns need.
fn needed(cells: &[Vec<String>], columns: &[usize]) -> usize {
    name_width(cells) + rest(cells, columns)
}

/// Returns the width that the names need.
fn name_width(cells: &[Vec<String>]) -> usize {
    column_width(cells, 0)
}

/// Returns the width that all columns but the names need.
fn rest(cells: &[Vec<String>], columns: &[usize]) -> usize {
    columns.iter().filter(|it| **it > 0).map(|it| column_width(cells, *it)).sum()
}

/// Returns the width of a column.
fn column_width(cells: &[Vec<String>], column: usize) -> usize {
    width_of(headings()[column], cells.iter().map(|it| it[column].as_str()))
}

/// Returns the width that cells need below a heading of which each word may take a line.
fn width_of<'a>(heading: &'a str, cells: impl Iterator<Item = &'a str>) -> usize {
    heading.split(' ').chain(cells).map(|it| it.chars().count()).max().unwrap_or(0) + PADDING
}

/// Writes a paragraph behind a mark, its further lines indented as far.
pub(super) fn wrap(paragraph: &str, mark: &str, width: Option<usize>, text: &mut String) {
    let width = width.unwrap_or(usize::MAX);
    let indent = " ".repeat(mark.chars().count());
    let mut column = indent.len();
    text.push_str(mark);
    for (index, word) in paragraph.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && column.saturating_add(length + 1) > width {
            text.push('\n');
            text.push_str(&indent);
            column = indent.len();
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}
