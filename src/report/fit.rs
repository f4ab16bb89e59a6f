//! Tables within a width: columns are hidden by priority, and names and words take more lines; none is cut.

mod lines;

use std::fmt::Write as _;

use super::distinct;
use crate::quantity::or_unlimited;
use lines::{Room, name_lines, word_lines};

/// The space between two columns.
const GAP: usize = 2;

/// A column of a table: the first holds names.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its heading; one of several words may take several lines.
    pub(super) heading: String,
    /// Its order of hiding if there is not enough room, from 1; `None` if it is hidden last, from the right.
    pub(super) leaves: Option<u8>,
    /// Whether it contains names, which are left-aligned.
    is_name: bool,
    /// Whether its cells are excerpts of long texts, which may be cut.
    is_excerpt: bool,
}

impl Column {
    pub(super) fn new(heading: &str, leaves: Option<u8>) -> Self {
        Self { heading: heading.to_owned(), leaves, is_name: false, is_excerpt: false }
    }

    /// Returns the column with its cells to the left, if it holds names.
    pub(super) fn left(self, is_name: bool) -> Self {
        Self { is_name, ..self }
    }

    /// Returns the column with cells that may be cut in front, where similar texts differ least.
    pub(super) fn excerpts(self) -> Self {
        Self { is_excerpt: true, ..self }
    }
}

/// A drawn table, and the columns that were hidden.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) text: String,
    pub(super) hidden: Vec<String>,
}

