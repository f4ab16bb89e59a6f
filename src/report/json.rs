//! A report as JSON: the contract that programs read.

use std::cell::OnceCell;

use serde::Serialize;
use serde_json::Value;

use super::retention::RetentionCost;
use super::{Report, Run};
use crate::measure::{Label, Retention, Totals};
use crate::spec::guard::ReferenceSpec;

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.report/1";

/// A report as programs read it.
#[derive(Debug, Serialize)]
struct ReportJson<'a> {
    schema: &'static str,
    suite: Option<&'a str>,
    notes: &'a [String],
    references: &'a [ReferenceSpec],
    runs: Vec<RunJson<'a>>,
}

/// A run as programs read it.
#[derive(Debug, Serialize)]
struct RunJson<'a> {
    policy: &'a str,
    scenario: &'a str,
    profile: &'a str,
    seed: u64,
    trials: u64,
    label: Option<Label>,
    totals: Totals,
    retention: Option<&'a Retention>,
    retention_cost: Option<RetentionCost>,
    aging: Option<()>,
    memory_calls: Option<()>,
    assumptions: &'a [String],
}

impl<'a> RunJson<'a> {
    fn new(run: &'a Run, label: Option<Label>) -> Self {
        Self {
            policy: &run.policy,
            scenario: &run.scenario,
            profile: &run.profile,
            seed: run.seed,
            trials: run.trials,
            label,
            totals: Totals::new(&run.tally),
            retention: run.retention.as_deref(),
            retention_cost: RetentionCost::new(run),
            aging: None,
            memory_calls: None,
            assumptions: &run.assumed.sentences,
        }
    }
}

/// Returns the report as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(report: &Report) -> Result<String, serde_json::Error> {
    let runs = report.labelled().map(|(run, label)| RunJson::new(run, label)).collect();
    let document = ReportJson {
        schema: SCHEMA,
        suite: report.suite.as_deref(),
        notes: &report.notes,
        references: &report.references,
        runs,
    };
    serde_json::to_string_pretty(&document).map(|it| it + "\n")
}

/// A run in which numbers are looked up by their place in its JSON.
#[derive(Debug)]
pub struct Numbers<'a> {
    /// The run.
    pub run: &'a Run,
    label: Option<Label>,
    /// Made when it is asked for.
    json: OnceCell<Value>,
}

impl<'a> Numbers<'a> {
    /// Opens a run.
    #[must_use]
    pub fn new(run: &'a Run, label: Option<Label>) -> Self {
        Self { run, label, json: OnceCell::new() }
    }

    /// Returns the number at a place, its steps parted by dots.
    #[must_use]
    pub fn at(&self, place: &str) -> Option<f64> {
        // What the tables look up needs no JSON.
        let retention = place.strip_prefix("retention.").zip(self.run.retention.as_deref());
        retention.and_then(|(place, it)| it.number(place)).or_else(|| {
            let make = || serde_json::to_value(RunJson::new(self.run, self.label)).unwrap_or_default();
            place.split('.').try_fold(self.json.get_or_init(make), |at, step| at.get(step))?.as_f64()
        })
    }
}

/// Returns the runs as JSON, one a line.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn lines(report: &Report) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for (run, label) in report.labelled() {
        text.push_str(&serde_json::to_string(&RunJson::new(run, label))?);
        text.push('\n');
    }
    Ok(text)
}
