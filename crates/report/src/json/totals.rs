//! The totals of a report as JSON: what all scenarios come to together, without their runs, in a size that does not grow with them.

use super::{TotalJson, VerdictJson};
use crate::prelude::*;
use crate::sections::Detail;
use crate::{Lost, Report};

/// The schema; fields are added, never renamed without a new version.
const SCHEMA: &str = "ctxsim.totals/1";

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
    let totals: Vec<TotalJson> = sections.iter().map(TotalJson::new).collect();
    let verdicts: Vec<VerdictJson> =
        report.verdicts_of(&sections).into_iter().map(VerdictJson::new).collect();
    let mut all = group! {
        "schema": SCHEMA,
        "suite": report.suite.clone(),
        "notes": report.notes.clone(),
        "references": Value::of(&report.references),
        "scenarios": report.n_scenarios(),
        "sessions": Value::of(&sessions),
    };
    if !report.failures.is_empty() {
        all = all.and(group! { "failures": Value::of(&report.failures) });
    }
    json_text(&all.and(group! {
        "skipped": Value::of(&report.skipped),
        "bill": Value::of(&report.bill()),
        "totals": Value::of(&totals),
        "verdicts": Value::of(&verdicts),
    }))
}
