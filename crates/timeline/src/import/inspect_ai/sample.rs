//! One sample in one epoch: its events, and the messages and texts that they name.

use super::lane::{InspectLane, InspectRequest};
use super::record::{EventRecord, InspectMessageRecord, billed};
use crate::import::document::DocumentPiece;
use crate::import::prelude::*;

/// How many spans may lie within one another.
const SPANS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct InspectSample {
    id: String,
    epoch: String,
    events: Vec<InspectEvent>,
    spans: IndexMap<String, InspectSpan>,
    /// All different messages of the events, by what represents them.
    messages: IndexMap<u64, InspectMessage>,
    /// The messages that events name by their places, as places in the list of messages.
    pool: Vec<usize>,
    /// Long texts, by their names.
    attachments: IndexMap<String, Content>,
}

/// An event that matters for prompts.
#[derive(Debug)]
enum InspectEvent {
    Request(Box<PendingRequest>),
    /// The history was compacted in a span.
    Compaction(String),
}

/// A request, before its messages are known.
#[derive(Debug)]
struct PendingRequest {
    span: String,
    role: String,
    messages: Vec<usize>,
    /// Ranges of the pool, in place of messages.
    refs: Vec<[usize; 2]>,
    request: InspectRequest,
}

/// What lies around events.
#[derive(Debug, Default)]
struct InspectSpan {
    parent: String,
    kind: String,
    name: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct InspectMessage {
    /// The line on which it first stands.
    pub(super) line: usize,
    /// Who speaks.
    pub(super) role: String,
    /// What is said.
    pub(super) content: Content,
    /// The calls of a reply.
    pub(super) calls: Vec<Part>,
    /// The call that a result answers.
    pub(super) call: String,
    /// The tool of a result.
    pub(super) tool: String,
}

impl InspectSample {
    /// Returns whether nothing was read.
    #[cfg(feature = "archives")]
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Takes a piece of the sample.
    pub(super) fn take(&mut self, piece: DocumentPiece<'_>, losses: &mut Losses) {
        let Some(text) = piece.text else { return };
        match piece.path {
            "id" => text.trim_matches('"').clone_into(&mut self.id),
            "epoch" => text.clone_into(&mut self.epoch),
            "events[]" => {
                if let Some(event) = json::record::<EventRecord<'_>>(piece.line, text, losses) {
                    self.event(piece.line, event, losses);
                }
            }
            "message_pool[]" | "events_data.messages[]" => {
                let record =
                    json::record::<InspectMessageRecord<'_>>(piece.line, text, losses).unwrap_or_default();
                let place = self.message(piece.line, record);
                self.pool.push(place);
            }
            path => {
                if let Some(name) = path.strip_prefix("attachments.") {
                    let content = json::first::<Content>(text).unwrap_or_default();
                    self.attachments.insert(name.to_owned(), content);
                }
            }
        }
    }

    fn event(&mut self, line: usize, event: EventRecord<'_>, losses: &mut Losses) {
        let span = event.span_id.0.as_ref().to_owned();
        match event.event.0.as_ref() {
            "span_begin" => {
                let span = InspectSpan {
                    parent: event.parent_id.0.into_owned(),
                    kind: event.kind.0.into_owned(),
                    name: event.name.0.into_owned(),
                };
                self.spans.insert(event.id.0.into_owned(), span);
            }
            "compaction" => self.events.push(InspectEvent::Compaction(span)),
            "model" => self.asked(line, span, event, losses),
            _ => {}
        }
    }

    /// Takes a request.
    fn asked(&mut self, line: usize, span: String, event: EventRecord<'_>, losses: &mut Losses) {
        let Shaped::Object(mut output) = event.output else {
            return losses.add(line, "requests without a reply");
        };
        if event.pending.0 {
            return losses.add(line, "requests that are not over");
        }
        if event.cache.0 == "read" {
            return losses.add(line, "replies from inspect's own cache, which nobody billed");
        }
        let (usage, reasoning) = billed(BillReader::of(line, "output.usage", &output.usage, losses));
        let reply = output.message();
        if reply.is_none() && usage.is_none() {
            return losses.add(line, "requests without a reply");
        }
        let input = event.input.into_iter().flatten().filter_map(Shaped::object);
        let messages: Vec<usize> = input.map(|it| self.message(line, it)).collect();
        let number = |count: &Count| count.known().and_then(|it| usize::try_from(it).ok());
        let refs = event.input_refs.into_iter().flatten().filter_map(|it| match it.as_slice() {
            [from, to] => Some([number(from)?, number(to)?]),
            _ => None,
        });
        let request = InspectRequest {
            tools: event.tools.unwrap_or_default(),
            reply: reply.map(|it| self.message(line, it)),
            asked: Exchange {
                at_ms: milliseconds(&event.timestamp.0),
                end_ms: milliseconds(&event.completed.0),
                model: event.model.0.into_owned(),
                usage,
                reasoning,
                ..Exchange::default()
            },
        };
        let role = event.role.0.into_owned();
        self.events.push(InspectEvent::Request(Box::new(PendingRequest {
            span,
            role,
            messages,
            refs: refs.collect(),
            request,
        })));
    }

