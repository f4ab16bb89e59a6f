//! How a result is shown, and where it goes; the formats of results, and which one is written: as asked for, else by the extension of the output, else the usual one.

use crate::prelude::*;
use std::borrow::Cow;
use std::fmt::Display;
use std::io;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ctxsim_timeline::row::{self, Rows};

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
    remark: WrittenByRemark,
}

const fn known_format(
    name: FormatArg,
    about: &'static str,
    extensions: &'static [&'static str],
    remark: WrittenByRemark,
) -> KnownFormat {
    KnownFormat { name, about, extensions, remark }
}

/// A remark between the signs that Markdown and SVG share.
const COMMENT: WrittenByRemark = WrittenByRemark::Comment("<!-- ", " -->");
const IN_PAGE: WrittenByRemark = WrittenByRemark::AfterDoctype;

/// The formats of whole results; those of rows are in [`row::FORMATS`].
const FORMATS: [KnownFormat; 7] = [
    known_format(FormatArg::TABLE, "Tables for the terminal", &["txt"], WrittenByRemark::Line),
    known_format(FormatArg::MARKDOWN, "Markdown tables", &["md", "markdown"], COMMENT),
    known_format(FormatArg::HTML, "Self-contained page with charts and tables", &["html", "htm"], IN_PAGE),
    known_format(FormatArg::SVG, "One chart: the first, or the one given by `--chart`", &["svg"], COMMENT),
    known_format(FormatArg::GITHUB, "Markdown for a GitHub job summary, with folded details", &[], COMMENT),
    known_format(FormatArg::JUNIT, "JUnit XML", &["xml"], WrittenByRemark::None),
    known_format(FormatArg::SARIF, "SARIF 2.1.0", &["sarif"], WrittenByRemark::None),
];

/// Returns every format.
fn all_formats() -> impl Iterator<Item = KnownFormat> {
    let of_rows = row::FORMATS
        .map(|it| known_format(FormatArg(it.name), it.about, it.extensions, WrittenByRemark::None));
    FORMATS.into_iter().chain(of_rows)
}

