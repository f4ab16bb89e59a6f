//! A report as JSON: the contract that programs read.

use std::cell::OnceCell;

use serde::Serialize;
use serde_json::Value;

use super::firings::StageJson;
use super::retention::RetentionCost;
use super::sections::{Detail, Section};
use super::{BillCheck, FailedRun, FigureLine, GuardVerdict, Report, Run, Session, Skipped, Totals, Verdict};
use crate::aging::Summary;
use crate::input::suite::Reference;
use crate::ledger::MemorySums;
use crate::measure::{Label, Retention, Spread, Tally};
use crate::quantity::Tokens;
use crate::runner;

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.report/1";

/// A report in JSON.
#[derive(Debug, Serialize)]
struct ReportJson<'a> {
    schema: &'static str,
    suite: Option<&'a str>,
    notes: &'a [String],
    references: &'a [Reference],
    /// The recorded sessions, and what was left out.
    sessions: &'a [Session],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failures: &'a [FailedRun],
    skipped: &'a [Skipped],
    bill: Option<BillCheck>,
    /// Present if a suite compares published figures of ageing.
    #[serde(skip_serializing_if = "Option::is_none")]
    aging: Option<AgingJson>,
    /// Tables of several scenarios with their sums.
    totals: Vec<TotalJson>,
    verdicts: Vec<VerdictJson>,
    runs: Vec<RunJson<'a>>,
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
    totals: Totals,
    change: Option<f64>,
    spread: Option<Spread>,
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

impl TotalJson {
    fn new(section: &Section) -> Self {
        let lines = section.lines.iter().enumerate().map(|(nth, it)| TotalLine {
            policy: it.policy.clone(),
            totals: Totals::new(&it.tally),
            change: (nth > 0).then(|| section.change(it)).flatten(),
            spread: it.spread,
            stopped: it.stopped.clone(),
            reason: it.reason.clone(),
        });
        Self {
            load: section.load.clone(),
            profile: section.profile.clone(),
            scenarios: section.scenarios,
            is_part: section.is_part,
            policies: lines.collect(),
        }
    }
}

/// A run in JSON.
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
    aging: Option<&'a Summary>,
    memory_calls: Option<MemoryCalls<'a>>,
    assumptions: &'a [String],
    stages: Vec<StageJson<'a>>,
    /// Present in every run of a report that was checked against guards.
    #[serde(skip_serializing_if = "Option::is_none")]
    guards: Option<Vec<&'a GuardVerdict>>,
}

/// The calls of memories to their services.
#[derive(Debug, Serialize)]
struct MemoryCalls<'a> {
    writes: u64,
    write_tokens: Tokens,
    reads: u64,
    read_tokens: Tokens,
    cost_usd: f64,
    /// Of a memory runner.
    #[serde(flatten)]
    runner: Option<&'a runner::Summary>,
}

impl<'a> MemoryCalls<'a> {
    /// Says what there were, or nothing if there were none and no runner.
    fn new(tally: &Tally, runner: Option<&'a runner::Summary>) -> Option<Self> {
        let MemorySums { writes, write_tokens, reads, read_tokens, .. } = tally.sums.memory;
        let cost_usd = tally.costs.memory.usd();
        let is_any = writes + reads > 0 || runner.is_some();
        is_any.then_some(Self { writes, write_tokens, reads, read_tokens, cost_usd, runner })
    }
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
            aging: run.aging.as_deref(),
            memory_calls: MemoryCalls::new(&run.tally, run.runner.as_deref()),
            assumptions: &run.assumed.sentences,
            stages: run.stages_json(),
            guards: None,
        }
    }

    /// Adds the guards' verdicts.
    fn judged(run: &'a Run, label: Option<Label>, report: &'a Report) -> Self {
        Self { guards: report.verdicts_on(run), ..Self::new(run, label) }
    }
}

/// Returns a run by itself.
pub(crate) fn run_value(run: &Run) -> Value {
    serde_json::to_value(RunJson::new(run, None)).unwrap_or_default()
}

/// Returns the report as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn document(report: &Report) -> Result<String, serde_json::Error> {
    let runs = report.labelled().map(|(run, label)| RunJson::judged(run, label, report)).collect();
    let sections = report.sections(Detail::Groups);
    let verdicts = report.verdicts().into_iter();
    let document = ReportJson {
        schema: SCHEMA,
        suite: report.suite.as_deref(),
        notes: &report.notes,
        references: &report.references,
        sessions: &report.sessions,
        failures: &report.failures,
        skipped: &report.skipped,
        bill: report.bill(),
        aging: Some(AgingJson { figures: report.figure_lines() }).filter(|it| !it.figures.is_empty()),
        totals: sections.iter().filter(|it| it.scenarios > 1).map(TotalJson::new).collect(),
        verdicts: verdicts.map(|it| VerdictJson { words: it.words(), verdict: it }).collect(),
        runs,
    };
    serde_json::to_string_pretty(&document).map(|it| it + "\n")
}

/// A run whose numbers can be looked up by metric.
#[derive(Debug)]
pub struct Numbers<'a> {
    /// The run.
    pub run: &'a Run,
    label: Option<Label>,
    /// Created on demand.
    json: OnceCell<Value>,
}

impl<'a> Numbers<'a> {
    /// Opens a run.
    #[must_use]
    pub fn new(run: &'a Run, label: Option<Label>) -> Self {
        Self { run, label, json: OnceCell::new() }
    }

    /// Returns the number at a dotted path.
    #[must_use]
    pub fn at(&self, place: &str) -> Option<f64> {
        // What the tables look up needs no JSON.
        let retention = place.strip_prefix("retention.").zip(self.run.retention.as_deref());
        retention.and_then(|(place, it)| it.number(place)).or_else(|| self.value(place)?.as_f64())
    }

    /// Returns one of the numbers of a list at a place.
    #[must_use]
    pub fn at_end(&self, place: &str, nth: usize) -> Option<f64> {
        self.value(place)?.get(nth)?.as_f64()
    }

    fn value(&self, place: &str) -> Option<&Value> {
        let make = || serde_json::to_value(RunJson::new(self.run, self.label)).unwrap_or_default();
        place.split('.').try_fold(self.json.get_or_init(make), |at, step| at.get(step))
    }
}

/// Returns the runs as JSON, one per line.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn lines(report: &Report) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for (run, label) in report.labelled() {
        text.push_str(&serde_json::to_string(&RunJson::judged(run, label, report))?);
        text.push('\n');
    }
    Ok(text)
}
