//! How a result is shown, and where it goes.

use crate::prelude::*;
use std::fmt::Display;
use std::io;

use clap::Arg;

use crate::args::number;
use crate::output::{self, OutputArgs, PageArgs};
use ctxsim_base::grid::tint::Terminal;

/// The width of tables without a terminal.
const TABLE_WIDTH: usize = 100;

/// A format, a place and a width; a verb says which formats it has ([`Formats::offered`]).
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ShownArgs {
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = Formats { of: "", known: &[] }.parser())]
    format: Option<FormatArg>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    wide: WidthArgs,
}

impl ShownArgs {
    /// Returns the format to write.
    ///
    /// # Errors
    /// As [`Formats::choose`].
    pub(super) fn choose(&self, formats: &Formats<'_>) -> Result<FormatArg, Error> {
        formats.choose(self.format, &self.output)
    }

    /// Returns how tables are shown where they are printed, or written to a file.
    pub(super) fn terminal(&self) -> Terminal {
        Terminal { width: Some(self.width()), ..self.given_terminal() }
    }

    /// Returns the same, of any width unless one is asked for or that of a screen is known.
    pub(super) fn given_terminal(&self) -> Terminal {
        let is_printed = self.output.file().is_none();
        Terminal { width: self.given_width(), ..output::terminal(is_printed) }
    }

    /// Returns the width of tables.
    pub(super) fn width(&self) -> usize {
        self.given_width().unwrap_or(TABLE_WIDTH)
    }

    /// Returns the width that is asked for, or that of the screen.
    pub(super) fn given_width(&self) -> Option<usize> {
        self.wide.given(self.output.file())
    }
}

/// The same, with a page beside the result.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PagedArgs {
    #[command(flatten)]
    pub shown: ShownArgs,
    #[command(flatten)]
    pub page: PageArgs,
}

impl PagedArgs {
    /// Checks before any work that both may be written.
    pub(super) fn check(&self, inputs: &Files) -> Result<(), Error> {
        self.check_beside(None, inputs)
    }

    /// Checks before any work that both may be written, and that neither is written to a further file.
    pub(super) fn check_beside(&self, further: Option<&Path>, inputs: &Files) -> Result<(), Error> {
        self.shown.output.check(inputs)?;
        let beside = further.into_iter().chain(self.shown.output.file());
        self.page.check(inputs, self.shown.output.force(), beside)
    }

    /// Writes the result, and the page if it is asked for.
    pub(super) fn put<E: Display>(
        &self,
        inputs: &Files,
        format: FormatArg,
        text: impl AsRef<[u8]>,
        page: impl FnOnce() -> Result<String, E>,
    ) -> Result<(), Error> {
        self.page.put(inputs, self.shown.output.force(), page)?;
        self.shown.output.put(inputs, format, text)
    }

    /// The same of JSON that is written as it is made.
    pub(super) fn put_written<E: Display>(
        &self,
        inputs: &Files,
        write: impl FnOnce(&mut dyn io::Write) -> Result<(), serde_json::Error>,
        page: impl FnOnce() -> Result<String, E>,
    ) -> Result<(), Error> {
        self.page.put(inputs, self.shown.output.force(), page)?;
        self.shown.output.put_written(inputs, write)
    }
}

/// The width of tables.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct WidthArgs {
    /// Width of tables in characters [default: the terminal's, or COLUMNS, else 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::<u16>(20, 10_000))]
    width: Option<u16>,
}

impl WidthArgs {
    /// Returns how tables are shown on standard output.
    pub(super) fn printed(self) -> Terminal {
        Terminal { width: Some(self.given(None).unwrap_or(TABLE_WIDTH)), ..output::terminal(true) }
    }

    /// Returns the width that is asked for, else the terminal's or the environment's, on which no file depends.
    #[expect(clippy::disallowed_methods, reason = "how wide a table is drawn on a screen is no result")]
    fn given(self, file: Option<&Path>) -> Option<usize> {
        let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|it| *it > 0);
        let asked = self.width.map(usize::from);
        asked.or_else(|| {
            file.is_none().then(|| output::size().map(|it| it[0]).or_else(of_environment)).flatten()
        })
    }
}

impl Formats<'_> {
    /// Makes `--format` offer these formats and no other.
    pub(super) fn offered(&self, format: Arg) -> Arg {
        format.value_parser(self.parser())
    }
}
