//! `ctxsim run`: a comparison as tables, as JSON, or as rows.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::prelude::*;
use ctxsim_app::advise::is_log_of_known_agent;
use ctxsim_app::as_unstoppable_watch;
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::measure::missed::{Miss, all_misses};
use ctxsim_engine::take::{Cell, Load, RowsOf, Take};
use ctxsim_report::chart::{KINDS, draw_named_chart_svg};
use ctxsim_report::checkup::github;
use ctxsim_report::html::Traces;
use ctxsim_report::run_blocks::RunLayout;
use ctxsim_report::sections::Detail;
use ctxsim_report::sections::columns::TableColumn;
use ctxsim_report::tracer::Tracer;
use ctxsim_report::{NextCommands, Report, SessionReport, html, json, rows, run_blocks, runs};
use ctxsim_timeline::row::Rows;

use crate::git::{RevArgs, RevisionCatalog};
use crate::verbs::parts::{PartJob, PartsArgs};
use crate::what::next_command_on as next_of;

/// The arguments of `run`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", offer_comparison_formats("`run`")),
    mut_arg("parts", |parts| {
        parts.conflicts_with_all(["rows", "details", "columns", "chart", "format", "output", "html", "totals"])
    })
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub policies: PoliciesArgs,
    #[command(flatten)]
    pub what: LoadArgs,
    #[command(flatten)]
    pub suite: SuiteArgs,
    #[command(flatten)]
    pub rev: RevArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    /// Row granularity
    #[arg(long, value_enum, default_value_t)]
    pub rows: RowsArg,
    #[command(flatten)]
    pub shown: PagedArgs,
    /// Columns of the tables, as in `cost_usd,cache_hit,recovery_tokens`
    #[arg(long, value_name = "A,B,C", long_help = columns_help())]
    pub columns: Option<String>,
    #[arg(long, value_name = "NAME", help = chart_help(), conflicts_with = "rows")]
    pub chart: Option<String>,
    /// Show every scenario and every assumption
    #[arg(long)]
    pub details: bool,
    /// Write only what all scenarios come to together, without the runs of each: as tables, JSON or a page
    #[arg(long, conflicts_with_all = ["rows", "details", "columns", "chart"])]
    pub totals: bool,
    #[command(flatten)]
    pub parts: PartsArgs,
}

/// Describes `--columns`: every column there is.
fn columns_help() -> String {
    let names = TableColumn::all_names().listed().join(", ");
    format!(
        "Columns of the tables, separated by commas: a name below, or a heading with `_` for blanks, such as `cost_usd`, \
      `recovery_tokens`, `compression_savings` or `limit_pressure`\n\n{names}"
    )
}

/// Describes `--chart`: every kind of chart.
fn chart_help() -> String {
    let names = KINDS.map(|it| it.name).join(", ");
    format!("Chart to write as svg: {names}; the second of a kind is `cost-2`")
}

/// The granularity of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowsArg {
    /// One policy on one scenario under one profile
    #[default]
    Runs,
    /// One model request
    Requests,
    /// One evidence need: something earlier that a later step needs
    Needs,
    /// One conversation and which of its facts survived, or one sample of all needs
    Trials,
    /// One conversation of the context-decay loads, as the published script writes it
    Published,
    /// One question about a fact, and what happened to the fact
    Probes,
    /// One aging card: a run over many sessions, in AgingBench's schema
    Cards,
    /// One stream of sessions: its facts and what depends on them
    Facts,
    /// One call from a memory to its service
    Calls,
    /// One action of a memory runner: a message, a call or a model request
    Log,
    /// One changed assumption, and which memory runner then answers more questions
    Orderings,
}

/// Returns the formats of a comparison, the usual one first.
fn comparison_formats() -> Vec<FormatArg> {
    let whole = [FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::SVG, FormatArg::GITHUB];
    std::iter::once(FormatArg::TABLE).chain(FormatArg::row_formats()).chain(whole).listed()
}

