//! What the savings of levers bear: more turns, and what is known of the task.

use crate::blocks::PageBlock;
use crate::extra_turns::written;
use crate::lever::Lever;
use ctxsim_base::grid::numbers::or_none;
use ctxsim_base::grid::{CellKind, Grid};
use ctxsim_base::list::Listed as _;

/// Says of one lever when its saving is gone, and what is known of the task.
pub(super) fn words(it: &Lever) -> Vec<String> {
    let gone = it.gone_at_extra_turns.map(|it| format!("The saving is {}.", it.words()));
    gone.into_iter().chain(it.known_of_task.clone()).listed()
}

/// Lays out of all levers when their savings are gone, and what is known of the task under them.
pub(super) fn blocks(all: &[Lever]) -> Vec<PageBlock> {
    let row = |it: &Lever| {
        let gone = it.gone_at_extra_turns?;
        let interval = gone.interval.map(|it| it.map(|it| written(it.max(0.0))).join(" to "));
        Some(vec![it.title.clone(), written(gone.percent), or_none(interval, |it| it)])
    };
    let rows = all.iter().filter_map(row).listed();
    if rows.is_empty() {
        return Vec::new();
    }
    let headings = ["what", "more turns", "95% interval"];
    let grid = Grid::new("Gone if the agent needs more turns", 1, &headings, rows).with(CellKind::Text, &[1]);
    let mut known = all.iter().filter_map(|it| it.known_of_task.clone()).listed();
    known.sort();
    known.dedup();
    std::iter::once(PageBlock::Table(grid)).chain(known.into_iter().map(PageBlock::text)).listed()
}
