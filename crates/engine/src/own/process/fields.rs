//! JSON objects read strictly: what is missing, of another type or unknown is named by its path.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

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
