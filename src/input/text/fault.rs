//! A parser's errors as one kind of fault, with one wording for both formats.

use std::ops::Range;

use super::decode::Format;
use crate::diag::nearest;

/// The help for a whole number.
pub(super) const WHOLE_NUMBER: &str = "write a whole number, without quotes";

/// The help for a number.
const NUMBER: &str = "write a number, without quotes";

/// The help when nothing better is known.
const WANTED: &str = "see docs/reference for the allowed values";

/// Old names of fields and choices, with their new ones.
const RENAMED: [(&str, &str); 10] = [
    ("loops", "turns"),
    ("loop_start", "turn_start"),
    ("loop_end", "turn_end"),
    ("loops_back", "turns_back"),
    ("after_loop", "after_turn"),
    ("turn_seconds", "message_seconds"),
    ("keep", "store"),
    ("recall", "read"),
    ("document", "store"),
    ("search", "read"),
];

/// Old names of fields that are elsewhere now: a name that is known where they were, and what to write instead.
const MOVED: [(&str, &str, &str); 13] = [
    (
        "aging",
        "memory",
        "write `memory: sessions(…)`, with `store` for `keep`, `read` for `recall`, and `write: (totals: …)`",
    ),
    (
        "runner",
        "memory",
        "write `memory: service(…)`, with `write: (entries: true)` for `context_only: false`, `store` for `document`, and \
        `read` for `search`",
    ),
    ("write", "facts", OF_FACTS),
    ("store", "facts", OF_FACTS),
    ("read", "facts", OF_FACTS),
    ("use", "facts", OF_FACTS),
    ("oracle", "facts", OF_FACTS),
    ("totals", "store", "write `write: (totals: …)`"),
    (
        "context_only",
        "store",
        "write `write: (entries: true)` for `context_only: false`, and nothing for `true`",
    ),
    ("at_start", "store", "write `read: (at_start: …)`"),
    ("at_end", "store", "write `write: (at_end: …)`"),
    ("flush_every", "store", "write `write: (flush_every: …)`"),
    ("lists_details", "key_references", "write `write: (lists_details: …)` beside `store`"),
];

/// The fix for a memory of facts without its kind.
const OF_FACTS: &str = "name the kind of memory: `memory: facts(…)` in a file, `memory.facts.…` in a path";

/// A problem in a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// The diagnostic's code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
    /// The parser's position.
    pub span: Range<usize>,
    /// The missing field.
    pub missing: Option<String>,
    /// The number that is out of range.
    pub number: Option<String>,
    /// Whether several names may be given where one choice is allowed.
    pub is_of_several: bool,
}

impl Fault {
    fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        let help = Some(help.into()).filter(|it| !it.is_empty());
        Self {
            code,
            message: message.into(),
            help,
            span: 0..0,
            missing: None,
            number: None,
            is_of_several: false,
        }
    }
}

/// The name of a share of something.
const SHARES: [&str; 2] = ["ratio", "fraction"];

impl Fault {
    /// Returns the fault with a better fix, if the field is more specific than the parser's error.
    pub(super) fn of_field(mut self, field: &str, format: Format) -> Self {
        let last = field.rsplit('.').next().unwrap_or_default();
        if self.code == "unit-missing" && field.starts_with("params.") && !self.message.contains('.') {
            let number = self.message.split(' ').find(|it| is_number(it)).unwrap_or("…");
            let [tokens, count] = ["tokens", "count"].map(|unit| with_unit(unit, number, format));
            self.help = Some(format!(
                "write the unit: {tokens} for a size, {count} for a number of turns, steps or items"
            ));
        }
        if self.code == "value-invalid" && SHARES.contains(&last) && self.message.starts_with('-') {
            self.help = Some("write a share from 0 to 1, such as 0.5".to_owned());
        }
        self
    }
}

