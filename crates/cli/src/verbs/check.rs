//! `ctxsim check`: the guards and the snapshots of suites, for continuous integration.

mod assumed;
mod explained;
mod laws;
mod ratchet;
mod snapshots;

use crate::prelude::*;

use ctxsim_engine::take::FailedRuns;
use ctxsim_report::checkup::{self, ADOPTED_BY, NewerPrices, SuiteCheck, github, junit, page, sarif};
use ctxsim_report::made::VERSION;
use ctxsim_report::{Report, SkippedFile, shot};

use crate::git::RevArgs;
use crate::verbs::compare::own_input_names;
use crate::what::parse_share;
use crate::{BAD_INPUT, exit_code};
use snapshots::PinnedPrices;

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim check                                every suite in your folders
  ctxsim check --suite mine --bless           accept the current numbers of one suite
  ctxsim check --ratchet=1%                   no guarded number may be more than 1% worse than its best so far
  ctxsim check --explain=origin/main          what moved each number since that revision
  ctxsim check --format junit --output check.xml
  ctxsim check --format github --output check.md
  ctxsim check --laws --policy mine.ron       five laws on random sessions; a breach is written to laws/ as a scenario

Snapshots are stored as snapshots/SUITE/SCENARIO/PROFILE.snap in insta's format, so `cargo insta review` works \
on them. Unless `CI` is set in the environment, changed numbers are also written beside them as .snap.new.

With `--ratchet`, guarded numbers may move only to the better: their best values are kept in snapshots/SUITE/ratchet.toml (written \
unless `CI` is set), and `--bless` puts today's in their place. Snapshots are checked in the same run if there are any.

Exit codes: 0 everything holds; 1 a guard failed, a number changed or a law is broken; 2 bad input or usage, or a scenario could \
not be run.";

/// The available output formats.
const FORMATS: Formats<'_> = Formats {
    of: "`check`",
    known: &[
        FormatArg::TABLE,
        FormatArg::JSON,
        FormatArg::HTML,
        FormatArg::GITHUB,
        FormatArg::JUNIT,
        FormatArg::SARIF,
    ],
};

/// Reasons for which a file of a folder may be skipped: it is not a recording, or it holds no request.
const NO_SESSION: [&str; 5] = [
    "not a recorded session",
    "no request",
    "the same content",
    "the same session in another file",
    "a broken copy of a session that another file has",
];

/// The file in which a user lists the folders of inputs.
const CONFIG: &str = "ctxsim.toml";

/// A suite that was run.
struct SuiteRun {
    report: Report,
    /// What is known of it before it is compared with what was accepted.
    checked: SuiteCheck,
}

/// Where what was accepted of suites is kept.
#[derive(Clone, Copy)]
struct AcceptedFolder<'a> {
    root: &'a Path,
    /// What is never replaced.
    inputs: &'a InputFiles,
    /// Whether today's numbers take its place.
    bless: bool,
    /// Whether numbers that changed are written beside their snapshots, for review.
    reviews: bool,
}

/// The arguments of `check`.
#[derive(Debug, Default, Args)]
#[command(mut_arg("format", |it| FORMATS.restrict_format_arg(it)))]
pub(crate) struct CheckArgs {
    /// Suites by name or path [default: all in your folders]
    #[arg(long = "suite", value_name = "S", num_args = 1..)]
    suites: Vec<String>,
    /// Snapshot folder
    #[arg(long, value_name = "DIR", default_value = "snapshots")]
    snapshots: PathBuf,
    /// Accept the current numbers by writing the snapshots
    #[arg(long)]
    bless: bool,
    /// Also hold each guarded number against its best value so far; it may be worse by this share of it
    #[arg(long, value_name = "SHARE", value_parser = parse_share, num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    ratchet: Option<f64>,
    /// Say what moved each number: simulate with each changed input as it was, files as this git revision has them [default: HEAD]
    #[arg(long, value_name = "REV", num_args = 0..=1, require_equals = true, default_missing_value = "HEAD")]
    explain: Option<String>,
    /// Replace an assumed number, such as `recovery.own_request=0.2`
    #[arg(long, value_name = "NAME=VALUE")]
    assume: Vec<String>,
    /// Read an input file as a revision has it: `REV:PATH`
    #[arg(long = "at", value_name = "REV:PATH", hide = true)]
    at: Vec<String>,
    /// Hold prices at a day
    #[arg(long, value_name = "DAY", hide = true)]
    prices: Option<String>,
    #[command(flatten)]
    laws: laws::LawsArgs,
    #[command(flatten)]
    process: ProcessArgs,
    #[command(flatten)]
    rev: RevArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    shown: PagedArgs,
    /// Whether the caller is a program: nothing is written, and no progress is shown
    #[arg(skip)]
    writes_nothing: bool,
}

