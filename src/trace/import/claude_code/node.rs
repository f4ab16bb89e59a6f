//! Records as nodes of the session's tree: what of each is part of a prompt.

use std::borrow::Cow;

use super::record::{Block, Content, Count, Record, Text, UsageRecord};
use crate::trace::import::losses::Losses;
use crate::trace::import::passage::{Arguments, Measured, Passage};
use crate::trace::import::transcript::Part;
use crate::trace::{Kind, Usage};
use crate::units::Tokens;

/// Prompts and outputs beyond this many tokens are not believed.
const TOKENS_MAX: u64 = 100_000_000;

/// What an image counts as, in characters; its encoding says nothing about its tokens.
const IMAGE_CHARACTERS: u64 = 6_000;

/// A record that stands in the tree.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its name; empty when it has none.
    pub(super) uuid: Cow<'a, str>,
    /// The record that it follows; `None` when it does not say.
    pub(super) parent: Option<Cow<'a, str>>,
    /// When it was written.
    pub(super) at_ms: Option<i64>,
    /// The version of the harness that wrote it; empty when it does not say.
    pub(super) version: Cow<'a, str>,
    /// What it adds to a prompt.
    pub(super) said: Said<'a>,
}

/// What a record adds to a prompt.
#[derive(Debug)]
pub(super) enum Said<'a> {
    /// Nothing; it only links others.
    Nothing,
    /// Something on the user's side.
    User {
        /// Its parts; results carry the name of the call they answer.
        parts: Vec<Named<'a>>,
        /// Whether the user did not type it.
        is_meta: bool,
        /// Whether it stands for what was before.
        is_summary: bool,
    },
    /// A line of a reply.
    Reply {
        /// The reply's name.
        id: Cow<'a, str>,
        /// Its parts; calls carry their names.
        parts: Vec<Named<'a>>,
        /// What the provider billed for the whole reply, if that can be believed.
        usage: Option<Usage>,
    },
}

/// A part and the name of its call; empty where there is none.
#[derive(Debug)]
pub(super) struct Named<'a> {
    /// The call's name.
    pub(super) call: Cow<'a, str>,
    /// The part.
    pub(super) part: Part,
}

/// Reads the records of a text; two objects on one line are two records.
pub(super) fn read<'a>(text: &'a str, losses: &mut Losses) -> Vec<Node<'a>> {
    let mut nodes = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let mut rest = line.trim_ascii();
        while !rest.is_empty() {
            let mut records = serde_json::Deserializer::from_str(rest).into_iter::<Record<'a>>();
            let Some(record) = records.next() else { break };
            let end = match record {
                Ok(record) => {
                    nodes.extend(node(index + 1, record, losses));
                    records.byte_offset()
                }
                Err(error) => skip(index + 1, rest, &error, losses),
            };
            rest = rest.get(end..).unwrap_or_default().trim_ascii_start();
        }
    }
    nodes
}

/// Reports what is no record; returns where to go on.
fn skip(line: usize, rest: &str, error: &serde_json::Error, losses: &mut Losses) -> usize {
    if error.is_eof() {
        losses.add(line, "records that are cut off");
        return rest.len();
    }
    // The parser counts lines from where it began, which would lead astray.
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
    if rest.starts_with('{') && matches!(values.next(), Some(Ok(_))) {
        losses.add(line, format!("objects that are no records: {reason}"));
        return values.byte_offset();
    }
    losses.add(line, format!("text that is not JSON: {reason}"));
    rest.len()
}

/// Makes a node of a record; `None` for what stands in no tree.
fn node<'a>(line: usize, record: Record<'a>, losses: &mut Losses) -> Option<Node<'a>> {
    if record.is_sidechain == Some(true) {
        losses.add(line, "records of sub-agents, whose requests are not part of the main line");
        return None;
    }
    let parent = [&record.parent_uuid, &record.logical_parent_uuid].into_iter().find(|it| !it.0.is_empty());
    let parent = parent.map(|it| it.0.clone());
    let at_ms = milliseconds(&record.timestamp.0);
    let uuid = record.uuid.0.clone();
    let version = record.version.0.clone();
    let said = said(line, record, losses);
    let is_link = !matches!(said, Said::Nothing) || !uuid.is_empty();
    is_link.then_some(Node { line, uuid, parent, at_ms, version, said })
}

/// Says what a record adds to a prompt.
fn said<'a>(line: usize, record: Record<'a>, losses: &mut Losses) -> Said<'a> {
    let kind = record.kind.0.as_ref();
    let Some(message) = record.message.filter(|_| matches!(kind, "user" | "assistant")) else {
        let subtype = record.subtype.0.as_ref();
        let name = if subtype.is_empty() { kind.to_owned() } else { format!("{kind}/{subtype}") };
        losses.add(line, format!("records of type `{name}`, which is never part of a prompt"));
        return Said::Nothing;
    };
    if kind == "user" {
        let parts = parts(line, message.content, Kind::User, losses);
        let is_summary = record.is_compact_summary == Some(true);
        return Said::User { parts, is_meta: record.is_meta == Some(true), is_summary };
    }
    if message.model.0 == "<synthetic>" {
        losses.add(line, "replies that no model wrote (`<synthetic>`), which are no requests");
        return Said::Nothing;
    }
    let Text(id) = [message.id, record.request_id, record.uuid]
        .into_iter()
        .find(|it| !it.0.is_empty())
        .unwrap_or_default();
    let id = if id.is_empty() { Cow::Owned(format!("line {line}")) } else { id };
    let usage = message.usage.and_then(|it| usage(line, &it, losses));
    Said::Reply { id, parts: parts(line, message.content, Kind::Assistant, losses), usage }
}

