//! Plays the points of a grid: one plan for all variants of a policy under each change of the loads.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::prelude::*;

use super::assembled::describe_changes;
use super::entry::check_same_work;
use super::grid::{GridPoint, OverrideGrid};
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later};
use ctxsim_engine::measure::{Label, Remembered, Statistic};
use ctxsim_engine::take::{Number, Run, in_order_telling};
use ctxsim_report::decide::SESSIONS_TOLD;
use ctxsim_report::sampled::Sampled;
use ctxsim_report::sweep::{Objective, PointGuard, PointNumbers, SweepHead, SweepPoint};

/// The most variants of a load that are compiled and played together.
pub(super) const TOGETHER: usize = 64;

/// One session under one profile: its results by policy, the base first.
#[derive(Clone, Debug)]
pub struct SweptLoad {
    /// Its working folder, where the log tells it, else the folder of its recording; empty for what was not recorded.
    pub project: String,
    /// When its last request was, in milliseconds since 1970, where the recording says so.
    pub last_ms: Option<i64>,
    /// The results: the base's, then those of the variants.
    pub runs: Vec<SweptRun>,
}

/// What a sweep keeps of a run.
#[derive(Clone, Debug)]
pub struct SweptRun {
    /// Its numbers.
    pub tally: Tally,
    pub remembered: Vec<Remembered>,
    /// By number: how much more it is than under the base, trial by trial.
    pub more: Vec<(String, Statistic)>,
}

impl SweptRun {
    /// Takes a run beside that of a base.
    fn new(run: Run, base_policy: &str) -> Self {
        let more = run.findings.iter().flat_map(|found| {
            let number = |it: &Number| Some((it.place.to_owned(), found.more(it.name, base_policy)?));
            found.kind().numbers.iter().filter_map(number)
        });
        Self { remembered: run.remembered().listed(), more: more.listed(), tally: run.tally }
    }
}

/// Returns the description of a sweep, which two machines share; the comparison names the base, then the varied policy.
pub fn describe_sweep(
    grid: &OverrideGrid,
    played: &Comparison,
    objectives: Vec<Objective>,
    guards: Vec<PointGuard>,
) -> SweepHead {
    let suite = played.suite.as_ref().map(|it| format!("suite {it}"));
    SweepHead {
        base: played.policies[0].clone(),
        policy: played.policies[1].clone(),
        scenarios: played.scenarios.clone(),
        profiles: played.profiles.clone(),
        set: describe_changes(played, suite),
        vary: grid.axes.iter().map(|it| (it.path.clone(), it.values.clone())).listed(),
        objectives,
        guards,
        points: grid.len(),
    }
}