impl CheckArgs {
    fn accepted_folder<'a>(&'a self, inputs: &'a InputFiles, bless: bool) -> AcceptedFolder<'a> {
        AcceptedFolder { root: &self.snapshots, inputs, bless, reviews: !self.writes_nothing }
    }

    /// Returns the inputs as `--at` and `--prices` say.
    fn catalog_with_old_inputs(&self, catalog: &Catalog) -> Result<Catalog> {
        let mut inputs = catalog.clone();
        if self.prices.is_some() {
            inputs = inputs.with_prices_of_day(self.prices.clone());
        }
        for given in &self.at {
            let Some((revision, path)) = given.split_once(':') else {
                return Err(usage_error(format!("`{given}` is not REV:PATH"), "write a revision and a path"));
            };
            let text = git::read_file_at_revision(revision, Path::new(path))?;
            inputs = inputs.with_text_in_place_of(Path::new(path), text);
        }
        Ok(inputs)
    }

    /// Accepts the numbers of a suite in the default folder.
    fn for_blessing(suite: &str) -> Self {
        Self { suites: vec![suite.into()], snapshots: "snapshots".into(), bless: true, ..Self::default() }
    }
}

/// Accepts the numbers of a suite; returns its guards' verdicts and the snapshots written.
pub(crate) fn bless_suite(catalog: &Catalog, suite: &str) -> Result<SuiteCheck> {
    let args = CheckArgs::for_blessing(suite);
    let ran = run_suite(catalog, suite, &args)?;
    compare_or_accept_suite(args.accepted_folder(catalog.files_read(), true), None, suite, ran)
}

/// Checks before any work that nothing of others stands where a suite's numbers are accepted.
pub(crate) fn check_snapshots_replaceable(suite: &str) -> Result<()> {
    snapshots::check_replaceable(&CheckArgs::for_blessing(suite).snapshots, suite)
}

/// Compares a report with what was accepted of its suite, its snapshots and the best of its guarded numbers; or accepts its numbers.
fn compare_or_accept_suite(
    accepted: AcceptedFolder<'_>,
    ratchet_tolerance: Option<f64>,
    name: &str,
    ran: SuiteRun,
) -> Result<SuiteCheck> {
    let SuiteRun { report, mut checked } = ran;
    let suite = report.suite.clone().unwrap_or_else(|| name.to_owned());
    let mut verdicts = report.guard_verdicts.clone();
    if let Some(tolerance) = ratchet_tolerance {
        verdicts.extend(ratchet::check_and_keep_best(accepted, &suite, &report.guard_verdicts, tolerance)?);
    }
    // Where the best values are accepted, a suite without snapshots gets none.
    let takes_part = ratchet_tolerance.is_none() || snapshots::has_snapshots(accepted.root, &suite)?;
    let SuiteCheck { made, assumed, .. } = &checked;
    let snapshots = match takes_part {
        true => snapshots::compare_or_accept_snapshots(accepted, &suite, &report, made, assumed)?,
        false => Vec::new(),
    };
    let is_old = snapshots::has_old_form_snapshots(accepted.root, &suite);
    checked.notes.extend(is_old.then(|| explained::OLD_FORM.to_owned()));
    Ok(SuiteCheck { suite, verdicts, snapshots, ..checked })
}

/// Checks and writes; returns the exit code. A suite that cannot be run is an error entry of the result, too.
pub(crate) fn check_suites(catalog: &Catalog, args: &CheckArgs) -> Result<ExitCode> {
    if args.laws.laws {
        return laws::check_laws(catalog, args);
    }
    let format = args.shown.shown.choose_format(&FORMATS)?;
    ctxsim_app::replace_assumed_numbers(&args.assume)?;
    let catalog = &args.catalog_with_old_inputs(catalog)?;
    let suites = suites_to_check(catalog, args)?;
    // Nothing is written before everything has run.
    let ran: Vec<Result<SuiteRun>> = suites.iter().map(|it| run_suite(catalog, it, args)).listed();
    args.shown.check_output_paths(catalog.files_read())?;
    let all = compare_all_with_accepted(catalog, args, &suites, ran);
    write_results(&args.shown, catalog.files_read(), format, &all)?;
    let errors: Vec<Diagnostic> = all.iter().flat_map(|it| it.errors.clone()).listed();
    if errors.is_empty() {
        return Ok(exit_code(all.iter().all(SuiteCheck::is_passing)));
    }
    render::print_problems(catalog, &errors);
    Ok(ExitCode::from(BAD_INPUT))
}