/// Makes `--format` offer the formats of a comparison or of rows.
pub(crate) fn offer_comparison_formats(subject: &'static str) -> impl FnOnce(Arg) -> Arg {
    let help = "Output format [default: by the output's extension, else table or jsonl]";
    move |format| Formats { of: subject, known: &comparison_formats() }.restrict_format_arg(format).help(help)
}

/// Runs and writes; returns whether every guard of the suite held.
pub(crate) fn run_and_check_guards(catalog: &Catalog, args: &RunArgs) -> Result<bool> {
    let format = choose_format(args)?;
    let columns = parse_columns(args, format)?;
    let (catalog, plan) = plan_run(catalog, args)?;
    let catalog = &catalog;
    let is_drawn = [FormatArg::HTML, FormatArg::SVG].contains(&format) || args.shown.page.is_asked();
    if let Some(passed) = write_parts_or_totals_if_asked(&plan, args, format, catalog)? {
        return Ok(passed);
    }
    args.shown.check_output_paths(catalog.files_read())?;
    let output = &args.shown.shown.output;
    let detail = if args.details { Detail::Scenarios } else { Detail::Groups };
    let (mut holds, mut marks) = (true, String::new());
    // The prompts of a single load are drawn on a terminal, too.
    let tracer = Tracer::new(is_drawn || format == FormatArg::TABLE && plan.scenarios.len() == 1);
    let reported = || -> Result<(Report, Traces)> {
        let (mut report, traces) = run_with_progress(SIMULATES, |progress| {
            let wants = |load: &Load| tracer.admit_load(load);
            let trace = |load: &Load, takes: &[Take]| tracer.kept_requests_of_load(load, takes);
            plan.report_and_map_takes(args.what.threads(), &as_unstoppable_watch(progress), wants, trace)
        })?;
        report.min_evidence = args.evidence.min_evidence;
        report.next = advise_command(args, &report.sessions);
        report.columns = columns;
        let traces = tracer.into_traces(traces);
        let page = || html::html_page(&report, detail, &traces);
        args.shown.page.write_if_asked(catalog.files_read(), output.force, page)?;
        Ok((report, traces))
    };
    let text = match args.rows {
        RowsArg::Runs => {
            let (report, traces) = reported()?;
            holds &= all_ran_or_print_failures(&report);
            for verdict in report.guard_verdicts.iter().filter(|it| !it.holds) {
                holds = false;
                output::print_note(format_args!("guard failed: {verdict}"));
            }
            if format == FormatArg::GITHUB {
                marks = github::guard_annotation_commands(&report.guard_verdicts);
            }
            encode_report(&report, &traces, args, detail, format)?
        }
        // Rows have no page of their own: theirs is that of the runs.
        rows => {
            if args.shown.page.is_asked() {
                reported()?;
            }
            let (text, has_all) = rows_and_all_ok(&plan, args, rows, format)?;
            holds = has_all;
            text
        }
    };
    output.write_result(catalog.files_read(), format, text)?;
    output::print_encoded(marks.as_bytes())?;
    Ok(holds)
}

/// Returns rows, and whether no run failed.
fn rows_and_all_ok(plan: &Plan, args: &RunArgs, rows: RowsArg, format: FormatArg) -> Result<(Vec<u8>, bool)> {
    let kind = match rows {
        RowsArg::Requests | RowsArg::Needs => return ledger_rows_and_all_ok(plan, args, format),
        RowsArg::Runs | RowsArg::Cards => {
            let report = run_with_progress(SIMULATES, |it| plan.report(args.what.threads(), it))?;
            return Ok((encode_session_rows(&report.finding_cards_json(), format)?, true));
        }
        RowsArg::Trials => RowsOf::Trials,
        RowsArg::Published => RowsOf::Published,
        RowsArg::Probes => RowsOf::Questions,
        RowsArg::Facts => RowsOf::Facts,
        RowsArg::Calls => RowsOf::Calls,
        RowsArg::Log => RowsOf::Log,
        RowsArg::Orderings => RowsOf::Orderings,
    };
    Ok((encode_world_rows(plan, args, format, kind)?, true))
}

