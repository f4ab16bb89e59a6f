//! What a type refuses in words, with fixes, in either format.

use crate::prelude::*;

use super::read::{WantedType, Why};
use super::source::Format;
use ctxsim_base::grid::numbers::thousands;

/// The help for a whole number.
pub(super) const WHOLE_NUMBER: &str = "write a whole number, without quotes";

/// The help for a number.
const NUMBER: &str = "write a number, without quotes";

/// The help when nothing better is known.
const WANTED: &str = "see docs/reference for the allowed values";

/// A problem in a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextFault {
    /// The diagnostic's code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
    /// Where it is, if not at the value that is refused.
    pub span: Option<Range<usize>>,
    /// The number that is out of range.
    pub number: Option<String>,
    /// Whether several names may be given where one choice is allowed.
    pub is_of_several: bool,
}

impl TextFault {
    pub(super) fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        let help = Some(help.into()).filter(|it| !it.is_empty());
        Self { code, message: message.into(), help, span: None, number: None, is_of_several: false }
    }

    /// Returns the fault with a better fix, if the field is more specific than the parser's error.
    pub(super) fn of_field(mut self, field: &str, format: Format) -> Self {
        let last = field.rsplit('.').next().unwrap_or_default();
        if self.code == Code("unit-missing") && field.starts_with("params.") && !self.message.contains('.') {
            let number = self.message.split(' ').find(|it| is_number(it)).unwrap_or("…");
            let [tokens, count] = ["tokens", "count"].map(|unit| with_unit(unit, number, format));
            self.help = Some(format!(
                "write the unit: {tokens} for a size, {count} for a number of turns, steps or items"
            ));
        }
        if self.code == Code("value-invalid") && SHARES.contains(&last) && self.message.starts_with('-') {
            self.help = Some("write a share from 0 to 1, such as 0.5".to_owned());
        }
        self
    }
}

/// The name of a share of something.
const SHARES: [&str; 2] = ["ratio", "fraction"];

/// Explains why a type refuses a value; `found` is the value, or the name in question, as written.
pub(super) fn explained(why: &Why, found: &str, format: Format) -> TextFault {
    match why {
        Why::Wanted(wanted) => of_kind(*wanted, found, format),
        Why::Type { found, expected } => wrong(format!("invalid type: {found}, expected {expected}"), WANTED),
        // A number that is written is told as written.
        Why::Range { expected, .. } if is_number(found) => out_of_range(found, expected),
        Why::Range { number, expected } => out_of_range(number, expected),
        Why::Choice(name, known) => unknown_choice(name, known),
        Why::Field(name, known) => unknown_field(name, known),
        Why::Missing(field) => missing_field(field, None),
        Why::Twice(field) => duplicate(field),
        Why::Bare(name) => without_value(name, format),
        Why::Full(name) => {
            let word = if format == Format::Ron { name.to_owned() } else { format!("\"{name}\"") };
            wrong(format!("`{name}` takes no value"), format!("write just `{word}`"))
        }
        Why::Several => {
            let help = "keep one key and remove the others";
            TextFault { is_of_several: true, ..wrong("expected exactly one choice", help) }
        }
        Why::Rest => {
            let help = "remove the extra ones; write long numbers like `14_000`";
            let brackets = if format == Format::Ron { "parentheses" } else { "brackets" };
            wrong(format!("too many values in the {brackets}"), help)
        }
        // What a field's own check says has its way out behind a colon.
        Why::Words(words) => match words.split_once(": write ") {
            Some((what, write)) => TextFault::new(Code("value-invalid"), what, format!("write {write}")),
            None => TextFault::new(Code("value-invalid"), words, WANTED),
        },
    }
}