/// Explains the RON parser's error; `found` is the word or the value at the place, as written.
pub(super) fn of_ron(error: &ron::Error, found: &str) -> Fault {
    use ron::Error as E;
    match error {
        E::NoSuchEnumVariant { expected, found, .. } => unknown_choice(found, expected),
        E::NoSuchStructField { expected, found, .. } => unknown_field(found, expected),
        E::MissingStructField { field, .. } => missing_field(field, None),
        E::DuplicateStructField { field, .. } => duplicate(field),
        E::IntegerOutOfBounds => out_of_range(found, ""),
        E::SuggestRawIdentifier(_) | E::InvalidIdentifier(_) | E::ExpectedIdentifier if is_number(found) => {
            bare_number(found, Format::Ron)
        }
        E::ExpectedIdentifier if found.starts_with('"') => {
            let word = found.trim_matches('"');
            Fault::new(
                "wrong-type",
                format!("expected a name, not the text {found}"),
                format!("write `{word}`, without quotes"),
            )
        }
        E::ExpectedIdentifier if is_list(found) => not_a_list(),
        E::ExceededRecursionLimit => {
            Fault::new("syntax", "brackets are nested too deeply", "nest at most 128 brackets")
        }
        E::ExpectedDifferentStructName { found, .. } => Fault::new(
            "wrong-type",
            format!("expected fields in parentheses, not `{found}`"),
            "write `(name: value)`, or leave the field out",
        ),
        E::InvalidIntegerDigit { .. } => wrong_type("a whole number", found, WHOLE_NUMBER),
        E::UnexpectedChar(it) => {
            let help = "write `name: value`, or leave it out";
            Fault::new("syntax", format!("unexpected `{it}`"), help)
        }
        E::ExpectedMapColon => Fault::new("syntax", "a `:` is missing", "write `name: value`"),
        E::ExpectedIdentifier => {
            let help = "write `name: value`, in one pair of parentheses";
            Fault { is_of_several: true, ..Fault::new("wrong-type", "expected a field name", help) }
        }
        E::ExpectedString => wrong_type("text", found, &in_quotes(found)),
        E::ExpectedArray => wrong_type("a list", found, &format!("write it in brackets: `[{found}]`")),
        E::ExpectedMap => wrong_type("a map", found, "write `{ \"name\": … }`"),
        E::ExpectedInteger if found.starts_with('-') => out_of_range(found, ""),
        E::ExpectedInteger => wrong_type("a whole number", found, WHOLE_NUMBER),
        E::ExpectedFloat => wrong_type("a number", found, NUMBER),
        E::ExpectedBoolean => wrong_type("`true` or `false`", found, "write one of the two, without quotes"),
        E::ExpectedNamedStructLike(_) | E::ExpectedStructLike if found.is_empty() => Fault::new(
            "wrong-type",
            "expected `(`",
            "write fields in parentheses, without quotes around their names: `(name: value)`",
        ),
        E::ExpectedStructLike | E::ExpectedNamedStructLike(_) | E::ExpectedUnit if !found.is_empty() => {
            let word = found.split('(').next().unwrap_or(found);
            if is_number(word) {
                return bare_number(word, Format::Ron);
            }
            Fault::new(
                "wrong-type",
                format!("`{word}` needs a value in parentheses"),
                format!("write `{word}(…)` with its value"),
            )
        }
        E::ExpectedStructLikeEnd => Fault::new(
            "wrong-type",
            "too many values in the parentheses",
            "remove the extra ones; write long numbers like `14_000`",
        ),
        E::ExpectedStringEnd => Fault::new("syntax", "unterminated text", "close it with `\"`"),
        E::Eof => Fault::new("syntax", "the file ends too early", "close every open bracket"),
        other => of_words(&other.to_string(), found, Format::Ron),
    }
}

/// Reports a word that takes no value.
pub(super) fn no_parentheses(word: &str, span: Range<usize>) -> Fault {
    let message = format!("`{word}` takes no value");
    Fault { span, ..Fault::new("wrong-type", message, format!("write just `{word}`")) }
}

