//! Plays the points of a grid: one plan for all variants of a policy, plus one for each change of the loads.

use std::sync::atomic::{AtomicUsize, Ordering};

use indexmap::IndexMap;

use super::grid::{Grid, GridPoint};
use super::threads::{in_order, with_threads};
use super::{Comparison, Plan, Progress};
use crate::catalog::Catalog;
use crate::error::Error;
use crate::measure::{Label, Tally};
use crate::report::sweep::{Numbers, SweepPoint};
use crate::report::{FailedRuns, Run};

/// The most variants played together: a load is opened once for all of them, and their runs are kept until
/// all are done.
const TOGETHER: usize = 64;

/// One session of a point: its runs by policy, the base first.
#[derive(Clone, Debug)]
pub struct SweptLoad {
    /// The load and its profile.
    pub name: [String; 2],
    /// The folder of its recording; empty for what was not recorded.
    pub project: String,
    /// When its last request was, in milliseconds since 1970, where the recording says so.
    pub last_ms: Option<i64>,
    /// The runs: the base's, then those of the variants.
    pub runs: Vec<Run>,
}

/// Plays some points of a grid; the comparison names the base, then the varied policy.
///
/// # Errors
/// Every problem of the inputs and of the overrides.
pub fn sweep(
    catalog: &Catalog,
    comparison: &Comparison,
    grid: &Grid,
    indices: &[usize],
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Vec<SweepPoint>, Error> {
    let mut groups: IndexMap<Vec<String>, Vec<GridPoint>> = IndexMap::new();
    for index in indices {
        let point = grid.point(*index);
        groups.entry(point.of_load.clone()).or_default().push(point);
    }
    let chunks: Vec<&[GridPoint]> = groups.values().flat_map(|it| it.chunks(TOGETHER)).collect();
    let n_done = AtomicUsize::new(0);
    let one = |chunk: &[GridPoint]| -> Result<Vec<SweepPoint>, Error> {
        let of_load = chunk.first().map(|it| it.of_load.clone()).unwrap_or_default();
        let set = comparison.set.iter().cloned().chain(of_load).collect();
        let variants = chunk.iter().map(|it| it.of_policy.clone()).collect();
        let plan = Plan::new(catalog, &Comparison { set, variants, ..comparison.clone() })?;
        // What a single chunk does is shown load by load.
        let within: Progress<'_> = if chunks.len() == 1 { progress } else { &|_, _| {} };
        let loads = plan.swept(None, within)?;
        let points = in_order(chunk.len(), |nth| point(&chunk[nth], nth + 1, &loads));
        if chunks.len() > 1 {
            progress(n_done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len(), indices.len());
        }
        Ok(points)
    };
    // Chunks go side by side, so that no thread waits while the next one is read.
    let done = with_threads(threads, || in_order(chunks.len(), |nth| one(chunks[nth])));
    let mut points = done.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    points.sort_by_key(|it| it.index);
    Ok(points)
}

impl Plan {
    /// Runs everything and returns the runs load by load, and profile by profile.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn swept(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<Vec<SweptLoad>, Error> {
        let of_loads = self.each(threads, progress, |load, progress| {
            let runs = load.runs(progress);
            let by_profile = runs.chunks(load.policies.len().max(1));
            let one = |runs: &[Run]| SweptLoad {
                name: [runs[0].scenario.clone(), runs[0].profile.clone()],
                project: load.project.clone(),
                last_ms: load.workload.items().and_then(|it| it.last_ms()),
                runs: runs.to_vec(),
            };
            by_profile.map(one).collect::<Vec<_>>()
        })?;
        let loads: Vec<SweptLoad> = of_loads.into_iter().flatten().collect();
        FailedRuns::none_of(loads.iter().flat_map(|it| &it.runs))?;
        Ok(loads)
    }
}

/// Adds up the loads of a point.
fn point(point: &GridPoint, nth: usize, loads: &[SweptLoad]) -> SweepPoint {
    let runs = |nth: usize| loads.iter().filter_map(move |it| it.runs.get(nth));
    let (base, own) = (summed(runs(0)), summed(runs(nth)));
    let set = point.of_load.iter().chain(&point.of_policy).cloned().collect();
    let numbers = |tally: &Option<Tally>, nth: usize| {
        tally.as_ref().map(|it| Numbers::new(it, runs(nth))).unwrap_or_default()
    };
    let label = own.as_ref().zip(base.as_ref()).and_then(|(own, base)| Label::new(own, base));
    SweepPoint { index: point.index, set, numbers: numbers(&own, nth), base: numbers(&base, 0), label }
}

/// Adds runs up.
pub(super) fn summed<'r>(mut runs: impl Iterator<Item = &'r Run>) -> Option<Tally> {
    let mut sum = runs.next()?.tally.clone();
    runs.for_each(|it| sum.add(&it.tally));
    Some(sum)
}
