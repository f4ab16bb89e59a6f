//! What a cell needs, and its lines in a column of some width: names break behind `/`, `_` and hyphens, other words at spaces.

use crate::grid::prose::wrap;
use crate::grid::{CellKind, Column, width_of};

/// Names and words keep this many letters to a line before a column is hidden.
const ROOMY: usize = 18;
/// No excerpt is cut to fewer letters.
const EXCERPT_MIN: usize = 12;
/// The mark for the omitted part of an excerpt.
const CUT: char = '…';
/// What the further lines of a name begin with.
const INDENT: &str = "  ";

/// What a column takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Its width, at first that of its widest cell and of its heading in two lines.
    pub(super) width: usize,
    /// The width of its widest cell.
    pub(super) cells: usize,
    /// The width before other columns are hidden for it.
    pub(super) roomy: usize,
    /// The width at which no word is broken.
    pub(super) least: usize,
    /// Whether it contains numbers.
    pub(super) is_number: bool,
}

impl Room {
    pub(super) fn new<'a>(column: &Column, texts: impl Iterator<Item = &'a str>) -> Self {
        let Column { heading, kind, .. } = column;
        let (mut cells, mut least) = (0, longest(heading.split(' ')));
        for text in texts {
            cells = cells.max(width_of(text));
            least = least.max(if *kind == CellKind::Name {
                least_of_name(text)
            } else {
                longest(text.split(' '))
            });
        }
        let width = cells.max(longest(halves(heading).into_iter()));
        let (roomy, least) = match kind {
            CellKind::Name | CellKind::Text => (least.max(width.min(ROOMY)), least),
            CellKind::Excerpt => (width.min(ROOMY), width.min(EXCERPT_MIN)),
            CellKind::Number => (width, least),
        };
        Self { width, cells, roomy, least, is_number: *kind == CellKind::Number }
    }
}

/// Returns the lines of a cell.
pub(super) fn wrapped(cell: &str, kind: CellKind, width: usize) -> Vec<String> {
    match kind {
        CellKind::Excerpt => vec![cut(cell, width)],
        CellKind::Name => name_lines(cell, width),
        CellKind::Text | CellKind::Number => word_lines(cell, width),
    }
}

/// Returns a heading's lines: two of about the same length where they fit, else as many as it needs.
pub(super) fn heading(words: &str, width: usize) -> Vec<String> {
    let halves = halves(words);
    if halves.iter().all(|it| width_of(it) <= width) {
        return halves.into_iter().filter(|it| !it.is_empty()).map(str::to_owned).collect();
    }
    word_lines(words, width)
}

/// Returns the lines of words, which break at spaces.
fn word_lines(words: &str, width: usize) -> Vec<String> {
    if width_of(words) <= width {
        return vec![words.to_owned()];
    }
    let mut text = String::new();
    wrap(words, "", Some(width), &mut text);
    text.lines().map(str::to_owned).collect()
}

/// Returns the lines of a name; all but the first are indented.
fn name_lines(name: &str, width: usize) -> Vec<String> {
    if width_of(name) <= width {
        return vec![name.to_owned()];
    }
    let mut lines = vec![String::new()];
    for part in parts(name) {
        let last = lines.len() - 1;
        if width_of(&lines[last]) + width_of(part.trim_end()) > width && !lines[last].is_empty() {
            lines.push(format!("{INDENT}{part}"));
        } else {
            lines[last].push_str(part);
        }
    }
    lines.iter().map(|it| it.trim_end().to_owned()).collect()
}

/// Cuts the front of an excerpt that is too wide, at a word if one is near.
fn cut(text: &str, width: usize) -> String {
    let n = width_of(text);
    if n <= width {
        return text.to_owned();
    }
    let end: String = text.chars().skip(n + 1 - width.max(1)).collect();
    let from_word = end.split_once(['_', '/', '-']).map_or(end.as_str(), |(_, rest)| rest);
    let end = if width_of(from_word) * 2 >= width_of(&end) { from_word } else { end.as_str() };
    format!("{CUT}{end}")
}

/// Returns the two lines of a heading whose longer one is shortest; the first is empty for a single word.
fn halves(heading: &str) -> [&str; 2] {
    let halves = heading.match_indices(' ').map(|(at, _)| [&heading[..at], &heading[at + 1..]]);
    halves.min_by_key(|it| width_of(it[0]).max(width_of(it[1]))).unwrap_or(["", heading])
}

/// Returns the width at which no part of a name is broken.
fn least_of_name(name: &str) -> usize {
    let indented =
        |(nth, part): (usize, &str)| width_of(part.trim_end()) + if nth > 0 { INDENT.len() } else { 0 };
    parts(name).enumerate().map(indented).max().unwrap_or(0)
}

/// Returns what a name may be broken into: parts that end in a slash, an underscore, a blank, or a hyphen before a letter.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_end = |(at, mark): (usize, char)| {
            let next = rest[at + mark.len_utf8()..].chars().next();
            let ends =
                matches!(mark, '/' | '_' | ' ') || mark == '-' && next.is_some_and(char::is_alphabetic);
            ends.then_some(at + mark.len_utf8())
        };
        let (part, others) = rest.split_at(rest.char_indices().find_map(is_end).unwrap_or(rest.len()));
        rest = others;
        Some(part)
    })
}

fn longest<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    words.map(width_of).max().unwrap_or(0)
}
