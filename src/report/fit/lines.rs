//! What a cell needs, and its lines in a column of some width: names break behind `/`, `_` and hyphens, other words at spaces.

/// Names keep this many letters to a line before a column is hidden.
const NAME_ROOMY: usize = 18;
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
    /// Whether it contains names.
    pub(super) is_name: bool,
}

impl Room {
    pub(super) fn new<'a>(heading: &str, cells: impl Iterator<Item = &'a str>, is_name: bool) -> Self {
        let longest_word = heading.split(' ').map(letters).max().unwrap_or(0);
        let (mut widest, mut least) = (0, longest_word);
        for cell in cells {
            widest = widest.max(letters(cell));
            least = least.max(if is_name { least_of_name(cell) } else { longest(cell.split(' ')) });
        }
        let width = widest.max(halves(heading).iter().map(|it| letters(it)).max().unwrap_or(0));
        let roomy = if is_name { least.max(width.min(NAME_ROOMY)) } else { width };
        Self { width, cells: widest, roomy, least, is_name }
    }

    /// Returns the same for cells that may be cut.
    pub(super) fn of_excerpts(self) -> Self {
        Self { roomy: self.width.min(NAME_ROOMY), least: self.width.min(EXCERPT_MIN), ..self }
    }
}

/// Returns a heading's lines: two of about the same length where they fit, else as many as it needs.
pub(super) fn heading(words: &str, width: usize) -> Vec<String> {
    let halves = halves(words);
    if halves.iter().all(|it| letters(it) <= width) {
        return halves.into_iter().filter(|it| !it.is_empty()).map(str::to_owned).collect();
    }
    word_lines(words, width)
}

/// Returns the lines of words, which break at spaces.
pub(super) fn word_lines(words: &str, width: usize) -> Vec<String> {
    if letters(words) <= width {
        return vec![words.to_owned()];
    }
    let mut text = String::new();
    crate::report::prose::wrap(words, "", Some(width), &mut text);
    text.lines().map(str::to_owned).collect()
}

/// Returns the lines of a name; all but the first are indented.
pub(super) fn name_lines(name: &str, width: usize) -> Vec<String> {
    if letters(name) <= width {
        return vec![name.to_owned()];
    }
    let mut lines = vec![String::new()];
    for part in parts(name) {
        let last = lines.len() - 1;
        if letters(&lines[last]) + letters(part.trim_end()) > width && !lines[last].is_empty() {
            lines.push(format!("{INDENT}{part}"));
        } else {
            lines[last].push_str(part);
        }
    }
    lines.iter().map(|it| it.trim_end().to_owned()).collect()
}

/// Cuts the front of an excerpt that is too wide, at a word if one is near.
pub(super) fn cut(text: &str, width: usize) -> String {
    let n = letters(text);
    if n <= width {
        return text.to_owned();
    }
    let end: String = text.chars().skip(n + 1 - width.max(1)).collect();
    let from_word = end.split_once(['_', '/', '-']).map_or(end.as_str(), |(_, rest)| rest);
    let end = if letters(from_word) * 2 >= letters(&end) { from_word } else { end.as_str() };
    format!("{CUT}{end}")
}

/// Returns the two lines of a heading whose longer one is shortest; the first is empty for a single word.
fn halves(heading: &str) -> [&str; 2] {
    let halves = heading.match_indices(' ').map(|(at, _)| [&heading[..at], &heading[at + 1..]]);
    halves.min_by_key(|it| letters(it[0]).max(letters(it[1]))).unwrap_or(["", heading])
}

/// Returns the width at which no part of a name is broken.
fn least_of_name(name: &str) -> usize {
    let indented =
        |(nth, part): (usize, &str)| letters(part.trim_end()) + if nth > 0 { INDENT.len() } else { 0 };
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
    words.map(letters).max().unwrap_or(0)
}

fn letters(text: &str) -> usize {
    text.chars().count()
}
