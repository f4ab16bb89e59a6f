//! `ctxsim realised`: whether later sessions were billed what advice had forecast.

use std::path::PathBuf;

use crate::catalog::Catalog;
use crate::compare::{forecast, realised as held_against};
use crate::error::Error;
use crate::input::text::source::read_text;
use crate::report::realised::{markdown, table};
use clap::Args;

use crate::cli::args::{DrawArgs, SelectArgs, WidthArgs};
use crate::cli::format::{FormatArg, Formats};
use crate::cli::output::OutputArgs;
use crate::cli::verbs::advise::sessions;
use crate::cli::verbs::run::{table_width, unwritable, with_progress};

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
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
pub(crate) struct RealisedArgs {
    /// The file that `ctxsim advise --save` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Recorded sessions (files, folders or patterns); those that came after the advice count
    #[arg(value_name = "SESSIONS", required = true)]
    paths: Vec<String>,
    /// Model profile by name or path, as for the advice [default: each session's own model]
    #[arg(long, value_name = "M")]
    profile: Option<String>,
    #[command(flatten)]
    select: SelectArgs,
    /// Number of threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = crate::cli::args::number::<u16>(1, 1024))]
    threads: Option<u16>,
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = FORMATS.parser())]
    format: Option<FormatArg>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    wide: WidthArgs,
}

/// Compares and writes.
pub(crate) fn realised(catalog: &Catalog, args: &RealisedArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.format, &args.output)?;
    let saved = forecast(&args.file.display().to_string(), &read_text(&args.file)?)?;
    catalog.files().note(&args.file);
    args.output.check(catalog.files())?;
    let comparison = sessions(&args.paths, args.profile.as_ref(), &args.select, &DrawArgs::default());
    let threads = args.threads.map(usize::from);
    let found = with_progress(|it| held_against(catalog, &comparison, &saved, threads, it))?;
    let text = match format {
        FormatArg::JSON => serde_json::to_string_pretty(&found).map_err(unwritable)? + "\n",
        FormatArg::MARKDOWN => markdown(&found),
        _ => table(&found, Some(table_width(args.wide, &args.output))),
    };
    args.output.put(catalog.files(), format, text)
}
