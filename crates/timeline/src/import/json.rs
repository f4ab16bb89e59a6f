//! Records of JSON lines: every object of every line, with a report of everything else.

use serde::de::{Deserialize, IgnoredAny};

use super::losses::{CUT_OFF, Losses, NOT_JSON, NOT_RECORDS};

/// Hands over the records of a line; two objects on one line are two records.
pub(super) fn each<'l, R: Deserialize<'l>>(
    line: usize,
    text: &'l str,
    losses: &mut Losses,
    mut take: impl FnMut(R, &mut Losses),
) {
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let mut records = serde_json::Deserializer::from_str(rest).into_iter::<R>();
        let Some(record) = records.next() else { break };
        let end = match record {
            Ok(record) => {
                take(record, losses);
                losses.locate(line, text);
                records.byte_offset()
            }
            Err(error) => skip(line, rest, &error, losses),
        };
        rest = rest.get(end..).unwrap_or_default().trim_ascii_start();
    }
}

/// Returns the first record of a line, if it is one.
pub(super) fn first<'l, R: Deserialize<'l>>(line: &'l str) -> Option<R> {
    serde_json::Deserializer::from_str(line).into_iter::<R>().next()?.ok()
}

/// Returns a value as a record, or reports why it is none; whoever has the value says where its fields stand.
pub(super) fn record<'l, R: Deserialize<'l>>(line: usize, text: &'l str, losses: &mut Losses) -> Option<R> {
    match serde_json::from_str(text) {
        Ok(record) => Some(record),
        Err(error) => {
            losses.add(line, format!("values that are not records: {}", reason(&error)));
            None
        }
    }
}

/// Returns what a parser says without the place, which it counts from where it began and would lead astray.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let reason = error.to_string();
    reason.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Reports what is not a record; returns where to continue.
fn skip(line: usize, rest: &str, error: &serde_json::Error, losses: &mut Losses) -> usize {
    if error.is_eof() {
        losses.add(line, CUT_OFF);
        return rest.len();
    }
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    if rest.starts_with('{') && matches!(values.next(), Some(Ok(_))) {
        losses.add(line, format!("{NOT_RECORDS}: {}", reason(error)));
        return values.byte_offset();
    }
    losses.add(line, format!("{NOT_JSON}: {}", reason(error)));
    rest.len()
}
