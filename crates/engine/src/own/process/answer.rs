//! What a program answers, and the parts of a view that it means.

use crate::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::PROTOCOL;
use crate::own::view::Kind;
use crate::own::viewed::Misplaced;
use crate::own::{Entry, ItemId, Lasts, ModelCall, Part, Text};

/// How much of a line that is not a message is quoted, in characters.
const QUOTED: usize = 120;

/// A line of a program's output.
#[derive(Debug)]
pub(super) enum OutputLine {
    Ready { lasts: Lasts },
    View { n: u64, parts: Vec<ShownPart> },
    Same { n: u64 },
    Error { n: Option<u64>, message: String },
}

/// A part of a view, with its place in the message.
#[derive(Debug)]
pub(super) struct ShownPart {
    path: String,
    form: AnswerPart,
}

#[derive(Debug)]
enum AnswerPart {
    /// Entries as they came.
    Keep(Vec<[ItemId; 2]>),
    /// Any other part, and the entries that it replaces.
    Part(Part, Vec<[ItemId; 2]>),
}

/// A text whose words are not given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sized {
    tokens: u32,
    digest: u64,
}

impl OutputLine {
    /// Reads a line.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err(stray(line));
        }
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| format!("the program's answer is not JSON: {error}: {}", quoted(line)))?;
        Self::of(value).map_err(|it| format!("the program's answer is invalid: {it}"))
    }

    fn of(value: Value) -> Result<Self, String> {
        let mut fields = UnreadFields::of(String::new(), value)?;
        let kind: String = fields.required("type")?;
        let answer = match kind.as_str() {
            "ready" => Self::ready(&mut fields)?,
            "view" => Self::View { n: fields.required("n")?, parts: shown(&mut fields)? },
            "same" => Self::Same { n: fields.required("n")? },
            "error" => Self::Error { n: fields.read("n")?, message: fields.required("message")? },
            other => {
                return Err(format!("unknown `type` `{other}`; known are `ready`, `view`, `same`, `error`"));
            }
        };
        fields.finish()?;
        Ok(answer)
    }

    fn ready(fields: &mut UnreadFields) -> Result<Self, String> {
        let protocol: String = fields.required("protocol")?;
        if protocol != PROTOCOL {
            return Err(format!("`protocol` is `{protocol}`, but this version speaks `{PROTOCOL}`"));
        }
        let wants: Option<Vec<String>> = fields.read("wants")?;
        if wants.is_some_and(|it| it != ["request"]) {
            return Err("`wants` can only be `[\"request\"]`".to_owned());
        }
        Ok(Self::Ready { lasts: fields.read("lasts")?.unwrap_or_default() })
    }

    /// Returns what its type is called.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Ready { .. } => "ready",
            Self::View { .. } => "view",
            Self::Same { .. } => "same",
            Self::Error { .. } => "error",
        }
    }

    /// Returns which request it answers.
    pub(super) fn n(&self) -> Option<u64> {
        match self {
            Self::Ready { .. } => None,
            Self::View { n, .. } | Self::Same { n } => Some(*n),
            Self::Error { n, .. } => *n,
        }
    }
}

/// Says that a line is not a message.
fn stray(line: &[u8]) -> String {
    format!(
        "the program printed a line that is not a message: {}; standard output is for answers only: print everything else to standard error",
        quoted(line)
    )
}

/// Returns the beginning of a line in backticks.
fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.trim_ascii());
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("`{short}`")
}

/// Reads the parts of a view.
fn shown(fields: &mut UnreadFields) -> Result<Vec<ShownPart>, String> {
    let parts: Vec<Value> = fields.required("parts")?;
    parts.into_iter().enumerate().map(|(nth, it)| ShownPart::read(format!("parts[{nth}]"), it)).collect()
}

impl ShownPart {
    fn read(path: String, value: Value) -> Result<Self, String> {
        let mut fields = UnreadFields::of(path.clone(), value)?;
        let given = [fields.take("keep"), fields.take("rewrite"), fields.take("insert")];
        let form = match given {
            [Some(keep), None, None] => AnswerPart::Keep(ranges(&fields.path("keep"), keep)?),
            [None, Some(rewrite), None] => {
                AnswerPart::Part(rewritten(fields.path("rewrite"), rewrite)?, Vec::new())
            }
            [None, None, Some(insert)] => inserted(fields.path("insert"), insert)?,
            _ => return Err(format!("`{path}` needs exactly one of `keep`, `rewrite`, `insert`")),
        };
        fields.finish()?;
        Ok(Self { path, form })
    }
}