impl FormatArg {
    /// Returns a result as it leaves: text for people is neutralised, and the writers of other formats have done so.
    ///
    /// # Errors
    /// Text for people that is not UTF-8; none of ours is.
    pub(super) fn neutralise_control_codes(self, text: &[u8]) -> Result<Cow<'_, [u8]>> {
        if ![Self::TABLE, Self::MARKDOWN, Self::GITHUB].contains(&self) {
            return Ok(Cow::Borrowed(text));
        }
        let text = output::neutralise_control_codes(std::str::from_utf8(text).map_err(unwritable_error)?);
        Ok(Cow::Owned(text.into_owned().into_bytes()))
    }

    /// Returns the formats that rows can be written in.
    pub(super) fn row_formats() -> impl Iterator<Item = Self> {
        row::FORMATS.iter().map(|it| Self(it.name))
    }

    /// Adds to a text, as its files do, that ctxsim wrote it.
    pub(super) fn add_byline(self, text: impl AsRef<[u8]>) -> Vec<u8> {
        self.known_format().map_or(WrittenByRemark::None, |it| it.remark).add_to_text(text)
    }

    /// Writes rows in it; a format in which lists of things are told in words gets other rows.
    pub(super) fn encode_rows(self, rows_by_flatness: impl FnOnce(bool) -> Vec<Rows>) -> Result<Vec<u8>> {
        let format = self.row_format().unwrap_or(row::FORMATS[0]);
        (format.write)(&rows_by_flatness(format.is_flat)).map_err(unwritable_error)
    }

    pub(super) fn row_format(self) -> Option<row::RowFormat> {
        row::FORMATS.into_iter().find(|it| it.name == self.0)
    }

    fn known_format(self) -> Option<KnownFormat> {
        all_formats().find(|it| it.name == self)
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
    /// Makes `--format` offer these formats and no other.
    pub(super) fn restrict_format_arg(&self, format: Arg) -> Arg {
        format.value_parser(self.parser())
    }

    /// Returns a parser of `--format` for these formats, so that help and completions offer no other.
    pub(super) fn parser(&self) -> impl TypedValueParser<Value = FormatArg> + use<> {
        let known = self.known.iter().filter_map(|it| it.known_format());
        let values = known.map(|it| PossibleValue::new(it.name.0).help(it.about));
        PossibleValuesParser::new(values).try_map(|given| {
            all_formats().map(|it| it.name).find(|known| known.0 == given).ok_or("unknown format")
        })
    }

    /// Returns the format of a file's extension, or `None` without one.
    fn format_of_extension(&self, path: &Path) -> Result<Option<FormatArg>> {
        let Some(found) = path.extension() else { return Ok(None) };
        let found = found.to_string_lossy();
        let has_it = |it: &KnownFormat| it.extensions.iter().any(|known| found.eq_ignore_ascii_case(known));
        all_formats().find(has_it).map(|it| Some(it.name)).ok_or_else(|| {
            let message = format!("`.{found}` is not the extension of an output format");
            let help = format!("use {}, or add `--format`", self.list_extensions());
            error_at(Code("output-extension"), path, message, help)
        })
    }

    /// Returns the formats' usual extensions.
    fn list_extensions(&self) -> String {
        let usual = |format: FormatArg| format.known_format()?.extensions.first().map(|it| format!(".{it}"));
        self.list_in_backticks_with_or(|it| usual(it).unwrap_or_default())
    }

    /// Returns the formats' names, or their extensions, in backticks, joined by "or"; formats without one are skipped.
    fn list_in_backticks_with_or(&self, name: impl Fn(FormatArg) -> String) -> String {
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

/// A format, a place and a width; a verb says which formats it has ([`Formats::restrict_format_arg`]).
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
    /// The format is unknown, or the output cannot be written.
    pub(super) fn choose_format(&self, formats: &Formats<'_>) -> Result<FormatArg> {
        let (asked, output) = (self.format, self.output.file());
        let usual = formats.known.first().copied().unwrap_or(FormatArg::TABLE);
        let format = match (asked, output) {
            (Some(asked), _) => asked,
            (None, Some(path)) => formats.format_of_extension(path)?.unwrap_or(usual),
            (None, None) => usual,
        };
        if !formats.known.contains(&format) {
            let known = formats.list_in_backticks_with_or(|it| it.0.to_owned());
            let message = format!("{} needs `--format {}", formats.of, known.trim_start_matches('`'));
            let help = match asked {
                Some(_) => format!("use one of these instead of `{}`", format.0),
                None => format!("name a file that ends in {}", formats.list_extensions()),
            };
            return Err(Error::refused(Code("output-format"), message, help));
        }
        output.map_or(Ok(()), output::check_output_path)?;
        Ok(format)
    }

    /// Returns how tables are shown where they are printed, or written to a file.
    pub(super) fn terminal(&self) -> Terminal {
        Terminal { width: Some(self.table_width()), ..self.terminal_without_default_width() }
    }

    /// Returns the same, of any width unless one is asked for or that of a screen is known.
    pub(super) fn terminal_without_default_width(&self) -> Terminal {
        let is_printed = self.output.file().is_none();
        Terminal { width: self.asked_or_screen_width(), ..output::terminal_without_width(is_printed) }
    }

    /// Returns the width of tables.
    pub(super) fn table_width(&self) -> usize {
        self.asked_or_screen_width().unwrap_or(TABLE_WIDTH)
    }

    /// Returns the width that is asked for, or that of the screen.
    pub(super) fn asked_or_screen_width(&self) -> Option<usize> {
        self.wide.asked_or_screen_width(self.output.file())
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
    pub(super) fn check_output_paths(&self, inputs: &InputFiles) -> Result<()> {
        self.check_paths_beside(None, inputs)
    }

    /// Checks before any work that both may be written, and that neither is written to a further file.
    pub(super) fn check_paths_beside(&self, other_output: Option<&Path>, inputs: &InputFiles) -> Result<()> {
        self.shown.output.check_output_path(inputs)?;
        let beside = other_output.into_iter().chain(self.shown.output.file());
        self.page.check_output_path(inputs, self.shown.output.force, beside)
    }

    /// Writes the result, which is the page or the text of another format, and the page if it is asked for.
    pub(super) fn write_text_and_page<E: Display, T: Into<Vec<u8>>>(
        &self,
        inputs: &InputFiles,
        format: FormatArg,
        page: impl Fn() -> Result<String, E>,
        text: impl FnOnce() -> Result<T>,
    ) -> Result<()> {
        let is_page = format == FormatArg::HTML;
        let text = if is_page { page().map_err(unwritable_error)?.into() } else { text()?.into() };
        self.page.write_if_asked(inputs, self.shown.output.force, page)?;
        self.shown.output.write_result(inputs, format, text)
    }

    /// The same of JSON that is written as it is made.
    pub(super) fn write_json_and_page<E: Display>(
        &self,
        inputs: &InputFiles,
        write: impl FnOnce(&mut dyn io::Write) -> Result<(), serde_json::Error>,
        page: impl FnOnce() -> Result<String, E>,
    ) -> Result<()> {
        self.page.write_if_asked(inputs, self.shown.output.force, page)?;
        self.shown.output.write_streamed_json(inputs, write)
    }
}

/// The width of tables.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct WidthArgs {
    /// Width of tables in characters [default: the terminal's, or COLUMNS, else 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number_parser::<u16>(20, 10_000))]
    width: Option<u16>,
}

impl WidthArgs {
    /// Returns how tables are shown on standard output.
    pub(super) fn stdout_terminal(self) -> Terminal {
        let width = Some(self.asked_or_screen_width(None).unwrap_or(TABLE_WIDTH));
        Terminal { width, ..output::terminal_without_width(true) }
    }

    /// Returns the width that is asked for, else the terminal's or the environment's, on which no file depends.
    #[expect(clippy::disallowed_methods, reason = "how wide a table is drawn on a screen is no result")]
    fn asked_or_screen_width(self, output_file: Option<&Path>) -> Option<usize> {
        let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|it| *it > 0);
        let of_screen = || output::stdout_width_and_height().map(|it| it[0]).or_else(of_environment);
        self.width.map(usize::from).or_else(|| if output_file.is_none() { of_screen() } else { None })
    }
}
