//! A report as one self-contained HTML page: verdicts, charts, and all tables.

use indexmap::IndexMap;
use serde::Serialize;

use super::chart::requests::Trace;
use super::chart::{self, Figure, Source};
use super::sections::Detail;
use super::{Report, distinct, template};
use crate::grid::numbers;
use crate::grid::{self, Grid};

/// The requests that a page can chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    /// Run by run.
    pub runs: Vec<Trace>,
    /// Why there are none.
    pub left_out: Option<String>,
}

/// Data for the page's template.
#[derive(Serialize)]
struct Page {
    title: String,
    about: String,
    verdict: Vec<String>,
    sessions: Vec<String>,
    guards: Option<Guards>,
    style: String,
    charts: Vec<Group>,
    charts_left_out: Vec<String>,
    tables: Vec<Grid>,
    notes: Vec<String>,
    assumptions: Vec<String>,
}

/// The guards' verdicts.
#[derive(Serialize)]
struct Guards {
    heading: String,
    lines: Vec<String>,
}

/// The charts of one thing.
#[derive(Debug, Serialize)]
struct Group {
    subject: String,
    figures: Vec<Drawn>,
}

/// A figure as the page has it.
#[derive(Debug, Serialize)]
struct Drawn {
    #[serde(flatten)]
    figure: Figure,
    svg: String,
}

/// Returns the report as a page.
///
/// # Errors
/// What the template says.
pub fn report(report: &Report, detail: Detail, traces: &Traces) -> Result<String, template::Error> {
    let source = Source::new(report, detail, &traces.runs);
    let sections = report.sections(detail).into_iter().map(|it| it.grid(numbers::thousands));
    let references = report.references.iter().map(|it| format!("{}: {}", it.name, it.about));
    let notes = report.all_notes().into_iter().chain(references);
    let page = Page {
        title: title(report),
        about: about(report),
        verdict: report.verdict_lines(),
        sessions: report.on_sessions(),
        guards: report.guards_heading().map(|heading| Guards { heading, lines: report.guard_lines(detail) }),
        style: chart::style()?,
        charts: charts(&source)?,
        charts_left_out: left_out(&source, traces),
        tables: report
            .figures_grid()
            .into_iter()
            .chain(sections)
            .chain(report.grids())
            .chain(report.filled_grids())
            .collect(),
        notes: notes.collect(),
        assumptions: report.assumptions(),
    };
    let text = format!("{}{}", grid::html::TABLE, include_str!("page.html"));
    template::write("page.html", &text, page)
}

/// Returns the charts by what they are of.
fn charts(source: &Source<'_>) -> Result<Vec<Group>, template::Error> {
    let mut charts: IndexMap<String, Vec<Drawn>> = IndexMap::new();
    for figure in source.figures() {
        let svg = figure.inline()?;
        charts.entry(figure.subject.clone()).or_default().push(Drawn { figure, svg });
    }
    Ok(charts.into_iter().map(|(subject, figures)| Group { subject, figures }).collect())
}

/// Names the charts that are not on the page.
fn left_out(source: &Source<'_>, traces: &Traces) -> Vec<String> {
    let n_shown = source.sections.len();
    let tables = (source.n_left_out > 0)
        .then(|| format!("Charts cover the first {n_shown} tables; {} more have none.", source.n_left_out));
    tables.into_iter().chain(traces.left_out.clone()).collect()
}

/// Describes the page.
fn title(report: &Report) -> String {
    let scenarios = distinct(report.runs.iter().map(|it| it.scenario.as_str()));
    let is_recorded = scenarios.iter().all(|name| report.sessions.iter().any(|it| it.name == *name));
    let subject = match (scenarios.as_slice(), &report.suite) {
        ([only], _) if is_recorded => format!("recorded session {only}"),
        ([only], _) => (*only).to_owned(),
        (all, _) if is_recorded => format!("{} recorded sessions", numbers::thousands(all.len() as u64)),
        (_, Some(suite)) => format!("suite {suite}"),
        (all, None) => format!("{} scenarios", numbers::thousands(all.len() as u64)),
    };
    format!("Context policies compared: {subject}")
}

/// Describes what was compared.
fn about(report: &Report) -> String {
    let count = |of: fn(&super::Run) -> &str, one: &str, many: &str| {
        let n = distinct(report.runs.iter().map(of)).len();
        format!("{} {}", numbers::thousands(n as u64), if n == 1 { one } else { many })
    };
    let first = report.runs.first().map(|it| format!("; changes are relative to {}", it.policy));
    format!(
        "{}, {}, {}{}.",
        count(|it| &it.policy, "policy", "policies"),
        count(|it| &it.scenario, "scenario", "scenarios"),
        count(|it| &it.profile, "profile", "profiles"),
        first.unwrap_or_default()
    )
}
