//! DeepSeek Harness sessions: JSON lines of events, with what was billed in the stream and again in the reply.

use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat =
    LogFormat { name: "dsh", detect: |head| json::any(head, is_event), read };

/// Returns whether a record is the header of a session, or an event of its own kinds.
fn is_event(record: &DshRecord<'_>) -> bool {
    let kind = record.kind.0.as_ref();
    kind == "session" && record.created_at.is_some()
        || record.seq.is_some() && matches!(kind, "turn/start" | "step/start" | "assistant/message")
}

/// Reads a session.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut session = DshWalk::default();
    while let Some(line) = lines.next_new(losses) {
        json::each(line, losses, |record: DshRecord<'_>, losses| session.visit(line.number, record, losses));
    }
    vec![session.finish(losses)]
}

/// What a stream was billed, until its reply comes.
#[derive(Debug)]
struct StreamedBill {
    bill: Option<(Usage, Tokens)>,
    at_ms: Option<i64>,
}

/// The walk along the events.
#[derive(Debug, Default)]
struct DshWalk {
    assembler: Assembler,
    order: OrderWatch,
    id: String,
    parent: String,
    /// How many of the first events are the parent's.
    n_seed: u64,
    model: String,
    begins_ms: Option<i64>,
    first_ms: Option<i64>,
    streamed: Option<StreamedBill>,
    /// By event, the call that it makes; and where its parts begin.
    calls: IndexMap<u64, String>,
    begins: Vec<(u64, usize)>,
    is_compacting: bool,
    front: Option<u64>,
}

impl DshWalk {
    fn visit(&mut self, line: usize, record: DshRecord<'_>, losses: &mut Losses) {
        let ms = record.time.and_then(Count::milliseconds).filter(|it| *it > 0);
        let stamp = Stamp { line, ms };
        let seq = record.seq.and_then(Count::known);
        self.order.next(line, record.seq.and_then(Count::milliseconds), losses);
        self.begins.extend(seq.map(|it| (it, self.assembler.n_parts())));
        let is_seed = seq.is_some_and(|it| it < self.n_seed);
        let kind = record.kind.0.as_ref();
        if kind == "session" {
            record.id.0.as_ref().clone_into(&mut self.id);
            record.parent_session.0.as_ref().clone_into(&mut self.parent);
            self.n_seed = record.seed_length.and_then(Count::known).unwrap_or(0);
            return;
        }
        let Some(data) = record.data else { return losses.add(line, "records without data") };
        match kind {
            "request/header" => self.header(line, data.header, losses),
            "request/context" => data.model.0.as_ref().clone_into(&mut self.model),
            "user/message" => self.said(stamp, &data),
            "step/start" | "turn/start" | "turn/end" => {
                self.close();
                (self.begins_ms, self.first_ms) = (ms, None);
            }
            "assistant/chunk" => self.chunk(stamp, data, losses),
            "assistant/message" => self.replied(stamp, data, is_seed, losses),
            "tool/call" => {
                let call = data.call_id.0.into_owned();
                self.calls.extend(seq.map(|it| (it, call)));
            }
            "tool/result" => {
                let from = record.source_event_seqs.iter().flatten().find_map(|it| it.known());
                let call = from.and_then(|it| self.calls.get(&it)).cloned().unwrap_or_default();
                self.answered(stamp, data, &call, losses);
            }
            "compaction/start" => self.is_compacting = true,
            "compaction/end" => self.is_compacting = false,
            "compaction/summary" => self.compacted(line, data, losses),
            other => losses.never(line, other),
        }
    }

