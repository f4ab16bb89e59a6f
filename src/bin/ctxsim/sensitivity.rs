//! `ctxsim sensitivity`: what a set of policies costs under many price lists.

use ctxsim::catalog::Catalog;
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::report::sensitivity::{document, markdown, table, values};
use ctxsim::run::{Plan, Request};

use crate::args::{FormatArg, SensitivityArgs};
use crate::output;
use crate::run::{of_extension, unwritable, with_progress};

/// The suite that fills what the arguments leave out.
const DEFAULT_SUITE: &str = "sensitivity";

/// Runs and writes.
pub(crate) fn sensitivity(catalog: &Catalog, args: &SensitivityArgs) -> Result<(), Error> {
    let format = args.format.or_else(|| of_extension(args.output.as_deref())).unwrap_or(FormatArg::Table);
    if matches!(format, FormatArg::Jsonl | FormatArg::Html) {
        let what = if format == FormatArg::Html { "page" } else { "lines of JSON" };
        let message = format!("a comparison across profiles has no {what}");
        let problem = Diagnostic::at("rows-format", "", message);
        return Err(vec![problem.help("write `--format json` or `csv`")].into());
    }
    let every = |names: &[String]| -> Vec<String> {
        names.iter().map(|it| if it == "all" { "*".to_owned() } else { it.clone() }).collect()
    };
    let request = Request {
        suite: Some(args.suite.clone().unwrap_or_else(|| DEFAULT_SUITE.to_owned())),
        policies: args.policies.clone(),
        scenarios: args.scenarios.clone(),
        profiles: every(&args.profiles),
        seed: args.seed,
        trials: args.trials,
        set: args.set.clone(),
    };
    let plan = Plan::new(catalog, &request)?;
    let found = with_progress(|it| plan.sensitivity(args.threads.map(usize::from), it));
    let text = match format {
        FormatArg::Json => document(&found).map_err(unwritable)?,
        FormatArg::Csv => values(&found).map_err(unwritable)?,
        FormatArg::Markdown => markdown(&found, args.details),
        FormatArg::Table | FormatArg::Jsonl | FormatArg::Html => {
            let width = if args.output.is_some() { None } else { output::width() };
            table(&found, args.details, width)
        }
    };
    match &args.output {
        Some(path) => output::write(path, &text),
        None => output::print(&text),
    }
}
