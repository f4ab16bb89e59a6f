//! `ctxsim run`: a comparison as tables, as JSON, or as rows.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ctxsim::catalog::{Catalog, Kind};
use ctxsim::compare::{Cell, Comparison, Load, Plan, Workload};
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::report::checkup::github;
use ctxsim::report::sections::Detail;
use ctxsim::report::sections::columns::Column;
use ctxsim::report::table::Layout;
use ctxsim::report::{Report, csv, html, json, markdown, rows, runner_rows, table};

use crate::args::{FormatArg, RowsArg, RunArgs, WidthArgs};
use crate::format::Formats;
use crate::output::OutputArgs;
use crate::words::without_sessions;
use crate::{git, output, pictures};

/// Work shorter than this shows no progress.
const QUIET: Duration = Duration::from_secs(1);
/// The shortest time between two updates of the progress bar.
const BEAT: Duration = Duration::from_millis(200);

/// The available output formats, whatever the rows.
pub(crate) const FORMATS: Formats<'_> = Formats { of: "`run`", known: &OF_RUNS };

/// The formats of a comparison.
const OF_RUNS: [FormatArg; 8] = [
    FormatArg::Table,
    FormatArg::Json,
    FormatArg::Jsonl,
    FormatArg::Csv,
    FormatArg::Markdown,
    FormatArg::Html,
    FormatArg::Svg,
    FormatArg::Github,
];

/// The width of tables without a terminal.
const TABLE_WIDTH: usize = 100;

/// Runs and writes; returns whether every guard of the suite held.
pub(crate) fn run(catalog: &Catalog, args: &RunArgs) -> Result<bool, Error> {
    let format = format(args)?;
    let columns = columns(args, format)?;
    let mut sessions: Vec<String> = args.paths.iter().chain(&args.scenarios).cloned().collect();
    let policies = without_sessions(catalog, ("--policy", Kind::Policy), &args.policies, &mut sessions)?;
    let profiles = without_sessions(catalog, ("--profile", Kind::Profile), &args.profiles, &mut sessions)?;
    let comparison = Comparison {
        suite: args.suite.clone(),
        policies,
        scenarios: sessions,
        profiles,
        own_models: false,
        seed: args.draw.seed,
        trials: args.draw.trials,
        set: args.set.clone(),
        ..Comparison::default()
    };
    let catalog = &git::with_revisions(catalog, &named(catalog, &comparison)?, args.process.allow_process)?;
    let plan = Plan::new(catalog, &args.process.of(args.select.of(comparison)))?;
    args.output.check(catalog.files())?;
    let (mut holds, mut marks) = (true, String::new());
    let text = match args.rows {
        RowsArg::Runs => {
            let mut report = with_progress(|it| plan.report(args.draw.threads(), it))?;
            report.min_evidence = args.min_evidence;
            report.columns = columns;
            holds &= report.failures.is_empty();
            for failed in &report.failures {
                anstream::eprintln!("run failed: {failed}");
            }
            for verdict in report.guard_verdicts.iter().filter(|it| !it.holds) {
                holds = false;
                anstream::eprintln!("guard failed: {verdict}");
            }
            if format == FormatArg::Github {
                marks = github::marks(&report.guard_verdicts);
            }
            written(&plan, &report, args, format)?
        }
        RowsArg::Trials | RowsArg::Probes => trials(&plan, args, format)?,
        RowsArg::Cards => {
            let report = with_progress(|it| plan.report(args.draw.threads(), it))?;
            let cards: Vec<String> = report.aging_cards().iter().map(ToString::to_string).collect();
            of_sessions(&cards, format)?
        }
        RowsArg::Facts => {
            let graphs = with_progress(|it| plan.each(args.draw.threads(), it, |load, _| load.fact_graph()))?;
            let graphs: Vec<String> = graphs.iter().flatten().map(ToString::to_string).collect();
            of_sessions(&graphs, format)?
        }
        RowsArg::Calls | RowsArg::Log | RowsArg::Orderings => service(&plan, args, format)?,
        RowsArg::Requests | RowsArg::Needs => {
            let (text, has_all) = ledger(&plan, args, format)?;
            holds = has_all;
            text
        }
    };
    args.output.put(catalog.files(), format, &text)?;
    output::print(&marks)?;
    Ok(holds)
}

/// Returns the policies of a run, from its arguments or its suite.
fn named(catalog: &Catalog, comparison: &Comparison) -> Result<Vec<String>, Error> {
    let suite = comparison.suite.as_ref().map(|it| catalog.suite(it)).transpose()?;
    let of_suite = suite.map(|it| it.spec.policies).unwrap_or_default();
    Ok(comparison.policies.iter().cloned().chain(of_suite).collect())
}

