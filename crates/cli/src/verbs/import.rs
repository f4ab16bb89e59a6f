//! `ctxsim import`: what recorded sessions hold, and how well their bills are predicted.

use crate::prelude::*;

use ctxsim_app::{HarnessCompactions, ListPrices};
use ctxsim_engine::calibrate::Calibration;
use ctxsim_engine::measure;
use ctxsim_engine::take::{Load, Progress};
use ctxsim_input::scenario::HiddenRequest;
use ctxsim_report::as_logged::sum_bills;
use ctxsim_report::bill_by::{BillKey, Currency, GroupedBill, describe_export_difference};
use ctxsim_report::calibration::Calibrations;
use ctxsim_report::carried::PromptFill;
use ctxsim_report::fixed::FixedPartBySender;
use ctxsim_report::recording::{self, FileContents};
use ctxsim_report::{BillAsLogged, SkippedFile};
use ctxsim_timeline::import::{ProviderExport, provider_export};
use ctxsim_timeline::row::Rows;

use crate::progress::READS;
use crate::what::with_fallback_profile;

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim import session.jsonl                     what a recording contains, and what is left out
  ctxsim import --by model ~/.claude/projects     the bill as logged, by model
  ctxsim import --report session.jsonl            how well the session's bill is predicted
  ctxsim import --against costs.json sessions/    the bill as logged beside a provider's own export of costs";

/// The available output formats.
const FORMATS: Formats<'_> =
    Formats { of: "`import --by`", known: &[FormatArg::TABLE, FormatArg::JSON, FormatArg::CSV] };
/// The same of what is fixed.
const FIXED_FORMATS: Formats<'_> = Formats { of: "`import --fixed`", ..FORMATS };
/// The formats without these: a document has no rows for CSV.
const DOCUMENTS: Formats<'_> =
    Formats { of: "`import` without `--by`", known: &[FormatArg::TABLE, FormatArg::JSON] };

/// The arguments of `import`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.restrict_format_arg(it)),
    mut_arg("paths", with_help("Recorded sessions (files, folders or patterns), or scenarios that reference one")),
    mut_arg("profile", with_help("Model profile for `--report` and `--carried` [default: the session's model]"))
)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    sessions: RecordedArgs,
    /// Compare predicted cache reads with what the provider billed
    #[arg(long)]
    report: bool,
    /// Show what fills the prompts and what resending it costs, by tool and by item
    #[arg(long, conflicts_with = "report")]
    carried: bool,
    /// Show every session, and all that is left out or differs, however many lines that takes
    #[arg(long, conflicts_with_all = ["carried", "by", "fixed"])]
    details: bool,
    /// Show what stands before the first message of prompts, and what sending it costs, by user and project
    #[arg(long, conflicts_with_all = ["report", "carried", "by"])]
    fixed: bool,
    /// Show the bill as logged, at list prices, by this
    #[arg(long, value_name = "KEY", value_enum, conflicts_with_all = ["report", "carried"])]
    by: Option<ByArg>,
    /// Show amounts of `--by` in another currency, at your rate for a US dollar, as in `EUR=0.92`
    #[arg(long, value_name = "CODE=RATE", value_parser = Currency::parse, requires = "by")]
    currency: Option<Currency>,
    /// Compare the bill as logged with a provider's own export of usage or costs (JSON or CSV), day by day
    #[arg(long, value_name = "FILE", conflicts_with_all = ["report", "carried", "by", "fixed"])]
    against: Option<PathBuf>,
    /// Override a field, as in `scenario.load.recorded.assume.side_request=none`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    shown: ShownArgs,
}

/// What a bill is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByArg {
    /// The model that answered
    Model,
    /// Main conversations and sub-agents
    Lane,
    /// The working folder
    Project,
    /// The home that the working folder is in
    User,
    /// The day, in UTC
    Day,
    /// The week, by its Monday
    Week,
    /// The month
    Month,
    /// The version of the harness
    Version,
}

impl ByArg {
    fn bill_key(self) -> BillKey {
        match self {
            Self::Model => BillKey::Model,
            Self::Lane => BillKey::Lane,
            Self::Project => BillKey::Project,
            Self::User => BillKey::User,
            Self::Day => BillKey::Day,
            Self::Week => BillKey::Week,
            Self::Month => BillKey::Month,
            Self::Version => BillKey::Version,
        }
    }
}

