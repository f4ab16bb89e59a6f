//! Text for people on a terminal: how wide it may be, and which of it is bold, faint, green or red.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::prose::{wrap, wrap_painted};
use crate::foreign::{in_lines, printed_with};

/// How text is shown on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Its width in characters; `None` for any width.
    pub width: Option<usize>,
    /// Its height in lines, where it is one that somebody looks at.
    pub height: Option<usize>,
    /// Whether it shows colours.
    pub is_coloured: bool,
    /// Whether only answers are shown: no notes, and nothing on how to go on.
    pub is_quiet: bool,
}

impl From<Option<usize>> for Terminal {
    /// A width alone is that of a terminal without colours.
    fn from(width: Option<usize>) -> Self {
        Self { width, ..Self::default() }
    }
}

/// The most lines of an answer on a terminal that is not higher.
const LINES: usize = 40;
/// The columns of the terminal on which the lines of an answer are counted, and the width of what needs no more.
pub const COLUMNS: usize = 100;
/// The fewest rows of a table that is shortened, however many lines the answer takes with them.
pub const ROWS_LEAST: usize = 3;

/// What a piece of text is to its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    #[default]
    Plain,
    /// What is read first: verdicts and titles.
    Strong,
    /// What may be skipped: notes, headings, how to go on.
    Faint,
    /// What is better than before, or read from a cache.
    Good,
    /// What is worse than before, or paid for in full.
    Bad,
    /// What may be either, or is written to a cache.
    Open,
    /// Where a cached prefix broke.
    Break,
}

impl Tint {
    const ALL: [Self; 7] =
        [Self::Plain, Self::Strong, Self::Faint, Self::Good, Self::Bad, Self::Open, Self::Break];

    /// Returns the code that begins it, without its escape.
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "[0m",
            Self::Strong => "[1m",
            Self::Faint => "[2m",
            Self::Good => "[32m",
            Self::Bad => "[31m",
            Self::Open => "[33m",
            Self::Break => "[1;35m",
        }
    }
}

/// Returns text that we painted as it is printed: the codes of tints stay where there are colours, and no other. What was painted had no
/// code of its own ([`Terminal::paint`]).
pub fn printed_painted(text: &str, is_coloured: bool) -> Cow<'_, str> {
    printed_with(text, |code| is_coloured && Tint::ALL.iter().any(|it| it.code() == code))
}

impl Terminal {
    /// Draws an answer with as many extras as leave it within 40 lines, or within the terminal where that is higher; with the fewest where
    /// no number does. The lines are those of a terminal of 100 columns, so that a wider one never shows less than a narrower one.
    pub fn fitted(self, extras: RangeInclusive<usize>, draw: impl Fn(Self, usize) -> String) -> String {
        let lines = self.height.unwrap_or(LINES).max(LINES);
        let counted = Self { width: Some(COLUMNS), ..self };
        let (least, most) = extras.into_inner();
        let fits = |n: &usize| draw(counted, *n).lines().count() <= lines;
        let n = (least..=most).rev().find(fits).unwrap_or_else(|| least.min(most));
        draw(self, n)
    }

    /// Returns text in a tint, if there are colours; what is painted has no code of its own.
    pub fn paint(self, tint: Tint, text: &str) -> String {
        let text = in_lines(text);
        if !self.is_coloured || tint == Tint::Plain || text.trim().is_empty() {
            return text.into_owned();
        }
        format!("\x1b{}{text}\x1b{}", tint.code(), Tint::Plain.code())
    }

    /// Writes a paragraph that begins with an answer, which is strong.
    pub fn answer(self, answer: &str, more: &str, text: &mut String) {
        let words: Vec<String> = answer.split(' ').map(|it| self.paint(Tint::Strong, it)).collect();
        wrap_painted(&(words.join(" ") + &in_lines(more)), "", self.width, text);
    }

    /// Writes a paragraph in a tint after a mark, its further lines indented as far.
    pub fn paragraph(self, tint: Tint, mark: &str, words: &str, text: &mut String) {
        let mut plain = String::new();
        wrap(words, mark, self.width, &mut plain);
        for line in plain.lines() {
            text.push_str(&self.paint(tint, line));
            text.push('\n');
        }
    }

    /// Writes paragraphs in a tint, each after the same mark.
    pub fn paragraphs(
        self,
        tint: Tint,
        mark: &str,
        all: impl IntoIterator<Item = impl AsRef<str>>,
        text: &mut String,
    ) {
        all.into_iter().for_each(|it| self.paragraph(tint, mark, it.as_ref(), text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_paragraph_has_its_own_colour_and_none_without_colours() {
        let told = |is_coloured| {
            let mut text = String::new();
            let terminal = Terminal { width: Some(12), is_coloured, ..Terminal::default() };
            terminal.paragraph(Tint::Faint, "Note: ", "one two three", &mut text);
            text
        };

        assert_eq!(told(false), "Note: one\n      two\n      three\n");
        assert_eq!(
            told(true),
            "\x1b[2mNote: one\x1b[0m\n\x1b[2m      two\x1b[0m\n\x1b[2m      three\x1b[0m\n"
        );
    }
}
