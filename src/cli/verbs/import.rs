//! `ctxsim import`: what recorded sessions hold, and how well their bills are predicted.

use crate::calibrate::Calibration;
use crate::catalog::{Catalog, Kind};
use crate::compare::{self, Compacting, Comparison, Plan};
use crate::error::Error;
use crate::grid::numbers::thousands;
use crate::measure;
use crate::report::carried::Carried;
use crate::report::recording;
use crate::report::{self, Skipped, calibration};
use clap::Args;

use crate::cli::args::{FALLBACK_PROFILE, SelectArgs, WidthArgs};
use crate::cli::format::{FormatArg, Formats};
use crate::cli::output::{self, OutputArgs};
use crate::cli::verbs::run::{table_width, unwritable, with_progress};

/// The available output formats.
const FORMATS: Formats<'_> = Formats { of: "`import`", known: &[FormatArg::TABLE, FormatArg::JSON] };

/// The arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Recorded sessions (files, folders or patterns), or scenarios that reference one
    #[arg(value_name = "PATH", required = true)]
    pub(crate) files: Vec<String>,
    /// Compare predicted cache reads with what the provider billed
    #[arg(long)]
    pub(crate) report: bool,
    /// Show what fills the prompts and what resending it costs, by tool and by item
    #[arg(long, conflicts_with = "report")]
    pub(crate) carried: bool,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Model profile for `--report` and `--carried` [default: the session's model]
    #[arg(long, value_name = "M")]
    pub(crate) profile: Option<String>,
    /// Override a field, as in `scenario.load.recorded.assume.side_request=none`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = FORMATS.parser())]
    pub(crate) format: Option<FormatArg>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) wide: WidthArgs,
}

/// Shows what recordings contain, or how well their bills are predicted.
pub(crate) fn import(catalog: &Catalog, args: &ImportArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.format, &args.output)?;
    let as_json = format == FormatArg::JSON;
    output::note(catalog, Kind::Scenario, &args.files);
    args.output.check(catalog.files())?;
    let text = if args.report {
        calibrated(catalog, args, as_json)?
    } else if args.carried {
        carried(catalog, args, as_json)?
    } else {
        held(catalog, args, as_json)?
    };
    args.output.put(catalog.files(), format, &text)
}

/// Returns what recordings contain, and what is left out.
fn held(catalog: &Catalog, args: &ImportArgs, as_json: bool) -> Result<String, Error> {
    let (files, skipped) = compare::held(catalog, &as_recorded(args, None))?;
    tell(&skipped);
    if as_json { recording::json(&files).map_err(unwritable) } else { Ok(recording::table(&files)) }
}

/// Compares recorded bills with the cache rules' predictions, keeping everything as the harness did.
fn calibrated(catalog: &Catalog, args: &ImportArgs, as_json: bool) -> Result<String, Error> {
    for given in &args.files {
        let found = catalog.search(given)?.found;
        found
            .iter()
            .filter(|it| !it.is_searched)
            .try_for_each(|it| compare::check_recorded(catalog, &it.name))?;
    }
    let (as_recorded, skipped) = calibrations(catalog, args, "none")?;
    let (with_side_requests, _) = calibrations(catalog, args, "usual")?;
    let (with_inferred, _) = calibrations(catalog, args, "inferred")?;
    tell(&skipped);
    if as_json {
        calibration::json(&as_recorded, &with_side_requests, &with_inferred).map_err(unwritable)
    } else {
        Ok(calibration::tables(&as_recorded, &with_side_requests, &with_inferred))
    }
}

/// Returns what fills the prompts of recordings, and what carrying it costs.
fn carried(catalog: &Catalog, args: &ImportArgs, as_json: bool) -> Result<String, Error> {
    let plan = Plan::new(catalog, &as_recorded(args, None))?;
    let (sessions, skipped) = with_progress(|it| {
        plan.each_counted(None, it, |load, _| {
            let (timeline, profile) = (load.timeline()?, load.profiles.first()?);
            let items = measure::carried::carried(timeline, &profile.prices);
            Some(Carried::new(&load.name, &profile.name, timeline, &items))
        })
    })?;
    let sessions: Vec<Carried> = sessions.into_iter().flatten().collect();
    if as_json {
        return report::carried::json(&sessions, &skipped).map_err(unwritable);
    }
    Ok(report::carried::tables(&sessions, &skipped, Some(table_width(args.wide, &args.output))))
}

/// Returns a comparison of recordings under the policy that keeps everything, with the requested profile or
/// those of their models.
fn as_recorded(args: &ImportArgs, set: Option<String>) -> Comparison {
    let comparison = Comparison {
        policies: vec!["identity".to_owned()],
        scenarios: args.files.clone(),
        profiles: vec![args.profile.clone().unwrap_or_else(|| FALLBACK_PROFILE.to_owned())],
        own_models: args.profile.is_none(),
        set: set.into_iter().chain(args.set.iter().cloned()).collect(),
        ..Comparison::default()
    };
    args.select.of(comparison)
}

/// Returns how many files and sessions are skipped, by reason.
fn tell(skipped: &[Skipped]) {
    if !skipped.is_empty() {
        anstream::eprintln!("{} skipped: {}", thousands(skipped.len() as u64), Skipped::counted(skipped));
    }
}

/// Compares under an assumption about unrecorded requests; no limit stops a session that took place.
fn calibrations(
    catalog: &Catalog,
    args: &ImportArgs,
    side_request: &str,
) -> Result<(Vec<Calibration>, Vec<Skipped>), Error> {
    let side_request = format!("scenario.load.recorded.assume.side_request={side_request}");
    let plan =
        Plan::new(catalog, &as_recorded(args, Some(side_request)))?.without_limits().skipping_unusable();
    let compacting = Compacting::read(catalog)?;
    let (of_loads, skipped) = with_progress(|it| {
        plan.each_counted(None, it, |load, progress| {
            let timeline = load.timeline()?;
            let (cell, rows) = load.rows(progress).pop()?;
            let prices = &load.profiles[cell.profile].prices;
            let found = Calibration::new(timeline, &rows, prices);
            Some(found.with_compactions(timeline, &rows, prices, compacting.of(timeline)))
        })
    })?;
    Ok((of_loads.into_iter().flatten().collect(), skipped))
}
