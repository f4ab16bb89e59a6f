//! The writer of Markdown: sentences, lists, tables and texts to paste.
//!
//! Nothing of them is a link, a picture, HTML, a heading or a mention unless it was asked for. What stands in backticks is code, as on pages.

use std::fmt;
use std::ops::Deref;

use super::{CellKind, Grid};
use crate::foreign::{self, Foreign, sign};

/// What parts a sign from what follows, so that both together mean nothing; it takes no room.
const APART: &str = "&#8203;";

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markdown(String);

impl Markdown {
    /// Adds a heading.
    pub fn heading(&mut self, level: usize, words: &str) {
        self.0 += &format!("{} {}\n\n", "#".repeat(level), sentence(words, None, false));
    }

    /// Adds a paragraph, whose lines stay lines.
    pub fn paragraph(&mut self, words: &str) {
        self.0 += &format!("{}\n\n", paragraph(words, ""));
    }

    /// Adds a paragraph in bold type.
    pub fn strong(&mut self, words: &str) {
        self.0 += &format!("**{}**\n\n", sentence(words, None, false));
    }

    /// Adds a table, below its title if it has one.
    pub fn table(&mut self, grid: &Grid) {
        if !grid.title.is_empty() {
            self.heading(3, &grid.title);
        }
        let rule = grid.columns.iter().map(|it| if it.kind == CellKind::Number { "---:|" } else { "---|" });
        let head = cells(grid.columns.iter().map(|it| it.heading.as_str()));
        let rows = grid.rows.iter().map(|it| cells(it.noted().iter().map(String::as_str)));
        self.0 += &format!("{head}|{}\n{}\n", rule.collect::<String>(), rows.collect::<String>());
        if let Some(more) = &grid.more {
            self.0 += &format!("\n{}\n", paragraph(more, ""));
        }
    }

    /// Adds an item of a list.
    pub fn item(&mut self, words: &str) {
        self.0 += &format!("- {}\n", paragraph(words, "  "));
    }

    /// Adds the items of a list and what ends it, if there are any.
    pub fn items(&mut self, items: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            items.for_each(|it| self.item(it.as_ref()));
            self.end();
        }
    }

    /// Adds a list with its heading, unless it is empty.
    pub fn list(&mut self, heading: &str, items: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            self.paragraph(&format!("{heading}:"));
            self.items(items);
        }
    }

    /// Adds a paragraph in small type.
    pub fn small(&mut self, words: &str) {
        self.0 += &format!("<sub>{}</sub>\n\n", sentence(words, None, false));
    }

    /// Ends a list.
    pub fn end(&mut self) {
        self.0.push('\n');
    }

    /// Adds what is hidden until it is asked for.
    pub fn folded(&mut self, summary: &'static str, inside: impl FnOnce(&mut Self)) {
        self.0 += &format!("<details><summary>{summary}</summary>\n\n");
        inside(self);
        self.0.push_str("</details>\n");
    }

    /// Ends the document without an empty line.
    pub fn ended(self) -> Self {
        Self(self.0.trim_end().to_owned() + "\n")
    }

    /// Adds a text to copy as it is.
    pub fn code(&mut self, text: &str) {
        let text = foreign::in_lines(text);
        let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.0 += &format!("{fence}\n{text}\n{fence}\n\n");
    }
}

