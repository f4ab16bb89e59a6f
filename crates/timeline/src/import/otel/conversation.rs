//! A lane's requests as a transcript: from the messages where the emitter exports them, and else from the spans of tools.

use super::attributes::{arguments, content};
use super::emitter::BillNames;
use super::lanes::{Happened, OtelLane};
use super::messages::OtelMessage;
use super::record::OtelRecord;
use crate::import::bodies;
use crate::import::prelude::*;

/// Makes a transcript of a lane. `is_apart` says which libraries' inputs are without what was read and written.
pub(super) fn transcript(
    lane: OtelLane,
    is_apart: &dyn Fn(&OtelRecord) -> bool,
    losses: &mut Losses,
) -> Transcript {
    let mut conversation = Conversation::default();
    let mut happened = lane.happened.into_iter().peekable();
    while let Some(next) = happened.next() {
        match next {
            Happened::Prompt(record) => conversation.typed = Some(record),
            // A call without a request before it is another lane's, or its request was not exported.
            Happened::Tool(record) => losses.add(record.line, "calls of tools that belong to no request"),
            Happened::Request(record, names, turn) => {
                let mut tools = Vec::new();
                while let Some(Happened::Tool(tool)) = happened.next_if(|it| matches!(it, Happened::Tool(_)))
                {
                    tools.push(tool);
                }
                let shows_results =
                    matches!(happened.peek(), Some(Happened::Request(next, ..)) if next.input().is_some());
                conversation.request(&record, names, is_apart(&record), &turn, losses);
                conversation.calls(&record, &tools, shows_results, losses);
            }
        }
    }
    conversation.finish(losses)
}

/// The walk along a lane.
#[derive(Default)]
struct Conversation {
    assembler: Assembler,
    /// The messages of the last request, each with where its parts begin.
    known: Vec<(u64, usize)>,
    /// Which of the user's messages the last request was about.
    turn: Option<String>,
    /// What the user typed since.
    typed: Option<OtelRecord>,
    /// A reply that waits for the calls of tools after it.
    has_replied: bool,
    pending: Option<Exchange>,
}

impl Conversation {
    /// Takes a request and its bill; its reply waits for the calls that follow.
    fn request(
        &mut self,
        record: &OtelRecord,
        names: &BillNames,
        is_apart: bool,
        turn: &str,
        losses: &mut Losses,
    ) {
        if self.assembler.is_empty() {
            for part in record.front() {
                self.assembler.stable(part);
            }
        }
        let compacted = record.attributes.any(&["gen_ai.conversation.compacted"]);
        let is_compacted = compacted.is_some_and(|it| *it == Value::Bool(true) || *it == "true");
        match record.input() {
            Some(messages) => self.messages(record, messages, is_compacted, losses),
            None => self.unseen(record, turn, is_compacted),
        }
        self.turn = Some(turn.to_owned());
        let first_ms = record.attributes.count(&[
            "copilot_chat.time_to_first_token",
            "ttft_ms",
            "ai.response.msToFirstChunk",
        ]);
        let first_ms = first_ms.and_then(|it| it.1.milliseconds());
        let (usage, reasoning) = record.billed(names, is_apart, losses).unzip();
        // A log record is written when the reply has come.
        let took_ms = record.attributes.count(&["duration_ms"]).and_then(|it| it.1.milliseconds());
        let (start_ms, end_ms) = match record.is_log {
            true => (record.start_ms.map(|it| it.saturating_sub(took_ms.unwrap_or(0))), record.start_ms),
            false => (record.start_ms, record.end_ms),
        };
        self.pending = Some(Exchange {
            reply: record.output(),
            at_ms: start_ms,
            response_ms: start_ms.zip(first_ms).map(|(start, it)| start.saturating_add(it)).or(end_ms),
            end_ms,
            model: record.model().to_owned(),
            usage,
            reasoning: reasoning.unwrap_or(0),
            cost: cost(record),
            ..Exchange::default()
        });
    }

    /// Takes the messages of a request beyond those of the one before.
    fn messages(
        &mut self,
        record: &OtelRecord,
        messages: Vec<OtelMessage>,
        is_compacted: bool,
        losses: &mut Losses,
    ) {
        let (systems, messages): (Vec<OtelMessage>, Vec<OtelMessage>) =
            messages.into_iter().partition(|it| it.role == "system" || it.role == "developer");
        if self.assembler.is_empty() && !self.has_replied {
            for part in systems.into_iter().flat_map(|it| it.parts) {
                self.assembler.stable(part.with_kind(Kind::System));
            }
        }
        let digests: Vec<u64> = messages.iter().map(|it| it.digest).collect();
        let n_same = self.known.iter().zip(&digests).take_while(|(known, it)| known.0 == **it).count();
        let n_old = match n_same == self.known.len() && !is_compacted {
            true => n_same,
            false => self.rewritten(record, &messages, &digests, is_compacted),
        };
        let mut is_reply = self.has_replied && n_old > 0;
        for message in messages.into_iter().skip(n_old) {
            let from = self.assembler.n_parts();
            is_reply &= message.role == "assistant" || message.role == "model";
            self.known.push((message.digest, from));
            // What the last reply said is known from the reply.
            if !is_reply {
                self.message(record, message, losses);
            }
        }
    }