/// Shows what recordings contain, or how well their bills are predicted.
pub(super) fn show_recording_contents(catalog: &Catalog, args: &ImportArgs) -> Result<()> {
    let format = args.shown.choose_format(match args.by {
        Some(_) => &FORMATS,
        None if args.fixed => &FIXED_FORMATS,
        None => &DOCUMENTS,
    })?;
    let as_json = format == FormatArg::JSON;
    output::mark_inputs(catalog, InputKind::Scenario, &args.sessions.paths);
    args.shown.output.check_output_path(catalog.files_read())?;
    let text = if args.report {
        describe_bill_predictions(catalog, args, as_json)?.into_bytes()
    } else if args.carried {
        describe_prompt_fill(catalog, args, as_json)?.into_bytes()
    } else {
        let (files, skipped) = ctxsim_app::read_selected_recordings(catalog, &comparison_as_recorded(args))?;
        print_skipped_counts(&skipped);
        let width = args.shown.table_width();
        if let Some(by) = args.by {
            let bills = files.iter().flat_map(FileContents::session_bills);
            let bill = GroupedBill::new(bills, by.bill_key(), args.currency.clone());
            encode_in_format(format, || bill.draw_table(width), || bill.to_json(), || bill.to_rows())?
        } else if args.fixed {
            let by = FixedPartBySender::new(files.iter().flat_map(FileContents::fixed_parts_by_session));
            encode_in_format(format, || by.draw_table(width), || by.to_json(), || by.to_rows())?
        } else {
            describe_recordings(catalog, args, &files, as_json)?.into_bytes()
        }
    };
    args.shown.output.write_result(catalog.files_read(), format, &text)
}

/// Returns what recordings contain, and what is left out.
fn describe_recordings(
    catalog: &Catalog,
    args: &ImportArgs,
    files: &[FileContents],
    as_json: bool,
) -> Result<String> {
    let bills = files.iter().flat_map(FileContents::session_bills);
    let export = args.against.as_deref().map(|it| read_provider_export(catalog, it)).transpose()?;
    let against = export.map(|it| describe_export_difference(&it, bills));
    if as_json {
        against.iter().for_each(|it| output::print_note(format_args!("{}", it.trim_end())));
        recording::recordings_json(files).map_err(unwritable_error)
    } else {
        Ok(against.unwrap_or_default() + &recording::recordings_text(files, args.details))
    }
}

/// Reads a provider's own export.
fn read_provider_export(catalog: &Catalog, path: &Path) -> Result<ProviderExport> {
    catalog.files_read().add_path(path);
    let text = read_text(path)?;
    provider_export(&text).ok_or_else(|| {
        let message = "not a provider's export of usage or costs";
        let help = "give what the usage or cost interface of OpenAI or Anthropic returns, or a table from its console";
        error_at(Code("recording-unknown"), path, message, help)
    })
}

/// Returns a bill or a part of prompts, by one key, in a format.
fn encode_in_format(
    format: FormatArg,
    table: impl FnOnce() -> String,
    json: impl FnOnce() -> Result<String, serde_json::Error>,
    rows: impl FnOnce() -> Rows,
) -> Result<Vec<u8>> {
    match format {
        FormatArg::TABLE => Ok(table().into_bytes()),
        FormatArg::JSON => json().map(String::into_bytes).map_err(unwritable_error),
        of_rows => of_rows.encode_rows(|_| vec![rows()]),
    }
}

/// Compares recorded bills with the cache rules' predictions, keeping everything as the harness did.
fn describe_bill_predictions(catalog: &Catalog, args: &ImportArgs, as_json: bool) -> Result<String> {
    for given in &args.sessions.paths {
        let found = catalog.search_scenarios(given)?.found;
        let mut named = found.iter().filter(|it| !it.is_searched);
        named.try_for_each(|it| ctxsim_app::check_is_recording(catalog, &it.name))?;
    }
    let (sessions, skipped) = calibrate_sessions(catalog, args)?;
    let logged = sum_bills(sessions.iter().filter_map(|it| it.as_logged.as_ref()));
    let under = |nth: usize| sessions.iter().filter_map(|it| it.under.get(nth)).cloned().listed();
    let [as_recorded, with_side_requests, with_inferred] = &[0, 1, 2].map(under);
    print_skipped_counts(&skipped);
    let as_logged = logged.as_ref();
    let found = Calibrations { as_recorded, with_side_requests, with_inferred, as_logged };
    if as_json { found.to_json().map_err(unwritable_error) } else { Ok(found.to_text(args.details)) }
}

