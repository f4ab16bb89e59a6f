//! `ctxsim realised`: whether later sessions were billed what advice had forecast.

use crate::prelude::*;

use ctxsim_app::{OutcomeTable, RealisedRequest, check_forecasts, parse_forecasts};
use ctxsim_report::realised::{html_page, markdown, terminal_text};

use crate::progress::READS_AND_SIMULATES;
use crate::verbs::screen;

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim advise ~/.claude/projects --save advice.json     now
  ctxsim realised advice.json ~/.claude/projects          after some weeks with the advised settings
  ctxsim realised advice.json ~/.codex/sessions --changed 2026-11-20   where logs do not show the setting
  ctxsim realised advice.json ~/.claude/projects --outcomes merged.csv and what became of the tasks

Only sessions count that have the change, and in which it acts: by their logs where these show it, else from the day that `--changed` names, and \
only of versions that have the setting. They are played with the earlier settings where that is possible, else compared by their requests. People whose logs \
show that they changed nothing are compared with. docs/reference/advice.md says how often the answer is right.

Exit codes: 0 success; 2 bad input or usage.";

/// The available output formats.
const FORMATS: Formats<'_> = Formats { of: "`realised`", ..screen::FORMATS };

/// The arguments of `realised`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.restrict_format_arg(it)),
    mut_arg("paths", with_help("Recorded sessions (files, folders or patterns); those that came after the advice count")),
    mut_arg("profile", with_help("Model profile by name or path, as for the advice [default: each session's own model]"))
)]
pub(crate) struct RealisedArgs {
    /// The file that `ctxsim advise --save` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    sessions: RecordedArgs,
    /// The day from which the settings are in force, where logs do not show them [default: that of the forecast]
    #[arg(long, value_name = "YYYY-MM-DD")]
    changed: Option<String>,
    /// Compare with this person's later sessions, who changed nothing [default: those whose logs show it]
    #[arg(long = "unchanged-user", value_name = "NAME")]
    unchanged: Vec<String>,
    /// Compare an outcome for each session (CSV with `session`, `outcome` and maybe `group`) [default: what the logs tell]
    #[arg(long, value_name = "FILE")]
    outcomes: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    shown: PagedArgs,
}

/// Compares and writes.
pub(super) fn compare_with_forecast(catalog: &Catalog, args: &RealisedArgs) -> Result<()> {
    let format = args.shown.shown.choose_format(&FORMATS)?;
    // A table by hand may be wrong: that is said before any session is read.
    let outcomes = args.outcomes.as_ref().map(|path| -> Result<OutcomeTable> {
        catalog.files_read().add_path(path);
        OutcomeTable::read(&path.display().to_string(), &read_text(path)?)
    });
    let outcomes = outcomes.transpose()?;
    let saved = parse_forecasts(&args.file.display().to_string(), &read_text(&args.file)?)?;
    catalog.files_read().add_path(&args.file);
    args.shown.check_output_paths(catalog.files_read())?;
    let asked =
        RealisedRequest { changed: args.changed.clone(), unchanged: args.unchanged.clone(), outcomes };
    let (comparison, threads) = (args.sessions.comparison(), args.threads.n_threads());
    let found = run_with_progress(READS_AND_SIMULATES, |progress| {
        check_forecasts(catalog, &comparison, (&saved, &asked), threads, progress)
    })?;
    let text = || match format {
        FormatArg::JSON => output::to_json_text(&found),
        FormatArg::MARKDOWN => Ok(markdown(&found).into()),
        _ => Ok(terminal_text(&found, args.shown.shown.terminal())),
    };
    args.shown.write_text_and_page(catalog.files_read(), format, || html_page(&found), text)
}
