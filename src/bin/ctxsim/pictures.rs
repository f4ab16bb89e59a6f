//! Charts of a run: the requests that they show, and the one that is asked for.

use ctxsim::compare::Plan;
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::report::Report;
use ctxsim::report::chart::requests::Trace;
use ctxsim::report::chart::{Figure, KINDS, Source};
use ctxsim::report::html::Traces;
use ctxsim::report::sections::Detail;

use crate::args::RunArgs;
use crate::run::{unwritable, with_progress};

/// The most runs whose requests are charted: each takes a part of the page.
const MOST_RUNS: usize = 24;

/// Replays a few runs for their requests; conversations have none of their own.
pub(crate) fn traces(plan: &Plan, args: &RunArgs) -> Result<Traces, Error> {
    let n_shown = with_progress(|it| {
        plan.each(args.draw.threads(), it, |load, _| {
            let has_requests = load.world.lengths().is_empty();
            if has_requests { load.policies.len() * load.profiles.len() } else { 0 }
        })
    })?;
    let n_runs: usize = n_shown.into_iter().sum();
    if n_runs > MOST_RUNS {
        let sentence = format!(
            "Request charts cover at most {MOST_RUNS} runs, and this comparison has {n_runs}: name fewer \
                scenarios, profiles or policies."
        );
        return Ok(Traces { runs: Vec::new(), left_out: Some(sentence) });
    }
    let of_loads = with_progress(|it| {
        plan.each(args.draw.threads(), it, |load, progress| {
            let trial = if load.trials > 1 { " (first trial)" } else { "" };
            let scenario = format!("{}{trial}", load.name);
            let rows = load.rows(progress).into_iter().filter(|(_, it)| it.fault.is_none());
            let trace = rows.map(|(cell, rows)| {
                let profile = &load.profiles[cell.profile].name;
                Trace::new(&load.policies[cell.policy], &scenario, profile, &rows)
            });
            trace.collect::<Vec<_>>()
        })
    })?;
    Ok(Traces { runs: of_loads.concat(), left_out: None })
}

/// Returns one chart as a file.
pub(crate) fn chart(plan: &Plan, report: &Report, detail: Detail, args: &RunArgs) -> Result<String, Error> {
    let traces = traces(plan, args)?;
    let figures = Source::new(report, detail, &traces.runs).figures();
    let asked = args.chart.as_deref();
    let figure = figures.iter().find(|it| asked.is_none_or(|name| it.name == name));
    match figure {
        Some(figure) => figure.document().map_err(unwritable),
        None => Err(vec![missing(asked, &figures, &traces)].into()),
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