/// Reads an entry in other words.
fn rewritten(path: String, value: Value) -> Result<Part, String> {
    let mut fields = UnreadFields::of(path, value)?;
    let id: ItemId = fields.required("id")?;
    let mut part = Part::rewrite(id, text(&mut fields)?);
    if fields.read("handle")?.unwrap_or(false) {
        part = part.with_handle();
    }
    if fields.read("exact")?.unwrap_or(false) {
        part = part.exact();
    }
    part = called(part, &mut fields)?;
    fields.finish()?;
    Ok(part)
}

/// Reads words of the policy's own.
fn inserted(path: String, value: Value) -> Result<AnswerPart, String> {
    let mut fields = UnreadFields::of(path, value)?;
    let kind: Kind = fields.required("kind")?;
    let part = Part::insert(kind, text(&mut fields)?);
    let replaces = fields.take("replaces").map(|it| ranges(&fields.path("replaces"), it)).transpose()?;
    let part = called(part, &mut fields)?;
    fields.finish()?;
    Ok(AnswerPart::Part(part, replaces.unwrap_or_default()))
}

/// Adds the model call that wrote a part.
fn called(part: Part, fields: &mut UnreadFields) -> Result<Part, String> {
    let call: Option<ModelCall> = fields.read("model_call")?;
    Ok(call.map_or(part.clone(), |it| part.written_by(it)))
}

/// Reads words, or a size and a digest.
fn text(fields: &mut UnreadFields) -> Result<Text, String> {
    let path = fields.path("text");
    match fields.need("text")? {
        Value::String(words) => Ok(words.into()),
        value @ Value::Object(_) => {
            let Sized { tokens, digest } = read(&path, value)?;
            Ok(Text::sized(tokens.into(), digest))
        }
        other => {
            Err(format!("`{path}` is {}, not a string or {{\"tokens\": …, \"digest\": …}}", named(&other)))
        }
    }
}

/// Reads one range of entries, or a list of ranges.
fn ranges(path: &str, value: Value) -> Result<Vec<[ItemId; 2]>, String> {
    let is_one = value.as_array().is_some_and(|it| it.first().is_some_and(Value::is_number));
    let ranges: Vec<[ItemId; 2]> =
        if is_one { read(path, value).map(|it| vec![it]) } else { read(path, value) }
            .map_err(|it| format!("{it}; a range is [first, last], both included"))?;
    match ranges.iter().find(|[first, last]| first > last) {
        Some([first, last]) => Err(format!("`{path}`: the range [{first}, {last}] ends before it begins")),
        None => Ok(ranges),
    }
}

/// Returns the parts of a view, with its ranges resolved to entries.
pub(super) fn parts(shown: Vec<ShownPart>, history: &[Entry<'_>]) -> Result<Vec<Part>, String> {
    let mut parts = Vec::with_capacity(history.len());
    // A view that names more entries than there are names some of them twice.
    let mut left = history.len();
    for ShownPart { path, form } in shown {
        match form {
            AnswerPart::Keep(ranges) => {
                parts.extend(entries(&path, &ranges, history, &mut left)?.into_iter().map(Part::keep));
            }
            AnswerPart::Part(part, ranges) => {
                parts.push(part.replacing(entries(&path, &ranges, history, &mut left)?));
            }
        }
    }
    Ok(parts)
}

/// Returns the entries of ranges; those that are gone between the ends of a range are passed over.
fn entries(
    path: &str,
    ranges: &[[ItemId; 2]],
    history: &[Entry<'_>],
    left: &mut usize,
) -> Result<Vec<ItemId>, String> {
    let mut all = Vec::new();
    for [first, last] in ranges {
        let place = |id: &ItemId| {
            let found = history.binary_search_by_key(id, |it| it.id);
            found.map_err(|_| format!("`{path}`: {}", Misplaced::Unknown(*id)))
        };
        let within = &history[place(first)?..=place(last)?];
        *left = left.checked_sub(within.len()).ok_or_else(|| {
            format!("`{path}`: the view names some or all of the entries {first} to {last} twice")
        })?;
        all.extend(within.iter().map(|it| it.id));
    }
    Ok(all)
}

// JSON objects read strictly: what is missing, of another type or unknown is named by its path.

/// The fields of an object that have not been read.
#[derive(Debug)]
pub(super) struct UnreadFields {
    path: String,
    map: Map<String, Value>,
    /// The names that were asked for.
    known: Vec<&'static str>,
}

impl UnreadFields {
    /// Takes an object apart; its path is empty for a whole message.
    pub(super) fn of(path: String, value: Value) -> Result<Self, String> {
        match value {
            Value::Object(map) => Ok(Self { path, map, known: Vec::new() }),
            other => Err(format!("`{path}` is {}, not an object", named(&other))),
        }
    }

    /// Returns the path of a field.
    pub(super) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Takes a field as it is, if it is given.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.map.remove(name)
    }

    /// Takes a field that has to be given, as it is.
    pub(super) fn need(&mut self, name: &'static str) -> Result<Value, String> {
        self.take(name).ok_or_else(|| format!("`{}` is missing", self.path(name)))
    }

    /// Reads a field, if it is given.
    pub(super) fn read<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, String> {
        let value = self.take(name);
        value.map(|it| read(&self.path(name), it)).transpose()
    }

    /// Reads a field that has to be given.
    pub(super) fn required<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T, String> {
        let value = self.need(name)?;
        read(&self.path(name), value)
    }

    /// Makes sure that nothing is left.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(name) => {
                let known: Vec<String> = self.known.iter().map(|it| format!("`{it}`")).collect();
                Err(format!("unknown field `{}`; known are {}", self.path(name), known.join(", ")))
            }
        }
    }
}

