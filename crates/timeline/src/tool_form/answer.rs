//! A result taken apart: its content, which lines these are, and what its harness says around it.

use crate::prelude::*;

use super::{Argument, ResultForm};

/// What a result says.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnswerForm<'o> {
    /// What was asked for, without what the harness writes around it.
    pub content: &'o str,
    /// What the harness writes around it.
    pub around: String,
    /// The number of the content's first line, where lines have numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The number of lines the content has, if they have numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned_lines: Option<u64>,
    /// The line after the content, where a range was asked for and is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// What the harness says there.
    #[serde(flatten)]
    pub facts: IndexMap<String, &'o str>,
}

impl<'o> AnswerForm<'o> {
    /// Takes a result apart.
    pub(super) fn read(form: &ResultForm, output: &'o str, asked: &[(Argument, Value)]) -> Self {
        let content = content(form, output);
        let start = content.as_ptr() as usize - output.as_ptr() as usize;
        let around = [&output[..start], &output[start + content.len()..]];
        let fact = |mark: &String| around.into_iter().find_map(|it| word_behind(it, mark));
        let mut facts: IndexMap<String, &str> =
            form.facts.iter().filter_map(|(name, mark)| Some((name.clone(), fact(mark)?))).collect();
        let said = facts.shift_remove("next_offset").and_then(|it| it.parse().ok());
        let (offset, returned_lines) = lines(form, content).unzip();
        let limit = asked.iter().find(|(argument, _)| *argument == Argument::Limit);
        let limit = limit.and_then(|(_, value)| value.as_u64());
        let is_full = limit.is_some() && limit == returned_lines;
        let behind = offset.zip(returned_lines).map(|(first, n)| first.saturating_add(n));
        let next_offset = said.or(behind.filter(|_| is_full));
        Self { content, around: around.concat(), offset, returned_lines, next_offset, facts }
    }
}

/// Returns which part of a result is its content.
fn content<'o>(form: &ResultForm, output: &'o str) -> &'o str {
    if let Some(inner) = form.inside.as_deref().and_then(|it| inside(output, it)) {
        return inner;
    }
    let mut rest = output;
    while form.head.iter().any(|it| rest.starts_with(it)) {
        rest = rest.split_once('\n').map_or(&rest[rest.len()..], |it| it.1);
    }
    if let Some(end) = form.until.as_deref().and_then(|it| rest.rfind(it)) {
        rest = &rest[..end];
    }
    let last = rest.trim_end().rfind('\n').map_or(0, |it| it + 1);
    if form.tail.iter().any(|it| rest[last..].contains(it)) {
        rest = rest[..last].trim_end_matches('\n');
    }
    rest
}

/// Returns what is between a tag's first opening and the closing after it.
fn inside<'o>(text: &'o str, tag: &str) -> Option<&'o str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    Some(text.split_once(&open)?.1.split_once(&close)?.0)
}

/// Returns the word after a mark.
fn word_behind<'o>(text: &'o str, mark: &str) -> Option<&'o str> {
    let rest = text.split_once(mark)?.1;
    let is_end = |it: char| !(it.is_alphanumeric() || matches!(it, '_' | '-'));
    Some(rest.split(is_end).next().unwrap_or_default()).filter(|it| !it.is_empty())
}

/// Returns the first line's number and how many lines there are, where all that is said is numbered.
fn lines(form: &ResultForm, content: &str) -> Option<(u64, u64)> {
    let number = |line: &str| {
        let line = line.trim_start();
        let digits = line.split(|it: char| !it.is_ascii_digit()).next().unwrap_or_default();
        line[digits.len()..].starts_with(['→', '\t']).then(|| digits.parse::<u64>().ok()).flatten()
    };
    let first = form.numbered.then(|| content.lines().next().and_then(number)).flatten()?;
    let last = content.lines().rev().find_map(number)?;
    Some((first, last.checked_sub(first)?.saturating_add(1)))
}
