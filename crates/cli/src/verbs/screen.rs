//! `ctxsim screen`, and `ctxsim SESSIONS`: what sessions cost, where that goes, and what to do about it.

use crate::prelude::*;
use ctxsim_app::screen as screen_on;
use ctxsim_report::screen::{markdown, page, table};

use crate::progress::READS_AND_SIMULATES;
use crate::what::{RecordedArgs, ThreadsArgs};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim ~/.claude/projects                       the same: `screen` may be left out in front of recorded sessions
  ctxsim screen ~/.claude/projects --since 2026-11-01
  ctxsim screen ~/.claude/projects ~/.codex/sessions --html cost.html
  ctxsim advise ~/.claude/projects                what to change, and what to paste
  ctxsim run ~/.claude/projects                   what each policy would change

Without `screen`, an option that only a comparison has (such as `--policy`, `--profile`, `--suite`, `--rows` or `--details`) makes it `ctxsim run`.

Exit codes: 0 success; 2 bad input or usage.";

/// The available output formats.
const FORMATS: Formats<'_> = Formats {
    of: "a first screen",
    known: &[FormatArg::TABLE, FormatArg::MARKDOWN, FormatArg::HTML, FormatArg::JSON],
};

/// The arguments of `screen`.
#[derive(Debug, Args)]
#[command(mut_arg("format", |it| FORMATS.offered(it)))]
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
    pub(crate) fn is_meant(&self, catalog: &Catalog) -> bool {
        !self.sessions.has_profile()
            && self.shown.shown.choose(&FORMATS).is_ok()
            && self.sessions.paths.iter().all(|it| catalog.means_recordings(it))
    }
}

/// Reads the sessions and writes the screen.
pub(super) fn screen(catalog: &Catalog, args: &ScreenArgs) -> Result<(), Error> {
    let format = args.shown.shown.choose(&FORMATS)?;
    args.shown.check(catalog.files())?;
    let (comparison, threads) = (args.sessions.comparison(), args.threads.number());
    let screen =
        with_progress(READS_AND_SIMULATES, |progress| screen_on(catalog, &comparison, threads, progress))?;
    let screen = screen.going_on(&args.sessions.next());
    let text = || match format {
        FormatArg::JSON => screen.json().map_err(unwritable),
        FormatArg::MARKDOWN => Ok(markdown(&screen).into()),
        _ => Ok(table(&screen, args.shown.shown.terminal())),
    };
    args.shown.put(catalog.files(), format, || page(&screen), text)
}
