//! `ctxsim realised`: whether later sessions were billed what advice had forecast.

use std::path::PathBuf;

use clap::Args;
use ctxsim_app::catalog::Catalog;
use ctxsim_app::{forecast, realised as held_against};
use ctxsim_base::error::Error;
use ctxsim_input::text::source::read_text;
use ctxsim_report::realised::{markdown, table};

use crate::args::said;
use crate::format::{FormatArg, Formats};
use crate::output;
use crate::shown::ShownArgs;
use crate::verbs::run::with_progress;
use crate::what::{RecordedArgs, ThreadsArgs};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim advise ~/.claude/projects --save advice.json     now
  ctxsim realised advice.json ~/.claude/projects          after some weeks with the advised settings

Later sessions are compared with the earlier ones per request and by kind: lane, model and length. \
\"As forecast\" is said only when a forecast that is wrong by half would be found in nine of ten cases.

Exit codes: 0 success; 2 bad input or usage.";

/// The available output formats.
const FORMATS: Formats<'_> =
    Formats { of: "`realised`", known: &[FormatArg::TABLE, FormatArg::MARKDOWN, FormatArg::JSON] };

/// The arguments of `realised`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.offered(it)),
    mut_arg("paths", said("Recorded sessions (files, folders or patterns); those that came after the advice count")),
    mut_arg("profile", said("Model profile by name or path, as for the advice [default: each session's own model]"))
)]
pub(crate) struct RealisedArgs {
    /// The file that `ctxsim advise --save` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    sessions: RecordedArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    shown: ShownArgs,
}

/// Compares and writes.
pub(super) fn realised(catalog: &Catalog, args: &RealisedArgs) -> Result<(), Error> {
    let format = args.shown.choose(&FORMATS)?;
    let saved = forecast(&args.file.display().to_string(), &read_text(&args.file)?)?;
    catalog.files().note(&args.file);
    args.shown.output.check(catalog.files())?;
    let (comparison, threads) = (args.sessions.comparison(), args.threads.number());
    let found = with_progress(|it| held_against(catalog, &comparison, &saved, threads, it))?;
    let text = match format {
        FormatArg::JSON => output::json(&found)?,
        FormatArg::MARKDOWN => markdown(&found).into(),
        _ => table(&found, Some(args.shown.width())),
    };
    args.shown.output.put(catalog.files(), format, text)
}
