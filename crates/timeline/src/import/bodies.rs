//! What logs of requests have in common, whatever the interface: where the body is, and values in it.

use crate::import::prelude::*;

/// The members under which logs keep what was sent.
const HOLDERS: [&str; 4] = ["request", "body", "data", "params"];

/// How many values may hold one another around what was sent.
const HOLDERS_MAX: usize = 3;

/// Returns the first value of a front, or the first element of the list that begins there.
pub(super) fn first(head: &str) -> Option<Value> {
    let text = head.trim_ascii_start();
    super::json::first(text.strip_prefix('[').unwrap_or(text).trim_ascii_start())
}

/// Returns what was sent: the value itself or one that it holds, if it has a list of this name.
pub(super) fn sent<'v>(value: &'v Value, list: &str) -> Option<&'v Value> {
    within(value, list, HOLDERS_MAX)
}

fn within<'v>(value: &'v Value, list: &str, depth: usize) -> Option<&'v Value> {
    if value.get(list).is_some_and(Value::is_array) {
        return Some(value);
    }
    let depth = depth.checked_sub(1)?;
    HOLDERS.into_iter().find_map(|it| within(value.get(it)?, list, depth))
}

/// Returns the first of some members that is there.
pub(super) fn any<'v>(value: &'v Value, names: &[&str]) -> &'v Value {
    names.iter().find_map(|it| value.get(it).filter(|it| !it.is_null())).unwrap_or(&Value::Null)
}

/// Returns a text as it is, and anything else as its JSON.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the elements of a list, or none if it is not a list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
