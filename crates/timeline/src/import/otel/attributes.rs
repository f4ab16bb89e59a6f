//! Attributes of spans and log records, in the shapes in which exporters write them.

use std::str::FromStr as _;

use serde_json::Map;

use crate::import::bodies::text;
use crate::import::prelude::*;

/// Names that OpenInference puts around each member of a list, and which say nothing.
const WRAPPERS: [&str; 4] = ["message", "message_content", "tool_call", "tool"];

/// How deep the values may lie in one another that attributes spell out.
const STEPS_MAX: usize = 12;

/// The attributes of a record.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Map<String, Value>);

impl Attributes {
    /// Reads a list of keys and values, as the protocol and SDKs write it, or an object.
    pub(super) fn read(written: Option<&Value>) -> Self {
        let mut all = Map::new();
        match written {
            Some(Value::Array(list)) => all.extend(list.iter().filter_map(pair)),
            Some(Value::Object(object)) => {
                all.extend(object.iter().map(|(key, it)| (key.clone(), plain(it))));
            }
            _ => {}
        }
        Self(all)
    }

    /// Adds one, unless it is there.
    pub(super) fn default(&mut self, key: &str, value: Option<Value>) {
        if let Some(value) = value.filter(|_| !self.0.contains_key(key)) {
            self.0.insert(key.to_owned(), value);
        }
    }

    /// Returns the first of some attributes that is there.
    pub(super) fn any(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().find_map(|it| self.0.get(*it)).filter(|value| !value.is_null())
    }

    /// Returns the first of some attributes that is a text; empty if none is.
    pub(super) fn text(&self, keys: &[&str]) -> &str {
        self.any(keys).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns those that say what was billed.
    pub(super) fn of_usage(&self) -> Value {
        const USAGE: [&str; 3] = ["gen_ai.usage.", "ai.usage.", "llm.token_count."];
        let own = self.0.iter().filter(|it| USAGE.iter().any(|front| it.0.starts_with(front)));
        own.map(|(key, it)| (key.clone(), it.clone())).collect()
    }

    /// Returns the first of some attributes as a count, with its name.
    pub(super) fn count<'k>(&self, keys: &'k [impl AsRef<str>]) -> Option<(&'k str, Count)> {
        let key = keys.iter().map(AsRef::as_ref).find(|it| self.any(&[it]).is_some())?;
        Some((key, count(self.any(&[key])?)))
    }

    /// Returns the list whose members stand in attributes of their own, as `llm.input_messages.0.message.role`.
    pub(super) fn spelt_out(&self, list: &str) -> Option<Value> {
        let step = |it| u64::from_str(it).map_or(KeyStep::Member(it), KeyStep::Element);
        let of_list = self.0.iter().filter_map(|(key, value)| {
            let path = key.strip_prefix(list)?.strip_prefix('.')?;
            Some((path.split('.').filter(|it| !WRAPPERS.contains(it)).map(step).collect::<Vec<_>>(), value))
        });
        let mut values: Vec<(Vec<KeyStep<'_>>, &Value)> =
            of_list.filter(|it| it.0.len() <= STEPS_MAX).collect();
        values.sort_by(|one, other| one.0.cmp(&other.0));
        Some(nested(&values, 0)).filter(Value::is_array)
    }

    /// Returns the first of some attributes as what it says: the JSON in a text, or the value itself.
    pub(super) fn structure(&self, keys: &[&str]) -> Option<Value> {
        match self.any(keys)? {
            Value::String(text) => {
                Some(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())))
            }
            value => Some(value.clone()),
        }
    }
}

/// A step to a value within others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyStep<'k> {
    Element(u64),
    Member(&'k str),
}

/// Returns the list or the object that values make whose steps agree up to a depth.
fn nested(values: &[(Vec<KeyStep<'_>>, &Value)], depth: usize) -> Value {
    let inner = values.iter().position(|it| it.0.len() > depth).unwrap_or(values.len());
    if let Some((_, value)) = values[..inner].last() {
        return (*value).clone();
    }
    let groups = || values.chunk_by(|one, other| one.0[depth] == other.0[depth]);
    match values.first().map(|it| it.0[depth]) {
        Some(KeyStep::Element(_)) => groups().map(|it| nested(it, depth + 1)).collect(),
        _ => {
            let member = |it: &[(Vec<KeyStep<'_>>, &Value)]| match it[0].0[depth] {
                KeyStep::Member(name) => Some((name.to_owned(), nested(it, depth + 1))),
                KeyStep::Element(_) => None,
            };
            Value::Object(groups().filter_map(member).collect())
        }
    }
}

/// Reads a key with its value.
fn pair(written: &Value) -> Option<(String, Value)> {
    match written {
        Value::Object(it) => Some((it.get("key")?.as_str()?.to_owned(), plain(it.get("value")?))),
        Value::Array(it) => Some((it.first()?.as_str()?.to_owned(), plain(it.get(1)?))),
        _ => None,
    }
}

/// Returns a value without what says its type.
fn plain(value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let Some((kind, inner)) = object.iter().next().filter(|_| object.len() == 1) else {
        return value.clone();
    };
    match kind.as_str() {
        "stringValue" | "intValue" | "doubleValue" | "boolValue" | "bytesValue" => inner.clone(),
        "arrayValue" => list(&inner["values"]).iter().map(plain).collect(),
        "kvlistValue" => Value::Object(list(&inner["values"]).iter().filter_map(pair).collect()),
        _ => value.clone(),
    }
}

/// Reads a number, which the protocol writes as a text.
fn count(value: &Value) -> Count {
    value.as_str().map_or_else(|| Count::of(value), Count::of_text)
}

/// Returns a value as content: its text, or its JSON by length alone.
pub(super) fn content(value: Option<&Value>) -> Content {
    match value {
        None | Some(Value::Null) => Content::default(),
        Some(Value::String(text)) => Content::new(text),
        Some(value) => Measured::text(&value.to_string()).into(),
    }
}

/// Returns a value as the arguments of a call: the JSON that it is, or that is in it.
pub(super) fn arguments(value: Option<&Value>) -> Content {
    value.filter(|it| !it.is_null()).map(|it| Content::new(&text(it))).unwrap_or_default()
}