/// Returns the plan of a run, and the catalog that it was made with.
pub(crate) fn plan_run(catalog: &Catalog, args: &RunArgs) -> Result<(RevisionCatalog, Plan)> {
    let comparison = args.what.comparison(catalog, "--policy", &args.policies.policies)?;
    let comparison =
        Comparison { suite: args.suite.suite.clone(), ..args.select.add_selection_to(comparison) };
    let named = policy_names_of_run(catalog, &comparison, args.rev)?;
    let with = git::read_policy_revisions(catalog, &named, comparison.allow_process)?;
    let plan = Plan::new(&with, &comparison)?;
    Ok((with, plan))
}

/// Makes parts, or writes totals alone, where one of these is asked for; returns whether no run failed.
fn write_parts_or_totals_if_asked(
    plan: &Plan,
    args: &RunArgs,
    format: FormatArg,
    catalog: &Catalog,
) -> Result<Option<bool>> {
    let (threads, min_evidence) = (args.what.threads(), args.evidence.min_evidence);
    if let Some(folder) = args.parts.folder() {
        plan.check_splittable()?;
        let names: Vec<&str> = plan.scenarios.iter().map(|it| it.name.as_str()).listed();
        let (digest, head) = (plan.job_digest(min_evidence), plan.report_head(min_evidence));
        let job = PartJob { digest: &digest, head: &head, names: &names, threads };
        args.parts.make_missing_parts(folder, &job, |told, making| plan.make_parts(told, making))?;
        return Ok(Some(true));
    }
    if !args.totals {
        return Ok(None);
    }
    check_totals_path(&args.shown, format, catalog.files_read())?;
    let report = run_with_progress(SIMULATES, |it| {
        plan.report_from_parts(threads, &as_unstoppable_watch(it), min_evidence)
    })?;
    write_totals(&report, &args.shown, format, catalog.files_read())?;
    Ok(Some(all_ran_or_print_failures(&report)))
}

/// Tells which runs failed; returns whether none did.
pub(crate) fn all_ran_or_print_failures(report: &Report) -> bool {
    for failed in &report.failures {
        output::print_note(format_args!("run failed: {failed}"));
    }
    report.failures.is_empty()
}

/// Checks before any work that totals may be written.
pub(crate) fn check_totals_path(to: &PagedArgs, format: FormatArg, inputs: &InputFiles) -> Result<()> {
    if ![FormatArg::JSON, FormatArg::TABLE, FormatArg::HTML].contains(&format) {
        let help = "use `--format table`, `--format json` or `--format html`";
        return Err(usage_error("totals are written as tables, as JSON or as a page", help));
    }
    to.check_output_paths(inputs)
}

/// Writes the totals of a report.
pub(crate) fn write_totals(
    report: &Report,
    to: &PagedArgs,
    format: FormatArg,
    inputs: &InputFiles,
) -> Result<()> {
    let page = || html::html_page(report, Detail::Groups, &Traces::default());
    let on = to.shown.terminal();
    let text = || match format {
        FormatArg::JSON => json::totals_json(report).map_err(unwritable_error),
        _ => Ok(run_blocks::report_text(report, RunLayout { on, ..RunLayout::default() })),
    };
    to.write_text_and_page(inputs, format, page, text)
}

/// Returns the command that advises on the sessions of a first report, in which nobody named a policy, a profile or a suite.
fn advise_command(args: &RunArgs, sessions: &[SessionReport]) -> Option<NextCommands> {
    let RunArgs { what, select, .. } = args;
    let named: Vec<String> = what.paths.iter().chain(&what.scenarios).cloned().listed();
    let is_first = args.policies.policies.is_empty()
        && what.under.profiles.is_empty()
        && args.suite.suite.is_none()
        && !named.is_empty();
    let is_known =
        |it: &SessionReport| is_log_of_known_agent(it.format, it.model.as_deref().unwrap_or_default());
    (is_first && sessions.iter().any(is_known)).then(|| next_of(&named, &select.to_command_options()))
}

/// Returns the policies of a run, from its arguments or its suite.
fn policy_names_of_run(catalog: &Catalog, comparison: &Comparison, rev: RevArgs) -> Result<Vec<String>> {
    // A suite supplies only what was omitted.
    let suite = comparison.suite.as_ref().filter(|_| comparison.policies.is_empty());
    let Some(suite) = suite else { return Ok(comparison.policies.clone()) };
    rev.checked_policy_names(&catalog.suite(suite)?).map(<[String]>::to_vec)
}