/// Compares each suite with what was accepted of it; one that could not be run has its problems.
fn compare_all_with_accepted(
    catalog: &Catalog,
    args: &CheckArgs,
    suites: &[String],
    ran: Vec<Result<SuiteRun>>,
) -> Vec<SuiteCheck> {
    // A suite that cannot be run keeps all numbers from being accepted.
    let accepted = args.accepted_folder(catalog.files_read(), args.bless && ran.iter().all(Result::is_ok));
    let held = |(name, ran): (&String, Result<SuiteRun>)| {
        let mut up = match ran.and_then(|it| compare_or_accept_suite(accepted, args.ratchet, name, it)) {
            Ok(up) => up,
            Err(error) => {
                let suite = catalog.suite(name).map(|it| (it.spec.name.clone(), it.origin.label()));
                let (name, file) = suite.unwrap_or_else(|_| (name.clone(), name.clone()));
                let problems = render::redact_foreign_files(error.problems());
                return SuiteCheck::with_check_errors(name, file, problems);
            }
        };
        if let Some(revision) = &args.explain {
            explained::explain_moved_numbers(args, revision, name, &mut up);
        }
        up
    };
    suites.iter().zip(ran).map(held).listed()
}

/// Checks suites for a program, or all in the user's folders if none is named: nothing is written or shown.
///
/// # Errors
/// A suite cannot be read or run.
pub fn check_suites_silently(
    catalog: &Catalog,
    suites: Vec<String>,
    snapshots: &Path,
    allow_process: bool,
    threads: Option<usize>,
) -> Result<Vec<SuiteCheck>> {
    let args = CheckArgs {
        suites,
        snapshots: snapshots.to_owned(),
        process: ProcessArgs { allow_process, play_twice: false },
        threads: ThreadsArgs::from_number(threads),
        writes_nothing: true,
        ..CheckArgs::default()
    };
    let suites = self::suites_to_check(catalog, &args)?;
    let ran = suites.iter().map(|it| run_suite(catalog, it, &args).map(Ok)).collect::<Result<_, _>>()?;
    Ok(compare_all_with_accepted(catalog, &args, &suites, ran))
}

/// Writes the result of a check that could not begin, because no input could be read.
pub(crate) fn write_failed_check(args: &CheckArgs, error: &Error) -> Result<()> {
    let format = args.shown.shown.choose_format(&FORMATS)?;
    let inputs = InputFiles::default();
    inputs.add_path(Path::new(CONFIG));
    let problems = render::redact_foreign_files(error.problems());
    let failed = SuiteCheck::with_check_errors(CONFIG.to_owned(), CONFIG.to_owned(), problems);
    write_results(&args.shown, &inputs, format, &[failed])
}

/// Writes results.
fn write_results(
    shown: &PagedArgs,
    inputs: &InputFiles,
    format: FormatArg,
    all: &[SuiteCheck],
) -> Result<()> {
    let text = || match format {
        FormatArg::JSON => checkup::check_ups_json(all).map_err(unwritable_error),
        FormatArg::JUNIT => junit::check_ups_junit_xml(all).map_err(unwritable_error),
        FormatArg::SARIF => sarif::check_ups_sarif(all).map_err(unwritable_error),
        FormatArg::GITHUB => Ok(github::check_ups_markdown(all).into()),
        _ => Ok(checkup::draw_suite_checks(all, shown.shown.terminal())),
    };
    shown.write_text_and_page(inputs, format, || page::render_check_ups_page(all), text)?;
    if format == FormatArg::GITHUB {
        output::print_encoded(github::annotation_commands(all).as_bytes())?;
    }
    Ok(())
}

/// Returns the named suites, or those in the user's folders.
fn suites_to_check(catalog: &Catalog, args: &CheckArgs) -> Result<Vec<String>> {
    if !args.suites.is_empty() {
        return Ok(args.suites.iter().flat_map(|it| catalog.expand_pattern(InputKind::Suite, it)).listed());
    }
    let own = own_input_names(catalog, InputKind::Suite);
    if own.is_empty() {
        let help = "name one with `--suite`, or run `ctxsim init` to create one";
        return Err(usage_error("your folders contain no suites", help));
    }
    Ok(own)
}

