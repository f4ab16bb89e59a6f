//! `ctxsim import`: what recorded sessions hold, and how well their bills are predicted.

use std::path::PathBuf;

use clap::Args;
use ctxsim::calibrate::{self, Calibration};
use ctxsim::catalog::Catalog;
use ctxsim::compare::{self, Comparison, Plan};
use ctxsim::error::Error;
use ctxsim::model::Limits;
use ctxsim::report::recording::{self, Held};

use crate::args::DocumentFormatArg;
use crate::output;
use crate::run::{unwritable, with_progress};

/// The arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Recorded sessions, or scenarios that name one
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Compare what the cache should have read with what the provider billed
    #[arg(long)]
    pub(crate) report: bool,
    /// The model profile of the report, by name or path
    #[arg(long, value_name = "M", default_value = "anthropic/claude-opus-4.5", requires = "report")]
    pub(crate) profile: String,
    /// Override a field of the report's inputs, as in `scenario.load.recorded.assume.side_request=none`
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "report")]
    pub(crate) set: Vec<String>,
    /// How it is written: table or json
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: DocumentFormatArg,
    /// Write to a file, all of it or nothing
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// Shows what recordings hold, or how well their bills are predicted.
pub(crate) fn import(catalog: &Catalog, args: &ImportArgs) -> Result<(), Error> {
    let text = if args.report { calibrated(catalog, args)? } else { held(catalog, args)? };
    output::put(args.output.as_deref(), &text)
}

/// Returns what recordings hold, and what of them is left out.
fn held(catalog: &Catalog, args: &ImportArgs) -> Result<String, Error> {
    let mut files = Vec::with_capacity(args.files.len());
    for file in &args.files {
        files.push(Held::new(file, &compare::recording(catalog, file)?));
    }
    match args.format {
        DocumentFormatArg::Table => Ok(recording::table(&files)),
        DocumentFormatArg::Json => recording::json(&files).map_err(unwritable),
    }
}

/// Compares recorded bills with what the cache rules predict, when everything is kept as the harness kept it.
fn calibrated(catalog: &Catalog, args: &ImportArgs) -> Result<String, Error> {
    let as_recorded = calibrations(catalog, args, "none")?;
    let with_side_requests = calibrations(catalog, args, "usual")?;
    let with_inferred = calibrations(catalog, args, "inferred")?;
    match args.format {
        DocumentFormatArg::Table => Ok(calibrate::tables(&as_recorded, &with_side_requests, &with_inferred)),
        DocumentFormatArg::Json => {
            calibrate::json(&as_recorded, &with_side_requests, &with_inferred).map_err(unwritable)
        }
    }
}

/// Compares under an assumption about requests of no record; a limit stops no session that took place.
fn calibrations(catalog: &Catalog, args: &ImportArgs, side_request: &str) -> Result<Vec<Calibration>, Error> {
    let side_request = format!("scenario.load.recorded.assume.side_request={side_request}");
    let comparison = Comparison {
        policies: vec!["identity".to_owned()],
        scenarios: args.files.clone(),
        profiles: vec![args.profile.clone()],
        set: std::iter::once(side_request).chain(args.set.iter().cloned()).collect(),
        ..Comparison::default()
    };
    let mut plan = Plan::new(catalog, &comparison)?;
    plan.profiles.iter_mut().for_each(|it| it.limits = Limits::NONE);
    let ledgers = with_progress(|it| plan.rows(None, it));
    let calibrations = ledgers.iter().filter_map(|(cell, rows)| {
        let timeline = plan.scenarios[cell.scenario].workload.items()?;
        Some(Calibration::new(timeline, &rows.requests, &plan.profiles[cell.profile].prices))
    });
    Ok(calibrations.collect())
}