    /// Takes the tools and the system prompt, which are before everything; later ones ought to be the same.
    fn header(&mut self, line: usize, header: Option<&RawValue>, losses: &mut Losses) {
        let Some(header) = header.and_then(Members::of) else {
            return losses.add(line, "headers without an object");
        };
        if let Some(config) = header.get::<Members<'_>>("config") {
            self.model = config.text("model").into_owned();
        }
        // A text is no list of tools.
        let one = || header.get("tools").into_iter().collect();
        let tools: Vec<Measured> = header.get("tools").unwrap_or_else(one);
        let system: Content = header.get("system").unwrap_or_default();
        let front = tools.iter().fold(system.measured.digest, |sum, it| sum.rotate_left(5) ^ it.digest);
        match self.front.replace(front) {
            None => {
                // The header of a first request comes after what was said before it.
                tools.into_iter().for_each(|it| self.assembler.stable(Part::of(Kind::ToolSchema, it)));
                if system.measured.characters > 0 {
                    self.assembler.stable(Part::of(Kind::System, system));
                }
            }
            Some(first) if first != front => {
                losses.add(
                    line,
                    "changes of the system prompt or tools during a session; the first version is used",
                );
            }
            Some(_) => {}
        }
    }

    fn said(&mut self, stamp: Stamp, data: &DshData<'_>) {
        let content = data.content.to_content();
        if self.is_compacting {
            return self.assembler.stood_in(stamp, Part::of(Kind::Summary, content));
        }
        self.assembler.said(stamp, Part::of(Kind::User, content), data.source["kind"] == "user");
    }

    /// Notes what a stream was billed; its reply says it again.
    fn chunk(&mut self, stamp: Stamp, data: DshData<'_>, losses: &mut Losses) {
        self.first_ms = self.first_ms.or(stamp.ms);
        if data.chunk["type"] == "usage" {
            let bill = billed(stamp.line, "data.chunk.usage", &data.chunk["usage"], losses);
            self.streamed = Some(StreamedBill { bill, at_ms: stamp.ms });
        }
    }

    /// Makes a request of a stream that ended without a reply.
    fn close(&mut self) {
        if let Some(StreamedBill { bill: Some(bill), at_ms }) = self.streamed.take() {
            self.reply(Vec::new(), Some(bill), at_ms);
        }
    }

    fn replied(&mut self, stamp: Stamp, data: DshData<'_>, is_seed: bool, losses: &mut Losses) {
        let message = data.message.object().unwrap_or_default();
        if let Some(model) = message.source["model"].as_str().filter(|it| !it.is_empty()) {
            model.clone_into(&mut self.model);
        }
        let streamed = self.streamed.take().and_then(|it| it.bill);
        let bill = if data.usage.is_null() {
            streamed
        } else {
            billed(stamp.line, "data.usage", &data.usage, losses)
        };
        let mut parts = Vec::new();
        for piece in message.content.unwrap_or_default() {
            let text = piece.text.unwrap_or_default();
            match piece.kind.0.as_ref() {
                "text" => parts.push(Part::of(Kind::Assistant, text)),
                "reasoning" => parts.push(Part::of(Kind::Reasoning, text)),
                "tool-call" => {
                    parts.push(Part::call(&piece.id.0, &piece.name.0, piece.arguments.unwrap_or_default()));
                }
                other => losses.add(stamp.line, format!("blocks of the unknown type `{other}` in replies")),
            }
        }
        if is_seed {
            losses.add(stamp.line, "replies taken over from the parent session, which are its requests");
            for part in parts {
                self.assembler.said(stamp, part.with_kind(Kind::Assistant), false);
            }
            return;
        }
        self.reply(parts, bill, stamp.ms);
    }

    fn reply(&mut self, parts: Vec<Part>, bill: Option<(Usage, Tokens)>, at_ms: Option<i64>) {
        let (usage, reasoning) = bill.unzip();
        self.assembler.replied(Exchange {
            reply: parts,
            at_ms: self.begins_ms.take(),
            response_ms: self.first_ms.take().or(at_ms),
            end_ms: at_ms,
            model: self.model.clone(),
            usage,
            reasoning: reasoning.unwrap_or(0),
            ..Exchange::default()
        });
    }

    fn answered(&mut self, stamp: Stamp, data: DshData<'_>, call: &str, losses: &mut Losses) {
        let message = data.message.object().unwrap_or_default();
        let named = message.source["callId"].as_str().filter(|it| !it.is_empty()).unwrap_or(call);
        let pieces = message.content.unwrap_or_default();
        if pieces.is_empty() {
            self.assembler.answered(stamp, Part::result(named, "", Measured::default()), losses);
        }
        for piece in pieces {
            let own = if piece.tool_call_id.0.is_empty() { named } else { piece.tool_call_id.0.as_ref() };
            let content = piece.content.to_content();
            let content =
                if content.measured.characters > 0 { content } else { piece.text.unwrap_or_default() };
            self.assembler.answered(stamp, Part::result(own, "", content), losses);
        }
    }

    /// Takes a compaction: which events go, and the bill of the summary.
    fn compacted(&mut self, line: usize, data: DshData<'_>, losses: &mut Losses) {
        self.close();
        let end = data.shadowed_range.get("end").and_then(|it| Count::of(it).known());
        let stays = end.and_then(|end| self.begins.iter().find(|it| it.0 > end)).map(|found| found.1);
        self.assembler.compacted(or_unlimited(stays), Remover::Harness);
        if let Some((bill, _)) = billed(line, "data.usage", &data.usage, losses) {
            self.assembler.summarised(line, bill);
        }
    }

    fn finish(mut self, losses: &mut Losses) -> Transcript {
        self.close();
        let mut transcript = self.assembler.finish(losses);
        transcript.counts_output = true;
        transcript.has_breakpoints = transcript.has_writes();
        if !self.parent.is_empty() {
            transcript.of_agent = Some([self.id, self.parent]);
        }
        transcript
    }
}