/// Reads a value.
pub(super) fn read<T: DeserializeOwned>(path: &str, value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| format!("`{path}`: {error}"))
}

/// Returns what a value is.
pub(super) fn named(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        OutputLine::read(line.as_bytes()).unwrap_err()
    }

    fn entry(id: u32) -> Entry<'static> {
        Entry {
            id: ItemId(id),
            kind: Kind::User,
            tool: "",
            call: None,
            text: None,
            tokens: 1,
            is_stable: false,
        }
    }

    /// Returns what the ranges of a `keep` show of a history of some entries.
    fn kept(keep: &str, ids: &[u32]) -> Result<Vec<Part>, String> {
        let line = format!(r#"{{"type":"view","n":0,"parts":[{{"keep":{keep}}}]}}"#);
        let history: Vec<Entry<'_>> = ids.iter().map(|it| entry(*it)).collect();
        match OutputLine::read(line.as_bytes())? {
            OutputLine::View { parts: shown, .. } => parts(shown, &history),
            other => Err(other.name().to_owned()),
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        let lines = [
            (r#"{"type":"same"}"#, "`n` is missing"),
            (r#"{"type":"same","n":-1}"#, "`n`: invalid value: integer `-1`, expected u64"),
            (r#"{"type":"view","n":0,"parts":[7]}"#, "`parts[0]` is a number, not an object"),
            (
                r#"{"type":"view","n":0,"parts":[{}]}"#,
                "`parts[0]` needs exactly one of `keep`, `rewrite`, `insert`",
            ),
            (
                r#"{"type":"view","n":0,"parts":[{"rewrite":{"id":3,"text":["a"]}}]}"#,
                "`parts[0].rewrite.text` is an array, not a string or {\"tokens\": …, \"digest\": …}",
            ),
            (
                r#"{"type":"view","n":0,"parts":[{"rewrite":{"id":3,"text":{"tokens":5}}}]}"#,
                "`parts[0].rewrite.text`: missing field `digest`",
            ),
            (
                r#"{"type":"view","n":0,"parts":[{"insert":{"kind":"user","text":"","model_call":{"input":1}}}]}"#,
                "`parts[0].insert.model_call`: missing field `output`",
            ),
            (
                r#"{"type":"view","n":0,"parts":[{"keep":[0,1],"why":"x"}]}"#,
                "unknown field `parts[0].why`; known are `keep`, `rewrite`, `insert`",
            ),
            (
                r#"{"type":"ready","protocol":"ctxsim.policy/1","wants":["entry"]}"#,
                "`wants` can only be `[\"request\"]`",
            ),
        ];
        for (line, wrong) in lines {
            assert_eq!(told(line), format!("the program's answer is invalid: {wrong}"), "{line}");
        }
    }

    #[test]
    fn a_range_shows_what_is_left_between_its_ends() {
        let ids = |shown: &[u32]| shown.iter().map(|it| Part::keep(ItemId(*it))).collect::<Vec<_>>();

        assert_eq!(kept("[0,5]", &[0, 1, 4, 5]), Ok(ids(&[0, 1, 4, 5])));
        assert_eq!(kept("[[0,0],[4,5]]", &[0, 1, 4, 5]), Ok(ids(&[0, 4, 5])));
        assert_eq!(kept("[]", &[0, 1]), Ok(Vec::new()));
        for (wrong, why) in [
            ("[0,3]", "`parts[0]`: the view names entry 3, which is not in the history"),
            (
                "[5,0]",
                "the program's answer is invalid: `parts[0].keep`: the range [5, 0] ends before it begins",
            ),
            ("[[0,4],[1,5]]", "`parts[0]`: the view names some or all of the entries 1 to 5 twice"),
        ] {
            assert_eq!(kept(wrong, &[0, 1, 4, 5]), Err(why.to_owned()));
        }
        assert!(kept("[1]", &[0, 1]).unwrap_err().ends_with("a range is [first, last], both included"));
    }
}
