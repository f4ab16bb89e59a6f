//! `ctxsim advise`: which settings of an agent to change, what that saves and forgets, and what to paste.

use std::path::PathBuf;

use crate::catalog::Catalog;
use crate::compare::Comparison;
use crate::compare::advise::{Asked, advise as advised};
use crate::error::Error;
use crate::input::text::source::read_text;
use crate::report::advise::page::page;
use crate::report::advise::{markdown, table};
use crate::report::verdict::MIN_EVIDENCE;
use clap::Args;

use crate::cli::args::{DrawArgs, SelectArgs, WidthArgs, share};
use crate::cli::format::{FormatArg, Formats};
use crate::cli::output::{self, ForceArgs, OutputArgs, PageArgs, Remark};
use crate::cli::verbs::run::{table_width, unwritable, with_progress};

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim advise ~/.claude/projects                             what to change, what it saves, what to paste
  ctxsim advise ~/.claude/projects --settings ~/.claude/settings.json   what is in force by the file, not by the logs
  ctxsim advise ~/.claude/projects --save advice.json          and later: ctxsim realised advice.json ~/.claude/projects
  ctxsim advise requests.jsonl --agent langchain               logs of requests, which several agents write

The agent and its version are read from the logs; only settings that the agent has are tried, within their documented ranges. A setting is \
chosen on the older half of the sessions and advised only if it saves on the newer half, too, and, with five projects or more, on projects \
held out: even at the unfavourable end of a 95% interval, and without the project or session that saves most. Else nothing is to be changed, and the \
best that was rejected is named with its numbers.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The available output formats.
pub(crate) const FORMATS: Formats<'_> = Formats {
    of: "`advise`",
    known: &[FormatArg::TABLE, FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::JSON],
};

/// The arguments of `advise`.
#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// Recorded sessions (files, folders or patterns)
    #[arg(value_name = "SESSIONS", required = true)]
    paths: Vec<String>,
    /// The agent's settings file, for the values in force [default: as the logs show, else the agent's defaults]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// The agent, where the format of the logs does not tell
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Model profile by name or path, where no profile covers a session's model [default: each session's own model]
    #[arg(long, value_name = "M")]
    profile: Option<String>,
    /// Minimum share of the needed evidence to keep
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = MIN_EVIDENCE)]
    min_evidence: f64,
    /// Write the forecast to a small file, for `ctxsim realised`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    draw: DrawArgs,
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = FORMATS.parser())]
    format: Option<FormatArg>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    wide: WidthArgs,
    /// Show everything that was tried, and why the rest was not
    #[arg(long)]
    details: bool,
}

/// Returns the recorded sessions of some paths, each under the profile of its own model unless one is named.
pub(crate) fn sessions(
    paths: &[String],
    profile: Option<&String>,
    select: &SelectArgs,
    draw: &DrawArgs,
) -> Comparison {
    select.of(Comparison {
        scenarios: paths.to_vec(),
        profiles: profile.cloned().into_iter().collect(),
        own_models: profile.is_none(),
        seed: draw.seed,
        trials: draw.trials,
        ..Comparison::default()
    })
}

/// Advises, writes, and saves the forecast.
pub(crate) fn advise(catalog: &Catalog, args: &AdviseArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.format, &args.output)?;
    let settings = |it: &PathBuf| Ok::<_, Error>((it.display().to_string(), read_text(it)?));
    let asked = Asked {
        agent: args.agent.clone(),
        settings: args.settings.as_ref().map(settings).transpose()?,
        min_evidence: args.min_evidence,
    };
    args.settings.iter().for_each(|it| catalog.files().note(it));
    let comparison = sessions(&args.paths, args.profile.as_ref(), &args.select, &args.draw);
    let kept = ForceArgs::default().kept(catalog.files());
    args.save.as_deref().map_or(Ok(()), |it| kept.check(it, None))?;
    args.output.check(catalog.files())?;
    args.page.check(catalog.files(), args.output.force())?;
    let threads = args.draw.threads();
    let (found, saved) = with_progress(|it| advised(catalog, &comparison, &asked, threads, it))?;
    match (&args.save, &saved) {
        (Some(path), Some(saved)) => {
            let text = serde_json::to_string_pretty(saved).map_err(unwritable)? + "\n";
            output::write(path, Remark::None.on(&text), kept)?;
        }
        (Some(_), None) => anstream::eprintln!(
            "no forecast is saved: it takes advice to change something, on the sessions of one agent"
        ),
        (None, _) => {}
    }
    let text = match format {
        FormatArg::JSON => found.document().map_err(unwritable)?,
        FormatArg::MARKDOWN => markdown(&found, args.details),
        FormatArg::HTML => page(&found).map_err(unwritable)?,
        _ => table(&found, args.details, Some(table_width(args.wide, &args.output))),
    };
    args.page.put(catalog.files(), args.output.force(), || page(&found))?;
    args.output.put(catalog.files(), format, text)
}
