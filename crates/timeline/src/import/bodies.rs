//! Logs of requests in a provider's own interface, read as those of `messages`.
//!
//! Each request is said in the words of that format, on the line on which it stands.

use std::fmt::Write as _;

use xxhash_rust::xxh3::xxh3_128;

use super::documents::LineCount;
use super::losses::member;
use super::{documents, messages};
use crate::import::prelude::*;

/// The members under which logs keep what was sent.
const HOLDERS: [&str; 4] = ["request", "body", "data", "params"];

/// How many values may hold one another around what was sent.
const HOLDERS_MAX: usize = 3;

/// Rewrites a request and its reply in the format of `messages`; the reader supplies the billed counts. Returns nothing if it is not a request.
pub(super) type InMessages = fn(&Value, &mut BillReader<'_>) -> Option<Value>;

/// Reads a log whose bills stand in a field.
pub(super) fn read(
    lines: &mut LogLines<'_>,
    usage: &'static str,
    to: InMessages,
    losses: &mut Losses,
) -> Vec<Transcript> {
    let text = lines.rest();
    let (mut said, mut at_line) = (String::new(), 1);
    let mut known = IndexSet::new();
    documents::each(&text, losses, |line, raw, losses| {
        // Where each has its time, a second one is a copy.
        let is_timed = raw.get().contains("\"timestamp\"");
        if !known.insert(xxh3_128(raw.get().as_bytes())) && is_timed {
            return losses.add(line, "repeated lines");
        }
        let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        let Some(request) = to(&value, &mut BillReader::new(line, usage, losses)) else {
            return losses.add(line, "values without messages");
        };
        losses.locate_by(line, |field| LineCount::new(&text).place(member(raw.get(), field)));
        said.extend(std::iter::repeat_n('\n', line.saturating_sub(at_line)));
        at_line = at_line.max(line);
        // Writing to a text does not fail.
        let _ = write!(said, "{request} ");
    });
    drop(text);
    let mut transcripts = messages::read_text(&said, losses);
    transcripts.iter_mut().for_each(|it| it.tools_of = Some(messages::FORMAT.name));
    transcripts
}

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

/// Returns a count of a bill; 0 where it is missing.
pub(super) fn count(bill: &mut BillReader<'_>, record: &Value, field: &str) -> Tokens {
    bill.count(field, Count::of(&record[field]))
}
