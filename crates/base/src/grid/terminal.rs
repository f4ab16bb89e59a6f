//! Tables within a width: columns are hidden by priority, names and words take more lines, and names stand above their numbers; none is cut.

mod lines;

use std::borrow::Cow;

use indexmap::IndexSet;

use super::tint::{Terminal, Tint};
use super::{CellKind, Column, Grid, Hue, Row, width_of};
use crate::foreign::in_one_line;
use crate::quantity::or_unlimited;
use lines::Room;

/// The space between two columns.
const GAP: usize = 2;
/// The space in front of numbers whose names stand above them.
const INDENT: usize = 2;

/// A drawn table, and the headings of the columns that were hidden.
#[derive(Debug)]
pub struct DrawnTable {
    /// Its lines, without a break at the end.
    pub text: String,
    /// The headings.
    pub hidden: Vec<String>,
}

/// Draws a table within a width, without its title; notes are below their rows.
pub fn draw(grid: &Grid, on: impl Into<Terminal>) -> DrawnTable {
    let on = on.into();
    let mut grid = Cow::Borrowed(grid);
    if grid.rows.iter().flat_map(|it| &it.cells).any(|it| it.contains(char::is_control)) {
        grid.to_mut()
            .rows
            .iter_mut()
            .flat_map(|it| &mut it.cells)
            .for_each(|it| *it = in_one_line(it).into_owned());
    }
    let grid = &*grid;
    let mut rooms = rooms(grid);
    let room = or_unlimited(on.width);
    let KeptColumns { mut columns, hidden, is_raised } = KeptColumns::new(&grid.columns, &rooms, room);
    let raised = if is_raised { Some(columns.remove(0)) } else { None };
    let indent = if is_raised { INDENT } else { 0 };
    squeeze(&mut rooms, &columns, room.saturating_sub(indent));
    let kept: Vec<&Column> = columns.iter().map(|it| &grid.columns[*it]).collect();
    let cell = |row: &Row, at: usize| row.cells.get(at).cloned().unwrap_or_default();
    let lines = |row: &Row| -> Vec<Vec<String>> {
        let wrapped = |at: &usize| lines::wrapped(&cell(row, *at), grid.columns[*at].kind, rooms[*at].width);
        columns.iter().map(wrapped).collect()
    };
    let rows: Vec<Vec<Vec<String>>> = grid.rows.iter().map(lines).collect();
    let headings = columns.iter().map(|it| lines::heading(&grid.columns[*it].heading, rooms[*it].width));
    let headings: Vec<Vec<String>> = headings.collect();
    // A name that takes several lines may need less than it was given.
    let widest =
        |at: usize| rows.iter().chain([&headings]).flat_map(|row| &row[at]).map(|it| width_of(it)).max();
    let widths: Vec<usize> = (0..columns.len()).map(|at| widest(at).unwrap_or(0)).collect();
    let mut text = String::new();
    let above = |text: &mut String, words: &str, kind: CellKind| {
        lines::wrapped(words, kind, room).iter().filter(|it| !it.is_empty()).for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
    };
    if grid.columns.iter().any(|it| !it.heading.is_empty()) {
        raised.iter().for_each(|it| above(&mut text, &grid.columns[*it].heading, CellKind::Text));
        let mut above = String::new();
        push(&mut above, &headings, &kept, &widths, (true, indent));
        above += &"─".repeat(indent + taken(widths.iter().copied()));
        for line in above.lines() {
            text.push_str(&on.paint(Tint::Faint, line));
            text.push('\n');
        }
    }
    for (lines, row) in rows.into_iter().zip(&grid.rows) {
        let lines = painted(lines, &kept, row, &columns, on);
        raised.iter().for_each(|it| above(&mut text, &cell(row, *it), grid.columns[*it].kind));
        push(&mut text, &lines, &kept, &widths, (false, indent));
        if let Some(note) = &row.note {
            on.paragraph(Tint::Faint, "  ", note, &mut text);
        }
    }
    if let Some(more) = &grid.more {
        on.paragraph(Tint::Faint, "", more, &mut text);
    }
    let hidden = hidden.into_iter().map(|it| grid.columns[it].heading.clone()).collect();
    DrawnTable { text: text.trim_end_matches('\n').to_owned(), hidden }
}