/// Returns the format: as requested, by the output's extension, or the default.
fn format(args: &RunArgs) -> Result<FormatArg, Error> {
    let of_chart = [FormatArg::Svg];
    let (of, known): (_, &[FormatArg]) = match (args.rows, &args.chart) {
        (RowsArg::Runs, Some(_)) => ("a chart", &of_chart),
        (RowsArg::Runs, None) => ("a comparison", &OF_RUNS),
        (RowsArg::Requests, _) => ("`--rows requests`", &ROWS),
        (RowsArg::Needs, _) => ("`--rows needs`", &ROWS),
        (RowsArg::Trials, _) => ("`--rows trials`", &ROWS),
        (RowsArg::Probes, _) => ("`--rows probes`", &ROWS),
        (RowsArg::Cards, _) => ("`--rows cards`", &ROWS[..2]),
        (RowsArg::Facts, _) => ("`--rows facts`", &ROWS[..2]),
        (RowsArg::Calls, _) => ("`--rows calls`", &ROWS),
        (RowsArg::Orderings, _) => ("`--rows orderings`", &ROWS),
        (RowsArg::Log, _) => ("`--rows log`", &ROWS[..2]),
    };
    Formats { of, known }.choose(args.format, &args.output)
}

/// The formats of rows below runs.
const ROWS: [FormatArg; 3] = [FormatArg::Jsonl, FormatArg::Json, FormatArg::Csv];

/// Returns a report as text.
fn written(plan: &Plan, report: &Report, args: &RunArgs, format: FormatArg) -> Result<String, Error> {
    let detail = if args.details { Detail::Scenarios } else { Detail::Groups };
    match format {
        FormatArg::Table | FormatArg::Junit | FormatArg::Sarif => {
            let width = Some(table_width(args.wide, &args.output));
            Ok(table::report(report, Layout { width, detail }))
        }
        FormatArg::Markdown => Ok(markdown::report(report, detail)),
        FormatArg::Github => Ok(markdown::summary(report)),
        FormatArg::Html => html::report(report, detail, &pictures::traces(plan, args)?).map_err(unwritable),
        FormatArg::Svg => pictures::chart(plan, report, detail, args),
        FormatArg::Json => json::document(report).map_err(unwritable),
        FormatArg::Jsonl => json::lines(report).map_err(unwritable),
        FormatArg::Csv => csv::report(report).map_err(unwritable),
    }
}

/// Joins the lines that only session streams have.
fn of_sessions(lines: &[String], format: FormatArg) -> Result<String, Error> {
    if lines.is_empty() {
        let problem = Diagnostic::at("rows-sessions", "", "no scenario in this run has a stream of sessions");
        return Err(vec![problem.help("name a scenario with `load.aging`")].into());
    }
    joined(lines, format)
}

/// Returns the columns that are asked for, which only tables have.
fn columns(args: &RunArgs, format: FormatArg) -> Result<Vec<Column>, Error> {
    use FormatArg::{Github, Html, Markdown, Table};
    let Some(asked) = &args.columns else { return Ok(Vec::new()) };
    if args.rows != RowsArg::Runs || ![Table, Markdown, Html, Github].contains(&format) {
        let problem = Diagnostic::at("usage", "", "`--columns` chooses the columns of tables");
        let help = "use `--format table`, `markdown`, `html` or `github`; other formats have every number";
        return Err(vec![problem.help(help)].into());
    }
    Ok(Column::parse(asked)?)
}

/// Returns the width of tables.
pub(crate) fn table_width(asked: WidthArgs, output: &OutputArgs) -> usize {
    given_width(asked, output).unwrap_or(TABLE_WIDTH)
}

/// Returns the width that is asked for, else the terminal's or the environment's, on which no file depends.
#[expect(clippy::disallowed_methods, reason = "how wide a table is drawn on a screen is no result")]
pub(crate) fn given_width(asked: WidthArgs, output: &OutputArgs) -> Option<usize> {
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|it| *it > 0);
    let of_screen = || output::width().or_else(of_environment);
    let is_screen = output.file().is_none();
    asked.width.map(usize::from).or_else(|| if is_screen { of_screen() } else { None })
}

