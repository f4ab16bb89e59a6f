//! The totals of a report as JSON: what all scenarios come to together, without their runs, in a size that does not grow with them.

use indexmap::IndexMap;
use serde::Serialize;

use super::{TotalJson, VerdictJson};
use crate::input::suite::Reference;
use crate::report::sections::Detail;
use crate::report::{BillCheck, FailedRun, Lost, Report, Skipped};

/// The schema; fields are added, never renamed without a new version.
const SCHEMA: &str = "ctxsim.totals/1";

/// The totals of a report.
#[derive(Debug, Serialize)]
struct TotalsJson<'a> {
    schema: &'static str,
    suite: Option<&'a str>,
    notes: &'a [String],
    references: &'a [Reference],
    scenarios: usize,
    sessions: SessionsJson<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failures: &'a [FailedRun],
    skipped: &'a [Skipped],
    bill: Option<BillCheck>,
    totals: Vec<TotalJson>,
    verdicts: Vec<VerdictJson>,
}

/// How many recorded sessions there are, and of what kinds.
#[derive(Debug, Default, Serialize)]
struct SessionsJson<'a> {
    sessions: usize,
    /// Sessions of sub-agents.
    of_agents: usize,
    by_format: IndexMap<&'a str, usize>,
    requests: u64,
    requests_of_others: u64,
    requests_estimated: u64,
    /// Records that could not be used, by what they are: what a harness writes beside its prompts, but also what is cut off.
    left_out: IndexMap<&'a str, Lost>,
}

/// Returns the totals as one JSON document.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn totals(report: &Report) -> Result<String, serde_json::Error> {
    let sections = report.sections(Detail::Groups);
    let verdicts = report.verdicts_of(&sections).into_iter();
    let left_out = report.losses.kinds().iter().map(|(what, it)| (what.as_str(), *it)).collect();
    let mut sessions = SessionsJson { left_out, ..SessionsJson::default() };
    for session in &report.sessions {
        sessions.sessions += 1;
        sessions.of_agents += usize::from(session.parent.is_some());
        *sessions.by_format.entry(session.format).or_default() += 1;
        sessions.requests += session.requests;
        sessions.requests_of_others += session.requests_of_others;
        sessions.requests_estimated += session.requests_estimated;
    }
    let document = TotalsJson {
        schema: SCHEMA,
        suite: report.suite.as_deref(),
        notes: &report.notes,
        references: &report.references,
        scenarios: report.n_scenarios(),
        sessions,
        failures: &report.failures,
        skipped: &report.skipped,
        bill: report.bill(),
        totals: sections.iter().map(TotalJson::new).collect(),
        verdicts: verdicts.map(|it| VerdictJson { words: it.words(), verdict: it }).collect(),
    };
    serde_json::to_string_pretty(&document).map(|it| it + "\n")
}
