//! The columns of a report's tables: those shown by default, and those that can be asked for.

use super::{Section, TableLine};
use crate::metric::{self, Metric, ShownMetric as _, TokenFormat, WAITING};
use crate::prelude::*;
use ctxsim_base::diag::{Code, Diagnostic, nearest};
use ctxsim_base::grid;
use ctxsim_engine::measure::Spread;

/// A column, after that of the policies' names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableColumn {
    /// A number of the run.
    Number(&'static Metric),
    /// The relative difference of the cost from the first policy's.
    Change,
    /// Of how that difference varies over scenarios: its 95% interval.
    Interval,
    Median,
    /// The shares of scenarios that are cheaper, the same and dearer.
    Shares,
}

/// The columns that are no number of a run: their names, their headings, and the order in which they are hidden.
const DERIVED: [(TableColumn, &str, &str, Option<u8>); 4] = [
    (TableColumn::Change, "change", "Δ cost", None),
    (TableColumn::Interval, "interval", "95% interval", None),
    (TableColumn::Median, "median", "median session", Some(9)),
    (TableColumn::Shares, "shares", "% down / same / up", Some(8)),
];

impl TableColumn {
    /// Returns the columns of a table if none are asked for.
    pub(super) fn usual_columns(has_spread: bool, has_waiting: bool) -> Vec<Self> {
        let metrics = metric::usual_metrics().filter(|it| has_waiting || it.name != WAITING);
        let derived = DERIVED.iter().map(|it| it.0).filter(|it| has_spread || *it == Self::Change);
        metrics.map(Self::Number).chain(derived).listed()
    }

    /// Returns the names by which all columns can be asked for.
    pub fn all_names() -> impl Iterator<Item = &'static str> {
        metric::selectable().map(|it| it.name).chain(DERIVED.iter().map(|derived| derived.1))
    }

    /// Reads a list of columns, `a,b,c`: names, or headings with `_` for blanks.
    ///
    /// # Errors
    /// Every unknown name.
    pub fn parse_list(list: &str) -> Result<Vec<Self>, Vec<Diagnostic>> {
        let (mut columns, mut problems) = (Vec::new(), Vec::new());
        for word in list.split(',').map(str::trim) {
            match Self::from_name(word) {
                Some(column) if columns.contains(&column) => {}
                Some(column) => columns.push(column),
                None => problems.push(unknown_column_problem(word)),
            }
        }
        if problems.is_empty() { Ok(columns) } else { Err(problems) }
    }

    fn from_name(word: &str) -> Option<Self> {
        let plain = |it: &str| it.replace([' ', '_'], "").to_lowercase();
        let is_meant = |name: &str, heading: &str| word == name || plain(word) == plain(heading);
        let number = metric::selectable().find(|it| is_meant(it.name, it.column_heading())).map(Self::Number);
        number.or_else(|| DERIVED.iter().find(|it| is_meant(it.1, it.2)).map(|meant| meant.0))
    }

    pub fn heading(self) -> String {
        match self {
            Self::Number(metric) => metric.column_heading().replace(['_', '.'], " "),
            other => DERIVED.iter().find(|it| it.0 == other).map_or("", |found| found.2).to_owned(),
        }
    }

    /// Returns the column of a drawn table; what was asked for is hidden last.
    pub(super) fn to_grid_column(self, is_requested: bool) -> grid::Column {
        let leaves = match self {
            _ if is_requested => None,
            Self::Number(metric) => metric.hiding_rank(),
            other => DERIVED.iter().find(|it| it.0 == other).and_then(|found| found.3),
        };
        let hue = match self {
            Self::Interval => Hue::Interval,
            Self::Change => Hue::AsWords,
            _ => Hue::None,
        };
        grid::Column { leaves, hue, ..grid::Column::new(&self.heading(), CellKind::Number) }
    }

    /// Returns its cells, line by line.
    pub(super) fn format_cells(self, section: &Section, digits: TokenFormat) -> Vec<String> {
        let cells = |cell: &dyn Fn(&TableLine) -> Option<String>| {
            section.lines.iter().map(|it| or_none(cell(it), |it| it)).listed()
        };
        let tallies = section.lines.iter().map(|it| &it.tally);
        match self {
            Self::Number(metric) => metric.format_cells(tallies, digits, section.decimals),
            Self::Change => {
                let changes = cells(&|it| section.relative_cost_change(it).map(signed));
                std::iter::once(NONE.to_owned()).chain(changes.into_iter().skip(1)).listed()
            }
            Self::Interval => cells(&|it| it.spread?.interval.map(numbers::interval)),
            Self::Median => cells(&|it| Some(signed(it.spread?.median))),
            Self::Shares => cells(&|line| {
                let Spread { cheaper, same, dearer, .. } = line.spread?;
                Some([cheaper, same, dearer].map(|it| format!("{:.0}", it * 100.0)).join("/"))
            }),
        }
    }
}

/// Reports a column that does not exist.
fn unknown_column_problem(word: &str) -> Diagnostic {
    let is_meant = |it: &&Metric| !word.is_empty() && it.column_heading().starts_with(word);
    let usual = metric::usual_metrics().find(is_meant).map(|it| it.name);
    let near = usual.or_else(|| nearest(word, TableColumn::all_names()));
    // Whoever leaves out the group of a number is told where it is; the name's last part contains the word, too.
    let near = near.or_else(|| TableColumn::all_names().find(|it| !word.is_empty() && it.contains(word)));
    let help = near.map(|it| format!("did you mean `{it}`?"));
    let help = help.unwrap_or_else(|| "run `ctxsim run --help` to see all columns".to_owned());
    let mut problem =
        Diagnostic::at(Code("column-unknown"), word, format!("unknown column `{word}`")).help(help);
    "--columns".clone_into(&mut problem.place.file);
    problem
}