/// Plays some points of a grid; the comparison names the base, then the varied policy.
///
/// # Errors
/// Every problem of the inputs and of the overrides.
pub fn sweep_points(
    catalog: &Catalog,
    comparison: &Comparison,
    grid: &OverrideGrid,
    point_indices: &[usize],
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<Vec<SweepPoint>> {
    let points = point_indices.iter().map(|it| grid.point_at(*it));
    let groups = grouped(points.map(|it| (it.of_load.clone(), it))).into_values().listed();
    let n_done = AtomicUsize::new(0);
    let one = |group: &[GridPoint]| -> Result<Vec<SweepPoint>> {
        let of_load = group.first().map(|it| it.of_load.clone()).unwrap_or_default();
        let set = comparison.set.iter().cloned().chain(of_load).listed();
        let variants = group.iter().map(|it| it.of_policy.clone()).listed();
        let plan = Plan::new(catalog, &Comparison { set, variants, ..comparison.clone() })?;
        // What a single group does is shown load by load.
        let within: Progress<'_> = if groups.len() == 1 { progress } else { &|_, _| {} };
        let loads = plan.sweep_loads(None, within)?;
        let points = in_order(group.len(), |nth| to_sweep_point(&group[nth], nth + 1, &loads));
        if groups.len() > 1 {
            progress(n_done.fetch_add(group.len(), Ordering::Relaxed) + group.len(), point_indices.len());
        }
        Ok(points)
    };
    // Groups go side by side, so that no thread waits while the next one is read.
    let done = with_threads(threads, || in_order(groups.len(), |nth| one(&groups[nth])));
    let mut points = done.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    points.order_by_key(|it| it.index);
    Ok(points)
}

impl Plan {
    /// Runs everything and returns the results load by load, and profile by profile. Each load is opened once,
    /// whatever the number of variants.
    ///
    /// # Errors
    /// As [`Plan::open`], for all scenarios.
    pub fn sweep_loads(&self, threads: Option<usize>, progress: Progress<'_>) -> Result<Vec<SweptLoad>> {
        let open = |it: &ReadyLoad| self.open_for_sweeps(it);
        let (of_loads, _) = self.map_loads_opened_by(threads, progress, open, play_under_each_profile)?;
        Ok(of_loads.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Opens a scenario; those who look at sessions by project mean their working folders.
    pub(super) fn open_for_sweeps(&self, entry: &ReadyLoad) -> Result<Vec<Load>> {
        self.open_with_projects(entry, |_| true)
    }
}

/// Plays it under all policies, profile by profile.
pub(super) fn play_under_each_profile(load: &Load, progress: Progress<'_>) -> Result<Vec<SweptLoad>> {
    check_same_work(load, &(0..load.policies.len()).listed())?;
    // Some policies after others, so that not all are compiled at once.
    let parts: Vec<_> = load.policies.chunks(TOGETHER).listed();
    let parts = match parts.as_slice() {
        [] | [_] => vec![load.runs(progress)],
        parts => in_order_telling(parts.len(), progress, |nth| {
            Load { policies: parts[nth].to_vec(), ..load.clone() }.runs(&|_, _| {})
        }),
    };
    FailedRuns::none_of(parts.iter().flatten())?;
    let base = load.policies.first().map_or("", |it| it.name.as_str());
    let mut by_profile: Vec<Vec<SweptRun>> = vec![Vec::new(); load.profiles.len()];
    for part in parts {
        // The runs of each part are in the order of a report: profile by profile.
        let n_policies = (part.len() / by_profile.len().max(1)).max(1);
        for (nth, run) in part.into_iter().enumerate() {
            by_profile[nth / n_policies].push(SweptRun::new(run, base));
        }
    }
    let (project, last_ms) = (&load.project, load.timeline().and_then(|it| it.last_ms()));
    Ok(by_profile.into_iter().map(|runs| SweptLoad { project: project.clone(), last_ms, runs }).collect())
}

/// Adds up the loads of a point.
fn to_sweep_point(point: &GridPoint, policy_index: usize, loads: &[SweptLoad]) -> SweepPoint {
    let summed = |nth: usize| sum_runs(loads.iter().filter_map(|it| it.runs.get(nth)));
    let set = point.of_load.iter().chain(&point.of_policy).cloned().listed();
    let (Some(base), Some(own)) = (summed(0), summed(policy_index)) else {
        return SweepPoint { index: point.index, set, ..SweepPoint::default() };
    };
    let sure = cost_change_interval(loads, policy_index, &own, &base);
    SweepPoint {
        index: point.index,
        set,
        numbers: PointNumbers::new(&own.tally, &own.remembered),
        base: PointNumbers::new(&base.tally, &base.remembered),
        label: Label::new(&own.tally, &base.tally),
        interval: sure.map(|it| it.0),
        interval_over: sure.map(|it| it.1).unwrap_or_default(),
        bound: own.tally.assumed_bound(&base.tally),
        more: own.more.iter().filter_map(|it| Some((it.0.clone(), it.1.ci95?))).collect(),
    }
}

/// Returns the 95% interval of a point's change in cost; of a single load, over what is assumed alone.
fn cost_change_interval(
    loads: &[SweptLoad],
    policy_index: usize,
    own: &SweptRun,
    base: &SweptRun,
) -> Option<([f64; 2], Sampled)> {
    let sample = |load: &SweptLoad| {
        let (base, own) = (load.runs.first()?, load.runs.get(policy_index)?);
        let pair = (own.tally.costs.total()?, base.tally.costs.total().filter(|it| *it > 0.0)?);
        Some(RatioSample { pair, project: "", at_ms: load.last_ms })
    };
    let samples: Vec<RatioSample<'_>> = loads.iter().filter_map(sample).listed();
    let reach = own.tally.assumed_reach(&base.tally);
    let change = own.tally.assumed_cost()?.change_from(&base.tally.assumed_cost()?);
    let alone = reach.is_some().then(|| (reach.interval(change, 0.0), Sampled::Assumptions));
    let told = ratio_interval_for_later(&samples, reach).filter(|_| samples.len() >= SESSIONS_TOLD);
    told.map(|it| (it, Sampled::Sessions)).or(alone)
}

/// Adds runs up.
fn sum_runs<'r>(mut runs: impl Iterator<Item = &'r SweptRun>) -> Option<SweptRun> {
    let mut sum = runs.next()?.clone();
    runs.for_each(|run| {
        sum.tally.add(&run.tally);
        Remembered::add(&mut sum.remembered, &run.remembered);
        sum.more.retain_mut(|(place, own)| {
            let other = run.more.iter().find(|it| it.0 == *place);
            other.is_some_and(|other| {
                *own = own.pooled(&other.1);
                true
            })
        });
    });
    Some(sum)
}
