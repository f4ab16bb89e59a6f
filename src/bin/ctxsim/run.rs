//! `ctxsim run`: a comparison as tables, as JSON, or as rows.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ctxsim::catalog::Catalog;
use ctxsim::compare::{Cell, Comparison, Plan};
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::guard;
use ctxsim::report::sections::Detail;
use ctxsim::report::table::Layout;
use ctxsim::report::{Report, csv, html, json, markdown, rows, table};

use crate::args::{FormatArg, RowsArg, RunArgs};
use crate::output;

/// Work that is over sooner shows no progress.
const QUIET: Duration = Duration::from_secs(1);
/// Progress is shown no more often.
const BEAT: Duration = Duration::from_millis(200);

/// Runs and writes; returns whether every guard of the suite held.
pub(crate) fn run(catalog: &Catalog, args: &RunArgs) -> Result<bool, Error> {
    let format = format(args)?;
    let comparison = Comparison {
        suite: args.suite.clone(),
        policies: args.policies.clone(),
        scenarios: args.scenarios.clone(),
        profiles: args.profiles.clone(),
        seed: args.draw.seed,
        trials: args.draw.trials,
        set: args.set.clone(),
    };
    let plan = Plan::new(catalog, &comparison)?;
    let mut holds = true;
    let text = match args.rows {
        RowsArg::Runs => {
            let report = with_progress(|it| plan.report(args.draw.threads(), it));
            for verdict in guard::judge(&plan.guards, &report) {
                if !verdict.holds {
                    holds = false;
                    anstream::eprintln!("guard failed: {verdict}");
                }
            }
            written(&report, args, format)?
        }
        RowsArg::Trials | RowsArg::Probes => trials(&plan, args, format)?,
        RowsArg::Requests | RowsArg::Needs => ledger(&plan, args, format)?,
    };
    output::put(args.output.as_deref(), &text)?;
    Ok(holds)
}

/// Returns the format: as asked for, as the output's extension says, or the usual one.
fn format(args: &RunArgs) -> Result<FormatArg, Error> {
    let of_extension = of_extension(args.output.as_deref());
    let is_rows = args.rows != RowsArg::Runs;
    let usual = if is_rows { FormatArg::Jsonl } else { FormatArg::Table };
    let format = args.format.or(of_extension).unwrap_or(usual);
    if is_rows && matches!(format, FormatArg::Table | FormatArg::Markdown | FormatArg::Html) {
        let problem = Diagnostic::at("rows-format", "", "rows are not drawn as tables");
        return Err(vec![problem.help("write `--format json`, `jsonl` or `csv`")].into());
    }
    Ok(format)
}

/// Returns the format that a file's extension says.
pub(crate) fn of_extension(path: Option<&Path>) -> Option<FormatArg> {
    match path.and_then(Path::extension).and_then(|it| it.to_str()) {
        Some("json") => Some(FormatArg::Json),
        Some("jsonl") => Some(FormatArg::Jsonl),
        Some("csv") => Some(FormatArg::Csv),
        Some("md") => Some(FormatArg::Markdown),
        Some("html") => Some(FormatArg::Html),
        _ => None,
    }
}

/// Returns a report as text.
fn written(report: &Report, args: &RunArgs, format: FormatArg) -> Result<String, Error> {
    let detail = if args.details { Detail::Scenarios } else { Detail::Groups };
    match format {
        FormatArg::Table => {
            let width = if args.output.is_some() { None } else { output::width() };
            Ok(table::report(report, Layout { width, detail }))
        }
        FormatArg::Markdown => Ok(markdown::report(report, detail)),
        FormatArg::Html => Ok(html::report(report, detail)),
        FormatArg::Json => json::document(report).map_err(unwritable),
        FormatArg::Jsonl => json::lines(report).map_err(unwritable),
        FormatArg::Csv => csv::report(report).map_err(unwritable),
    }
}

