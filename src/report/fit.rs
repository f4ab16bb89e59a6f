//! Tables that never wrap: if a line is short, columns are hidden by priority and names are shortened.

use std::fmt::Write as _;

use super::distinct;

/// The space between two columns.
const GAP: usize = 2;
/// Names are cut to this many letters before a column is hidden.
const NAME_ROOMY: usize = 18;
/// No name is cut to fewer letters.
const NAME_MIN: usize = 12;
/// The mark for the omitted part of a name.
const CUT: char = '…';

/// A column of a table: the first holds names.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its heading; one of several words takes two lines.
    pub(super) heading: String,
    /// Its order of hiding if there is not enough room, from 1; `None` if it is never hidden.
    pub(super) leaves: Option<u8>,
    /// Whether it contains words, which are left-aligned.
    is_name: bool,
}

impl Column {
    pub(super) fn new(heading: &str, leaves: Option<u8>) -> Self {
        Self { heading: heading.to_owned(), leaves, is_name: false }
    }

    /// Returns the column with its cells to the left, if it holds names.
    pub(super) fn left(self, is_name: bool) -> Self {
        Self { is_name, ..self }
    }

    /// Returns the heading in two lines, split where the longer one is shortest.
    fn lines(&self) -> [&str; 2] {
        let letters = |it: &str| it.chars().count();
        let halves =
            self.heading.match_indices(' ').map(|(at, _)| [&self.heading[..at], &self.heading[at + 1..]]);
        halves.min_by_key(|it| letters(it[0]).max(letters(it[1]))).unwrap_or(["", &self.heading])
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
    let widths: Vec<usize> = (0..columns.len()).map(|at| width_of(&columns[at], rows, at)).collect();
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let least = |at: usize| if at == 0 { widths[at].min(NAME_ROOMY) } else { widths[at] };
    let taken = |kept: &[usize]| (kept.iter().map(|it| least(*it) + GAP).sum::<usize>()).saturating_sub(GAP);
    let room = width.unwrap_or(usize::MAX);
    let mut leaving: Vec<usize> = kept.iter().copied().filter(|it| columns[*it].leaves.is_some()).collect();
    leaving.sort_by_key(|it| columns[*it].leaves);
    let mut hidden = Vec::new();
    for column in leaving {
        if taken(&kept) <= room {
            break;
        }
        kept.retain(|it| *it != column);
        hidden.push(columns[column].heading.clone());
    }
    let rest = taken(&kept).saturating_sub(least(0));
    let name_width = widths.first().copied().unwrap_or(0).min(room.saturating_sub(rest).max(NAME_MIN));
    let width_at = |at: usize| if at == 0 { name_width } else { widths[at] };
    let is_left = |at: usize| at == 0 || columns[at].is_name;
    let mut text = String::new();
    let has_two = kept.iter().any(|it| !columns[*it].lines()[0].is_empty());
    for half in if has_two { 0..2 } else { 1..2 } {
        let headings = kept.iter().map(|it| columns[*it].lines()[half].to_owned());
        push(&mut text, headings.zip(&kept).map(|(heading, at)| (heading, width_at(*at), is_left(*at))));
    }
    let all = kept.iter().map(|it| width_at(*it) + GAP).sum::<usize>().saturating_sub(GAP);
    let _ = writeln!(text, "{}", "─".repeat(all));
    for (row, note) in rows.iter().zip(notes) {
        push(
            &mut text,
            kept.iter().map(|it| {
                let cell = if *it == 0 { cut(&row[0], name_width) } else { row[*it].clone() };
                (cell, width_at(*it), is_left(*it))
            }),
        );
        if let Some(note) = note {
            super::prose::wrap(note, "  ", width, &mut text);
        }
    }
    Fitted { text: text.trim_end_matches('\n').to_owned(), hidden }
}

/// Names the hidden columns, each once; `None` if there are none.
pub(super) fn hidden_note(hidden: impl IntoIterator<Item = String>) -> Option<String> {
    let hidden = distinct(hidden.into_iter());
    (!hidden.is_empty()).then(|| {
        format!(
            "columns hidden to fit: {}; a wider terminal or `--format json` shows all.",
            hidden.join(", ")
        )
    })
}

/// Returns whether a complete table fits a width.
#[cfg(feature = "tables")]
pub(super) fn fits(columns: &[Column], rows: &[Vec<String>], width: Option<usize>) -> bool {
    let all: usize = (0..columns.len()).map(|at| width_of(&columns[at], rows, at) + GAP).sum();
    width.is_none_or(|it| all <= it + GAP)
}

/// Writes a line of cells, each with its width and alignment.
fn push(text: &mut String, cells: impl Iterator<Item = (String, usize, bool)>) {
    let mut line = String::new();
    for (index, (cell, width, is_left)) in cells.enumerate() {
        let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
        let gap = if index == 0 { String::new() } else { " ".repeat(GAP) };
        line += &if is_left { format!("{gap}{cell}{pad}") } else { format!("{gap}{pad}{cell}") };
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Returns the width of a column.
fn width_of(column: &Column, rows: &[Vec<String>], at: usize) -> usize {
    let cells = rows.iter().filter_map(|it| it.get(at)).map(|it| it.chars().count());
    cells.chain(column.lines().iter().map(|it| it.chars().count())).max().unwrap_or(0)
}

/// Cuts the front of a name that is too wide: similar names differ at their ends.
fn cut(name: &str, width: usize) -> String {
    let n = name.chars().count();
    if n <= width {
        return name.to_owned();
    }
    let end: String = name.chars().skip(n + 1 - width.max(1)).collect();
    let from_word = end.split_once(['_', '/', '-']).map_or(end.as_str(), |(_, rest)| rest);
    let end = if from_word.chars().count() * 2 >= end.chars().count() { from_word } else { end.as_str() };
    format!("{CUT}{end}")
}

/// Returns the last part of a name.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns names without their folders, if they are still distinct.
pub(super) fn short_names<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let all = distinct(names.iter().copied());
    let is_alone = |name: &str| all.iter().filter(|it| last(it) == last(name)).count() == 1;
    names.iter().map(|it| if is_alone(it) { last(it) } else { *it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_leave_by_priority_and_names_are_cut_at_the_front() {
        let columns = [
            Column::new("policy", None),
            Column::new("cost USD", None),
            Column::new("read", Some(1)),
            Column::new("cache hit", Some(2)),
        ];
        let row = |name: &str| [name, "0.123456", "1,234,567", "99.1%"].map(str::to_owned).to_vec();
        let rows = [row("recoverable_decay_guarded_mid"), row("identity")];
        let drawn = |width| draw(&columns, &rows, &[None, None], Some(width));

        let hidden = [80, 46, 40, 30].map(|it| drawn(it).hidden.len());

        assert_eq!(hidden, [0, 0, 1, 2]);
        for width in [80, 46, 40, 30] {
            let text = drawn(width).text;
            assert!(text.lines().all(|it| it.chars().count() <= width), "{width}\n{text}");
        }
        assert!(drawn(30).text.contains("…decay_guarded_mid"), "{}", drawn(30).text);
    }

    #[test]
    fn a_name_without_its_folder_stands_where_no_other_ends_so() {
        assert_eq!(short_names(&["a/x", "b/x", "b/y", "z", "z"]), ["a/x", "b/x", "y", "z", "z"]);
    }
}
