//! Syntax errors of RON in words, with their places and fixes.

use crate::prelude::*;

use crate::text::fault::meant;

/// Quotes that an editor of prose writes in the place of `"`.
pub(in crate::text::tree) const CURLY: [char; 5] = ['“', '”', '„', '‘', '’'];

/// What is wrong at a place.
#[derive(Clone, Copy)]
pub(super) enum Mistake {
    /// There is nothing.
    Empty,
    /// The text ends inside of brackets.
    End,
    /// Something follows the last bracket.
    Behind,
    /// The text does not begin with its bracket.
    NotOne,
    /// A value is missing in front of this.
    NoValue,
    /// A name is missing.
    NoName,
    /// A comma is missing.
    Comma,
    /// A colon is missing.
    Colon,
    /// A bracket that is not the one that is open.
    Bracket,
    /// Too many brackets.
    Depth,
    OpenComment,
    OpenText,
    SingleQuotes,
    Escape,
    /// Digits that are no number.
    Digits,
    /// A character that begins no value.
    Unexpected(char),
}

impl Mistake {
    /// Returns the error in words.
    pub(super) fn told(self, text: &str, span: Range<usize>) -> (Diagnostic, Range<usize>) {
        if !matches!(self, Self::Empty) && is_toml(text) {
            let help = "name the file `.toml`, or write RON: `(name: \"…\", about: \"…\")`";
            return (
                Diagnostic::at(Code("syntax"), "", "this is TOML, but it is read as RON").help(help),
                span,
            );
        }
        let (message, help) = match (self, text[span.start..].trim_start().chars().next()) {
            (Self::Empty, _) => ("the file is empty", "start with `(name: \"…\", about: \"…\")`"),
            (_, Some('#')) => ("`#` does not start a comment here", "start comments with `//`"),
            (_, Some('=')) => (
                "`=` is used instead of `:`",
                "write `name: value`: this is RON, and `name = value` would be TOML",
            ),
            (Self::SingleQuotes, _) | (_, Some('\'')) => {
                ("text in single quotes", "use double quotes: `\"…\"`")
            }
            (Self::Escape, _) => ("unknown escape after `\\`", "write `\\\\` for a backslash"),
            (Self::Comma, _) => return comma(text, span.start),
            (Self::Bracket, _) => {
                ("this bracket does not match the one that is open", "close the inner bracket first")
            }
            (Self::NoValue, _) => ("missing value", "write a value in front of this"),
            (Self::Behind, _) => {
                ("unexpected text after the last bracket", "move it inside the bracket, or remove it")
            }
            (Self::NotOne, _) => ("the file must be one `( … )`", "put everything between `(` and `)`"),
            (Self::NoName, Some('(' | '[' | '{')) => {
                ("expected a field name", "close the previous bracket, or write `name: value`")
            }
            (Self::NoName, _) => ("expected a field name", "write `name: value`, in one pair of parentheses"),
            (Self::Colon, _) => ("a `:` is missing", "write `name: value`"),
            (Self::End, _) => ("the file ends too early", "close every open bracket"),
            (Self::Depth, _) => ("brackets are nested too deeply", "nest at most 64 brackets"),
            (Self::OpenComment, _) => ("unterminated comment", "close it with `*/`"),
            (Self::OpenText, _) => ("unterminated text", "close it with `\"`"),
            (Self::Digits, _) => return digits(text, span),
            (Self::Unexpected(it), _) if CURLY.contains(&it) => {
                ("text in typographic quotes", "use straight double quotes: `\"…\"`")
            }
            (Self::Unexpected(it), _) => {
                let problem = Diagnostic::at(Code("syntax"), "", format!("unexpected `{it}`"));
                return (problem.help("write `name: value`, or leave it out"), span);
            }
        };
        let rest = text[span.start..].trim_start();
        let start = text.len() - rest.len();
        let span = if rest.starts_with(['#', '=', '\'']) { start..start + 1 } else { span };
        (Diagnostic::at(Code("syntax"), "", message).help(help), span)
    }
}

/// Returns whether a text begins as TOML does: with a section, or with a name and `=`.
fn is_toml(text: &str) -> bool {
    let is_name = |it: &str| {
        !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | '.'))
    };
    let first = text.lines().map(str::trim).find(|it| !it.is_empty() && !it.starts_with('#'));
    first.is_some_and(|it| {
        let section = it.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        section.is_some_and(|it| is_name(it.trim_matches(['[', ']'])))
            || it.split_once('=').is_some_and(|(name, _)| is_name(name.trim()))
    })
}

/// Explains digits that are no number.
fn digits(text: &str, span: Range<usize>) -> (Diagnostic, Range<usize>) {
    let message = format!("`{}` is not a number", &text[span.clone()]);
    let help = match meant(&text[span.clone()]) {
        Some([size, number]) => format!("write `{size}` for a size, and `{number}` for a plain number"),
        None => "use digits only, as in `14_000`, and write shares as in `0.8`".to_owned(),
    };
    (Diagnostic::at(Code("syntax"), "", message).help(help), span)
}

/// Explains what is between two values where a comma is missing.
fn comma(text: &str, start: usize) -> (Diagnostic, Range<usize>) {
    let before = text[..start].trim_end();
    let is_number_part = |it: char| it.is_ascii_digit() || matches!(it, '.' | '_');
    let n_digits = before.len() - before.trim_end_matches(is_number_part).len();
    let word = text[start..].find(|it: char| !(it.is_alphanumeric() || it == '%' || it == '_'));
    let end = start + word.unwrap_or(text.len() - start);
    let from_number = before.len() - n_digits..end.max(start);
    if n_digits > 0 && (before.len() == start || text[start..].starts_with(|it: char| it.is_ascii_digit())) {
        return digits(text, from_number);
    }
    let is_field = text[end..].trim_start().starts_with(':');
    if n_digits > 0 && end > start && !is_field && text[start..].starts_with(char::is_alphabetic) {
        let (number, unit) = (&before[from_number.start..], &text[start..end]);
        let problem = Diagnostic::at(Code("syntax"), "", format!("`{number} {unit}` is not a size"));
        return (problem.help(format!("write the unit first: `{unit}({number})`")), from_number);
    }
    let problem = Diagnostic::at(Code("syntax"), "", "missing comma").help("put a `,` between the two");
    (problem, before.len().saturating_sub(1)..before.len())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_syntax_error_is_named() {
        let cases = [
            ("(a: 1, # b\n)", "`#` does not start a comment here", "#"),
            ("(a = 1, b = 2)", "`=` is used instead of `:`", "="),
            ("(a: 'b c')", "text in single quotes", "'"),
            ("(a: , b: 1)", "missing value", ","),
            ("(a: [\"b\\q\"])", "unknown escape after `\\`", "\\q"),
            ("(a: 5k)", "`5k` is not a number", "5k"),
            ("(a: 80%)", "`80%` is not a number", "80%"),
            ("(a: 5 tokens)", "`5 tokens` is not a size", "5 tokens"),
            ("(a: 1 b: 2)", "missing comma", "1"),
            ("(a: [1)", "this bracket does not match the one that is open", ")"),
            ("(a: 1)\nbehind", "unexpected text after the last bracket", "b"),
        ];

        for (text, message, at) in cases {
            let (problem, span) = super::super::parse(text).1.unwrap();
            assert_eq!((problem.message.as_str(), &text[span]), (message, at), "{text}");
            assert!(problem.help.is_some(), "{text}");
        }
    }
}