/// Explains that a value is of another kind.
fn of_kind(wanted: WantedType, found: &str, format: Format) -> TextFault {
    match (wanted, format) {
        (WantedType::Flag, _) => {
            wrong_type("`true` or `false`", found, "write one of the two, without quotes")
        }
        (WantedType::Whole | WantedType::Number, _) if meant(found.trim_matches('"')).is_some() => {
            let number = meant(found.trim_matches('"')).map(|it| it[1].clone()).unwrap_or_default();
            wrong_type("a number", found, &format!("write `{number}`"))
        }
        (WantedType::Whole, _) => wrong_type("a whole number", found, WHOLE_NUMBER),
        (WantedType::Number, _) => wrong_type("a number", found, NUMBER),
        (WantedType::Text, _) => {
            let unit = if is_number(found) { "; a duration needs its unit, as in `\"5m\"`" } else { "" };
            wrong_type("text", found, &format!("write it in quotes: `\"{found}\"`{unit}"))
        }
        (WantedType::List, _) => wrong_type("a list", found, &in_brackets(found)),
        (WantedType::Map, Format::Ron) => wrong_type("a map", found, "write `{ \"name\": … }`"),
        (WantedType::Map, Format::Toml) => wrong_type("a table", found, "write `{ name = … }`"),
        (WantedType::Nothing, _) => wrong_type("nothing", found, "remove it"),
        (WantedType::Fields | WantedType::Name, _) if is_number(found) => bare_number(found, format),
        (WantedType::Fields, _) if found.is_empty() => {
            let help = "write fields in parentheses, without quotes around their names: `(name: value)`";
            wrong("expected `(`", help)
        }
        (WantedType::Fields, _) => {
            wrong_type("fields in parentheses", found, "write `(name: value)`, or leave the field out")
        }
        (WantedType::Name, _) if found.starts_with('[') => {
            wrong("expected one value, not a list", "remove the brackets")
        }
        (WantedType::Name, Format::Toml) => {
            wrong_type("a name or a table", found, "write one of the names, in quotes")
        }
        (WantedType::Name, Format::Ron) if found.starts_with('"') => {
            let message = format!("expected a name, not the text {found}");
            let word = found.trim_matches('"');
            let help = match meant(word) {
                Some([size, _]) => format!("write `{size}`"),
                None => format!("write `{word}`, without quotes"),
            };
            wrong(message, help)
        }
        (WantedType::Name, Format::Ron) => {
            let help = "write `name: value`, in one pair of parentheses";
            TextFault { is_of_several: true, ..wrong("expected a field name", help) }
        }
    }
}

/// Returns what a percentage or a number of thousands would be, as a size and as a plain number.
pub(super) fn meant(word: &str) -> Option<[String; 2]> {
    if let Some(percent) = word.strip_suffix('%') {
        let percent: f64 = percent.trim().parse().ok()?;
        let share = (percent / 100.0).to_string();
        return (0.0..=100.0).contains(&percent).then(|| [format!("ratio({share})"), share]);
    }
    let (number, factor) = match word.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => (word.strip_suffix(['m', 'M'])?, 1e6),
    };
    let tokens = number.trim().parse::<f64>().ok()? * factor;
    let is_count = (1.0..1e12).contains(&tokens) && tokens.fract() == 0.0;
    let digits = thousands(tokens as u64).replace(',', "_");
    is_count.then(|| [format!("tokens({digits})"), digits])
}

/// Explains that a choice needs a value.
fn without_value(name: &str, format: Format) -> TextFault {
    if is_number(name) {
        return bare_number(name, format);
    }
    match format {
        Format::Ron => {
            let message = format!("`{name}` needs a value in parentheses");
            wrong(message, format!("write `{name}(…)` with its value"))
        }
        Format::Toml => {
            let help = format!("write `{{ {name} = … }}` with its value");
            wrong(format!("`{name}` needs a value"), help)
        }
    }
}

fn unknown_field(found: &str, known: &[&str]) -> TextFault {
    let message = format!("unknown field `{found}`");
    TextFault::new(Code("unknown-field"), message, choices(found, known))
}

/// Reports an unknown name.
pub(super) fn unknown_choice(found: &str, known: &[&str]) -> TextFault {
    let message = format!("unknown choice `{found}`");
    let is_known = |size: &String| known.iter().any(|it| size.split('(').next() == Some(it));
    let help = match meant(found).map(|it| it[0].clone()).filter(is_known) {
        Some(size) => format!("write `{size}`"),
        None => choices(found, known),
    };
    TextFault::new(Code("unknown-choice"), message, help)
}

