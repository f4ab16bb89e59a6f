//! Collects requests from a harness's records, in the order in which they happened.

use std::ops::Range;

use super::transcript::{LoggedCompaction, RequestForm};
use crate::Occasion;
use crate::import::prelude::*;

/// A recorded reply.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// Its parts; calls carry their names.
    pub(super) parts: Vec<Named>,
    /// When the request started, if recorded; else the time of the last earlier record.
    pub(super) at_ms: Option<i64>,
    /// When the response began.
    pub(super) response_ms: Option<i64>,
    /// When it ended.
    pub(super) end_ms: Option<i64>,
    /// The version of the harness that made the request.
    pub(super) version: Version,
    /// The model that answered; empty if unknown.
    pub(super) model: String,
    /// The provider's bill.
    pub(super) usage: Option<Usage>,
    /// How much of the output was reasoning.
    pub(super) reasoning: Tokens,
    /// The cost stated by the harness.
    pub(super) cost: Option<Cost>,
    /// What its request asked for beside its messages.
    pub(super) form: RequestForm,
}

/// What stands in the place of a history.
#[derive(Debug)]
pub(super) struct HistorySummary {
    pub(super) parts: Vec<Part>,
    /// The first part of the history that stays; beyond all parts, when none does.
    pub(super) stays_from: usize,
    /// Who wanted it.
    pub(super) cause: Remover,
    /// What the request for it was billed, if the log says so.
    pub(super) bill: Option<Usage>,
}

impl HistorySummary {
    /// Parts in the place of the whole history.
    pub(super) fn new(parts: Vec<Part>) -> Self {
        Self { parts, stays_from: usize::MAX, cause: Remover::Harness, bill: None }
    }

    /// A text in the place of the whole history.
    pub(super) fn of(content: impl Into<Content>) -> Self {
        Self::new(vec![Part::of(Kind::Summary, content)])
    }
}

/// The requests so far, and what waits for the next one.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    transcript: Transcript,
    /// The user's parts that no request has seen yet.
    pending: Pending,
    /// By name, the calls of the last reply and of those before it.
    calls: IndexMap<String, AssembledCall>,
    /// By call, the places of its result and of the images in it among the parts.
    results: IndexMap<String, Range<usize>>,
    /// When the last thing after the last reply arrived.
    after_ms: Option<i64>,
    n_parts: usize,
}

#[derive(Debug, Default)]
struct Pending {
    parts: Vec<Part>,
    line: usize,
    at_ms: Option<i64>,
    compacts: Option<LoggedCompaction>,
    summarised: Vec<Usage>,
    /// How many of the parts came before that.
    n_before: usize,
    cleared: Vec<usize>,
    rewound_to: Option<usize>,
    before: Vec<Occasion>,
    recaps: Vec<i64>,
}

impl Pending {
    /// Returns whether the harness compacted the history, and nobody has typed anything since.
    fn is_replacing(&self) -> bool {
        self.compacts.is_some() && self.parts[self.n_before..].iter().all(|it| it.stands_in)
    }
}

/// A call: which request made it, which of its calls it is, and its tool.
#[derive(Debug)]
struct AssembledCall {
    exchange: usize,
    nth: usize,
    tool: String,
}

impl Assembler {
    /// Appends to what is before every prompt; nothing else may have come yet.
    pub(super) fn stable(&mut self, part: Part) {
        self.transcript.stable.push(part.with_images_as_text());
        self.n_parts += 1;
    }

    /// Returns how many parts there are so far: the index of the next one.
    pub(super) fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// Returns whether nothing of the conversation has come yet.
    pub(super) fn is_empty(&self) -> bool {
        self.transcript.exchanges.is_empty() && self.pending.parts.is_empty()
    }

    /// Appends a part of the user's side: to a new turn, or to the results when the turn goes on and nobody typed it.
    pub(super) fn said(&mut self, stamp: Stamp, part: Part, is_typed: bool) {
        let (said, images) = part.apart();
        for part in said.into_iter().chain(images) {
            self.said_alone(stamp, part, is_typed);
        }
    }

    fn said_alone(&mut self, stamp: Stamp, mut part: Part, is_typed: bool) {
        self.n_parts += 1;
        part.stands_in |= !is_typed && self.pending.is_replacing();
        match self.transcript.exchanges.last_mut().filter(|it| it.has_calls()) {
            Some(last) if !is_typed && self.pending.parts.is_empty() => {
                last.results.push(part);
                self.after_ms = self.after_ms.max(stamp.ms);
            }
            _ => {
                self.pending.line = stamp.line;
                self.pending.at_ms = self.pending.at_ms.max(stamp.ms);
                self.pending.parts.push(part);
            }
        }
    }

    /// Appends a part that the harness put in the place of history; it begins a turn.
    pub(super) fn stood_in(&mut self, stamp: Stamp, part: Part) {
        self.said(stamp, Part { stands_in: true, ..part }, true);
    }

    /// Records that the history was removed; only parts from this index on stay.
    pub(super) fn compacted(&mut self, stays_from: usize, cause: Remover) {
        let before = self.pending.compacts.map_or(cause, |it| it.cause);
        self.pending.compacts = Some(LoggedCompaction { stays_from, cause: cause.max(before) });
        self.pending.n_before = self.pending.parts.len();
    }

    /// Records what a summary was billed that takes the place of the history: its request is none of the agent's own.
    pub(super) fn summarised(&mut self, line: usize, bill: Usage) {
        self.pending.line = line;
        self.pending.summarised.push(bill);
    }