/// Returns the rows of all runs.
fn ledger(plan: &Plan, args: &RunArgs, format: FormatArg) -> Result<String, Error> {
    if let Some(load) = plan.scenarios.iter().find(|it| it.workload.conversations().is_some()) {
        let (message, help) = if args.rows == RowsArg::Needs {
            let help = "write `--rows probes` for one row a fact, or `--rows trials` for one a conversation";
            (format!("{} has no needs: its facts are asked for by probes", load.name), help)
        } else {
            let help = "write `--rows trials` for one row a conversation, or `--rows probes` for one a fact";
            (format!("the requests of {} are those of many conversations", load.name), help)
        };
        return Err(vec![Diagnostic::at("rows-conversation", "", message).help(help)].into());
    }
    if let Some(load) = plan.scenarios.iter().find(|it| it.trials > 1) {
        let message = format!("the rows of {} are those of {} trials", load.name, load.trials);
        let help = "write `--rows trials` for one row a trial, or `--trials 1`";
        return Err(vec![Diagnostic::at("rows-several-trials", "", message).help(help)].into());
    }
    let ledgers = with_progress(|it| plan.rows(args.draw.threads(), it));
    let names_run = ledgers.len() > 1;
    let mut lines = Vec::new();
    for (cell, ledger) in &ledgers {
        let load = &plan.scenarios[cell.scenario];
        let profile = &plan.profiles[cell.profile];
        let policy = &load.policies[cell.policy];
        // What was fetched takes the place of the first request of a step.
        let recorded = load.workload.items().filter(|_| !load.is_sampled).and_then(|it| it.recorded.as_ref());
        let context = rows::Context { policy, scenario: &load.name, recorded, profile, names_run };
        let more = match args.rows {
            RowsArg::Needs => rows::needs(ledger, context),
            _ => rows::requests(ledger, context),
        };
        lines.extend(more.map_err(unwritable)?);
    }
    joined(&lines, format)
}

/// Returns the trials of everything that is drawn, conversations first, or the probes of conversations.
fn trials(plan: &Plan, args: &RunArgs, format: FormatArg) -> Result<String, Error> {
    let threads = args.draw.threads();
    let name = |cell: &Cell| rows::RunName {
        policy: &plan.policies[cell.policy],
        scenario: &plan.scenarios[cell.scenario].name,
        profile: &plan.profiles[cell.profile].name,
    };
    let all: Result<Vec<Vec<String>>, _> = if args.rows == RowsArg::Probes {
        let runs = with_progress(|it| plan.probes(threads, it));
        runs.iter().map(|(cell, probes)| rows::probes(name(cell), probes)).collect()
    } else {
        let conversations = with_progress(|it| plan.trials(threads, it));
        let drawn = with_progress(|it| plan.drawn(threads, it));
        let conversations = conversations.iter().map(|(cell, trials)| rows::trials(name(cell), trials));
        conversations.chain(drawn.iter().map(|(cell, trials)| rows::drawn(name(cell), trials))).collect()
    };
    let lines = all.map_err(unwritable)?;
    if lines.is_empty() {
        let problem = Diagnostic::at("rows-trials", "", "no scenario of this run has trials");
        return Err(vec![problem.help("name one whose load is `conversation`")].into());
    }
    joined(&lines.concat(), format)
}

/// Puts rows together in a format.
fn joined(lines: &[String], format: FormatArg) -> Result<String, Error> {
    match format {
        FormatArg::Json if lines.is_empty() => Ok("[]\n".to_owned()),
        FormatArg::Json => Ok(format!("[\n{}\n]\n", lines.join(",\n"))),
        FormatArg::Csv => {
            let flat: Result<Vec<_>, _> = lines.iter().map(|it| csv::flat(it)).collect();
            flat.map(|it| csv::table(&it)).map_err(unwritable)
        }
        _ if lines.is_empty() => Ok(String::new()),
        _ => Ok(lines.join("\n") + "\n"),
    }
}

/// Says that a value cannot be written.
pub(crate) fn unwritable(error: serde_json::Error) -> Error {
    vec![Diagnostic::at("unwritable", "", error.to_string())].into()
}

/// Shows how far long work has come, where someone may be watching.
pub(crate) fn with_progress<T>(work: impl FnOnce(&(dyn Fn(usize, usize) + Sync)) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work(&|_, _| {});
    }
    let start = Instant::now();
    let shown: Mutex<Option<Instant>> = Mutex::new(None);
    let result = work(&|done, all| {
        if start.elapsed() < QUIET {
            return;
        }
        if let Ok(mut last) = shown.try_lock()
            && last.is_none_or(|it| it.elapsed() >= BEAT)
        {
            anstream::eprint!("\r{done} of {all} simulations");
            *last = Some(Instant::now());
        }
    });
    if shown.into_inner().is_ok_and(|it| it.is_some()) {
        anstream::eprint!("\r{:40}\r", "");
    }
    result
}
