//! What became of the tasks of sessions, as their logs tell it.

use crate::prelude::*;
use ctxsim_engine::calibrate::Calibration;

/// Returns a line for each outcome that logs tell: how many sessions have it.
pub(super) fn lines(sessions: &[Calibration]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for it in sessions.iter().filter_map(|it| it.outcome.as_ref()) {
        let [sum, n] = by_name.entry(&it.name).or_default();
        (*sum, *n) = (*sum + it.value, *n + 1.0);
    }
    let said = |(name, [sum, n]): (&str, [f64; 2])| {
        let (name, of) = (in_one_line(name), counted(n as usize, "session"));
        format!("By the logs, {name}: {} of {of}.", thousands(sum.round() as u64))
    };
    by_name.into_iter().map(said).listed()
}

/// Returns the outcome of each session that has one.
pub(super) fn table(sessions: &[Calibration]) -> Option<String> {
    let row = |it: &Calibration| {
        let outcome = it.outcome.as_ref()?;
        Some(vec![it.name.clone(), in_one_line(&outcome.name).into_owned(), outcome.value.to_string()])
    };
    let rows = sessions.iter().filter_map(row).listed();
    let grid = Grid::new("", 1, &["session", "outcome", "value"], rows).with(CellKind::Text, &[1]);
    (!grid.rows.is_empty())
        .then(|| format!("What became of the tasks, by the logs\n\n{}\n", draw_whole(&grid)))
}