/// Returns the rows of all runs, and whether none of them failed.
fn ledger(plan: &Plan, args: &RunArgs, format: FormatArg) -> Result<(String, bool), Error> {
    let n_failed = AtomicUsize::new(0);
    let of_loads = with_progress(|it| {
        plan.each(args.draw.threads(), it, |load, progress| {
            refuse_rows(load, args.rows)?;
            let names_run = plan.scenarios.len() > 1 || load.policies.len() * load.profiles.len() > 1;
            let context = |cell: Cell| context(load, cell, names_run);
            let mut lines = Vec::new();
            for (cell, ledger) in load.rows(progress) {
                if let Some(fault) = &ledger.fault {
                    n_failed.fetch_add(1, Ordering::Relaxed);
                    anstream::eprintln!(
                        "run failed: {} on {}: {fault}",
                        run_name(load, cell).profile,
                        load.name
                    );
                    continue;
                }
                let more = match args.rows {
                    RowsArg::Needs => rows::needs(&ledger, context(cell)),
                    _ => rows::requests(&ledger, context(cell)),
                };
                lines.extend(more.map_err(unwritable)?);
            }
            for (cell, made) in load.conversation_rows(progress) {
                for one in made {
                    let of = (one.length, one.trial);
                    let more = rows::requests_of_conversation(&one.rows, of, context(cell));
                    lines.extend(more.map_err(unwritable)?);
                }
            }
            Ok(lines)
        })
    })?;
    let of_loads: Result<Vec<Vec<String>>, Error> = of_loads.into_iter().collect();
    Ok((joined(&of_loads?.concat(), format)?, n_failed.into_inner() == 0))
}

/// Returns the memories' calls to their services, or every action of memory runners.
fn service(plan: &Plan, args: &RunArgs, format: FormatArg) -> Result<String, Error> {
    let of_loads = with_progress(|it| {
        plan.each(args.draw.threads(), it, |load, progress| {
            let name = |cell: Cell| run_name(load, cell);
            if args.rows == RowsArg::Orderings {
                return runner_rows::orderings(&load.name, &load.orderings(progress));
            }
            let mut lines = Vec::new();
            for (cell, _, log) in load.runner_logs() {
                let of = written_by(load, cell);
                let more = match args.rows {
                    RowsArg::Log => runner_rows::events(name(cell), of, &log),
                    _ => runner_rows::calls(name(cell), of, &log),
                };
                lines.extend(more?);
            }
            if args.rows == RowsArg::Calls {
                for (cell, ledger) in load.rows(progress) {
                    lines.extend(runner_rows::memory_calls(name(cell), &ledger.calls)?);
                }
            }
            Ok(lines)
        })
    })?;
    let of_loads: Result<Vec<Vec<String>>, serde_json::Error> = of_loads.into_iter().collect();
    let lines = of_loads.map_err(unwritable)?.concat();
    if lines.is_empty() {
        let message = "no policy in this run calls a memory service";
        let help = "name policies with `memory: service(…)` (for `orderings`, one with entries and one without), or \
            one whose `memory` has a `service`";
        return Err(vec![Diagnostic::at("rows-calls", "", message).help(help)].into());
    }
    joined(&lines, format)
}

/// Returns a run's name.
fn run_name(load: &Load, cell: Cell) -> rows::RunName<'_> {
    rows::RunName {
        policy: &load.policies[cell.policy].name,
        scenario: &load.name,
        profile: &load.profiles[cell.profile].name,
    }
}

/// Returns the runner of a cell.
fn written_by(load: &Load, cell: Cell) -> runner_rows::Written<'_> {
    let runner = load.policies[cell.policy].service_memory();
    runner_rows::Written {
        context_only: runner.map(|it| !it.write.entries),
        service: runner.map_or("", |it| it.service.as_str()),
    }
}

/// Refuses rows that a load does not have, or has once per trial.
fn refuse_rows(load: &Load, rows: RowsArg) -> Result<(), Error> {
    if load.workload.aging().is_some() {
        let message = format!("{} has no request rows: it reports totals of its session streams", load.name);
        let help = "use `--rows probes` for one row per question, or `--rows runs`";
        return Err(vec![Diagnostic::at("rows-aging", "", message).help(help)].into());
    }
    if let Workload::Chats(_) = load.workload {
        let message = format!("{} has no request rows: it reports totals of its trials", load.name);
        let help = "use `--rows calls`, `--rows log` or `--rows probes`";
        return Err(vec![Diagnostic::at("rows-aging", "", message).help(help)].into());
    }
    if load.workload.conversations().is_some() && rows == RowsArg::Needs {
        let message = format!("{} declares no needs: probes ask for its facts", load.name);
        let help = "use `--rows probes` for one row per fact, or `--rows trials` for one per conversation";
        return Err(vec![Diagnostic::at("rows-conversation", "", message).help(help)].into());
    }
    if load.is_sampled && load.trials > 1 {
        let message = format!("{} has {} trials, so its request rows are ambiguous", load.name, load.trials);
        let help = "use `--rows trials` for one row per trial, or add `--trials 1`";
        return Err(vec![Diagnostic::at("rows-several-trials", "", message).help(help)].into());
    }
    Ok(())
}