/// Explains an error in serde's words.
pub(super) fn of_words(message: &str, found: &str, format: Format) -> Fault {
    if let Some(fault) = of_name(message) {
        return fault;
    }
    if message.starts_with("wanted string or table") {
        return if is_number(found) {
            bare_number(found, format)
        } else if is_list(found) {
            not_a_list()
        } else {
            wrong_type("a name or a table", found, "write one of the names, in quotes")
        };
    }
    let expected = message.rsplit_once("expected ").map_or("", |(_, expected)| expected);
    if message == "integer number overflowed" {
        return out_of_range(found, "");
    }
    // What fits no usual number comes as one of 128 bits.
    let is_long = message.starts_with("invalid type: integer") && greatest(expected).is_some();
    if message.starts_with("invalid value: integer") || is_long {
        let number = message.split('`').nth(1).unwrap_or_default();
        return out_of_range(number, expected);
    }
    if message.starts_with("expected table, found") || message.starts_with("expected empty table") {
        let message = "this name takes no value";
        return Fault::new("wrong-type", message, "write just the name in quotes, as in `apply = \"drop\"`");
    }
    if message.starts_with("invalid type: unit variant, expected") {
        if is_list(found) {
            return not_a_list();
        }
        if is_number(found) {
            return bare_number(found, format);
        }
        let name = found.trim_matches('"');
        let help = format!("write `{{ {name} = … }}` with its value");
        return Fault::new("wrong-type", format!("`{name}` needs a value"), help);
    }
    if message.starts_with("wanted exactly 1 element") {
        let fault =
            Fault::new("wrong-type", "expected exactly one choice", "keep one key and remove the others");
        return Fault { is_of_several: true, ..fault };
    }
    let help = |ron: &str, toml: &str| if format == Format::Ron { ron.to_owned() } else { toml.to_owned() };
    let wanted = match expected.split(' ').find(|it| !matches!(*it, "a" | "an")) {
        Some("sequence") => Some(("a list", in_brackets(found))),
        Some("string") => Some(("text", in_quotes(found))),
        Some("map" | "struct") => Some(("a table", help("write `{ \"name\": … }`", "write `{ name = … }`"))),
        Some("f64") => Some(("a number", NUMBER.to_owned())),
        Some("u64" | "u32" | "u16" | "u8") => Some(("a whole number", WHOLE_NUMBER.to_owned())),
        Some("boolean") => Some(("`true` or `false`", "write one of the two, without quotes".to_owned())),
        _ => None,
    };
    match wanted {
        Some((wanted, help)) if message.starts_with("invalid type") => wrong_type(wanted, found, &help),
        _ if message.starts_with("invalid type") => Fault::new("wrong-type", message, WANTED),
        // What a field's own check says has its way out behind a colon.
        _ => match message.split_once(": write ") {
            Some((what, write)) => Fault::new("value-invalid", what, format!("write {write}")),
            None => Fault::new("value-invalid", message, WANTED),
        },
    }
}

/// Explains an error about a name.
fn of_name(message: &str) -> Option<Fault> {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (first, rest) = names.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
    let about = message.split(['`', ':']).next().unwrap_or_default();
    match about.trim_end() {
        "unknown field" => Some(unknown_field(first, rest)),
        "unknown variant" => Some(unknown_choice(first, rest)),
        "missing field" => Some(missing_field(first, None)),
        "duplicate field" => Some(duplicate(first)),
        "unexpected keys in table" => {
            let (_, names) = message.split_once(": ")?;
            let (found, known) = names.split_once(", available keys: ")?;
            let known: Vec<&str> = known.split(", ").collect();
            Some(unknown_field(found.split(", ").next()?, &known))
        }
        _ => None,
    }
}

fn unknown_field(found: &str, known: &[&str]) -> Fault {
    let message = format!("unknown field `{found}`");
    Fault::new("unknown-field", message, choices(found, known))
}

/// Reports an unknown name.
pub(super) fn unknown_choice(found: &str, known: &[&str]) -> Fault {
    let message = format!("unknown choice `{found}`");
    Fault::new("unknown-choice", message, choices(found, known))
}

