//! How a result is shown, and where it goes; the formats of results, and which one is written: as asked for, else by the extension of the output, else the usual one.

use crate::prelude::*;
use std::borrow::Cow;
use std::fmt::Display;
use std::io;

use clap::Arg;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ctxsim_timeline::row::{self, Rows};

use crate::output::{self, OutputArgs, PageArgs, Remark};
use crate::what::number;
use ctxsim_base::grid::tint::Terminal;

/// An output format, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FormatArg(&'static str);

impl FormatArg {
    pub(super) const TABLE: Self = Self("table");
    pub(super) const JSON: Self = Self("json");
    pub(super) const JSONL: Self = Self("jsonl");
    pub(super) const CSV: Self = Self("csv");
    pub(super) const MARKDOWN: Self = Self("markdown");
    pub(super) const HTML: Self = Self("html");
    pub(super) const SVG: Self = Self("svg");
    pub(super) const GITHUB: Self = Self("github");
    pub(super) const JUNIT: Self = Self("junit");
    pub(super) const SARIF: Self = Self("sarif");
}

/// What is known of a format.
struct KnownFormat {
    name: FormatArg,
    /// What help says.
    about: &'static str,
    /// File extensions, the usual one first.
    extensions: &'static [&'static str],
    /// How its files say that ctxsim wrote them.
    remark: Remark,
}

const fn known(
    name: FormatArg,
    about: &'static str,
    extensions: &'static [&'static str],
    remark: Remark,
) -> KnownFormat {
    KnownFormat { name, about, extensions, remark }
}

/// A remark between the signs that Markdown and SVG share.
const COMMENT: Remark = Remark::Comment("<!-- ", " -->");

/// The formats of whole results; those of rows are in [`row::FORMATS`].
const FORMATS: [KnownFormat; 7] = [
    known(FormatArg::TABLE, "Tables for the terminal", &["txt"], Remark::Line),
    known(FormatArg::MARKDOWN, "Markdown tables", &["md", "markdown"], COMMENT),
    known(
        FormatArg::HTML,
        "Self-contained page with charts and tables",
        &["html", "htm"],
        Remark::AfterDoctype,
    ),
    known(FormatArg::SVG, "One chart: the first, or the one given by `--chart`", &["svg"], COMMENT),
    known(FormatArg::GITHUB, "Markdown for a GitHub job summary, with folded details", &[], COMMENT),
    known(FormatArg::JUNIT, "JUnit XML", &["xml"], Remark::None),
    known(FormatArg::SARIF, "SARIF 2.1.0", &["sarif"], Remark::None),
];

/// Returns every format.
fn all() -> impl Iterator<Item = KnownFormat> {
    let of_rows = row::FORMATS.map(|it| known(FormatArg(it.name), it.about, it.extensions, Remark::None));
    FORMATS.into_iter().chain(of_rows)
}

impl FormatArg {
    /// Returns a result as it leaves: text for people is neutralised, and the writers of other formats have done so.
    ///
    /// # Errors
    /// Text for people that is not UTF-8; none of ours is.
    pub(super) fn neutral(self, text: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
        if ![Self::TABLE, Self::MARKDOWN, Self::GITHUB].contains(&self) {
            return Ok(Cow::Borrowed(text));
        }
        let text = output::neutral(std::str::from_utf8(text).map_err(unwritable)?);
        Ok(Cow::Owned(text.into_owned().into_bytes()))
    }

    /// Returns the formats that rows can be written in.
    pub(super) fn of_rows() -> impl Iterator<Item = Self> {
        row::FORMATS.iter().map(|it| Self(it.name))
    }

    /// Returns how its files say that ctxsim wrote them.
    pub(super) fn remark(self) -> Remark {
        self.known().map_or(Remark::None, |it| it.remark)
    }

    /// Writes rows in it; a format in which lists of things are told in words gets other rows.
    pub(super) fn write(self, rows: impl FnOnce(bool) -> Vec<Rows>) -> Result<Vec<u8>, Error> {
        let format = self.of_row().unwrap_or(row::FORMATS[0]);
        (format.write)(&rows(format.is_flat)).map_err(unwritable)
    }

