//! Charts of a run: the requests that they show, and the one that is asked for.

use std::sync::atomic::{AtomicUsize, Ordering};

use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::report::Report;
use ctxsim::report::chart::requests::Trace;
use ctxsim::report::chart::{Figure, KINDS, Source};
use ctxsim::report::html::Traces;
use ctxsim::report::sections::Detail;

use ctxsim::take::{Load, Take};

use crate::format::FormatArg;
use crate::verbs::run::unwritable;

/// The most runs whose requests are charted: each takes a part of the page.
const MOST_RUNS: usize = 24;

/// Keeps the requests of a comparison's runs while it is played, as long as they are few.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    n_runs: AtomicUsize,
    is_on: bool,
}

impl Tracer {
    /// Keeps requests if a format shows them.
    pub(crate) fn of(format: FormatArg) -> Self {
        Self { is_on: [FormatArg::HTML, FormatArg::SVG].contains(&format), ..Self::default() }
    }

    /// Returns whether the requests of a load are still shown; conversations have none of their own.
    pub(crate) fn wants(&self, load: &Load) -> bool {
        let has_requests = load.world.lengths().is_empty();
        let n_own = if has_requests { load.policies.len() * load.profiles.len() } else { 0 };
        self.is_on && self.n_runs.fetch_add(n_own, Ordering::Relaxed) + n_own <= MOST_RUNS
    }

    /// Returns the requests of a load's runs.
    pub(crate) fn of_load(load: &Load, takes: &[Take]) -> Vec<Trace> {
        let trial = if load.trials > 1 { " (first trial)" } else { "" };
        let scenario = format!("{}{trial}", load.name);
        let rows = takes.iter().filter_map(|it| Some((it.cell, it.rows.as_ref()?)));
        let trace = rows.filter(|(_, it)| it.fault.is_none()).map(|(cell, rows)| {
            let profile = &load.profiles[cell.profile].name;
            Trace::new(&load.policies[cell.policy], &scenario, profile, rows)
        });
        trace.collect()
    }

    /// Returns them all, or why there are none.
    pub(crate) fn traces(self, of_loads: Vec<Vec<Trace>>) -> Traces {
        let n_runs = self.n_runs.into_inner();
        if n_runs <= MOST_RUNS {
            return Traces { runs: of_loads.concat(), left_out: None };
        }
        let sentence = format!(
            "Request charts cover at most {MOST_RUNS} runs, and this comparison has {n_runs}: name fewer \
                scenarios, profiles or policies."
        );
        Traces { runs: Vec::new(), left_out: Some(sentence) }
    }
}

/// Returns one chart as a file.
pub(crate) fn chart(
    report: &Report,
    traces: &Traces,
    detail: Detail,
    asked: Option<&str>,
) -> Result<String, Error> {
    let figures = Source::new(report, detail, &traces.runs).figures();
    let figure = figures.iter().find(|it| asked.is_none_or(|name| it.name == name));
    match figure {
        Some(figure) => figure.document().map_err(unwritable),
        None => Err(vec![missing(asked, &figures, traces)].into()),
    }
}

/// Reports a missing chart, and lists the available ones.
fn missing(asked: Option<&str>, figures: &[Figure], traces: &Traces) -> Diagnostic {
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
        KINDS.iter().map(|it| format!("`{}` ({})", it.name, it.needs)).collect()
    } else {
        figures.iter().map(|it| format!("`{}`", it.name)).collect()
    };
    let what =
        if figures.is_empty() { "available charts and their requirements" } else { "charts of this run" };
    Diagnostic::at("chart-missing", "", message).help(format!("{what}: {}", names.join(", ")))
}

/// Returns whether a text is empty or the number of a further chart.
fn is_number(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix('-').is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}
