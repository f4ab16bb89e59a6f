//! `ctxsim show SESSION --redact` and `--as mooncake`: a session in another form, for other programs.

use clap::{Args, ValueEnum};
use ctxsim_app::Plan;
use ctxsim_app::catalog::Catalog;
use ctxsim_base::error::Error;
use ctxsim_worlds::blocks::export::export as blocks;
use ctxsim_worlds::blocks::trace::{self, mooncake};

use crate::args::said;
use crate::format::FormatArg;
use crate::git;
use crate::output::OutputArgs;
use crate::verbs::explain::{refused, session};
use crate::what::SessionArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim show session.jsonl --policy identity --as mooncake --output trace.jsonl
  ctxsim show session.jsonl --redact --output redacted.jsonl      the same numbers, none of the words
  ctxsim run --scenario trace.jsonl --profile open/blocks-512-lru       the trace, replayed";

/// The arguments of both.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    mut_arg(
        "profile",
        said(
            "Model profile, whose limits count [default: the session's model, else anthropic/claude-opus-4.5]"
        )
    )
)]
pub(crate) struct ExportArgs {
    /// Recorded session, or a scenario
    #[arg(value_name = "SESSION")]
    path: String,
    /// Write all sessions of a recording without their words, to send a log that fails
    #[arg(long, conflicts_with_all = ["policy", "format", "session", "profile", "set"])]
    redact: bool,
    /// Policy under which the session is played, by name or path
    #[arg(long, value_name = "P")]
    policy: Option<String>,
    /// Form to write
    #[arg(long = "as", alias = "format", value_name = "FORM", value_enum)]
    format: Option<FormArg>,
    #[command(flatten)]
    one: SessionArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// A form of an exported session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormArg {
    /// Mooncake trace as released with FAST '25: prompts as ids of blocks of 512 tokens, one request per line
    Mooncake,
}

/// Exports one session, or all of a recording without their words.
pub(super) fn export(catalog: &Catalog, args: &ExportArgs) -> Result<(), Error> {
    if args.redact {
        args.output.check(catalog.files())?;
        let text = ctxsim_app::redacted(catalog, &args.path)?;
        return args.output.put(catalog.files(), FormatArg::JSONL, &text);
    }
    let Some((policy, form)) = args.policy.as_ref().zip(args.format) else {
        return Err(refused(
            "nothing says what to write".to_owned(),
            "add `--redact` for the session without its words, or `--policy P --as mooncake` for what a policy sends",
        ));
    };
    let comparison = args.one.comparison(policy, vec![args.path.clone()]);
    let catalog = &git::with_revisions(catalog, &comparison.policies, comparison.allow_process)?;
    let plan = Plan::new(catalog, &comparison)?;
    args.output.check(catalog.files())?;
    let load = session(&plan, std::slice::from_ref(&args.path), args.one.session.as_deref())?;
    let Some(timeline) = load.timeline() else {
        return Err(refused(
            format!("{} is not one session", load.name),
            "name a recorded session, or a scenario with turns",
        ));
    };
    let text = match form {
        FormArg::Mooncake => {
            let trace = blocks(timeline, &load.policies[0], &load.profiles[0], trace::MOONCAKE_BLOCK_TOKENS);
            trace.and_then(|it| mooncake::write(&it)).map_err(|problem| vec![*problem])?
        }
    };
    args.output.put(catalog.files(), FormatArg::JSONL, &text)
}