    /// Returns whether it is a table of cells.
    pub(super) fn is_flat(self) -> bool {
        self.of_row().is_some_and(|it| it.is_flat)
    }

    fn of_row(self) -> Option<row::RowFormat> {
        row::FORMATS.into_iter().find(|it| it.name == self.0)
    }

    fn known(self) -> Option<KnownFormat> {
        all().find(|it| it.name == self)
    }

    /// Returns its name on the command line.
    fn name(self) -> String {
        self.0.to_owned()
    }

    /// Returns its usual extension; empty if it has none.
    fn extension(self) -> String {
        self.known().and_then(|it| it.extensions.first().map(|usual| format!(".{usual}"))).unwrap_or_default()
    }
}

/// The formats of one kind of output, the default first.
pub(super) struct Formats<'a> {
    /// The output, as in "`explain`".
    pub of: &'a str,
    /// Its formats.
    pub known: &'a [FormatArg],
}

impl Formats<'_> {
    /// Returns a parser of `--format` for these formats, so that help and completions offer no other.
    pub(super) fn parser(&self) -> impl TypedValueParser<Value = FormatArg> + use<> {
        let known = self.known.iter().filter_map(|it| it.known());
        let values = known.map(|it| PossibleValue::new(it.name.0).help(it.about));
        PossibleValuesParser::new(values)
            .try_map(|given| all().map(|it| it.name).find(|known| known.0 == given).ok_or("unknown format"))
    }

    /// Returns the format to write.
    ///
    /// # Errors
    /// The format is unknown, or the output cannot be written.
    pub(super) fn choose(&self, asked: Option<FormatArg>, output: &OutputArgs) -> Result<FormatArg, Error> {
        let output = output.file();
        let usual = self.known.first().copied().unwrap_or(FormatArg::TABLE);
        let format = match (asked, output) {
            (Some(asked), _) => asked,
            (None, Some(path)) => self.of_extension(path)?.unwrap_or(usual),
            (None, None) => usual,
        };
        if !self.known.contains(&format) {
            let known = self.or(FormatArg::name);
            let message = format!("{} needs `--format {}", self.of, known.trim_start_matches('`'));
            let help = match asked {
                Some(_) => format!("use one of these instead of `{}`", format.name()),
                None => format!("name a file that ends in {}", self.or(FormatArg::extension)),
            };
            return Err(wrong(Code("output-format"), message, help));
        }
        output.map_or(Ok(()), output::writable)?;
        Ok(format)
    }

    /// Returns the format of a file's extension, or `None` without one.
    fn of_extension(&self, path: &Path) -> Result<Option<FormatArg>, Error> {
        let Some(found) = path.extension() else { return Ok(None) };
        let found = found.to_string_lossy();
        match all().find(|it| it.extensions.iter().any(|known| found.eq_ignore_ascii_case(known))) {
            Some(format) => Ok(Some(format.name)),
            None => {
                let message = format!("`.{found}` is not the extension of an output format");
                let help = format!("use {}, or add `--format`", self.or(FormatArg::extension));
                Err(wrong_at(Code("output-extension"), path, message, help))
            }
        }
    }

    /// Returns the formats' names, or their extensions, in backticks, joined by "or"; formats without one are skipped.
    fn or(&self, name: impl Fn(FormatArg) -> String) -> String {
        let names = self.known.iter().map(|format| name(*format)).filter(|it| !it.is_empty());
        let names: Vec<String> = names.map(|it| format!("`{it}`")).listed();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}

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

    /// Writes the result, which is the page or the text of another format, and the page if it is asked for.
    pub(super) fn put<E: Display, T: Into<Vec<u8>>>(
        &self,
        inputs: &Files,
        format: FormatArg,
        page: impl Fn() -> Result<String, E>,
        text: impl FnOnce() -> Result<T, Error>,
    ) -> Result<(), Error> {
        let is_page = format == FormatArg::HTML;
        let text = if is_page { page().map_err(unwritable)?.into() } else { text()?.into() };
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
