//! Records of JSON lines: every object of every line, with a report of everything else.

use serde::de::{Deserialize, IgnoredAny};

use super::losses::{CUT_OFF, NOT_JSON, NOT_RECORDS};
use crate::import::prelude::*;

/// Hands over the records of a line; two objects on one line are two records.
pub(super) fn each<'l, R: Deserialize<'l>>(
    line: RecordLine<'l>,
    losses: &mut Losses,
    mut take: impl FnMut(R, &mut Losses),
) {
    let RecordLine { number, text } = line;
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let mut records = serde_json::Deserializer::from_str(rest).into_iter::<R>();
        let Some(record) = records.next() else { break };
        let end = match record {
            Ok(record) => {
                take(record, losses);
                losses.locate(number, text);
                records.byte_offset()
            }
            Err(error) => skip(number, rest, &error, losses),
        };
        rest = rest.get(end..).unwrap_or_default().trim_ascii_start();
    }
}

/// Returns the first record of a line, if it is one.
pub(super) fn first<'l, R: Deserialize<'l>>(line: &'l str) -> Option<R> {
    serde_json::Deserializer::from_str(line).into_iter::<R>().next()?.ok()
}

/// Returns whether one of the first lines is a record of a kind.
pub(super) fn any<'l, R: Deserialize<'l>>(head: &'l str, is_one: impl Fn(&R) -> bool) -> bool {
    head.lines().filter_map(first::<R>).any(|it| is_one(&it))
}

/// Returns the records of a list at the top one after the other, each on the line on which it begins; any other text as it is.
pub(super) fn unlisted(text: &str) -> Cow<'_, str> {
    if !text.trim_ascii_start().starts_with('[') {
        return Cow::Borrowed(text);
    }
    let mut records = String::with_capacity(text.len());
    let (mut depth, mut n_broken) = (0_usize, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for it in text.chars() {
        let is_outside = depth <= 1 && !is_text;
        match it {
            '"' if !is_escaped => is_text = !is_text,
            '[' | '{' if !is_text => depth += 1,
            ']' | '}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_escaped = it == '\\' && is_text && !is_escaped;
        // What holds the records and what stands between them is left out; columns stay as they are.
        let is_of_list = is_outside && matches!(it, '[' | ',') || depth == 0 && it == ']';
        let is_break = it == '\n' && depth > 1;
        n_broken += usize::from(is_break);
        records.push(if is_of_list || is_break { ' ' } else { it });
        if depth == 1 && it == '}' && !is_text {
            records.extend(std::iter::repeat_n('\n', std::mem::take(&mut n_broken)));
        }
    }
    Cow::Owned(records)
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
    error.to_string().split(" at line ").next().unwrap_or_default().to_owned()
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