/// Returns the lines of a row's cells in their tints: those of its whole cells.
fn painted(
    lines: Vec<Vec<String>>,
    kept: &[&Column],
    row: &Row,
    columns: &[usize],
    on: Terminal,
) -> Vec<Vec<String>> {
    let own = |column: &Column, at: usize| column.hue.tint(row.cells.get(at).map_or("", String::as_str));
    let leads = |hue: Hue| matches!(hue, Hue::Words | Hue::Interval);
    let words = kept.iter().zip(columns).find(|it| leads(it.0.hue)).map(|it| own(it.0, *it.1));
    let hues = kept.iter().zip(columns).map(|(column, at)| match column.hue {
        Hue::AsWords => words.filter(|it| [Tint::Good, Tint::Bad].contains(it)).unwrap_or_default(),
        _ => own(column, *at),
    });
    let paint = |(lines, tint): (Vec<String>, Tint)| match tint {
        Tint::Plain => lines,
        tint => lines.iter().map(|it| on.paint(tint, it)).collect(),
    };
    lines.into_iter().zip(hues).map(paint).collect()
}

/// Draws a table within a width, and names the columns that were hidden below it.
pub fn draw_with_note(grid: &Grid, on: impl Into<Terminal>) -> String {
    let on = on.into();
    let DrawnTable { mut text, hidden } = draw(grid, on);
    if let Some(note) = hidden_note(hidden) {
        text.push('\n');
        on.paragraph(Tint::Faint, "Note: ", &note, &mut text);
    }
    text.trim_end_matches('\n').to_owned()
}

/// Draws a table in full, with a break at the end.
pub fn draw_whole(grid: &Grid) -> String {
    draw(grid, Terminal::default()).text + "\n"
}

/// Which columns a table shows.
struct KeptColumns {
    /// Those that have room, from left to right.
    columns: Vec<usize>,
    hidden: Vec<usize>,
    /// Whether the first stands above the others, on lines of its own.
    is_raised: bool,
}

impl KeptColumns {
    /// Hides columns by their order; if that is not enough, names stand above their numbers, and at last columns leave from the right.
    fn new(all: &[Column], rooms: &[Room], room: usize) -> Self {
        let mut columns: Vec<usize> = (0..all.len()).collect();
        let mut leaving: Vec<usize> =
            columns.iter().copied().filter(|it| all[*it].leaves.is_some()).collect();
        leaving.sort_by_key(|it| all[*it].leaves);
        let mut hidden = Vec::new();
        for column in leaving {
            if taken(columns.iter().map(|it| rooms[*it].roomy)) <= room {
                break;
            }
            columns.retain(|it| *it != column);
            hidden.push(column);
        }
        let least = |columns: &[usize]| taken(columns.iter().map(|it| rooms[*it].least));
        let is_named =
            columns.first().is_some_and(|it| matches!(all[*it].kind, CellKind::Name | CellKind::Text));
        let is_raised = is_named && columns.len() > 1 && least(&columns) > room;
        let first = usize::from(is_raised);
        while columns.len() > first + 1 && least(&columns[first..]) + first * INDENT > room {
            hidden.extend(columns.pop());
        }
        Self { columns, hidden, is_raised }
    }
}

/// Narrows columns until they fit, the widest first: long names take two lines, then headings more, then names, then words.
fn squeeze(rooms: &mut [Room], kept: &[usize], room: usize) {
    let floors: [fn(&Room) -> usize; 4] = [
        |it| if it.is_number { it.width } else { it.roomy },
        |it| if it.is_number { it.cells } else { it.roomy },
        |it| if it.is_number { it.cells } else { it.least },
        |it| it.least,
    ];
    for floor in floors {
        while taken(kept.iter().map(|it| rooms[*it].width)) > room {
            let can = kept.iter().filter(|it| rooms[**it].width > floor(&rooms[**it]).max(rooms[**it].least));
            let Some(widest) = can.max_by_key(|it| rooms[**it].width) else { break };
            rooms[*widest].width -= 1;
        }
    }
}

/// Returns the width that columns take with the gaps between them.
fn taken(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|it| it + GAP).sum::<usize>().saturating_sub(GAP)
}

fn rooms(grid: &Grid) -> Vec<Room> {
    let cells = |at| grid.rows.iter().filter_map(move |it| it.cells.get(at)).map(String::as_str);
    grid.columns.iter().enumerate().map(|(at, it)| Room::new(it, cells(at))).collect()
}

