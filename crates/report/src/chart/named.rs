//! The chart of a report that is asked for by name.

use super::requests::RunRequests;
use super::{ChartData, KINDS, PageChart};
use crate::Report;
use crate::prelude::*;
use crate::sections::Detail;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;

/// Returns one chart as an SVG file: the first, or the one that is named. `left_out` says why there are no requests to chart, if there are none.
///
/// # Errors
/// The report has no such chart, or it cannot be written.
pub fn named_chart(
    report: &Report,
    (traces, left_out): (&[RunRequests], Option<&str>),
    detail: Detail,
    asked: Option<&str>,
) -> Result<String, Error> {
    let figures = ChartData::new(report, detail, traces).figures();
    let figure = figures.iter().find(|it| asked.is_none_or(|name| it.name == name));
    let found = figure.ok_or_else(|| vec![missing(asked, &figures, left_out)])?;
    found.document().map_err(|it| vec![Diagnostic::at(Code::Unwritable, "", it.to_string())].into())
}

/// Reports a missing chart, and lists the available ones.
fn missing(asked: Option<&str>, figures: &[PageChart], left_out: Option<&str>) -> Diagnostic {
    let asked = asked.unwrap_or(KINDS[0].name);
    let kind = KINDS.iter().find(|it| asked.strip_prefix(it.name).is_some_and(is_number));
    let message = match (kind, left_out) {
        (Some(it), Some(why)) if it.name == "requests" => why.to_owned(),
        (Some(it), _) => format!("this run has no chart `{asked}`: it needs {}", it.needs),
        (None, _) => format!("unknown chart `{asked}`"),
    };
    let names: Vec<String> = if figures.is_empty() {
        KINDS.iter().map(|it| format!("`{}` ({})", it.name, it.needs)).listed()
    } else {
        figures.iter().map(|it| format!("`{}`", it.name)).listed()
    };
    let what =
        if figures.is_empty() { "available charts and their requirements" } else { "charts of this run" };
    Diagnostic::at(Code::ChartMissing, "", message).help(format!("{what}: {}", names.join(", ")))
}

/// Returns whether a text is empty or the number of a further chart.
fn is_number(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix('-')
            .is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}
