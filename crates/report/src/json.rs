//! A report as JSON: the contract that programs read.

use super::runs::{self, RunRow};
use super::sections::{Detail, Section, TableLine};
use super::{
    BillAsLogged, BillCheck, FailedRun, RunTotals, SessionReport, SkippedFile, Verdict, counts_by_value,
};
use crate::prelude::*;
use ctxsim_engine::measure::Label;
use ctxsim_input::suite::Reference;
use ctxsim_timeline::row::fields;
use std::cell::OnceCell;

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
    skipped: &'a [SkippedFile],
    /// What all sessions were billed by their logs, at list prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_logged: Option<BillAsLogged>,
    bill: Option<BillCheck>,
    /// Present if a suite compares published figures of ageing.
    #[serde(skip_serializing_if = "Option::is_none")]
    aging: Option<Value>,
    /// Tables of several scenarios with their sums.
    totals: Vec<Value>,
    verdicts: Vec<Value>,
    /// What to repair in memories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<String>,
    runs: Rows,
}

/// Returns a verdict, also in words.
fn verdict_json(verdict: Verdict) -> Value {
    group! { "words": verdict.full_text(), "verdict": Value::serialised(&verdict) }
}

/// Returns a table.
fn section_json(section: &Section) -> Value {
    let line = |(nth, line): (usize, &TableLine)| {
        let mut fields = group! {
            "policy": line.policy.clone(),
            "totals": Value::serialised(&RunTotals::new(&line.tally)),
            "change": (nth > 0).then(|| section.relative_cost_change(line)).flatten(),
            "spread": Value::serialised(&line.spread),
        };
        // The 95% interval of the change over what is assumed alone.
        if let Some(assumed) = section.cost_change_interval_assumed(line).filter(|_| nth > 0) {
            fields = fields.and(group! { "assumed": assumed.to_vec() });
        }
        fields = fields.and(group! { "stopped": line.stopped.clone() });
        line.reason.iter().fold(fields, |fields, reason| fields.and(group! { "reason": reason.clone() }))
    };
    group! {
        "load": section.load.clone(),
        "profile": section.profile.clone(),
        "scenarios": section.scenarios,
        "is_part": section.is_part,
        "policies": section.lines.iter().enumerate().map(line).listed(),
    }
}

/// Returns a run by itself.
pub fn run_json_value(run: &Run) -> serde_json::Value {
    serde_json::to_value(fields(&RunRow::new(run, None))).unwrap_or_default()
}

/// Returns the report as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn report_json(report: &Report) -> Result<String, serde_json::Error> {
    let sections = report.sections(Detail::Groups);
    let (verdicts, figures) = (report.verdicts_of(&sections).into_iter(), report.compare_figures());
    let document = ReportJson {
        schema: SCHEMA,
        suite: report.suite.as_deref(),
        notes: &report.notes,
        references: &report.references,
        sessions: &report.sessions,
        failures: &report.failures,
        skipped: &report.skipped,
        as_logged: report.total_bill_as_logged(),
        bill: report.bill_check(),
        aging: (!figures.is_empty()).then(|| group! { "figures": Value::serialised(&figures) }),
        totals: sections.iter().filter(|it| it.scenarios > 1).map(section_json).listed(),
        verdicts: verdicts.map(verdict_json).listed(),
        repairs: report.memory_repair_lines(),
        runs: runs::run_rows(report, false),
    };
    json_text(&document)
}

/// A run whose numbers can be looked up by metric.
#[derive(Debug)]
pub struct RunNumbers<'a> {
    pub run: &'a Run,
    label: Option<Label>,
    /// Created on demand.
    values: OnceCell<Value>,
}

impl<'a> RunNumbers<'a> {
    /// Opens a run.
    pub fn new(run: &'a Run, label: Option<Label>) -> Self {
        Self { run, label, values: OnceCell::new() }
    }

    /// Returns the number at a dotted path.
    pub fn number_at(&self, path: &str) -> Option<f64> {
        self.value_at(path)?.number()
    }

    /// Returns one of the numbers of a list at a place.
    pub fn list_number_at(&self, path: &str, nth: usize) -> Option<f64> {
        if let Value::List(all) = self.value_at(path)? { all.get(nth)?.number() } else { None }
    }

    fn value_at(&self, path: &str) -> Option<&Value> {
        self.values.get_or_init(|| fields(&RunRow::new(self.run, self.label))).at(path)
    }
}

/// The same of totals.
const TOTALS_SCHEMA: &str = "ctxsim.totals/1";

/// Returns the totals as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn totals_json(report: &Report) -> Result<String, serde_json::Error> {
    let sections = report.sections(Detail::Groups);
    let by_format = counts_by_value(report.sessions.iter().map(|it| it.format));
    let sum = |number: fn(&SessionReport) -> u64| report.sessions.iter().map(number).sum::<u64>();
    // How many recorded sessions there are, and of what kinds; records are left out that a harness writes beside its prompts, but
    // also those that are cut off.
    let sessions = group! {
        "sessions": report.sessions.len(),
        "of_agents": sum(|it| it.parent.is_some().into()),
        "by_format": Value::serialised(&by_format),
        "requests": sum(|it| it.requests),
        "requests_of_others": sum(|it| it.requests_of_others),
        "requests_estimated": sum(|it| it.requests_estimated),
        "left_out": Value::serialised(report.losses.by_kind()),
    };
    let mut all = group! {
        "schema": TOTALS_SCHEMA,
        "suite": report.suite.clone(),
        "notes": report.notes.clone(),
        "references": Value::serialised(&report.references),
        "scenarios": report.n_scenarios(),
        "sessions": sessions,
    };
    if !report.failures.is_empty() {
        all = all.and(group! { "failures": Value::serialised(&report.failures) });
    }
    json_text(&all.and(group! {
        "skipped": Value::serialised(&report.skipped),
        "bill": Value::serialised(&report.bill_check()),
        "totals": sections.iter().map(section_json).listed(),
        "verdicts": report.verdicts_of(&sections).into_iter().map(verdict_json).listed(),
    }))
}
