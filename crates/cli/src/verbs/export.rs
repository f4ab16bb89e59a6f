//! `ctxsim show SESSION --redact`: the sessions of a recording without their words.

use clap::Args;
use ctxsim_app::catalog::Catalog;
use ctxsim_base::error::Error;

use crate::format::FormatArg;
use crate::output::OutputArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim show session.jsonl --redact --output redacted.jsonl      the same numbers, none of the words";

/// The arguments of `show --redact`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct ExportArgs {
    /// Recorded session, or a scenario
    #[arg(value_name = "SESSION")]
    path: String,
    #[command(flatten)]
    output: OutputArgs,
}

/// Writes all sessions of a recording without their words, to send a log that fails.
pub(super) fn export(catalog: &Catalog, args: &ExportArgs) -> Result<(), Error> {
    args.output.check(catalog.files())?;
    let text = ctxsim_app::redacted(catalog, &args.path)?;
    args.output.put(catalog.files(), FormatArg::JSONL, &text)
}
