//! Which format a result is written in: as asked for, else by the extension of the output, else the usual one.

use std::path::Path;

use clap::ValueEnum as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;

use crate::args::FormatArg;
use crate::output::{self, OutputArgs};

/// File extensions and their output formats.
const EXTENSIONS: [(&str, FormatArg); 12] = [
    ("txt", FormatArg::Table),
    ("json", FormatArg::Json),
    ("jsonl", FormatArg::Jsonl),
    ("ndjson", FormatArg::Jsonl),
    ("csv", FormatArg::Csv),
    ("md", FormatArg::Markdown),
    ("markdown", FormatArg::Markdown),
    ("html", FormatArg::Html),
    ("htm", FormatArg::Html),
    ("svg", FormatArg::Svg),
    ("xml", FormatArg::Junit),
    ("sarif", FormatArg::Sarif),
];

/// The formats of one kind of output, the default first.
pub(crate) struct Formats<'a> {
    /// The output, as in "`explain`".
    pub(crate) of: &'a str,
    /// Its formats.
    pub(crate) known: &'a [FormatArg],
}

impl Formats<'_> {
    /// Returns a parser of `--format` for these formats, so that help and completions offer no other.
    pub(crate) fn parser(&self) -> impl TypedValueParser<Value = FormatArg> + use<> {
        let known = self.known.iter().filter_map(|it| it.to_possible_value());
        PossibleValuesParser::new(known).try_map(|it| FormatArg::from_str(&it, true))
    }

    /// Returns the format to write.
    ///
    /// # Errors
    /// The format is unknown, or the output cannot be written.
    pub(crate) fn choose(&self, asked: Option<FormatArg>, output: &OutputArgs) -> Result<FormatArg, Error> {
        let output = output.file();
        let usual = self.known.first().copied().unwrap_or(FormatArg::Table);
        let format = match (asked, output) {
            (Some(asked), _) => asked,
            (None, Some(path)) => self.of_extension(path)?.unwrap_or(usual),
            (None, None) => usual,
        };
        if !self.known.contains(&format) {
            let known = self.or(name);
            let message = format!("{} needs `--format {}", self.of, known.trim_start_matches('`'));
            let help = match asked {
                Some(_) => format!("use one of these instead of `{}`", name(format)),
                None => format!("name a file that ends in {}", self.or(extension)),
            };
            return Err(vec![Diagnostic::at("output-format", "", message).help(help)].into());
        }
        output.map_or(Ok(()), output::check)?;
        Ok(format)
    }

    /// Returns the format of a file's extension, or `None` without one.
    fn of_extension(&self, path: &Path) -> Result<Option<FormatArg>, Error> {
        let Some(found) = path.extension() else { return Ok(None) };
        let found = found.to_string_lossy();
        let format = EXTENSIONS.iter().find(|(it, _)| found.eq_ignore_ascii_case(it));
        match format {
            Some((_, format)) => Ok(Some(*format)),
            None => {
                let mut problem = Diagnostic::at(
                    "output-extension",
                    "",
                    format!("`.{found}` is not the extension of an output format"),
                );
                problem.place.file = path.display().to_string();
                let help = format!("use {}, or add `--format`", self.or(extension));
                Err(vec![problem.help(help)].into())
            }
        }
    }

    /// Returns the formats' names, or their extensions, in backticks, joined by "or"; formats without one are skipped.
    fn or(&self, name: impl Fn(FormatArg) -> String) -> String {
        let names = self.known.iter().map(|it| name(*it)).filter(|it| !it.is_empty());
        let names: Vec<String> = names.map(|it| format!("`{it}`")).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}

/// Returns a format's name on the command line.
fn name(format: FormatArg) -> String {
    format.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
}

/// Returns the default extension of a format; empty if it has none.
fn extension(format: FormatArg) -> String {
    EXTENSIONS.iter().find(|(_, it)| *it == format).map(|(it, _)| format!(".{it}")).unwrap_or_default()
}