/// Returns what the rows of a run are read with.
fn context(load: &Load, cell: Cell, names_run: bool) -> rows::Context<'_> {
    // What was fetched takes the place of the first request of a step.
    let recorded = load.workload.items().filter(|_| !load.is_sampled).and_then(|it| it.recorded.as_ref());
    let (policy, profile) = (&load.policies[cell.policy], &load.profiles[cell.profile]);
    let sessions = load.workload.items().map_or(&[][..], |it| &it.spine.sessions);
    rows::Context { policy, scenario: &load.name, sessions, recorded, profile, names_run }
}

/// Returns the rows of all trials, conversations first, or the probes of conversations.
fn trials(plan: &Plan, args: &RunArgs, format: FormatArg) -> Result<String, Error> {
    let of_loads = with_progress(|it| {
        plan.each(args.draw.threads(), it, |load, progress| {
            let name = |cell: Cell| run_name(load, cell);
            if args.rows == RowsArg::Probes {
                let runs = load.probes(progress);
                let lines = runs.iter().map(|(cell, probes)| rows::probes(name(*cell), probes));
                let traces = load.trace();
                let of_sessions = traces.iter().map(|(cell, all)| rows::trace(name(*cell), all));
                let of_sessions = of_sessions.collect::<Result<Vec<_>, _>>()?.concat();
                let answers = load.runner_logs().into_iter().map(|(cell, chats, log)| {
                    runner_rows::answers(name(cell), written_by(load, cell), &chats, &log)
                });
                let answers = answers.collect::<Result<Vec<_>, _>>()?.concat();
                return Ok([lines.collect::<Result<Vec<_>, _>>()?.concat(), [of_sessions, answers].concat()]);
            }
            let runs = load.trials(progress);
            let conversations = runs.iter().map(|(cell, trials)| rows::trials(name(*cell), trials));
            let conversations: Vec<Vec<String>> = conversations.collect::<Result<_, _>>()?;
            let runs = load.drawn(progress);
            let drawn = runs.iter().map(|(cell, trials)| rows::drawn(name(*cell), trials));
            Ok([conversations.concat(), drawn.collect::<Result<Vec<_>, _>>()?.concat()])
        })
    })?;
    let of_loads: Result<Vec<[Vec<String>; 2]>, serde_json::Error> = of_loads.into_iter().collect();
    let (conversations, drawn): (Vec<_>, Vec<_>) =
        of_loads.map_err(unwritable)?.into_iter().map(|[one, other]| (one, other)).unzip();
    let lines = [conversations.concat(), drawn.concat()].concat();
    if lines.is_empty() {
        let problem = Diagnostic::at("rows-trials", "", "no scenario in this run has trials");
        return Err(vec![problem.help("name a scenario with `load.conversation`")].into());
    }
    joined(&lines, format)
}

/// Joins rows in a format.
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

/// Reports that a value cannot be written.
pub(crate) fn unwritable(error: impl std::fmt::Display) -> Error {
    vec![Diagnostic::at("unwritable", "", error.to_string())].into()
}

/// Draws a progress bar.
fn bar(done: usize, all: usize) -> String {
    const CELLS: usize = 30;
    let full = (done * CELLS).checked_div(all).unwrap_or(0).min(CELLS);
    format!("{}{}", "█".repeat(full), "░".repeat(CELLS - full))
}

/// Returns the estimated time left; empty until a twentieth of the work is done.
fn time_left(elapsed: Duration, done: usize, all: usize) -> String {
    if done == 0 || done * 20 < all || done >= all {
        return String::new();
    }
    let rest = elapsed.as_secs_f64() * (all - done) as f64 / done as f64;
    match rest {
        it if it < 90.0 => format!(", about {it:.0} s left  "),
        it => format!(", about {:.0} min left  ", it / 60.0),
    }
}

/// Shows the progress of long work on a terminal.
#[allow(clippy::disallowed_methods, reason = "someone waits")]
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
            anstream::eprint!(
                "\r{} {done} of {all}{}",
                bar(done, all),
                time_left(start.elapsed(), done, all)
            );
            *last = Some(Instant::now());
        }
    });
    if shown.into_inner().is_ok_and(|it| it.is_some()) {
        anstream::eprint!("\r{:80}\r", "");
    }
    result
}
