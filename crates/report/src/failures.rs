//! Runs without a result in a report: they stand in front of everything else.

use super::{Report, distinct};
use crate::prelude::*;
use ctxsim_engine::take::FailedRun;

impl Report {
    /// Takes the runs out that came to no result, of a list in the order of a report.
    pub fn without_failed(runs: Vec<Run>) -> (Vec<Run>, Vec<FailedRun>) {
        let failed: Vec<FailedRun> = runs.iter().filter_map(FailedRun::of).listed();
        if failed.is_empty() {
            return (runs, failed);
        }
        let runs = runs.into_iter().filter(|it| it.tally.outcome.fault.is_none()).listed();
        (runs, failed)
    }

    /// Returns the runs that failed, in sentences; they stand in front of everything else.
    pub(super) fn failure_lines(&self) -> Vec<String> {
        let heading = match self.failures.len() {
            0 => return Vec::new(),
            1 => "1 run FAILED and is in no table:".to_owned(),
            n => format!("{n} runs FAILED and are in no table:"),
        };
        std::iter::once(heading).chain(self.failures.iter().map(ToString::to_string)).listed()
    }

    /// Returns what a reader of the numbers must know of runs that failed.
    pub fn notes_on_failures(&self, baseline: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let scenarios =
            self.failures.iter().filter(|it| it.policy == baseline).map(|failed| failed.scenario.as_str());
        let scenarios = distinct(scenarios);
        if !scenarios.is_empty() {
            notes.push(format!(
                "{baseline} is the baseline and failed on {}: differences there are against the next policy.",
                scenarios.join(", ")
            ));
        }
        notes
    }
}