/// Names the hidden columns, each once; `None` if there are none.
pub fn hidden_note(hidden: impl IntoIterator<Item = String>) -> Option<String> {
    let hidden: Vec<String> = hidden.into_iter().collect::<IndexSet<_>>().into_iter().collect();
    let names = hidden.join(", ");
    let note = || format!("columns hidden to fit: {names}; a larger `--width` or `--format json` shows all.");
    (!names.is_empty()).then(note)
}

/// Returns whether a complete table fits a width.
pub fn fits(grid: &Grid, width: Option<usize>) -> bool {
    width.is_none_or(|it| taken(rooms(grid).iter().map(|it| it.width)) <= it)
}

/// Writes cells side by side behind an indent, each with its lines; headings stand at the bottom of theirs.
fn push(
    text: &mut String,
    cells: &[Vec<String>],
    columns: &[&Column],
    widths: &[usize],
    (is_low, indent): (bool, usize),
) {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for nth in 0..height {
        let mut line = " ".repeat(indent);
        for (at, cell) in cells.iter().enumerate() {
            let above = if is_low { height - cell.len() } else { 0 };
            let words = nth.checked_sub(above).and_then(|it| cell.get(it)).map_or("", String::as_str);
            let pad = " ".repeat(widths[at].saturating_sub(width_of(words)));
            let gap = " ".repeat(if at == 0 { 0 } else { GAP });
            let is_number = columns[at].kind == CellKind::Number;
            line += &if is_number { format!("{gap}{pad}{words}") } else { format!("{gap}{words}{pad}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(names: &[&str]) -> Grid {
        let row = |name: &&str| [name, "0.123456", "1,234,567", "99.1%"].map(str::to_owned);
        let grid = Grid::new("", 1, &["policy", "cost USD", "read", "cache hit"], names.iter().map(row));
        grid.leaving(&["read", "cache hit"])
    }

    #[test]
    fn columns_leave_by_priority_and_names_take_more_lines() {
        let grid = grid(&["recoverable_decay_guarded_mid", "identity"]);
        let drawn = |width| draw(&grid, Some(width));

        let hidden = [80, 48, 40, 30].map(|it| drawn(it).hidden.len());

        assert_eq!(hidden, [0, 0, 1, 2]);
        for width in [80, 48, 40, 30] {
            let text = drawn(width).text;
            assert!(text.lines().all(|it| it.chars().count() <= width), "{width}\n{text}");
        }
        let text = drawn(30).text;
        assert!(text.contains("recoverable_decay_  0.123456\n  guarded_mid\n"), "{text}");
    }

    #[test]
    fn no_name_is_cut_and_no_word_is_broken_at_any_width() {
        let names = ["agents/claude_code/auto_compact", "agents/codex/auto_compact", "a b/early (0-25%)"];
        let grid = grid(&names);
        for width in 1..60 {
            let text = draw(&grid, Some(width)).text;
            let whole: String = text.split_whitespace().collect();
            for part in ["claude_", "compact", "codex/", "(0-25%)"] {
                assert!(text.contains(part), "{width}\n{text}");
            }
            assert!(width < 12 || whole.contains("0.123456") || width < 26, "{width}\n{text}");
        }
    }

    #[test]
    fn a_name_too_long_for_its_row_stands_above_its_numbers_and_no_column_leaves() {
        let row =
            ["clear/params.trigger.tokens=20000 (best)", "141.9239", "−10.4%", "92.3%"].map(str::to_owned);
        let grid = Grid::new("", 1, &["", "held-out USD", "held-out Δ cost", "held-out kept"], [row]);

        let drawn = draw(&grid, Some(44));

        assert!(drawn.hidden.is_empty(), "{}", drawn.text);
        let told = "clear/params.trigger.tokens=20000 (best)\n  141.9239";
        assert!(drawn.text.contains(told) && drawn.text.contains("92.3%"), "{}", drawn.text);
        assert!(drawn.text.lines().all(|it| it.chars().count() <= 44), "{}", drawn.text);
        assert!(
            draw_with_note(&grid, Some(20)).ends_with("all."),
            "what no width can hold is named: {}",
            draw_with_note(&grid, Some(20))
        );
    }

    #[test]
    fn headings_take_a_line_for_each_word_before_names_do() {
        let row = ["aging/careful", "3.6"].map(str::to_owned);

        let text = draw(&Grid::new("", 1, &["policy", "half-life in sessions"], [row]), Some(24)).text;

        assert!(text.starts_with("               half-life\n                      in\n"), "{text}");
        assert!(text.contains("aging/careful        3.6"), "{text}");
    }
}
