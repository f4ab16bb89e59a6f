//! `ctxsim advise`: which settings of an agent to change, what that saves and forgets, and what to paste.

use std::path::PathBuf;

use clap::Args;
use ctxsim_app::Comparison;
use ctxsim_app::advise::{AdviceRequest, advise as advised};
use ctxsim_app::catalog::Catalog;
use ctxsim_base::error::Error;
use ctxsim_input::text::source::read_text;
use ctxsim_report::advise::page::page;
use ctxsim_report::advise::{markdown, table};

use crate::args::{EvidenceArgs, said};
use crate::format::{FormatArg, Formats};
use crate::output::{self, ForceArgs, Remark};
use crate::shown::PagedArgs;
use crate::verbs::run::{unwritable, with_progress};
use crate::what::{DrawArgs, RecordedArgs};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim advise ~/.claude/projects                             what to change, what it saves, what to paste
  ctxsim advise ~/.claude/projects --settings ~/.claude/settings.json   what is in force by the file, not by the logs
  ctxsim advise ~/.claude/projects --save advice.json          and later: ctxsim realised advice.json ~/.claude/projects
  ctxsim advise requests.jsonl --agent langchain               logs of requests, which several agents write

The agent and its version are read from the logs. Every value of every setting that the agent has, within its documented range, and every \
combination is played on all sessions. One rule gives each a word (do, your call, try, don't, cannot tell), which holds beside everything \
else that was tried: docs/advise.md says when, and how often it is right. What is pasted is the “do” that surely saves most.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The available output formats.
pub(super) const FORMATS: Formats<'_> = Formats {
    of: "`advise`",
    known: &[FormatArg::TABLE, FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::JSON, FormatArg::CSV],
};

/// The arguments of `advise`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.offered(it)),
    mut_arg("profile", said("Model profile by name or path, where no profile covers a session's model [default: each session's own model]"))
)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    sessions: RecordedArgs,
    /// The agent's settings file, for the values in force [default: as the logs show, else the agent's defaults]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// The agent, where the format of the logs does not tell
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// Write the forecast to a small file, for `ctxsim realised`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    draw: DrawArgs,
    #[command(flatten)]
    shown: PagedArgs,
    /// Show everything that was tried, and why the rest was not
    #[arg(long)]
    details: bool,
}

/// Advises, writes, and saves the forecast.
pub(super) fn advise(catalog: &Catalog, args: &AdviseArgs) -> Result<(), Error> {
    let format = args.shown.shown.choose(&FORMATS)?;
    let settings = |it: &PathBuf| Ok::<_, Error>((it.display().to_string(), read_text(it)?));
    let asked = AdviceRequest {
        agent: args.agent.clone(),
        settings: args.settings.as_ref().map(settings).transpose()?,
        min_evidence: args.evidence.min_evidence,
        has_wishes: true,
    };
    args.settings.iter().for_each(|it| catalog.files().note(it));
    let DrawArgs { seed, trials, threads } = args.draw;
    let comparison = Comparison { seed, trials, ..args.sessions.comparison() };
    let kept = ForceArgs::default().kept(catalog.files());
    args.save.as_deref().map_or(Ok(()), |it| output::check(it).and_then(|()| kept.check(it, None)))?;
    args.shown.check_beside(args.save.as_deref(), catalog.files())?;
    let (found, saved) = with_progress(|it| advised(catalog, &comparison, &asked, threads.number(), it))?;
    match (&args.save, &saved) {
        (Some(path), Some(saved)) => {
            let text = output::json(saved)?;
            output::write(path, Remark::None.on(&text), kept)?;
        }
        (Some(_), None) => {
            output::tell(format_args!("no forecast is saved: it takes a “do”, on the sessions of one agent"));
        }
        (None, _) => {}
    }
    if format == FormatArg::CSV {
        let rows = format.write(|_| vec![found.as_rows()])?;
        return args.shown.put(catalog.files(), format, rows, || page(&found));
    }
    let text = match format {
        FormatArg::JSON => found.document().map_err(unwritable)?,
        FormatArg::MARKDOWN => markdown(&found, args.details).into(),
        FormatArg::HTML => page(&found).map_err(unwritable)?,
        _ => table(&found, args.details, Some(args.shown.shown.width())),
    };
    args.shown.put(catalog.files(), format, text, || page(&found))
}
