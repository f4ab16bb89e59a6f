//! The chart of a run that is asked for.

use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_report::Report;
use ctxsim_report::chart::{ChartData, KINDS, PageChart};
use ctxsim_report::html::Traces;
use ctxsim_report::sections::Detail;

use crate::verbs::run::unwritable;

/// Returns one chart as a file.
pub(super) fn chart(
    report: &Report,
    traces: &Traces,
    detail: Detail,
    asked: Option<&str>,
) -> Result<String, Error> {
    let figures = ChartData::new(report, detail, &traces.runs).figures();
    let figure = figures.iter().find(|it| asked.is_none_or(|name| it.name == name));
    match figure {
        Some(figure) => figure.document().map_err(unwritable),
        None => Err(vec![missing(asked, &figures, traces)].into()),
    }
}

/// Reports a missing chart, and lists the available ones.
fn missing(asked: Option<&str>, figures: &[PageChart], traces: &Traces) -> Diagnostic {
    let asked = asked.unwrap_or(KINDS[0].name);
    let kind = KINDS.iter().find(|it| asked.strip_prefix(it.name).is_some_and(is_number));
    let message = match kind {
        Some(it) if it.name == "requests" && traces.left_out.is_some() => {
            traces.left_out.clone().unwrap_or_default()
        }
        Some(it) => format!("this run has no chart `{asked}`: it needs {}", it.needs),
        None => format!("unknown chart `{asked}`"),
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
