//! Lines of plain text with aligned cells, separated by two spaces.

/// A column: its alignment and its smallest width.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column {
    Left(usize),
    Right(usize),
}

/// Lines of cells; the last cell of a line may continue below.
#[derive(Debug)]
pub(super) struct Aligned<const N: usize> {
    columns: [Column; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Aligned<N> {
    /// Takes lines of cells, which may be coloured.
    pub(super) fn new(columns: [Column; N], rows: impl IntoIterator<Item = [String; N]>) -> Self {
        Self { columns, rows: rows.into_iter().collect() }
    }

    /// Wraps the cells of the last column where a terminal ends, but never below a width.
    pub(super) fn wrapped(mut self, width: usize, at_least: usize) -> Self {
        let front: usize = self.widths().iter().rev().skip(1).map(|it| it + 2).sum();
        let room = Some(width.saturating_sub(front).max(at_least));
        for last in self.rows.iter_mut().filter_map(|it| it.last_mut()) {
            let whole = std::mem::take(last);
            super::prose::wrap(&whole, "", room, last);
        }
        self
    }

    /// Returns the lines without trailing spaces.
    pub(super) fn text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (index, cell) in row.iter().enumerate() {
                let below = format!("\n{}", " ".repeat(width_of(&line)));
                let pad = " ".repeat(widths[index].saturating_sub(width_of(cell)));
                let cell = cell.trim_end().replace('\n', &below);
                line += &match self.columns[index] {
                    Column::Left(_) => format!("{cell}{pad}  "),
                    Column::Right(_) => format!("{pad}{cell}  "),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> [usize; N] {
        std::array::from_fn(|index| {
            let (Column::Left(least) | Column::Right(least)) = self.columns[index];
            self.rows.iter().map(|it| width_of(&it[index])).max().unwrap_or(0).max(least)
        })
    }
}

/// Returns the width of a cell in terminal columns, without colour codes.
fn width_of(cell: &str) -> usize {
    let mut parts = cell.split('\x1b');
    let plain = parts.next().map_or(0, |it| it.chars().count());
    plain + parts.map(|it| it.split_once('m').map_or(0, |(_, it)| it.chars().count())).sum::<usize>()
}
