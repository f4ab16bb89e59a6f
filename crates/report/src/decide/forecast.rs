//! How much of a saving is luck: the best of many estimates is expected to be off in its own favour.

use super::effects::RowEffect;
use super::joint::{DRAWS, JointTest};
use crate::prelude::*;

/// Returns by how many of its standard errors the best row is expected to look better than it is: were what was found the truth, and all rows
/// measured once more, the row that then looks best would be off by so much on average. Of a single row it is nothing, and the more rows
/// are about as good, the more it is.
pub(super) fn shrinkage(effects: &[RowEffect], test: &JointTest) -> f64 {
    let known = |(it, off): (&RowEffect, &'_ Vec<f64>)| {
        let found = it.cost.as_ref()?.value;
        Some((found, it.error()?)).filter(|_| !it.is_same && off.len() == DRAWS)
    };
    let rows: Vec<(f64, f64, &Vec<f64>)> = effects
        .iter()
        .zip(&test.off)
        .filter_map(|(it, off)| known((it, off)).map(|(found, error)| (found, error, off)))
        .listed();
    let luck = |draw: usize| {
        let seen = rows.iter().map(|(found, error, off)| (found + error * off[draw], off[draw]));
        seen.min_by(|one, other| one.0.total_cmp(&other.0)).map_or(0.0, |it| -it.1)
    };
    ((0..DRAWS).map(luck).sum::<f64>() / DRAWS as f64).max(0.0)
}