/// Reads the parts of a message; `text_kind` is what its plain text is.
fn parts<'a>(line: usize, content: Content<'a>, text_kind: Kind, losses: &mut Losses) -> Vec<Named<'a>> {
    match content {
        Content::Plain(text) => vec![named(text_kind, text)],
        Content::Blocks(blocks) => {
            blocks.into_iter().filter_map(|it| part(line, it, text_kind, losses)).collect()
        }
    }
}

/// Makes a part of a block.
fn part<'a>(line: usize, block: Block<'a>, text_kind: Kind, losses: &mut Losses) -> Option<Named<'a>> {
    let is_user = text_kind == Kind::User;
    let found = match block.kind.0.as_ref() {
        "text" => named(text_kind, block.text.unwrap_or_default()),
        "image" | "document" if is_user => named(text_kind, image(&block).into()),
        "thinking" | "redacted_thinking" if !is_user => {
            named(Kind::Reasoning, block.thinking.or(block.data.map(Passage::from)).unwrap_or_default())
        }
        "tool_use" if !is_user => {
            let name = Measured::text(&block.name.0);
            let Arguments(input) = block.input.unwrap_or_default();
            let measured = name.then(input.measured, 0);
            let mut call = named(Kind::ToolCall, Passage { measured, ..input });
            call.part.tool = block.name.0.into_owned();
            Named { call: block.id.0, ..call }
        }
        "tool_result" if is_user => {
            Named { call: block.tool_use_id.0, ..named(Kind::ToolResult, result(block.content)) }
        }
        other => {
            let side = if is_user { "user" } else { "assistant" };
            losses.add(line, format!("blocks of type `{other}` in {side} records, which are not understood"));
            return None;
        }
    };
    Some(found)
}

/// A part that is no call.
fn named<'a>(kind: Kind, content: Passage) -> Named<'a> {
    let part = Part::new(kind, content.measured.characters, content.measured.digest);
    Named { call: Cow::default(), part: Part { text: content.text, ..part } }
}

/// Measures a picture or a document.
fn image(block: &Block<'_>) -> Measured {
    Measured { characters: IMAGE_CHARACTERS, digest: block.source.map_or(0, |it| it.digest) }
}

/// Reads what a result holds; only its text is kept of several blocks.
fn result(content: Content<'_>) -> Passage {
    match content {
        Content::Plain(passage) => passage,
        Content::Blocks(blocks) => {
            Passage::join(blocks.into_iter().map(|block| match block.kind.0.as_ref() {
                "image" | "document" => image(&block).into(),
                _ => block.text.unwrap_or_default(),
            }))
        }
    }
}

/// Reads what the provider billed; nothing when it billed nothing or cannot have billed this.
fn usage(line: usize, record: &UsageRecord, losses: &mut Losses) -> Option<Usage> {
    let known = |count: Count| count.0.filter(|it| *it <= TOKENS_MAX);
    let read = || -> Option<Usage> {
        let uncached: Tokens = known(record.input_tokens)?;
        let cache_read = known(record.cache_read_input_tokens)?;
        let cache_write = known(record.cache_creation_input_tokens)?;
        let prompt = known(Count(Some(uncached + cache_read + cache_write)))?;
        Some(Usage { prompt, cache_read, cache_write, uncached, output: known(record.output_tokens)? })
    };
    let usage = read();
    if usage.is_none() {
        losses.add(line, "usage whose numbers cannot be token counts");
    }
    usage.filter(|it| it.prompt > 0)
}

/// Reads `2026-01-16T00:14:21.124Z` as milliseconds since 1970; `None` for anything else.
fn milliseconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_in_range =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let fraction: String = text
        .get(19..)?
        .strip_prefix('.')
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_digit)
        .take(3)
        .collect();
    let ms: i64 = format!("{fraction:0<3}").parse().ok()?;
    // Days since 1970 by the calendar that starts its years in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 1
        - 719_468;
    is_in_range.then_some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_counts_from_1970() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(milliseconds("2026-01-16T00:14:21.124Z"), Some(1_768_522_461_124));
        assert_eq!(milliseconds("2024-02-29T23:59:59Z"), Some(1_709_251_199_000));
        assert_eq!(milliseconds("yesterday"), None);
        assert_eq!(milliseconds("2026-13-01T00:00:00Z"), None);
    }
}