    /// Holds a message, once however often it is sent; returns its place.
    fn message(&mut self, line: usize, record: InspectMessageRecord<'_>) -> usize {
        let mut content = record.content.to_content();
        if let MessageContent::Blocks(blocks) = &record.content {
            // Thoughts are no part of what is said.
            let said = blocks.iter().filter(|it| it.kind.0 != "reasoning");
            content = Content::join(said.map(MessageBlock::to_content));
        }
        if let Shaped::Object(error) = record.error {
            content = error.get("message").unwrap_or(content);
        }
        let written = record.tool_calls.map_or("", serde_json::value::RawValue::get);
        let calls: Vec<CallRecord<'_>> = json::first(written).unwrap_or_default();
        let key = [record.role.0.as_bytes(), record.tool_call_id.0.as_bytes()]
            .into_iter()
            .fold(content.measured.digest, |sum, it| xxh3_64_with_seed(it, sum));
        let calls: Vec<Part> = calls.into_iter().map(CallRecord::into_part).collect();
        let key = calls.iter().fold(key, |sum, it| xxh3_64_with_seed(it.call.as_bytes(), sum));
        let message = InspectMessage {
            line,
            role: record.role.0.into_owned(),
            content,
            calls,
            call: record.tool_call_id.0.into_owned(),
            tool: record.function.0.into_owned(),
        };
        let entry = self.messages.entry(key);
        let place = entry.index();
        entry.or_insert(message);
        place
    }

    /// Puts long texts in the place of their names.
    fn attach(&mut self) {
        for message in self.messages.values_mut() {
            let name = message
                .content
                .text
                .as_deref()
                .and_then(|it| it.strip_prefix("attachment://").or_else(|| it.strip_prefix("tc://")));
            if let Some(content) = name.and_then(|it| self.attachments.get(it)) {
                message.content = content.clone();
            }
        }
    }

    /// Returns the innermost agent or scorer around a span: its id and its name.
    fn agent(&self, span: &str) -> Option<(&str, &str)> {
        let mut at = span;
        for _ in 0..SPANS_MAX {
            let (_, id, span) = self.spans.get_full(at)?;
            if matches!(span.kind.as_str(), "agent" | "scorer" | "subtask") {
                return Some((id, &span.name));
            }
            at = &span.parent;
        }
        None
    }

    /// Returns the sessions: one for each agent, role and conversation.
    pub(super) fn finish(mut self, losses: &mut Losses) -> Vec<Transcript> {
        self.attach();
        let whole = format!("{}_epoch_{}", self.id, self.epoch);
        let mut lanes: Vec<InspectLane> = Vec::new();
        for event in std::mem::take(&mut self.events) {
            match event {
                InspectEvent::Compaction(span) => {
                    let agent = self.agent(&span).map_or("", |it| it.0);
                    if let Some(lane) = lanes.iter_mut().rev().find(|it| it.agent == agent) {
                        lane.is_compacted = true;
                    }
                }
                InspectEvent::Request(asked) => {
                    let PendingRequest { span, role, mut messages, refs, request } = *asked;
                    if messages.is_empty() {
                        let ranges = refs.iter().map(|[from, to]| {
                            self.pool.get(*from..(*to).min(self.pool.len())).unwrap_or_default()
                        });
                        // A range that stands twice sends its messages twice, but no request sends so many.
                        messages = ranges.take(self.pool.len() + 1).flatten().copied().collect();
                    }
                    let (agent, name) = self.agent(&span).unwrap_or(("", ""));
                    let all = self.messages.as_slice();
                    let goes_on =
                        |it: &InspectLane| it.agent == agent && it.role == role && it.goes_on(&messages, all);
                    let place = lanes.iter().rposition(goes_on).unwrap_or_else(|| {
                        lanes.push(InspectLane::new(agent, name, &role));
                        lanes.len() - 1
                    });
                    lanes[place].ask(&messages, all, request, losses);
                }
            }
        }
        let transcripts =
            lanes.into_iter().zip(1_usize..).map(|(lane, number)| lane.finish(&whole, number, losses));
        transcripts.collect()
    }
}

/// The messages of a sample, by their places.
pub(super) type Messages = indexmap::map::Slice<u64, InspectMessage>;

/// What a request brings with it, by its place in the list of messages.
pub(super) fn message(all: &Messages, place: usize) -> Option<&InspectMessage> {
    all.get_index(place).map(|it| it.1)
}

/// The tools of a request, as far as they are measured.
pub(super) type InspectTools = Vec<Measured>;
