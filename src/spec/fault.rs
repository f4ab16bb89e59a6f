//! What a parser says about a text, as one kind of fault with one wording for both formats.

use std::ops::Range;

use crate::diag::nearest;

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// The diagnostic's code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where the parser stood.
    pub span: Range<usize>,
    /// The field that is not there.
    pub missing: Option<String>,
}

impl Fault {
    fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        let help = Some(help.into()).filter(|it| !it.is_empty());
        Self { code, message: message.into(), help, span: 0..0, missing: None }
    }
}

/// Says what the RON parser means; `found` is the word or the value at the place, as it is written.
pub(super) fn of_ron(error: &ron::Error, found: &str) -> Fault {
    use ron::Error as E;
    match error {
        E::NoSuchEnumVariant { expected, found, .. } => unknown_choice(found, expected),
        E::NoSuchStructField { expected, found, .. } => unknown_field(found, expected),
        E::MissingStructField { field, .. } => missing_field(field),
        E::DuplicateStructField { field, .. } => duplicate(field),
        E::IntegerOutOfBounds => out_of_range(found),
        E::SuggestRawIdentifier(_) | E::InvalidIdentifier(_) | E::ExpectedIdentifier if is_number(found) => {
            bare_number(found)
        }
        E::ExpectedIdentifier if found.starts_with('"') => {
            let word = found.trim_matches('"');
            Fault::new(
                "wrong-type",
                format!("{found} is text, and a name belongs here"),
                format!("write `{word}`, without quotes"),
            )
        }
        E::ExpectedString => wrong_type("text", found, &format!("write it in quotes: `\"{found}\"`")),
        E::ExpectedArray => wrong_type("a list", found, &format!("write it in brackets: `[{found}]`")),
        E::ExpectedMap => wrong_type("a map", found, "write `{ \"name\": value }`"),
        E::ExpectedInteger if found.starts_with('-') => out_of_range(found),
        E::ExpectedInteger => wrong_type("a whole number", found, ""),
        E::ExpectedFloat => wrong_type("a number", found, ""),
        E::ExpectedBoolean => wrong_type("`true` or `false`", found, ""),
        E::ExpectedStructLike | E::ExpectedNamedStructLike(_) | E::ExpectedUnit if !found.is_empty() => {
            let word = found.split('(').next().unwrap_or(found);
            if is_number(word) {
                return bare_number(word);
            }
            Fault::new(
                "wrong-type",
                format!("`{word}` takes something in parentheses"),
                format!("write `{word}(…)`, with what belongs in it"),
            )
        }
        E::ExpectedStructLikeEnd => Fault::new(
            "wrong-type",
            "there is more in the parentheses than belongs there",
            "leave the rest out",
        ),
        other => of_words(&other.to_string()),
    }
}

/// Says what a parser means that says it in serde's words.
pub(super) fn of_words(message: &str) -> Fault {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (first, rest) = names.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
    if message.starts_with("unknown field") {
        return unknown_field(first, rest);
    }
    if message.starts_with("unknown variant") {
        return unknown_choice(first, rest);
    }
    if message.starts_with("missing field") {
        return missing_field(first);
    }
    if message.starts_with("duplicate field") {
        return duplicate(first);
    }
    let is_size = |it: &str| it.contains("string or table") || it.contains("variant");
    if message.starts_with("invalid type: ") && is_number(first) && is_size(message) {
        return bare_number(first);
    }
    if message.starts_with("invalid value: integer") {
        return out_of_range(first);
    }
    if message.starts_with("wanted exactly 1 element") {
        return Fault::new(
            "wrong-type",
            "exactly one of the choices belongs here",
            "keep one key and leave the others out",
        );
    }
    if message.starts_with("invalid type") || message.starts_with("invalid value") {
        return Fault::new("wrong-type", message, "");
    }
    Fault::new("syntax", message, "")
}

fn unknown_field(found: &str, known: &[&str]) -> Fault {
    let message = format!("there is no field `{found}` here");
    Fault::new("unknown-field", message, choices(found, known))
}

fn unknown_choice(found: &str, known: &[&str]) -> Fault {
    let message = format!("`{found}` is none of the choices here");
    Fault::new("unknown-choice", message, choices(found, known))
}

fn missing_field(field: &str) -> Fault {
    let fault =
        Fault::new("missing-field", format!("the field `{field}` is missing"), format!("add `{field}`"));
    Fault { missing: Some(field.to_owned()), ..fault }
}

fn duplicate(field: &str) -> Fault {
    Fault::new("duplicate-key", format!("`{field}` is given twice"), "keep one of the two")
}

fn out_of_range(found: &str) -> Fault {
    let message = format!("the number {found} does not fit here");
    Fault::new("number-out-of-range", message, "write a whole number from 0 up")
}

fn wrong_type(wanted: &str, found: &str, help: &str) -> Fault {
    let found = if found.is_empty() { String::new() } else { format!(", not `{found}`") };
    Fault::new("wrong-type", format!("{wanted} belongs here{found}"), help)
}

/// Says what to write instead of a number that stands for a size, an extent or a rendition.
fn bare_number(found: &str) -> Fault {
    let help = if found.contains('.') {
        format!("write what it is a share of: `ratio({found})` for the limit, `fraction({found})` for items")
    } else {
        format!(
            "write the unit: `tokens({found})` for a size, `loops({found})`, `steps({found})` or `items({found})` for a number of units"
        )
    };
    Fault::new("unit-missing", format!("the number {found} has no unit"), help)
}

/// Returns the way out of a wrong name.
fn choices(found: &str, known: &[&str]) -> String {
    let lower = found.to_lowercase();
    let near = nearest(found, known.iter().copied()).or_else(|| nearest(&lower, known.iter().copied()));
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "leave it out".to_owned(),
        None => format!("write one of `{}`", known.join("`, `")),
    }
}

fn is_number(found: &str) -> bool {
    found.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit())
}