    /// Puts something in the place of the history.
    pub(super) fn replaced(&mut self, stamp: Stamp, summary: HistorySummary) {
        self.compacted(summary.stays_from, summary.cause);
        for part in summary.parts {
            self.stood_in(stamp, part);
        }
        if let Some(bill) = summary.bill {
            self.summarised(stamp.line, bill);
        }
    }

    /// Records a log event before the next request.
    pub(super) fn happened(&mut self, occasion: Occasion) {
        self.pending.before.push(occasion);
    }

    /// Records that the harness summed up for the user what was done.
    pub(super) fn recapped(&mut self, at_ms: i64) {
        self.pending.recaps.push(at_ms);
    }

    /// Records that the user went back: no part from this index on is in a later prompt.
    pub(super) fn rewound(&mut self, first: usize) {
        let n_sent = self.n_parts - self.pending.parts.len();
        if first < n_sent {
            self.pending.rewound_to = Some(self.pending.rewound_to.map_or(first, |it| it.min(first)));
        }
        self.pending.parts.truncate(first.saturating_sub(n_sent));
        self.n_parts = n_sent + self.pending.parts.len();
    }

    /// Says that the harness cleared the results of these calls; returns how many there are.
    pub(super) fn cleared(&mut self, calls: &[String]) -> usize {
        let places = calls.iter().filter_map(|it| self.results.swap_remove(it)).collect::<Vec<_>>();
        let n_results = places.len();
        self.pending.cleared.extend(places.into_iter().flatten());
        self.pending.cleared.sort_unstable();
        n_results
    }

    /// Appends a result; one that answers no call of the last reply stands without its call.
    pub(super) fn answered(&mut self, stamp: Stamp, call: &str, part: Part, losses: &mut Losses) {
        let n_exchanges = self.transcript.exchanges.len();
        let Some(last) = self.transcript.exchanges.last_mut() else {
            losses.add(stamp.line, "results before the first request, which count as user text");
            return self.said(stamp, part.with_kind(Kind::User), true);
        };
        let named = call;
        let call = self.calls.get(call);
        let tool = if part.tool.is_empty() { call.map_or("", |it| &it.tool).to_owned() } else { part.tool };
        let answers = match call {
            Some(call) if call.exchange + 1 == n_exchanges => call.nth,
            _ => {
                losses.add(
                    stamp.line,
                    "results that answer no call of the previous reply; they are kept without a call",
                );
                usize::MAX
            }
        };
        let (result, images) = Part { tool, answers, ..part }.apart();
        let first = self.n_parts;
        self.n_parts += images.len() + usize::from(result.is_some());
        last.results.extend(result.into_iter().chain(images));
        self.results.insert(named.to_owned(), first..self.n_parts);
        self.after_ms = self.after_ms.max(stamp.ms);
    }

    /// Appends what the last reply brought about as a whole, and no call of it.
    pub(super) fn observed(&mut self, at_ms: Option<i64>, part: Part) {
        let Some(last) = self.transcript.exchanges.last_mut() else { return };
        let (observed, images) = part.apart();
        self.n_parts += images.len() + usize::from(observed.is_some());
        last.results.extend(observed.into_iter().chain(images));
        self.after_ms = self.after_ms.max(at_ms);
    }

    /// Appends a request with its reply.
    pub(super) fn replied(&mut self, reply: Reply) {
        let pending = std::mem::take(&mut self.pending);
        let exchange = self.transcript.exchanges.len();
        let mut parts = Vec::with_capacity(reply.parts.len().max(1));
        let mut nth = 0;
        for named in reply.parts {
            if named.part.kind == Kind::ToolCall {
                let tool = named.part.tool.clone();
                self.calls.insert(named.call, AssembledCall { exchange, nth, tool });
                nth += 1;
            }
            parts.push(named.part.with_images_as_text());
        }
        if parts.is_empty() {
            parts.push(Part::new(Kind::Assistant, 0, 0));
        }
        self.n_parts += parts.len();
        let is_first = self.transcript.exchanges.is_empty();
        let begins = !pending.parts.is_empty() || pending.compacts.is_some() || is_first;
        self.transcript.exchanges.push(Exchange {
            begins: begins.then_some(pending.parts),
            at_ms: reply.at_ms.or(pending.at_ms.max(self.after_ms)).or(reply.response_ms),
            response_ms: reply.response_ms,
            end_ms: reply.end_ms.max(reply.response_ms),
            compacts: pending.compacts,
            summarised: pending.summarised,
            cleared: pending.cleared,
            rewound_to: pending.rewound_to,
            before: pending.before,
            recaps: pending.recaps,
            version: reply.version,
            model: reply.model,
            usage: reply.usage,
            reasoning: reply.reasoning,
            cost: reply.cost,
            reply: parts,
            results: Vec::new(),
            form: reply.form,
        });
        self.after_ms = None;
    }

    /// Ends the recording.
    pub(super) fn finish(self, losses: &mut Losses) -> Transcript {
        let Self { mut transcript, pending, .. } = self;
        if !pending.parts.is_empty() {
            losses.add(pending.line, "user text after the last request, which no model has seen");
        }
        for _ in pending.summarised {
            losses.add(pending.line, "bills of summaries after the last request");
        }
        let n = transcript.summarised().len();
        if n > 0 {
            transcript.assumptions.push(format!(
                "Compactions: {n}. What stands in the place of the history begins a turn, and no policy has what it replaced."
            ));
        }
        transcript
    }
}
