//! What to repair in a memory: the stage that loses most answers, what a perfect one would recover, and what the best change brings.

use ctxsim_engine::take::StageRepair;

use super::Report;
use crate::prelude::*;

/// The most policies that a line names.
const NAMED: usize = 3;
/// The most loads on which repairs are looked for, in whatever format: every one of them is played several times more.
const LOADS: usize = 6;

/// Returns how many loads of memories there are, if these are too many to look for repairs.
fn n_loads_if_too_many(runs: &[Run]) -> Option<usize> {
    let loads = crate::distinct(runs.iter().filter(|it| it.is_of_memory()).map(|it| &*it.scenario));
    Some(loads.len()).filter(|it| *it > LOADS)
}

/// Returns the runs without repairs where there are too many loads to look for these, so that no format looks for them.
pub(super) fn drop_repairs_if_many_loads(mut runs: Vec<Run>) -> Vec<Run> {
    if n_loads_if_too_many(&runs).is_some() {
        for run in &mut runs {
            let without = run.findings.as_ref().and_then(|it| it.without_repair());
            run.findings = without.or_else(|| run.findings.take());
        }
    }
    runs
}

impl Report {
    /// Returns a line for each loss that memories of the report have in common, those of most policies first.
    pub fn memory_repair_lines(&self) -> Vec<String> {
        if let Some(n) = n_loads_if_too_many(&self.runs) {
            let n = counted(n, "load");
            return vec![format!("not looked for on {n}: run at most {LOADS} to see which changes help.")];
        }
        // Profiles differ in prices alone.
        let repaired = self.runs.iter().filter_map(|run| Some((run, run.findings.as_ref()?.repair()?)));
        let keyed = repaired.map(|it| ((it.1.stages.clone(), it.1.change.as_deref()), it));
        let mut groups = grouped(keyed).into_values().listed();
        groups.sort_by_key(|it| std::cmp::Reverse(distinct_policies(it).len()));
        groups.iter().map(|it| repair_line(it)).listed()
    }
}

/// Returns the policies of runs, each once.
fn distinct_policies<'r>(group: &[(&'r Run, &StageRepair)]) -> Vec<&'r str> {
    crate::distinct(group.iter().map(|it| it.0.policy.as_str()))
}

/// Returns the line of runs with one loss; of several loads the range of what would be recovered.
fn repair_line(group: &[(&Run, &StageRepair)]) -> String {
    let policies = distinct_policies(group);
    let whom = first_few(policies.iter().map(|it| (*it).to_owned()), NAMED);
    let loses = if policies.len() == 1 { "loses" } else { "lose" };
    let repair = group[0].1;
    let stage = match repair.stages.as_slice() {
        [one] => format!("most answers in {one}"),
        several => format!("most answers in {}: cannot tell which", several.join(" or ")),
    };
    let recovered = lowest_and_highest_percent(group.iter().map(|it| it.1.recovers.mean));
    let ends = repair.recovers.ci95.filter(|_| recovered.len() == 1);
    let ends = or_nothing(ends, |ends| format!(" ({})", ends.map(percent).join(" to ")));
    let recovers = recovered.join(" to ") + &ends;
    let gain = format!("a perfect stage would get {recovers} more of the questions about single facts right");
    format!("{whom} {loses} {stage}; {gain}. {}", best_change_sentence(group))
}

/// Says what the best change of those that were tried brings.
fn best_change_sentence(group: &[(&Run, &StageRepair)]) -> String {
    let (run, repair) = group[0];
    let what = run.remembered().next().map_or("score", |it| it.heading);
    let scores = lowest_and_highest_percent(group.iter().map(|it| it.1.score)).join(" to ");
    let changes = counted(repair.tried, "change");
    match (&repair.change, repair.tried) {
        (Some(change), _) => {
            let brings = lowest_and_highest_percent(group.iter().filter_map(|it| it.1.brings)).join(" to ");
            format!("With `--set '{change}'`: {what} {brings}, without it {scores}.")
        }
        (None, 0) => "No field of the policy or of the scenario changes that.".to_owned(),
        (None, _) => format!("Nothing that was tried ({changes}) raises the {what} of {scores}."),
    }
}

/// Writes the lowest and the highest of some shares; once if they are one.
fn lowest_and_highest_percent(shares: impl Iterator<Item = f64>) -> Vec<String> {
    let [low, high] = shares.fold([f64::INFINITY, 0.0_f64], |[low, high], it| [low.min(it), high.max(it)]);
    let ends = if low >= high { &[high][..] } else { &[low, high] };
    ends.iter().map(|it| percent(*it)).listed()
}
