//! What to repair in a memory: the stage that loses most answers, what a perfect one would recover, and what to change in which file.

use indexmap::IndexMap;

use super::Report;
use ctxsim_base::grid::numbers::percent;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::take::{Run, StageRepair};

/// The most policies that a line names.
const NAMED: usize = 3;

impl Report {
    /// Returns a line for each loss that memories of the report have in common, those of most policies first.
    pub fn repair_lines(&self) -> Vec<String> {
        // Profiles differ in prices alone.
        type Repairs<'r> = Vec<(&'r Run, &'r StageRepair)>;
        let mut groups: IndexMap<(Vec<&str>, &str), Repairs<'_>> = IndexMap::new();
        for run in &self.runs {
            let Some(it) = run.findings.as_ref().and_then(|it| it.repair()) else { continue };
            groups.entry((it.stages.clone(), &it.change)).or_default().push((run, it));
        }
        let mut groups = groups.into_values().listed();
        groups.sort_by_key(|it| std::cmp::Reverse(distinct(it, |run| &run.policy).len()));
        groups.iter().map(|it| line(it)).listed()
    }
}

/// Returns the names of runs, each once.
fn distinct<'r>(group: &[(&'r Run, &StageRepair)], name: impl Fn(&'r Run) -> &'r str) -> Vec<&'r str> {
    crate::distinct(group.iter().map(|it| name(it.0)))
}

/// Returns the line of runs with one loss; of several loads the range of what would be recovered.
fn line(group: &[(&Run, &StageRepair)]) -> String {
    let policies = distinct(group, |it| &it.policy);
    let named = policies.iter().take(NAMED).copied().listed().join(", ");
    let others = policies.len().saturating_sub(NAMED);
    let whom = if others > 0 { format!("{named} and {others} more") } else { named };
    let loses = if policies.len() == 1 { "loses" } else { "lose" };
    let it = group[0].1;
    let stage = match it.stages.as_slice() {
        [one] => format!("most answers in {one}"),
        several => format!("most answers in {}: cannot tell which", several.join(" or ")),
    };
    let means = group.iter().map(|it| it.1.recovers.mean);
    let [low, high] = means.fold([f64::INFINITY, 0.0], |[low, high], it: f64| [low.min(it), high.max(it)]);
    let recovers = match (group, it.recovers.ci95) {
        (_, _) if low < high => format!("{} to {}", percent(low), percent(high)),
        (_, Some([from, to])) => format!("{} ({} to {})", percent(high), percent(from), percent(to)),
        _ => percent(high),
    };
    let gain = format!("a perfect stage would get {recovers} more of the questions about single facts right");
    format!("{whom} {loses} {stage}; {gain}. Change {}.", it.change)
}
