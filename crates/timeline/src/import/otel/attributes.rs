//! Attributes of spans and log records, in the shapes in which exporters write them.

use serde_json::{Map, Value};

use crate::import::content::{Content, Measured};
use crate::import::values::Count;

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

    /// Returns whether an attribute is true.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.any(&[key]).is_some_and(|it| *it == Value::Bool(true) || *it == "true")
    }

    /// Returns the first of some attributes as a count, with its name.
    pub(super) fn count<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, Count)> {
        let key = keys.iter().find(|it| self.any(&[it]).is_some())?;
        Some((key, count(self.any(&[key])?)))
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
        "arrayValue" => {
            let values = inner.get("values").and_then(Value::as_array);
            values.into_iter().flatten().map(plain).collect()
        }
        "kvlistValue" => {
            let values = inner.get("values").and_then(Value::as_array);
            Value::Object(values.into_iter().flatten().filter_map(pair).collect())
        }
        _ => value.clone(),
    }
}

/// Reads a number, which the protocol writes as a text.
fn count(value: &Value) -> Count {
    match value {
        Value::String(text) => Count::of_text(text),
        value => serde_json::from_value(value.clone()).unwrap_or_default(),
    }
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
    match value {
        None | Some(Value::Null) => Content::default(),
        Some(Value::String(text)) => Content::new(text),
        Some(value) => Content::new(&value.to_string()),
    }
}
