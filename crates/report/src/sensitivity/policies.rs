//! Each policy's savings across profiles, and what they cost in evidence, recovery and cut results.

use super::Compared;
use super::grids::title;
use crate::prelude::*;
use ctxsim_engine::measure::Label;
use ctxsim_engine::measure::sensitivity::{PriceCell, Sensitivity};

/// The labels and their names.
pub(super) const LABELS: [(Label, &str); 5] = [
    (Label::Dominates, "dominates"),
    (Label::SafeCostWin, "safe cost win"),
    (Label::CostOnly, "cost only"),
    (Label::Same, "same"),
    (Label::Loses, "loses"),
];

/// Returns a label's name; `None` for the baseline and for runs that cannot be compared.
pub(super) fn word(label: Option<Label>) -> &'static str {
    LABELS.iter().find(|(it, _)| Some(*it) == label).map_or(NONE, |(_, word)| word)
}

/// Returns a line for each policy.
pub(super) fn table(all: &Sensitivity, grid: &Compared, letters: &[String]) -> Grid {
    let mut cells = grid.rows.iter().flat_map(|it| &it.cells);
    let remembered = cells.find_map(|it| it.remembered.as_ref()).map(|main| main.heading);
    let columns = [
        "policy",
        "cheapest under",
        "Δ cost",
        remembered.unwrap_or("evidence kept"),
        "recovery tokens",
        "results shown",
        "of limit",
        "labels",
    ];
    let rows = letters.iter().enumerate().map(|(policy, letter)| {
        let cells: Vec<&PriceCell> = grid.rows.iter().filter_map(|it| it.cells.get(policy)).listed();
        let priced =
            grid.rows.iter().filter(|it| !it.is_free() && it.cells.iter().any(|cell| cell.rank.is_some()));
        let n_cheapest = grid.rows.iter().filter(|it| it.cheapest() == Some(policy)).count();
        let percent = |number: fn(&PriceCell) -> Option<f64>| range(&cells, number, numbers::percent);
        let tokens = |it: f64| numbers::short(it.round() as u64);
        vec![
            letter.clone(),
            format!("{n_cheapest} of {}", priced.count()),
            if policy == 0 { NONE.to_owned() } else { median_change(grid, policy) },
            percent(PriceCell::kept),
            range(&cells, PriceCell::recovery_tokens, tokens),
            percent(PriceCell::results_shown),
            percent(PriceCell::of_limit),
            if policy == 0 { "baseline".to_owned() } else { labels(grid, policy) },
        ]
    });
    Grid::new(title(all, grid, "Savings and losses of each policy"), 1, &columns, rows)
}

/// Writes the range of a number over all profiles; a single number if both ends look the same.
fn range(
    cells: &[&PriceCell],
    number: fn(&PriceCell) -> Option<f64>,
    written: impl Fn(f64) -> String,
) -> String {
    let numbers = || cells.iter().filter_map(|it| number(it));
    let (least, most) = (numbers().reduce(f64::min), numbers().reduce(f64::max));
    match least.zip(most).map(|(least, most)| (written(least), written(most))) {
        None => NONE.to_owned(),
        Some((least, most)) if least == most => least,
        Some((least, most)) => format!("{}–{most}", least.trim_end_matches('%')),
    }
}

/// Returns whether two policies did the same work under a price list.
pub(super) fn same_work(cell: &PriceCell, first: &PriceCell) -> bool {
    cell.did_as_much_as(first)
}

/// Writes the median of the changes of cost against the first policy.
fn median_change(grid: &Compared, policy: usize) -> String {
    let share = |cells: &[PriceCell]| {
        let (cell, first) = (cells.get(policy)?, cells.first()?);
        let share = cell.cost()? / first.cost()?;
        Some(share).filter(|it| same_work(cell, first) && it.is_finite())
    };
    let mut shares: Vec<f64> = grid.rows.iter().filter_map(|it| share(&it.cells)).listed();
    shares.sort_by(f64::total_cmp);
    let median = shares.get(shares.len() / 2).copied();
    median.and_then(|it| numbers::change(it, 1.0)).unwrap_or_else(|| NONE.to_owned())
}

/// Counts the profiles by the policy's label.
fn labels(grid: &Compared, policy: usize) -> String {
    let of = |label| grid.rows.iter().filter(|it| !it.is_free() && it.label(policy) == Some(label)).count();
    let counts = LABELS.iter().map(|(label, word)| (of(*label), word)).filter(|(n, _)| *n > 0);
    let words: Vec<String> = counts.map(|(n, word)| format!("{n} {word}")).listed();
    if words.is_empty() { NONE.to_owned() } else { words.join(", ") }
}