/// Returns what fills the prompts of recordings, and what carrying it costs.
fn describe_prompt_fill(catalog: &Catalog, args: &ImportArgs, as_json: bool) -> Result<String> {
    let plan = Plan::new(catalog, &comparison_as_recorded(args))?;
    let (sessions, skipped) = run_with_progress(READS, |progress| {
        plan.map_loads_with_skipped(None, progress, |load, _| {
            let (timeline, profile) = (load.timeline()?, load.profiles.first()?);
            let items = measure::carried::carried_items(timeline, &profile.prices);
            Some(PromptFill::new(&load.name, &profile.name, timeline, &items))
        })
    })?;
    let sessions: Vec<PromptFill> = sessions.into_iter().flatten().listed();
    if as_json {
        return ctxsim_report::carried::prompt_fills_json(&sessions, &skipped).map_err(unwritable_error);
    }
    Ok(ctxsim_report::carried::draw_prompt_fills(&sessions, &skipped, Some(args.shown.table_width())))
}

/// Returns a comparison of recordings under the policy that keeps everything, with the requested profile or
/// those of their models.
fn comparison_as_recorded(args: &ImportArgs) -> Comparison {
    with_fallback_profile(Comparison {
        policies: vec!["identity".to_owned()],
        set: args.set.clone(),
        ..args.sessions.comparison()
    })
}

/// Returns how many files and sessions are skipped, by reason.
fn print_skipped_counts(skipped: &[SkippedFile]) {
    if !skipped.is_empty() {
        let n_skipped = thousands(skipped.len() as u64);
        output::print_note(format_args!("{n_skipped} skipped: {}", SkippedFile::counts_by_reason(skipped)));
    }
}

/// What sets the assumption about requests that no log has.
const SIDE_REQUEST: &str = "scenario.load.recorded.assume.side_request=";
/// What is assumed of requests that no log has, in the order of the report's parts.
const SIDE_REQUESTS: [HiddenRequest; 3] =
    [HiddenRequest::None, HiddenRequest::Usual, HiddenRequest::Inferred];

/// A session as it was compared.
struct Calibrated {
    /// Under each of these assumptions.
    under: Vec<Calibration>,
    as_logged: Option<BillAsLogged>,
}

/// Compares under each assumption about unrecorded requests; no limit stops a session that took place.
fn calibrate_sessions(catalog: &Catalog, args: &ImportArgs) -> Result<(Vec<Calibrated>, Vec<SkippedFile>)> {
    let prices = ListPrices::read(catalog);
    let plan = Plan::new(catalog, &comparison_as_recorded(args))?.without_limits().with_unusable_skipped();
    let compacting = HarnessCompactions::read(catalog)?;
    let is_own = args.sessions.comparison().own_models;
    let calibrated = |load: &Load, progress: Progress<'_>| {
        let timeline = load.timeline()?;
        let (cell, rows) = load.rows(progress).pop()?;
        let profile = &load.profiles[cell.profile];
        let step_prices = load.step_prices(timeline, profile);
        let found = Calibration::new(timeline, &rows, step_prices, &profile.cache);
        let found = found.with_compactions(timeline, &rows, &profile.prices, compacting.policy_for(timeline));
        let is_assumed = is_own && !load.is_under_own_model;
        let assumed_profile = is_assumed.then(|| load.profiles[cell.profile].name.clone());
        Some(Calibration { assumed_profile, ..found })
    };
    let one = |load: &Load, progress: Progress<'_>| {
        let under = std::iter::once(load).chain(&load.under);
        let under = under.map(|it| calibrated(it, progress)).collect::<Option<Vec<_>>>()?;
        Some(Calibrated { under, as_logged: load.timeline().and_then(|it| prices.bill_as_logged(it)) })
    };
    // Whoever sets the assumption himself has it everywhere.
    let set = args.set.iter().rev().find_map(|it| it.strip_prefix(SIDE_REQUEST));
    let (of_loads, skipped) = run_with_progress(READS, |progress| match set {
        Some(_) => plan.map_loads_with_skipped(None, progress, one),
        None => plan.map_loads_assuming(&SIDE_REQUESTS, None, progress, one),
    })?;
    let mut sessions = of_loads.into_iter().flatten().listed();
    for session in &mut sessions {
        let first = session.under.first().cloned();
        session.under.extend(first.into_iter().cycle().take(SIDE_REQUESTS.len() - session.under.len()));
    }
    Ok((sessions, skipped))
}
