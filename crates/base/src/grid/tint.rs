//! Text for people on a terminal: how wide it may be, and which of it is bold, faint, green or red.

use super::prose::wrap;

/// How text is shown on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Its width in characters; `None` for any width.
    pub width: Option<usize>,
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

/// The most lines of an answer, on a terminal of so many columns.
const LINES: usize = 40;
pub const COLUMNS: usize = 100;

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

/// Returns whether a code, without the escape before it, is that of a tint.
pub fn is_tint(code: &str) -> bool {
    Tint::ALL.iter().any(|it| it.code() == code)
}

impl Terminal {
    /// Returns an answer with as many extras as leave it within 40 lines, or with none where no number does; with the most where the
    /// terminal is narrower than 100 columns.
    pub fn fitted(self, most: usize, with: impl Fn(usize) -> String) -> String {
        let whole = with(most);
        let fits = |it: &String| it.lines().count() <= LINES;
        if fits(&whole) || self.width.is_some_and(|it| it < COLUMNS) {
            return whole;
        }
        (0..most).rev().map(&with).find(fits).unwrap_or_else(|| with(0))
    }

    /// Returns text in a tint, if there are colours; it must have no break.
    pub fn paint(self, tint: Tint, text: &str) -> String {
        if !self.is_coloured || tint == Tint::Plain || text.trim().is_empty() {
            return text.to_owned();
        }
        format!("\x1b{}{text}\x1b{}", tint.code(), Tint::Plain.code())
    }

    /// Returns the same word by word, so that lines may break between them.
    pub fn paint_words(self, tint: Tint, text: &str) -> String {
        let words: Vec<String> = text.split(' ').map(|it| self.paint(tint, it)).collect();
        words.join(" ")
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
            let terminal = Terminal { width: Some(12), is_coloured, is_quiet: false };
            terminal.paragraph(Tint::Faint, "Note: ", "one two three", &mut text);
            text
        };

        assert_eq!(told(false), "Note: one\n      two\n      three\n");
        assert_eq!(
            told(true),
            "\x1b[2mNote: one\x1b[0m\n\x1b[2m      two\x1b[0m\n\x1b[2m      three\x1b[0m\n"
        );
        assert!(is_tint("[2m") && is_tint("[0m") && !is_tint("[2J"));
    }
}