/// Reports a missing field, with its meaning.
pub(super) fn missing_field(field: &str, about: Option<&str>) -> TextFault {
    let about = about.map(|it| format!(": {it}")).unwrap_or_default();
    let help = format!("add `{field}`{about}");
    TextFault::new(Code("missing-field"), format!("missing field `{field}`"), help)
}

fn duplicate(field: &str) -> TextFault {
    TextFault::new(Code("duplicate-key"), format!("`{field}` is set twice"), "remove one of the two")
}

/// Reports a number that is out of the range of its type, named as in serde or a schema.
pub(super) fn out_of_range(found: &str, kind: &str) -> TextFault {
    let number =
        if found.is_empty() { "a number of that length".to_owned() } else { format!("the number {found}") };
    let message = format!("{number} is out of range");
    let help = match greatest(kind) {
        Some(greatest) if greatest < u64::MAX || !found.starts_with('-') => {
            format!("write a whole number from 0 to {greatest}")
        }
        _ => "write a whole number of at least 0".to_owned(),
    };
    TextFault { number: Some(found.to_owned()), ..TextFault::new(Code("number-out-of-range"), message, help) }
}

/// Returns the largest number of a type.
fn greatest(kind: &str) -> Option<u64> {
    match kind {
        "u8" | "uint8" => Some(u8::MAX.into()),
        "u16" | "uint16" => Some(u16::MAX.into()),
        "u32" | "uint32" => Some(u32::MAX.into()),
        "u64" | "uint64" => Some(u64::MAX),
        "i64" => Some(i64::MAX.unsigned_abs()),
        _ => None,
    }
}

/// Reports a value of the wrong type.
fn wrong(message: impl Into<String>, help: impl Into<String>) -> TextFault {
    TextFault::new(Code("wrong-type"), message, help)
}

fn wrong_type(wanted: &str, found: &str, help: &str) -> TextFault {
    let found = if found.is_empty() { String::new() } else { format!(", not `{found}`") };
    wrong(format!("expected {wanted}{found}"), help)
}

/// Returns a number with its unit as written.
fn with_unit(unit: &str, number: &str, format: Format) -> String {
    match format {
        Format::Ron => format!("`{unit}({number})`"),
        Format::Toml => format!("`{{ {unit} = {number} }}`"),
    }
}

/// Returns the fix for a number without a unit.
fn bare_number(found: &str, format: Format) -> TextFault {
    let with = |unit: &str| with_unit(unit, found, format);
    let help = if found.contains('.') {
        let (ratio, fraction) = (with("ratio"), with("fraction"));
        format!("say what it is a share of: {ratio} for the limit, {fraction} for items")
    } else {
        let [tokens, turns, steps, items] = ["tokens", "turns", "steps", "items"].map(with);
        format!("add the unit: {tokens} for a size; {turns}, {steps} or {items} for a number of units")
    };
    TextFault::new(Code("unit-missing"), format!("the number {found} has no unit"), help)
}

/// Returns the fix for an unknown name.
fn choices(found: &str, known: &[&str]) -> String {
    let lower = found.to_lowercase();
    let near = nearest(found, known.iter().copied()).or_else(|| nearest(&lower, known.iter().copied()));
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("write one of `{}`", known.join("`, `")),
    }
}

/// Returns a value as a TOML list; words in brackets lack their quotes.
fn in_brackets(found: &str) -> String {
    let listed = found.strip_prefix("\"[").and_then(|it| it.strip_suffix("]\""));
    let Some(listed) = listed else { return format!("write it in brackets: `[{found}]`") };
    let words =
        listed.split(',').map(|it| it.trim_matches([' ', '\'', '"', '\\'])).filter(|it| !it.is_empty());
    let words: Vec<String> =
        words.map(|it| if is_number(it) { it.to_owned() } else { format!("\"{it}\"") }).collect();
    format!("write `[{}]`", words.join(", "))
}

/// Reports that one of several names needs a value.
pub(super) fn bare_names(names: &str) -> TextFault {
    wrong(format!("one of {names} needs a value"), "write `{ NAME = … }` with its value")
}

fn is_number(found: &str) -> bool {
    found.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit())
}
