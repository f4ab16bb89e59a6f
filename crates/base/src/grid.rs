//! A table of texts, which views make and one writer each shows: on a terminal, in Markdown, on a page.
//!
//! **Tables of texts are one structure**, the `Grid` of `crates/base/src/grid.rs`: columns, each of a kind (names, words, excerpts,
//! numbers), and rows with notes. Every view makes a `Grid` and hands it to a writer; `Grid::from_columns` takes each column's heading beside its
//! cell. A kind says where a cell stands and how it takes less room. `grid/tint.rs` has what a terminal shows (`Terminal`: width, colours,
//! quiet) and the tints of text (`Tint`); a column says which of its cells are good (`Hue`), and `Terminal::fitted` keeps an answer to 40
//! lines, or to a higher terminal: the answer first, then what has room. The lines are counted at 100 columns, so that more room never
//! shows fewer rows; a table that is shortened has three rows at least, and its last line (`Grid::leaving_out`) counts the others and names
//! the command that shows them. Whatever is painted or drawn has no code of its own (`printed_painted`). `grid/terminal.rs` draws all
//! tables of the command line. When a table is too wide, it hides columns in the order that the view gives (for `run`, `report/metric.rs`
//! and `report/sections/columns.rs`), writes long names, words and headings on several lines, and puts names above their numbers where that
//! is not enough. `grid/markdown.rs` writes all tables in Markdown, and `grid/table.html` all tables of pages. Pages have one design
//! (`report/page.rs`): a command fills slots (verdicts, the picture that carries them, tables, causes, assumptions), a section more is a
//! line more, and only `report/page/` knows how it looks. A point leads to its row, a row to its `explain` command; the one script only
//! adds.

pub mod html;
pub mod markdown;
pub mod numbers;
pub mod prose;
pub mod shell;
pub mod terminal;
pub mod tint;

use serde::Serialize;

use crate::foreign::Foreign;
use tint::Tint;

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// Its columns, of which the first says what a row is about.
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Its last line: how many rows it leaves out, and what shows them.
    #[serde(skip)]
    pub more: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its heading; one of several words may take several lines.
    pub heading: String,
    /// What its cells are.
    pub kind: CellKind,
    /// Its order of hiding where a terminal has not enough room, from 1; `None` if it is hidden last, from the right.
    pub leaves: Option<u8>,
    /// Which of its cells are good, and which bad.
    #[serde(skip)]
    pub hue: Hue,
}

/// Which cells of a column are good, and which bad: a terminal shows them in green and in red.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hue {
    /// None says so.
    #[default]
    None,
    /// Intervals of changes, of which less is better: one that is below nothing is good, one above it bad, one around it neither.
    Interval,
    /// As good or bad as the words of its row say, or its interval.
    AsWords,
    /// Words that say what to do: `do` and `better` are good, `worse` is bad, what is open stands back.
    Words,
    /// What a cache did: what it read is good, what it read only in part or was written to it open, what was neither bad.
    Cache,
}

/// What the cells of a column are: where they stand, and how they take less room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// Names, to the left; long ones break behind their parts.
    Name,
    /// Words, to the left, which break at spaces.
    Text,
    /// Excerpts of long texts, to the left; they are cut in front, where similar texts differ least.
    Excerpt,
    /// Numbers, to the right.
    Number,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its cells, one a column.
    pub cells: Vec<String>,
    /// What there is to say about it.
    pub note: Option<String>,
}

/// A column's heading, and its cell for each thing that a table lists.
pub type Of<'c, T> = (&'c str, &'c dyn Fn(&T) -> String);

impl Grid {
    /// Puts a table of things together, a row each: the first columns are names, the others numbers.
    pub fn from_columns<T>(title: impl Into<String>, n_names: usize, things: &[T], of: &[Of<'_, T>]) -> Self {
        let headings: Vec<&str> = of.iter().map(|it| it.0).collect();
        let row = |thing: &T| of.iter().map(|(_, cell)| cell(thing)).collect::<Vec<_>>();
        Self::new(title, n_names, &headings, things.iter().map(row))
    }

    /// Puts a table together: the first columns are names, the others numbers.
    pub fn new<R: Into<Row>>(
        title: impl Into<String>,
        n_names: usize,
        headings: &[impl AsRef<str>],
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let kind = |nth| if nth < n_names { CellKind::Name } else { CellKind::Number };
        let columns = headings.iter().enumerate().map(|(nth, it)| Column::new(it.as_ref(), kind(nth)));
        Self {
            title: Foreign(&title.into()).to_string(),
            columns: columns.collect(),
            rows: rows.into_iter().map(Into::into).collect(),
            more: None,
        }
    }

    /// Returns the table with a last line that counts the rows left out, if there are any, and names the command that shows them.
    pub fn leaving_out(mut self, n_rows: usize, command: &str) -> Self {
        self.more = (n_rows > 0).then(|| format!("… and {n_rows} more: {command} shows them."));
        self
    }

    /// Returns the table with columns of other kinds, by their places.
    pub fn with(mut self, kind: CellKind, places: &[usize]) -> Self {
        for at in places {
            self.columns[*at].kind = kind;
        }
        self
    }

    /// Returns the table with columns that are hidden in the order of some headings.
    pub fn leaving(mut self, order: &[&str]) -> Self {
        for (heading, nth) in order.iter().zip(1..) {
            for column in self.columns.iter_mut().filter(|it| it.heading == *heading) {
                column.leaves = Some(nth);
            }
        }
        self
    }

    /// Returns the table with columns whose cells are good or bad, by their headings.
    pub fn hued(mut self, hue: Hue, headings: &[&str]) -> Self {
        for column in self.columns.iter_mut().filter(|it| headings.contains(&it.heading.as_str())) {
            column.hue = hue;
        }
        self
    }
}

impl Column {
    /// Makes a column that is hidden last.
    pub fn new(heading: &str, kind: CellKind) -> Self {
        Self { heading: heading.to_owned(), kind, leaves: None, hue: Hue::None }
    }
}

impl Hue {
    /// Returns the tint of a cell.
    fn tint(self, cell: &str) -> Tint {
        match self {
            Self::None | Self::AsWords => Tint::Plain,
            Self::Words => match cell {
                "do" | "better" | "cheaper" => Tint::Good,
                "worse" | "dearer" => Tint::Bad,
                "your call" | "try" => Tint::Open,
                _ => Tint::Faint,
            },
            Self::Cache => match cell {
                "≠" => Tint::Break,
                "read" => Tint::Good,
                it if it == "written" || it.ends_with(" read") => Tint::Open,
                "" | "+" => Tint::Plain,
                _ => Tint::Bad,
            },
            Self::Interval => match cell.split_once('…') {
                Some((_, high)) if high.starts_with('−') => Tint::Good,
                Some((low, _)) if !low.starts_with('−') => Tint::Bad,
                _ => Tint::Plain,
            },
        }
    }
}

impl Row {
    /// Returns the cells, the first with the note behind it.
    fn noted(&self) -> Vec<String> {
        let mut cells = self.cells.clone();
        if let (Some(first), Some(note)) = (cells.first_mut(), &self.note) {
            *first += &format!(" ({note})");
        }
        cells
    }
}

impl<C: Into<Vec<String>>> From<C> for Row {
    fn from(cells: C) -> Self {
        Self { cells: cells.into(), note: None }
    }
}

/// Returns the width of a text on a terminal, without the codes of colours.
fn width_of(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let plain = parts.next().map_or(0, |it| it.chars().count());
    plain + parts.map(|it| it.split_once('m').map_or(0, |(_, it)| it.chars().count())).sum::<usize>()
}
