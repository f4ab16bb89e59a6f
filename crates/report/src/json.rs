//! A report as JSON: the contract that programs read.

mod totals;

use std::cell::OnceCell;

use serde_json::Value;

use super::runs::{self, RunOf};
use super::sections::{Detail, Section};
use super::{
    BillAsLogged, BillCheck, FailedRun, FigureLine, Report, RunTotals, SessionReport, Skipped, Verdict,
};
use crate::prelude::*;
use ctxsim_engine::measure::{Label, Spread};
use ctxsim_input::suite::Reference;
use ctxsim_timeline::row::{self, fields};

pub use totals::totals;

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.report/1";

#[derive(Debug, Serialize)]
struct ReportJson<'a> {
    schema: &'static str,
    suite: Option<&'a str>,
    notes: &'a [String],
    references: &'a [Reference],
    /// The recorded sessions, and what was left out.
    sessions: &'a [SessionReport],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failures: &'a [FailedRun],
    skipped: &'a [Skipped],
    /// What all sessions were billed by their logs, at list prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_logged: Option<BillAsLogged>,
    bill: Option<BillCheck>,
    /// Present if a suite compares published figures of ageing.
    #[serde(skip_serializing_if = "Option::is_none")]
    aging: Option<AgingJson>,
    /// Tables of several scenarios with their sums.
    totals: Vec<TotalJson>,
    verdicts: Vec<VerdictJson>,
    /// What to repair in memories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<String>,
    runs: Rows,
}

/// Published figures beside ours.
#[derive(Debug, Serialize)]
struct AgingJson {
    figures: Vec<FigureLine>,
}

/// A table in JSON.
#[derive(Debug, Serialize)]
struct TotalJson {
    load: String,
    profile: String,
    scenarios: usize,
    is_part: bool,
    policies: Vec<TotalLine>,
}

/// A line of a table.
#[derive(Debug, Serialize)]
struct TotalLine {
    policy: String,
    totals: RunTotals,
    change: Option<f64>,
    spread: Option<Spread>,
    /// The 95% interval of the change over what is assumed alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed: Option<[f64; 2]>,
    stopped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A verdict, also in words.
#[derive(Debug, Serialize)]
struct VerdictJson {
    words: String,
    verdict: Verdict,
}

impl VerdictJson {
    fn new(verdict: Verdict) -> Self {
        Self { words: verdict.words(), verdict }
    }
}

impl TotalJson {
    fn new(section: &Section) -> Self {
        let lines = section.lines.iter().enumerate().map(|(nth, it)| TotalLine {
            policy: it.policy.clone(),
            totals: RunTotals::new(&it.tally),
            change: (nth > 0).then(|| section.change(it)).flatten(),
            spread: it.spread,
            assumed: (nth > 0).then(|| section.change_assumed(it)).flatten(),
            stopped: it.stopped.clone(),
            reason: it.reason.clone(),
        });
        Self {
            load: section.load.clone(),
            profile: section.profile.clone(),
            scenarios: section.scenarios,
            is_part: section.is_part,
            policies: lines.listed(),
        }
    }
}

/// Returns a run by itself.
pub fn run_value(run: &Run) -> Value {
    serde_json::to_value(fields(&RunOf::new(run, None))).unwrap_or_default()
}

/// Returns the report as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(report: &Report) -> Result<String, serde_json::Error> {
    let sections = report.sections(Detail::Groups);
    let verdicts = report.verdicts_of(&sections).into_iter();
    let document = ReportJson {
        schema: SCHEMA,
        suite: report.suite.as_deref(),
        notes: &report.notes,
        references: &report.references,
        sessions: &report.sessions,
        failures: &report.failures,
        skipped: &report.skipped,
        as_logged: report.as_logged(),
        bill: report.bill(),
        aging: Some(AgingJson { figures: report.figure_lines() }).filter(|it| !it.figures.is_empty()),
        totals: sections.iter().filter(|it| it.scenarios > 1).map(TotalJson::new).listed(),
        verdicts: verdicts.map(VerdictJson::new).listed(),
        repairs: report.repair_lines(),
        runs: runs::rows(report, false),
    };
    json_text(&document)
}

/// A run whose numbers can be looked up by metric.
#[derive(Debug)]
pub struct RunNumbers<'a> {
    pub run: &'a Run,
    label: Option<Label>,
    /// Created on demand.
    values: OnceCell<row::Value>,
}

impl<'a> RunNumbers<'a> {
    /// Opens a run.
    pub fn new(run: &'a Run, label: Option<Label>) -> Self {
        Self { run, label, values: OnceCell::new() }
    }

    /// Returns the number at a dotted path.
    pub fn at(&self, place: &str) -> Option<f64> {
        self.value(place)?.number()
    }

    /// Returns one of the numbers of a list at a place.
    pub fn at_end(&self, place: &str, nth: usize) -> Option<f64> {
        if let row::Value::List(all) = self.value(place)? { all.get(nth)?.number() } else { None }
    }

    fn value(&self, place: &str) -> Option<&row::Value> {
        self.values.get_or_init(|| fields(&RunOf::new(self.run, self.label))).at(place)
    }
}