/// Returns what was billed, with how much of the output was reasoning, or nothing if nothing was.
fn billed(line: usize, within: &'static str, usage: &Value, losses: &mut Losses) -> Option<(Usage, Tokens)> {
    let mut bill = BillReader::of(line, within, usage, losses);
    let uncached = bill.needed("inputTokens");
    let cache_read = bill.tokens("cacheReadTokens");
    let cache_write = bill.tokens("cacheWriteTokens");
    let output = bill.tokens("outputTokens");
    let reasoning = bill.tokens("reasoningTokens").min(output);
    bill.apart([uncached, cache_read, cache_write, output]).map(|it| (it, reasoning))
}

// One line of a DeepSeek Harness session as written.

/// An event, or the header.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct DshRecord<'a> {
    /// `session`, `user/message`, `assistant/message`, `tool/result`, …
    #[serde(rename = "type")]
    kind: Text<'a>,
    /// Its place in the session.
    seq: Option<Count>,
    /// When it was written, in milliseconds.
    time: Option<Count>,
    data: Option<DshData<'a>>,
    /// The events that it follows from.
    source_event_seqs: Option<Vec<Count>>,
    /// Of the header: the session, the one that started it, and how many events it took over from that one.
    id: Text<'a>,
    created_at: Option<Count>,
    parent_session: Text<'a>,
    seed_length: Option<Count>,
}

/// What an event holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct DshData<'a> {
    content: MessageContent<'a>,
    /// Who said it.
    source: Value,
    message: Shaped<DshMessage<'a>>,
    usage: Value,
    /// A part of a stream.
    chunk: Value,
    /// What stands before every prompt.
    header: Option<&'a RawValue>,
    model: Text<'a>,
    call_id: Text<'a>,
    /// Of a compaction: the events that it hides.
    shadowed_range: Value,
}

/// A reply, or what a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct DshMessage<'a> {
    content: Option<Vec<DshPiece<'a>>>,
    /// Who said it.
    source: Value,
}

/// A part of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct DshPiece<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    text: Option<Content>,
    id: Text<'a>,
    name: Text<'a>,
    arguments: Option<Content>,
    tool_call_id: Text<'a>,
    content: MessageContent<'a>,
}
