//! `ctxsim screen`, and `ctxsim SESSIONS`: what sessions cost, where that goes, and what to do about it.

use crate::prelude::*;
use ctxsim_app::first_screen;
use ctxsim_report::screen::{html_page, markdown, terminal_text};

use crate::progress::READS_AND_SIMULATES;

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim                                          what is found where Claude Code, Codex, Gemini CLI, opencode, pi and Copilot CLI keep sessions
  ctxsim ~/.claude/projects                       the same of a folder: `screen` may be left out in front of recorded sessions
  ctxsim screen ~/.claude/projects --since 2026-11-01
  ctxsim screen ~/.claude/projects ~/.codex/sessions --html cost.html
  ctxsim advise ~/.claude/projects                what to change, and what to paste
  ctxsim run ~/.claude/projects                   what each setting would change

Without `screen`, an option that only a comparison has (such as `--policy`, `--profile`, `--suite`, `--rows` or `--details`) makes it `ctxsim run`.

Exit codes: 0 success; 2 bad input or usage.";

/// The available output formats.
pub(super) const FORMATS: Formats<'_> = Formats {
    of: "a first screen",
    known: &[FormatArg::TABLE, FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::JSON],
};

/// The arguments of `screen`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.restrict_format_arg(it)),
    mut_arg("paths", |it| it.required(false).help("Recorded sessions (files, folders or patterns) [default: where your agents keep them]"))
)]
pub(crate) struct ScreenArgs {
    #[command(flatten)]
    sessions: RecordedArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    shown: PagedArgs,
}

impl ScreenArgs {
    /// Returns whether it can be shown so, and all that is named are recorded sessions.
    pub(crate) fn is_screen_of_recordings(&self, catalog: &Catalog) -> bool {
        self.sessions.profile.is_none()
            && self.shown.shown.choose_format(&FORMATS).is_ok()
            && self.sessions.paths.iter().all(|it| catalog.means_recordings(it))
    }
}

/// Reads the sessions and writes the screen.
pub(super) fn write_first_screen(catalog: &Catalog, args: &ScreenArgs) -> Result<()> {
    let format = args.shown.shown.choose_format(&FORMATS)?;
    args.shown.check_output_paths(catalog.files_read())?;
    let (sessions, source) = args.sessions.clone().or_usual_sessions(catalog);
    let (comparison, threads) = (sessions.comparison(), args.threads.n_threads());
    let mut screen = run_with_progress(READS_AND_SIMULATES, |progress| {
        first_screen(catalog, &comparison, threads, progress)
    })?;
    screen.read.source = source;
    let screen = screen.with_next_commands(&sessions.next_command());
    let text = || match format {
        FormatArg::JSON => screen.to_json().map_err(unwritable_error),
        FormatArg::MARKDOWN => Ok(markdown(&screen).into()),
        _ => Ok(terminal_text(&screen, args.shown.shown.terminal())),
    };
    args.shown.write_text_and_page(catalog.files_read(), format, || html_page(&screen), text)
}
