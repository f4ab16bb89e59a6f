//! Which format a result is written in: as asked for, else by the extension of the output, else the usual one.

use std::path::Path;

use clap::ValueEnum as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;

use crate::args::FormatArg;
use crate::output;

/// The extensions of output files, and the formats that they stand for.
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

/// What can be written, the usual format first, and what a person calls it.
pub(crate) struct Formats<'a> {
    /// What is written, as in "`explain`".
    pub(crate) of: &'a str,
    /// The formats that it has.
    pub(crate) known: &'a [FormatArg],
}

impl Formats<'_> {
    /// Returns what reads `--format` where it is one of these, so that help and completions name no other.
    pub(crate) fn parser(&self) -> impl TypedValueParser<Value = FormatArg> + use<> {
        let known = self.known.iter().filter_map(|it| it.to_possible_value());
        PossibleValuesParser::new(known).try_map(|it| FormatArg::from_str(&it, true))
    }

    /// Returns the format to write.
    ///
    /// # Errors
    /// The format is unknown, or the output cannot be written.
    pub(crate) fn choose(&self, asked: Option<FormatArg>, output: Option<&Path>) -> Result<FormatArg, Error> {
        let output = output::to_file(output);
        let usual = self.known.first().copied().unwrap_or(FormatArg::Table);
        let format = match (asked, output) {
            (Some(asked), _) => asked,
            (None, Some(path)) => self.of_extension(path)?.unwrap_or(usual),
            (None, None) => usual,
        };
        if !self.known.contains(&format) {
            let message = format!("{} cannot be written as {}", self.of, name(format));
            let help = match asked {
                Some(_) => format!("use `--format` with {}", self.or(name)),
                None => format!("name a file that ends in {}", self.or(extension)),
            };
            return Err(vec![Diagnostic::at("output-format", "", message).help(help)].into());
        }
        output.map_or(Ok(()), output::check)?;
        Ok(format)
    }

    /// Returns the format that a file's extension stands for; nothing where it has none.
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

    /// Returns the formats there are, by some name, in backticks.
    fn or<T: std::fmt::Display>(&self, name: impl Fn(FormatArg) -> T) -> String {
        let names: Vec<String> = self.known.iter().map(|it| format!("`{}`", name(*it))).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}

/// Returns what a format is called on the command line.
fn name(format: FormatArg) -> String {
    format.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
}

/// Returns the usual extension of a format.
fn extension(format: FormatArg) -> String {
    EXTENSIONS.iter().find(|(_, it)| *it == format).map(|(it, _)| format!(".{it}")).unwrap_or_default()
}