/// What was written can be read, and not changed.
impl Deref for Markdown {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Markdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Markdown> for String {
    fn from(text: Markdown) -> Self {
        text.0
    }
}

/// Returns the row of a table.
fn cells<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.map(|it| sentence(it, None, true)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Returns words whose lines stay lines, and begin nothing else.
fn paragraph(words: &str, indent: &str) -> String {
    let lines = words.split('\n').filter(|it| !it.trim().is_empty());
    let lines: Vec<String> = lines.map(|it| sentence(it, beginning(it), false)).collect();
    lines.join(&format!("  \n{indent}")).trim_start().to_owned()
}

/// Returns where a line has a sign that would make it a heading, a quotation, an item of a list or a rule.
fn beginning(line: &str) -> Option<usize> {
    let words = line.trim_start();
    let at = line.len() - words.len();
    let ends = |it: &str| it.chars().next().is_none_or(char::is_whitespace);
    let after = words.trim_start_matches(|it: char| it.is_ascii_digit());
    if after.len() < words.len() && after.starts_with(['.', ')']) && ends(&after[1..]) {
        return Some(line.len() - after.len());
    }
    let first = words.chars().next()?;
    let is_rule = || words.chars().all(|it| it == first || it == ' ');
    let begins = match first {
        '#' => ends(words.trim_start_matches('#')),
        '>' => true,
        '-' | '+' | '*' => ends(&words[1..]) || is_rule(),
        '=' | '_' => is_rule(),
        // A box to tick.
        '[' => words.get(2..3) == Some("]"),
        _ => false,
    };
    begins.then_some(at)
}

/// Returns words as one line: what stands in backticks as code, everything else as words alone. A sign at some place is no beginning.
fn sentence(words: &str, beginning: Option<usize>, is_cell: bool) -> String {
    let parts: Vec<&str> = words.split('`').collect();
    let mut text = String::new();
    let mut at = 0;
    for (nth, part) in parts.iter().enumerate() {
        let is_code = nth % 2 == 1 && nth + 1 < parts.len();
        if is_code && !part.is_empty() && !(is_cell && part.contains('|')) {
            // Two codes side by side would be one.
            let is_beside = nth > 1 && parts[nth - 1].is_empty();
            text += &format!("{}`{}`", if is_beside { APART } else { "" }, Foreign(part));
        } else {
            let has_tick = is_code || nth % 2 == 1;
            text.push_str(if has_tick { "\\`" } else { "" });
            escape(part, beginning.and_then(|it| it.checked_sub(at)), &mut text);
            text.push_str(if is_code { "\\`" } else { "" });
        }
        at += part.len() + 1;
    }
    text
}

/// Adds words of which no sign means anything.
fn escape(words: &str, beginning: Option<usize>, text: &mut String) {
    let mut before = ' ';
    for (at, letter) in words.char_indices() {
        let rest = &words[at + letter.len_utf8()..];
        let after = rest.chars().next();
        let is_before = |of: fn(char) -> bool| after.is_some_and(of);
        let means = match letter {
            '\\' => after.is_none_or(|it| it.is_ascii_punctuation()),
            '<' => is_before(|it| it.is_alphanumeric() || matches!(it, '/' | '!' | '?')),
            ']' => is_before(|it| matches!(it, '(' | '[' | ':')),
            '*' => is_before(|it| !it.is_whitespace()),
            '_' => !before.is_alphanumeric() && is_before(char::is_alphanumeric),
            '~' => after == Some('~'),
            '$' => !is_before(|it| it.is_ascii_digit()),
            '|' => true,
            _ => false,
        };
        if means || beginning == Some(at) {
            text.push('\\');
        }
        match letter {
            '&' if is_before(|it| it == '#' || it.is_alphanumeric()) => text.push_str("&amp;"),
            // Addresses are links, and names after these signs people and issues, even where the sign is escaped.
            ':' if rest.starts_with("//") => text.push_str("&#58;"),
            '.' if words[..at].to_ascii_lowercase().ends_with("www") => text.push_str("&#46;"),
            '@' if is_before(char::is_alphanumeric) => *text += &format!("@{APART}"),
            '#' if !before.is_alphanumeric() && is_before(|it| it.is_ascii_digit()) => {
                *text += &format!("#{APART}");
            }
            _ => text.push(sign(letter).unwrap_or(letter)),
        }
        before = letter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Row;

    fn written(write: impl FnOnce(&mut Markdown)) -> String {
        let mut text = Markdown::default();
        write(&mut text);
        text.to_string()
    }

    #[test]
    fn bars_are_escaped_and_notes_stand_behind_names() {
        let row = Row { cells: ["a|b", "1"].map(str::to_owned).to_vec(), note: Some("stopped".to_owned()) };

        let text = written(|it| it.table(&Grid::new("T", 1, &["policy", "n"], [row])));

        assert_eq!(text, "### T\n\n| policy | n |\n|---|---:|\n| a\\|b (stopped) | 1 |\n\n");
    }

    #[test]
    fn ordinary_sentences_stay_as_they_are() {
        let ordinary = "clear_raw costs $0.07 (−22.6%, 95% interval [−0.3, 0.1]) on `a_b|c` under anthropic/x: 3 < 4 & 5 * 6; std::env, #x";

        assert_eq!(written(|it| it.paragraph(ordinary)), format!("{ordinary}\n\n"));
        assert_eq!(written(|it| it.items(["one\ntwo", "`b`: c"])), "- one  \n  two\n- `b`: c\n\n");
    }

    #[test]
    fn signs_mean_nothing() {
        let signs = [
            ("<!-- a", "\\<!-- a"),
            ("<img src=x>", "\\<img src=x>"),
            ("![a](b)", "![a\\](b)"),
            ("@me a@b.c", "@&#8203;me a@&#8203;b.c"),
            ("$x$", "\\$x\\$"),
            ("https://x www.y", "https&#58;//x www&#46;y"),
            ("# a", "\\# a"),
            ("12. a", "12\\. a"),
            ("- a", "\\- a"),
            ("---", "\\---"),
            ("**a**", "\\*\\*a\\**"),
            ("***", "\\*\\**"),
            ("a\\", "a\\\\"),
            ("&lt;a&#62;", "&amp;lt;a&amp;#&#8203;62;"),
            ("under a/*: 5 * 6", "under a/\\*: 5 * 6"),
            ("a `b", "a \\`b"),
            ("``<img> `a``b`", "\\`\\`\\<img> `a`&#8203;`b`"),
            ("a\u{1b}[2J\r", "a␛[2J␍"),
            ("[ ] a", "\\[ ] a"),
        ];
        for (from, to) in signs {
            assert_eq!(written(|it| it.paragraph(from)), format!("{to}\n\n"), "{from}");
        }
    }

    #[test]
    fn a_text_to_paste_does_not_end_before_its_end() {
        assert_eq!(written(|it| it.code("a\n```\n# b")), "````\na\n```\n# b\n````\n\n");
    }
}