    /// Takes a history that does not go on with the one before; returns how many messages are known then.
    fn rewritten(
        &mut self,
        record: &OtelRecord,
        messages: &[OtelMessage],
        digests: &[u64],
        is_compacted: bool,
    ) -> usize {
        let last = self.known.last().and_then(|(last, _)| digests.iter().rposition(|it| it == last));
        let end = last.map_or(0, |it| it + 1);
        let pairs = self.known.iter().rev().zip(digests[..end].iter().rev());
        let n_stay = pairs.take_while(|(known, it)| known.0 == **it).count();
        let stays_from =
            self.known.len().checked_sub(n_stay).and_then(|it| self.known.get(it)).map(|first| first.1);
        // Nothing in common: the user began again, unless the harness says that it has compacted.
        let is_cleared =
            n_stay == 0 && !is_compacted && digests.first() != self.known.first().map(|it| &it.0);
        let cause = if is_cleared { Remover::Cleared } else { Remover::Harness };
        self.assembler.compacted(or_unlimited(stays_from), cause);
        if is_cleared {
            self.known.clear();
            return 0;
        }
        let n_before = match n_stay {
            0 => messages.len().saturating_sub(1),
            _ => end - n_stay,
        };
        let stay = self.known.split_off(self.known.len() - n_stay);
        self.known.clear();
        for message in &messages[..n_before] {
            self.known.push((message.digest, self.assembler.n_parts()));
            for part in &message.parts {
                let part = part.clone().with_kind(Kind::Summary);
                self.assembler.stood_in(Stamp { line: record.line, ms: record.start_ms }, part);
            }
        }
        self.known.extend(stay);
        n_before + n_stay
    }

    /// Takes a message that no request had before.
    fn message(&mut self, record: &OtelRecord, message: OtelMessage, losses: &mut Losses) {
        let stamp = Stamp { line: record.line, ms: record.start_ms };
        let is_user = message.role == "user";
        for part in message.parts {
            match part.kind {
                Kind::ToolResult if self.has_replied => {
                    self.assembler.answered(stamp, part, losses);
                }
                Kind::ToolCall | Kind::ToolResult => {
                    let kind = if part.kind == Kind::ToolCall { Kind::Assistant } else { Kind::User };
                    self.assembler.said(stamp, part.with_kind(kind), false);
                }
                _ => self.assembler.said(stamp, part, is_user),
            }
        }
    }

    /// Takes a request whose messages are not exported: a new turn where it is about another message of the user's.
    fn unseen(&mut self, record: &OtelRecord, turn: &str, is_compacted: bool) {
        let stamp = Stamp { line: record.line, ms: record.start_ms };
        if is_compacted {
            self.assembler.replaced(stamp, HistorySummary::of(Content::default()));
        }
        let typed = self.typed.take();
        if typed.is_some() || self.turn.as_deref() != Some(turn) {
            let text = typed.as_ref().and_then(|it| it.attributes.any(&["prompt"]).cloned());
            self.assembler.said(stamp, Part::of(Kind::User, content(text.as_ref())), true);
        }
    }

    /// Ends the reply with the calls that the spans of tools show, and their results where no later request has them.
    fn calls(&mut self, record: &OtelRecord, tools: &[OtelRecord], shows_results: bool, losses: &mut Losses) {
        let Some(mut exchange) = self.pending.take() else { return };
        let failed = record.attributes.any(&["error.type", "error"]).is_some();
        if exchange.usage.is_none() && exchange.reply.is_empty() && tools.is_empty() && failed {
            return losses.add(record.line, "requests that failed, and were not billed");
        }
        let has_calls = exchange.has_calls();
        let mut results = Vec::new();
        for (tool, nth) in tools.iter().zip(0_usize..) {
            let attributes = &tool.attributes;
            let own =
                attributes.text(&["gen_ai.tool.call.id", "tool_use_id", "ai.toolCall.id", "tool_call.id"]);
            let id = if own.is_empty() { format!("call {nth}") } else { own.to_owned() };
            let name = attributes.text(&[
                "gen_ai.tool.name",
                "tool_name",
                "function_name",
                "ai.toolCall.name",
                "tool.name",
            ]);
            if !has_calls {
                let asked = [
                    "gen_ai.tool.call.arguments",
                    "tool_input",
                    "tool_parameters",
                    "function_args",
                    "ai.toolCall.args",
                    "input.value",
                ];
                exchange.reply.push(Part::call(&id, name, arguments(attributes.any(&asked))));
            }
            let result = attributes.any(&[
                "gen_ai.tool.call.result",
                "tool_output",
                "ai.toolCall.result",
                "output.value",
            ]);
            results.push((tool, Part::result(&id, "", content(result))));
        }
        self.assembler.replied(exchange);
        self.has_replied = true;
        for (tool, part) in results.into_iter().filter(|_| !shows_results) {
            let stamp = Stamp { line: tool.line, ms: tool.end_ms.or(tool.start_ms) };
            self.assembler.answered(stamp, part, losses);
        }
    }

    fn finish(self, losses: &mut Losses) -> Transcript {
        let mut transcript = self.assembler.finish(losses);
        transcript.has_breakpoints = transcript.has_writes();
        transcript.counts_output = transcript.is_billed();
        transcript
    }
}

/// Returns what the emitter says that a request cost, in US dollars.
fn cost(record: &OtelRecord) -> Option<Cost> {
    let value = record.attributes.any(&["cost_usd", "gen_ai.usage.cost", "llm.cost.total"])?;
    dollars(&serde_json::from_str(&bodies::text(value)).ok()?)
}