/// Reports a missing field, with its meaning.
pub(super) fn missing_field(field: &str, about: Option<&str>) -> Fault {
    let about = about.map(|it| format!(": {it}")).unwrap_or_default();
    let help = format!("add `{field}`{about}");
    let fault = Fault::new("missing-field", format!("missing field `{field}`"), help);
    Fault { missing: Some(field.to_owned()), ..fault }
}

fn duplicate(field: &str) -> Fault {
    Fault::new("duplicate-key", format!("`{field}` is set twice"), "remove one of the two")
}

/// Reports a number that is out of the range of its type, named as in serde or a schema.
pub(super) fn out_of_range(found: &str, kind: &str) -> Fault {
    let number =
        if found.is_empty() { "a number of that length".to_owned() } else { format!("the number {found}") };
    let message = format!("{number} is out of range");
    let help = match greatest(kind) {
        Some(u64::MAX) if found.starts_with('-') => "write a whole number of at least 0".to_owned(),
        Some(greatest) => format!("write a whole number from 0 to {greatest}"),
        None => "write a whole number of at least 0".to_owned(),
    };
    Fault { number: Some(found.to_owned()), ..Fault::new("number-out-of-range", message, help) }
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

fn wrong_type(wanted: &str, found: &str, help: &str) -> Fault {
    let found = if found.is_empty() { String::new() } else { format!(", not `{found}`") };
    Fault::new("wrong-type", format!("expected {wanted}{found}"), help)
}

/// Returns a number with its unit as written.
fn with_unit(unit: &str, number: &str, format: Format) -> String {
    match format {
        Format::Ron => format!("`{unit}({number})`"),
        Format::Toml => format!("`{{ {unit} = {number} }}`"),
    }
}

/// Returns the fix for a number without a unit.
fn bare_number(found: &str, format: Format) -> Fault {
    let with = |unit: &str| with_unit(unit, found, format);
    let help = if found.contains('.') {
        let (ratio, fraction) = (with("ratio"), with("fraction"));
        format!("say what it is a share of: {ratio} for the limit, {fraction} for items")
    } else {
        let [tokens, turns, steps, items] = ["tokens", "turns", "steps", "items"].map(with);
        format!("add the unit: {tokens} for a size; {turns}, {steps} or {items} for a number of units")
    };
    Fault::new("unit-missing", format!("the number {found} has no unit"), help)
}

/// Returns the fix for an unknown name.
fn choices(found: &str, known: &[&str]) -> String {
    if let Some(help) = of_old_name(found, |it| known.contains(&it)) {
        return help;
    }
    let lower = found.to_lowercase();
    let near = nearest(found, known.iter().copied()).or_else(|| nearest(&lower, known.iter().copied()));
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("write one of `{}`", known.join("`, `")),
    }
}

/// Returns the fix for a name that was known once, given the names that are known now.
pub(super) fn of_old_name(found: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
    let renamed = RENAMED.iter().find(|(old, new)| *old == found && is_known(new));
    let moved = || MOVED.iter().find(|(old, beside, _)| *old == found && is_known(beside));
    renamed.map(|it| format!("it is now called `{}`", it.1)).or_else(|| moved().map(|it| it.2.to_owned()))
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

/// Returns a value as text.
fn in_quotes(found: &str) -> String {
    let unit = if is_number(found) { "; a duration needs its unit, as in `\"5m\"`" } else { "" };
    format!("write it in quotes: `\"{found}\"`{unit}")
}

/// Reports that one of several names needs a value.
pub(super) fn bare_names(names: &str) -> Fault {
    let message = format!("one of {names} needs a value");
    Fault::new("wrong-type", message, "write `{ NAME = … }` with its value")
}

fn is_list(found: &str) -> bool {
    found.starts_with('[')
}

fn not_a_list() -> Fault {
    Fault::new("wrong-type", "expected one value, not a list", "remove the brackets")
}

fn is_number(found: &str) -> bool {
    found.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit())
}