/// Returns the format: as requested, by the output's extension, or the default.
fn choose_format(args: &RunArgs) -> Result<FormatArg> {
    let (subject, known) = match (args.rows, &args.chart) {
        (_, Some(_)) => ("a chart".to_owned(), vec![FormatArg::SVG]),
        (RowsArg::Runs, None) => ("a comparison".to_owned(), comparison_formats()),
        (rows, None) => {
            let mut known: Vec<FormatArg> = FormatArg::row_formats().listed();
            // One row a line is the usual form.
            known.order_by_key(|it| *it != FormatArg::JSONL);
            // What these have differs from row to row.
            if let RowsArg::Cards | RowsArg::Facts | RowsArg::Log = rows {
                known.retain(|it| it.row_format().is_none_or(|it| !it.is_flat));
            }
            let name = rows.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default();
            (format!("`--rows {name}`"), known)
        }
    };
    args.shown.shown.choose_format(&Formats { of: &subject, known: &known })
}

/// Returns a report in a format.
fn encode_report(
    report: &Report,
    traces: &Traces,
    args: &RunArgs,
    detail: Detail,
    format: FormatArg,
) -> Result<Vec<u8>> {
    let on = args.shown.shown.terminal();
    let text = match format {
        FormatArg::TABLE => run_blocks::report_text(report, RunLayout { on, detail, traces: &traces.runs }),
        FormatArg::MARKDOWN => run_blocks::report_markdown(report, detail).into(),
        FormatArg::GITHUB => run_blocks::job_summary_markdown(report).into(),
        FormatArg::HTML => html::html_page(report, detail, traces).map_err(unwritable_error)?,
        FormatArg::SVG => {
            let chart = args.chart.as_deref();
            draw_named_chart_svg(report, (&traces.runs, traces.left_out.as_deref()), detail, chart)?
        }
        FormatArg::JSON => json::report_json(report).map_err(unwritable_error)?,
        of_rows => return of_rows.encode_rows(|in_words| vec![runs::run_rows(report, in_words)]),
    };
    Ok(text.into())
}

/// Writes what only session streams have.
fn encode_session_rows(all: &[Value], format: FormatArg) -> Result<Vec<u8>> {
    if all.is_empty() {
        let message = "no scenario in this run has a stream of sessions";
        return Err(Error::refused(Code("rows-sessions"), message, "name a scenario with `load.aging`"));
    }
    format.encode_rows(|_| vec![Rows::serialised(all)])
}

/// Returns the columns that are asked for, which only tables have.
fn parse_columns(args: &RunArgs, format: FormatArg) -> Result<Vec<TableColumn>> {
    if args.rows != RowsArg::Runs && args.details && !args.shown.page.is_asked() {
        let help = "remove `--details`: rows have everything";
        return Err(usage_error("`--details` shows more of tables and pages", help));
    }
    let Some(asked) = &args.columns else { return Ok(Vec::new()) };
    let of_tables = [FormatArg::TABLE, FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::GITHUB];
    if args.rows != RowsArg::Runs || !of_tables.contains(&format) {
        let help = "use `--format table`, `markdown`, `html` or `github`; other formats have every number";
        return Err(usage_error("`--columns` chooses the columns of tables", help));
    }
    Ok(TableColumn::parse_list(asked)?)
}