/// Draws a table within a given width; notes are below their rows.
pub(super) fn draw(
    columns: &[Column],
    rows: &[Vec<String>],
    notes: &[Option<String>],
    width: Option<usize>,
) -> Fitted {
    let mut rooms = rooms(columns, rows);
    let room = or_unlimited(width);
    let (kept, hidden) = kept(columns, &rooms, room);
    let hidden = hidden.into_iter().map(|it| columns[it].heading.clone()).collect();
    squeeze(&mut rooms, &kept, room);
    let is_left: Vec<bool> = kept.iter().map(|it| rooms[*it].is_name).collect();
    let headings: Vec<Vec<String>> =
        kept.iter().map(|it| lines::heading(&columns[*it].heading, rooms[*it].width)).collect();
    let cells = |row: &Vec<String>| -> Vec<Vec<String>> {
        let lines_of = |at: &usize| {
            let (room, cell) = (&rooms[*at], row.get(*at).map_or("", String::as_str));
            match (columns[*at].is_excerpt, room.is_name) {
                (true, _) => vec![lines::cut(cell, room.width)],
                (_, true) => name_lines(cell, room.width),
                (_, false) => word_lines(cell, room.width),
            }
        };
        kept.iter().map(lines_of).collect()
    };
    let rows: Vec<Vec<Vec<String>>> = rows.iter().map(cells).collect();
    // A name that takes several lines may need less than it was given.
    let widths: Vec<usize> = (0..kept.len())
        .map(|at| {
            let cells = rows.iter().chain([&headings]).flat_map(|row| &row[at]);
            cells.map(|it| it.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    push(&mut text, &headings, &widths, &is_left, true);
    let all = (widths.iter().map(|it| it + GAP).sum::<usize>()).saturating_sub(GAP);
    let _ = writeln!(text, "{}", "─".repeat(all));
    for (row, note) in rows.iter().zip(notes) {
        push(&mut text, row, &widths, &is_left, false);
        if let Some(note) = note {
            super::prose::wrap(note, "  ", width, &mut text);
        }
    }
    Fitted { text: text.trim_end_matches('\n').to_owned(), hidden }
}

/// Returns the columns that have room, and those that are hidden: by their order, and at last from the right.
fn kept(columns: &[Column], rooms: &[Room], room: usize) -> (Vec<usize>, Vec<usize>) {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let mut leaving: Vec<usize> = kept.iter().copied().filter(|it| columns[*it].leaves.is_some()).collect();
    leaving.sort_by_key(|it| columns[*it].leaves);
    let mut hidden = Vec::new();
    for column in leaving {
        if taken(kept.iter().map(|it| rooms[*it].roomy)) <= room {
            break;
        }
        kept.retain(|it| *it != column);
        hidden.push(column);
    }
    while kept.len() > 1 && taken(kept.iter().map(|it| rooms[*it].least)) > room {
        hidden.extend(kept.pop());
    }
    (kept, hidden)
}

/// Narrows columns until they fit, the widest first: long names take two lines, then headings more, then names, then words.
fn squeeze(rooms: &mut [Room], kept: &[usize], room: usize) {
    let floors: [fn(&Room) -> usize; 4] = [
        |it| if it.is_name { it.roomy } else { it.width },
        |it| if it.is_name { it.roomy } else { it.cells },
        |it| if it.is_name { it.least } else { it.cells },
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

fn rooms(columns: &[Column], rows: &[Vec<String>]) -> Vec<Room> {
    let of = |(at, column): (usize, &Column)| {
        let cells = rows.iter().filter_map(|it| it.get(at)).map(String::as_str);
        let room = Room::new(&column.heading, cells, at == 0 || column.is_name);
        if column.is_excerpt { room.of_excerpts() } else { room }
    };
    columns.iter().enumerate().map(of).collect()
}

/// Names the hidden columns, each once; `None` if there are none.
pub(super) fn hidden_note(hidden: impl IntoIterator<Item = String>) -> Option<String> {
    let hidden = distinct(hidden.into_iter());
    (!hidden.is_empty()).then(|| {
        format!(
            "columns hidden to fit: {}; a larger `--width` or `--format json` shows all.",
            hidden.join(", ")
        )
    })
}

/// Returns whether a complete table fits a width.
pub(super) fn fits(columns: &[Column], rows: &[Vec<String>], width: Option<usize>) -> bool {
    width.is_none_or(|it| taken(rooms(columns, rows).iter().map(|it| it.width)) <= it)
}

/// Writes cells side by side, each with its lines; headings stand at the bottom of theirs.
fn push(text: &mut String, cells: &[Vec<String>], widths: &[usize], is_left: &[bool], is_low: bool) {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for nth in 0..height {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let above = if is_low { height - cell.len() } else { 0 };
            let words = nth.checked_sub(above).and_then(|it| cell.get(it)).map_or("", String::as_str);
            let pad = " ".repeat(widths[at].saturating_sub(words.chars().count()));
            let gap = if at == 0 { String::new() } else { " ".repeat(GAP) };
            line += &if is_left[at] { format!("{gap}{words}{pad}") } else { format!("{gap}{pad}{words}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Returns a name without its folders; what an agent does keeps the agent's name.
pub(super) fn short_name(name: &str) -> &str {
    name.strip_prefix("agents/").unwrap_or_else(|| name.rsplit('/').next().unwrap_or(name))
}

/// Returns names without their folders, where they are still distinct.
pub(super) fn short_names<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let all = distinct(names.iter().copied());
    let is_alone = |name: &str| all.iter().filter(|it| short_name(it) == short_name(name)).count() == 1;
    names.iter().map(|it| if is_alone(it) { short_name(it) } else { *it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(names: &[&str]) -> (Vec<Column>, Vec<Vec<String>>) {
        let columns = vec![
            Column::new("policy", None),
            Column::new("cost USD", None),
            Column::new("read", Some(1)),
            Column::new("cache hit", Some(2)),
        ];
        let row = |name: &&str| [name, "0.123456", "1,234,567", "99.1%"].map(str::to_owned).to_vec();
        (columns, names.iter().map(row).collect())
    }

    #[test]
    fn columns_leave_by_priority_and_names_take_more_lines() {
        let (columns, rows) = grid(&["recoverable_decay_guarded_mid", "identity"]);
        let drawn = |width| draw(&columns, &rows, &[None, None], Some(width));

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
        let (columns, rows) = grid(&names);
        for width in 1..60 {
            let text = draw(&columns, &rows, &[None, None, None], Some(width)).text;
            let whole: String = text.split_whitespace().collect();
            for part in ["claude_", "compact", "codex/", "(0-25%)"] {
                assert!(text.contains(part), "{width}\n{text}");
            }
            assert!(width < 12 || whole.contains("0.123456") || width < 26, "{width}\n{text}");
        }
    }

    #[test]
    fn headings_take_a_line_for_each_word_before_names_do() {
        let columns = [Column::new("policy", None), Column::new("half-life in sessions", None)];
        let rows = [vec!["aging/careful".to_owned(), "3.6".to_owned()]];

        let text = draw(&columns, &rows, &[None], Some(24)).text;

        assert!(text.starts_with("               half-life\n                      in\n"), "{text}");
        assert!(text.contains("aging/careful        3.6"), "{text}");
    }

    #[test]
    fn a_name_without_its_folder_stands_where_no_other_ends_so() {
        assert_eq!(short_names(&["a/x", "b/x", "b/y", "z", "z"]), ["a/x", "b/x", "y", "z", "z"]);
    }

    #[test]
    fn a_preset_keeps_the_name_of_its_agent() {
        assert_eq!(
            short_names(&["agents/codex/auto_compact", "identity"]),
            ["codex/auto_compact", "identity"]
        );
    }
}
