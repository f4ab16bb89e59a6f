//! One conversation of a sample: each request repeats the messages of the one before, or replaces some of them.

use super::sample::{InspectTools, Messages, message};
use crate::import::prelude::*;

/// A request, beside its messages.
#[derive(Debug)]
pub(super) struct InspectRequest {
    /// The tools' schemas.
    pub(super) tools: InspectTools,
    /// The reply, as a place in the list of messages.
    pub(super) reply: Option<usize>,
    /// When it was made, and what was billed for it.
    pub(super) asked: Exchange,
}

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct InspectLane {
    /// The span of its agent; empty where there is none.
    pub(super) agent: String,
    name: String,
    /// What the model is asked as.
    pub(super) role: String,
    /// Whether the history was compacted since the last request.
    pub(super) is_compacted: bool,
    assembler: Assembler,
    /// The messages of the last prompt and the reply, each with its first part.
    known: Vec<(usize, usize)>,
    n_rewritten: usize,
}

impl InspectLane {
    /// Begins a conversation.
    pub(super) fn new(agent: &str, name: &str, role: &str) -> Self {
        Self { agent: agent.to_owned(), name: name.to_owned(), role: role.to_owned(), ..Self::default() }
    }

    /// Returns whether a list of messages goes on with the conversation: it was compacted, or both begin alike.
    pub(super) fn goes_on(&self, messages: &[usize], all: &Messages) -> bool {
        let is_system = |it: &&usize| message(all, **it).is_some_and(|it| it.role == "system");
        let first = messages.iter().find(|it| !is_system(it));
        let known: Vec<usize> = self.known.iter().map(|it| it.0).collect();
        self.is_compacted || known.iter().find(|it| !is_system(it)) == first
    }

    /// Takes a request with the messages that it sent.
    pub(super) fn ask(
        &mut self,
        messages: &[usize],
        all: &Messages,
        request: InspectRequest,
        losses: &mut Losses,
    ) {
        let is_reply = |at: usize| {
            messages
                .get(at)
                .and_then(|it| message(all, *it))
                .is_some_and(|message| message.role == "assistant")
        };
        let mut n_same = self.known.iter().zip(messages).take_while(|(known, it)| known.0 == **it).count();
        // A reply may be written a little differently in the next prompt.
        if n_same + 1 == self.known.len() && is_reply(n_same) {
            n_same += 1;
        }
        self.front(messages, all, &request);
        let replaces = n_same < self.known.len();
        if self.is_compacted && !self.known.is_empty() {
            self.assembler.compacted(usize::MAX, Remover::Harness);
            self.known.clear();
            n_same = 0;
        } else if replaces {
            self.n_rewritten += 1;
            self.assembler.rewound(self.known[n_same].1);
        }
        let stands_in = std::mem::take(&mut self.is_compacted);
        self.known.truncate(n_same);
        for place in &messages[n_same.min(messages.len())..] {
            self.known.push((*place, self.assembler.n_parts()));
            self.say(*place, all, &request, stands_in || replaces, losses);
        }
        self.reply(all, request);
    }

    /// Takes the tools and the system prompt of the first request, which are before everything.
    fn front(&mut self, messages: &[usize], all: &Messages, request: &InspectRequest) {
        if !self.known.is_empty() || !self.assembler.is_empty() {
            return;
        }
        for tool in &request.tools {
            self.assembler.stable(Part::of(Kind::ToolSchema, *tool));
        }
        for place in messages {
            let Some(system) = message(all, *place).filter(|it| it.role == "system") else { break };
            self.known.push((*place, self.assembler.n_parts()));
            self.assembler.stable(Part::of(Kind::System, system.content.clone()));
        }
    }

    /// Takes a message that the last prompt did not have.
    fn say(
        &mut self,
        place: usize,
        all: &Messages,
        request: &InspectRequest,
        is_replaced: bool,
        losses: &mut Losses,
    ) {
        let Some(message) = message(all, place) else { return };
        let stamp = Stamp { line: message.line, ms: request.asked.at_ms };
        // Those at the front are before everything.
        if message.role == "system" && self.assembler.is_empty() && self.known.len() <= 1 {
            return;
        }
        let content = message.content.clone();
        match message.role.as_str() {
            "tool" if !is_replaced => {
                let part = Part::result(&message.call, &message.tool, content);
                self.assembler.answered(stamp, part, losses);
            }
            "assistant" => {
                let said = Part::of(Kind::Assistant, content);
                let calls = message.calls.iter().map(|it| it.clone().with_kind(Kind::Assistant));
                for part in std::iter::once(said).chain(calls).filter(|it| it.characters > 0) {
                    self.put(stamp, part, is_replaced);
                }
            }
            "tool" => self.put(stamp, Part::of(Kind::User, content), is_replaced),
            "user" => self.assembler.said(stamp, Part::of(Kind::User, content), true),
            _ => self.assembler.said(stamp, Part::of(Kind::User, content), false),
        }
    }

    /// Appends what nobody typed.
    fn put(&mut self, stamp: Stamp, part: Part, is_replaced: bool) {
        if is_replaced {
            self.assembler.stood_in(stamp, part);
        } else {
            self.assembler.said(stamp, part, false);
        }
    }

    /// Takes the reply.
    fn reply(&mut self, all: &Messages, request: InspectRequest) {
        let mut parts = Vec::new();
        if request.asked.reasoning > 0 {
            parts.push(Part::new(Kind::Reasoning, 0, 0));
        }
        if let Some(reply) = request.reply.and_then(|it| message(all, it)) {
            if reply.content.measured.characters > 0 {
                parts.push(Part::of(Kind::Assistant, reply.content.clone()));
            }
            parts.extend(reply.calls.iter().cloned());
        }
        if let Some(place) = request.reply {
            self.known.push((place, self.assembler.n_parts()));
        }
        self.assembler.replied(Exchange { reply: parts, ..request.asked });
    }

    /// Ends the conversation.
    pub(super) fn finish(self, sample: &str, number: usize, losses: &mut Losses) -> Transcript {
        let mut transcript = self.assembler.finish(losses);
        let label = [self.role, self.name].into_iter().find(|it| !it.is_empty());
        transcript.name = match (number, &label) {
            (1, _) => sample.to_owned(),
            (n, None) => format!("{sample}/{n}"),
            (n, Some(label)) => format!("{sample}/{n}-{label}"),
        };
        if number > 1 {
            transcript.of_agent = Some([transcript.name.clone(), sample.to_owned()]);
        }
        transcript.counts_output = transcript.is_billed();
        transcript.has_breakpoints = transcript.has_writes();
        transcript.ttl = transcript.has_breakpoints.then_some(TtlClass::Short);
        if self.n_rewritten > 0 {
            transcript.assumptions.push(format!(
                "Requests that replaced messages of the one before: {}. What they replaced leaves the prompts.",
                self.n_rewritten
            ));
        }
        transcript
    }
}