/// Returns the rows of all runs, and whether none of them failed.
fn ledger_rows_and_all_ok(plan: &Plan, args: &RunArgs, format: FormatArg) -> Result<(Vec<u8>, bool)> {
    let n_failed = AtomicUsize::new(0);
    let of_loads = run_with_progress(SIMULATES, |told| {
        plan.map_loads(args.what.threads(), told, |load, progress| {
            check_load_has_rows(load, args.rows)?;
            let names_run = plan.scenarios.len() > 1 || load.policies.len() * load.profiles.len() > 1;
            let timeline = load.timeline();
            let missed_at = |it| timeline.map_or_else(Vec::new, |timeline| all_misses(timeline, it));
            let misses = load.profiles.iter().map(missed_at).listed();
            let context = |cell: Cell| row_context(load, cell, &misses[cell.profile], names_run);
            let mut all = Vec::new();
            for (cell, ledger, costs) in load.priced_rows(progress) {
                if let Some(fault) = &ledger.fault {
                    n_failed.fetch_add(1, Ordering::Relaxed);
                    let profile = load.run_name(cell).profile;
                    output::print_note(format_args!("run failed: {profile} on {}: {fault}", load.name));
                    continue;
                }
                all.push(match args.rows {
                    RowsArg::Needs => rows::need_rows(&ledger, context(cell)),
                    _ => rows::request_rows(&ledger, context(cell), &costs),
                });
            }
            for (cell, trials) in load.world.ledgers(load, progress) {
                all.extend(trials.iter().map(|trial| {
                    let costs = load.costs_of_trial(cell, &trial.rows, trial.limit_violations);
                    let at = (trial.length, trial.trial);
                    rows::conversation_request_rows(&trial.rows, at, context(cell), &costs)
                }));
            }
            Ok(all)
        })
    })?;
    let of_loads: Result<Vec<Vec<Rows>>> = of_loads.into_iter().collect();
    let rows = of_loads?.into_iter().flatten().listed();
    Ok((format.encode_rows(|_| rows)?, n_failed.into_inner() == 0))
}

/// Returns rows that only some worlds have, or a problem where no load has any.
fn encode_world_rows(plan: &Plan, args: &RunArgs, format: FormatArg, kind: RowsOf) -> Result<Vec<u8>> {
    let of_loads = run_with_progress(SIMULATES, |told| {
        plan.map_loads(args.what.threads(), told, |load, progress| load.rows_of(kind, progress))
    })?;
    let all = of_loads.concat();
    if all.iter().all(|it| it.rows.is_empty()) {
        return match kind {
            RowsOf::Trials | RowsOf::Published | RowsOf::Questions => {
                let help = "name a scenario with `load.conversation`";
                Err(Error::refused(Code("rows-trials"), "no scenario in this run has trials", help))
            }
            RowsOf::Facts => encode_session_rows(&[], format),
            RowsOf::Calls | RowsOf::Log | RowsOf::Orderings => {
                let help = "name policies with `memory: service(…)` (for `orderings`, one with entries and one \
                    without), or one whose `memory` has a `service`";
                Err(Error::refused(Code("rows-calls"), "no policy in this run calls a memory service", help))
            }
        };
    }
    format.encode_rows(|_| all)
}

/// Refuses rows that a load does not have, or has once per trial.
fn check_load_has_rows(load: &Load, rows: RowsArg) -> Result<()> {
    if let Some(problem) = load.world.without_rows(rows == RowsArg::Needs) {
        return Err(problem.into());
    }
    if load.is_sampled && load.trials > 1 {
        let message = format!("{} has {} trials, so its request rows are ambiguous", load.name, load.trials);
        let help = "use `--rows trials` for one row per trial, or add `--trials 1`";
        return Err(Error::refused(Code("rows-several-trials"), message, help));
    }
    Ok(())
}

/// Returns what the rows of a run are read with.
fn row_context<'l>(load: &'l Load, cell: Cell, misses: &'l [Miss], names_run: bool) -> rows::RowContext<'l> {
    // What was fetched takes the place of the first request of a step.
    let recorded = load.timeline().filter(|_| !load.is_sampled).and_then(|it| it.recorded.as_ref());
    let (policy, profile) = (&load.policies[cell.policy], &load.profiles[cell.profile]);
    let sessions = load.timeline().map_or(&[][..], |it| &it.spine.sessions);
    rows::RowContext { policy, scenario: &load.name, sessions, recorded, misses, profile, names_run }
}

/// Reports that a value cannot be written.
pub(crate) fn unwritable_error(error: impl std::fmt::Display) -> Error {
    Diagnostic::at(Code("unwritable"), "", error.to_string()).into()
}