/// Runs a suite. A scenario that cannot be run is an error.
fn run_suite(catalog: &Catalog, name: &str, args: &CheckArgs) -> Result<SuiteRun> {
    let suite = catalog.suite(name)?;
    let named = args.rev.checked_policy_names(&suite)?;
    let catalog = git::read_policy_revisions(catalog, named, args.process.allow_process)?;
    let comparison =
        args.process.add_permissions_to(Comparison { suite: Some(name.to_owned()), ..Comparison::default() });
    let newest = Plan::new(&Catalog::clone(&catalog).with_prices_of_day(None), &comparison)?;
    let fixed = catalog.pins().prices.as_ref();
    let pinned = find_pinned_prices(fixed, &newest, args);
    let played = |plan: &Plan| {
        let threads = args.threads.n_threads();
        let report = match args.writes_nothing {
            true => plan.report(threads, &|_, _| {})?,
            false => run_with_progress(SIMULATES, |it| plan.report(threads, it))?,
        };
        if !report.failures.is_empty() {
            return Err(Error::Run(Box::new(FailedRuns(report.failures))));
        }
        Ok(report)
    };
    let (report, newer) = if pinned.is_empty() {
        (played(&newest)?, None)
    } else {
        let held =
            |it: &PinnedPrices| format!("profile.{}.assumptions.starts_at=\"{}\"", it.profile, it.days[0]);
        let plan = Plan::new(&catalog, &Comparison { set: pinned.iter().map(held).listed(), ..comparison })?;
        // What guards say under the newer prices is told beside what they say.
        let verdicts = if newest.guards.is_empty() { Vec::new() } else { played(&newest)?.guard_verdicts };
        let prices = pinned.iter().map(|it| (it.profile.clone(), it.days.clone())).listed();
        let adopted_by = ADOPTED_BY[usize::from(fixed.is_some())];
        (played(&plan)?, Some(NewerPrices { prices, verdicts, adopted_by }))
    };
    check_all_scenarios_ran(&report)?;
    let mut prices: IndexMap<String, String> =
        report.runs.iter().map(|it| (it.profile.clone(), it.assumed.as_of.clone())).collect();
    prices.extend(pinned.into_iter().map(|it| (it.profile, it.days[0].clone())));
    let (made, assumed) = (newest.made_with(prices), newest.assumed_numbers_read());
    let (file, notes) = (suite.origin.label(), version_mismatch_note(&catalog).into_iter().listed());
    let checked = SuiteCheck { file, made, newer, assumed, notes, ..SuiteCheck::default() };
    Ok(SuiteRun { report, checked })
}

/// Returns the profiles whose prices are held at an earlier day: that of the configuration, else that of the snapshots, because a price list of a
/// later day moves nothing by itself.
fn find_pinned_prices(fixed: Option<&String>, newest: &Plan, args: &CheckArgs) -> Vec<PinnedPrices> {
    let suite = newest.suite.as_deref().unwrap_or_default();
    let days = if args.bless { BTreeMap::new() } else { snapshots::read_price_days(&args.snapshots, suite) };
    let pinned = newest.profiles.iter().filter_map(|profile| {
        let day = fixed.or_else(|| days.get(&shot::to_file_name(&profile.name)))?;
        let days = [day.clone(), profile.as_of.clone()];
        (*day < profile.as_of).then(|| PinnedPrices { profile: profile.name.clone(), days })
    });
    pinned.listed()
}

/// Reports scenarios that were not run.
fn check_all_scenarios_ran(report: &Report) -> Result<()> {
    let missing = report.skipped.iter().filter(|it| !NO_SESSION.contains(&it.reason.as_str()));
    let problem = |it: &SkippedFile| {
        let problem = Diagnostic::at(Code("scenario-not-run"), "", &it.reason).in_file(&it.file);
        problem.help("`check` needs every session: fix the file, or remove it from the suite's scenarios")
    };
    let problems = missing.map(problem).listed();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Says that the configuration names another version than this one.
fn version_mismatch_note(catalog: &Catalog) -> Option<String> {
    let pinned = catalog.pins().version.as_ref().filter(|it| *it != VERSION)?;
    Some(format!(
        "{CONFIG} names version {pinned}, and this is {VERSION}: `--explain` says which numbers that moves; then change `version` there"
    ))
}
