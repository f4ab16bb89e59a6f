//! What leaves the engine: rows of requests and needs, and the sums they fold to.

mod sums;
mod token_use;

use std::sync::Arc;

use crate::input::policy::ServiceCall;
use crate::input::policy::memory::State;
use crate::quantity::Tokens;
use crate::timeline::facts::FactIx;
use crate::timeline::{Inferred, ItemIx, Level, StepIx, TurnIx};

pub use crate::projection::{Change, Firing, ToolResults};
pub use sums::{ExplicitCacheSums, MemorySums, NeedSums, RequestSums, Sums};
pub use token_use::TokenUse;

/// Which model a request goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The agent itself.
    #[default]
    Main,
    /// The model that writes summaries.
    Summariser,
    /// The agent's model, asked for nothing but to keep the prompt in its provider's cache.
    KeepAlive,
}

/// How the cache divides a prompt; the parts always sum to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Tokens read from the cache.
    pub read: Tokens,
    /// Tokens billed as written, by lifetime class: short, long.
    pub write: [Tokens; 2],
    /// Tokens billed as plain input.
    pub uncached: Tokens,
    /// The first slot that no earlier prompt shares, where the rule knows it.
    pub broke_at: Option<u32>,
}

/// One model request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestRow {
    /// The turn.
    pub turn_ix: TurnIx,
    /// The timeline's step.
    pub step: StepIx,
    /// The n-th request of that step, from 0.
    pub n: u32,
    /// Who is asked.
    pub role: Role,
    /// Milliseconds since the timeline began.
    pub at_ms: i64,
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// How the cache divides it.
    pub usage: CacheUse,
    /// Tokens that the model writes.
    pub output: Tokens,
    /// What the policy did since the request before.
    pub change: Change,
    /// How many turns a summary replaces; 0 for the agent's own requests.
    pub items: u32,
    /// Tokens beside the prompt that the agent is expected to have fetched again and to carry in it.
    pub carried: f64,
    /// Of these, what stands behind a place where the prompt is another one than before, so that nothing of it can be read.
    pub carried_anew: f64,
}

impl RequestRow {
    /// Returns its tokens by how they are billed.
    #[inline]
    #[must_use]
    pub fn tokens(&self) -> TokenUse {
        let CacheUse { read, write, uncached, .. } = self.usage;
        TokenUse { read, write, uncached, output: self.output }
    }

    /// Returns what it takes to carry what was fetched: it is read with the prompt, or written with it, or plain.
    #[must_use]
    pub fn carried_tokens(&self) -> TokenUse<f64> {
        let anew = if self.usage.read > 0 { self.carried_anew.min(self.carried) } else { self.carried };
        TokenUse { read: self.carried - anew, ..self.added_tokens(anew) }
    }

    /// Returns how tokens are billed that its prompt holds for the first time: written as its own are, or plain.
    #[must_use]
    pub fn added_tokens(&self, tokens: f64) -> TokenUse<f64> {
        let mut added = TokenUse::default();
        match self.usage.write {
            [0, 0] => added.uncached = tokens,
            [0, _] => added.write[1] = tokens,
            _ => added.write[0] = tokens,
        }
        added
    }
}

/// A need, and how it was met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NeedRow {
    /// The turn in which it was due.
    pub turn_ix: TurnIx,
    /// How much was needed.
    pub level: Level,
    /// How probable the need was.
    pub weight: f64,
    /// The share that the prompt met, 0 to 1.
    pub met: f64,
    /// Expected recovery calls.
    pub calls: f64,
    /// Of these, calls beyond the first.
    pub repeats: f64,
    /// Tokens that one recovery call fetches.
    pub fetched: Tokens,
    /// Expected failures: no handle to recover by.
    pub failed: f64,
    /// Where it comes from, where a recorded call gave it away.
    pub inferred: Option<Inferred>,
    /// What its calls are expected to take where they are made, beside what carrying the result takes later; nothing where
    /// none is expected, or all calls are priced alike.
    pub refetched: Option<TokenUse<f64>>,
    /// Whether its calls were drawn and made, so that requests hold what they take.
    pub is_sent: bool,
}

/// A probe, and how the fact that it asks for stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRow {
    /// The fact.
    pub fact: FactIx,
    /// The item that says it.
    pub item: ItemIx,
    /// Which quarter of the load that was, from 0.
    pub quartile: u8,
    /// Whether the fact was marked as one.
    pub is_explicit: bool,
    /// How it stands.
    pub state: State,
    /// Whether that answers the probe.
    pub is_found: bool,
    /// What lost it.
    pub loss: Option<Loss>,
}

/// A content that the harness stored for a price by the hour; making it was a call of its own, billed as input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplicitCacheRow {
    /// Milliseconds since the timeline began at which it was made.
    pub at_ms: i64,
    /// Its tokens.
    pub tokens: Tokens,
    /// Tokens times the milliseconds for which it was kept, up to the end of its time.
    pub token_ms: u128,
}

/// A fact that a memory holds when the load is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptRow<'a> {
    /// The bank or the file that holds it.
    pub bank: &'a str,
    /// The fact.
    pub fact: FactIx,
    /// Its place in the order of writing, from 0.
    pub nth: u64,
}

/// Calls of a memory to the service that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRow<'a> {
    /// The turn in which they were made, or that came last.
    pub turn_ix: TurnIx,
    /// What they are for.
    pub kind: MemoryKind,
    /// What the service is called.
    pub service: &'a str,
    /// How many.
    pub calls: u64,
    /// Tokens that they carry.
    pub tokens: Tokens,
}

/// What a call to a memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Something is put into it.
    Write,
    /// Something is brought back.
    Read,
    /// A call of a memory runner, by its name.
    Service(ServiceCall),
}

/// What a call does to what a memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEffect {
    /// Something is put into it.
    Write,
    /// Something is brought back.
    Read,
    /// Neither: it waits.
    Wait,
}

impl MemoryKind {
    /// Returns what the call does.
    #[must_use]
    pub fn effect(self) -> MemoryEffect {
        use ServiceCall::{AddEntry, AwaitConsistency, GetContext, ListEntries, PutContext, Search};
        match self {
            Self::Write | Self::Service(AddEntry | PutContext) => MemoryEffect::Write,
            Self::Read | Self::Service(GetContext | ListEntries | Search) => MemoryEffect::Read,
            Self::Service(AwaitConsistency) => MemoryEffect::Wait,
        }
    }

    /// Returns what it is called in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Service(call) => call.name(),
        }
    }
}

/// What lost a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It was never written, and the prompt no longer shows it.
    Write,
    /// It was written and evicted.
    Store,
    /// It is stored and was not read.
    Read,
    /// Something of it is left that does not answer.
    Use,
    /// The run stopped before the question.
    Stopped,
}

/// Where a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The user turn, from 1.
    pub turn: u32,
    /// Which request of it.
    pub kind: FailureKind,
}

/// Which request went over a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The n-th request that asked for a tool, from 1.
    ToolRequest(u32),
    /// The final request of a turn with tools.
    FinalAfterTools,
    /// The only request of a turn without tools.
    FinalNoTool,
}

/// What a run came to, beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// User turns of the timeline.
    pub turns_requested: u32,
    /// User turns begun.
    pub turns_started: u32,
    /// User turns answered.
    pub turns_completed: u32,
    /// Where the run stopped at a limit.
    pub failure: Option<Failure>,
    /// Limits that a request went over; one request can go over two.
    pub limit_violations: u32,
    /// What became of the tool results.
    pub tool_results: ToolResults,
    /// Tokens of the prompt when the load is over, those of the memory excluded.
    pub end_tokens: Tokens,
    /// Tokens of the memory in it.
    pub end_memory_tokens: Tokens,
    /// Whether a stage edited the history while something was expected to stand there that had been fetched.
    pub reacts: bool,
    /// Slots that the engine looked at: a measure of work that no clock disturbs.
    pub touched_slots: u64,
    /// What a replay of block ids came to.
    pub blocks: Option<BlockHits>,
    /// By stage: how often it fired; nothing for code, and where no policy acts.
    pub firings: Vec<Firing>,
    /// Why the run came to no result; its numbers mean nothing then.
    pub fault: Option<Arc<RunFault>>,
}

/// Why a run came to no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{policy}, turn {turn}, request {}: {what}", step.saturating_add(1))]
pub struct RunFault {
    /// The policy.
    pub policy: String,
    /// The user turn, from 1.
    pub turn: u32,
    /// The step whose request it was, or would have been.
    pub step: StepIx,
    /// What happened, in a sentence without an end.
    pub what: String,
}

/// What a replay of block ids came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHits {
    /// Blocks of all prompts.
    pub n_blocks: u64,
    /// Of these, blocks that the store held, up to each prompt's first that it did not.
    pub n_hits: u64,
    /// Sub-agents that made some of the requests.
    pub n_subagents: u32,
}

/// Takes the rows as they come.
pub trait Sink {
    /// Takes a request.
    fn request(&mut self, row: &RequestRow);
    /// Takes a need.
    fn need(&mut self, row: &NeedRow);
    /// Returns whether it has seen enough: a run ends where all its sinks have.
    #[inline]
    fn is_done(&self) -> bool {
        false
    }
    /// Takes a probe; those who do not ask after facts need not say so.
    fn probe(&mut self, _row: &ProbeRow) {}
    /// Takes a stored content, when the run is over; those who need no costs need not say so.
    fn stored(&mut self, _row: &ExplicitCacheRow) {}
    /// Takes calls of the memory.
    fn memory(&mut self, _row: &MemoryRow<'_>) {}
    /// Takes a fact that the memory holds when the load is over, bank by bank and the oldest first.
    fn kept(&mut self, _row: &KeptRow<'_>) {}
}

/// Calls of a memory, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The turn in which they were made, or that came last.
    pub turn_ix: TurnIx,
    /// What they are for.
    pub kind: MemoryKind,
    /// What the service is called.
    pub service: String,
    /// How many.
    pub calls: u64,
    /// Tokens that they carry.
    pub tokens: Tokens,
}

/// A ledger kept whole, for those who show rows.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The requests, in order.
    pub requests: Vec<RequestRow>,
    /// The needs, in order.
    pub needs: Vec<NeedRow>,
    /// The stored contents, in the order in which they were made.
    pub stored: Vec<ExplicitCacheRow>,
    /// The probes, in order.
    pub probes: Vec<ProbeRow>,
    /// The calls of the memory, in order.
    pub calls: Vec<CallRow>,
    /// Why the run came to no result; its rows mean nothing then.
    pub fault: Option<Arc<RunFault>>,
}

impl Sink for Rows {
    fn request(&mut self, row: &RequestRow) {
        self.requests.push(*row);
    }

    fn need(&mut self, row: &NeedRow) {
        self.needs.push(*row);
    }

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.stored.push(*row);
    }

    fn probe(&mut self, row: &ProbeRow) {
        self.probes.push(*row);
    }

    fn memory(&mut self, row: &MemoryRow<'_>) {
        let MemoryRow { turn_ix, kind, service, calls, tokens } = *row;
        self.calls.push(CallRow { turn_ix, kind, service: service.to_owned(), calls, tokens });
    }
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    #[inline]
    fn request(&mut self, row: &RequestRow) {
        self.0.request(row);
        self.1.request(row);
    }

    #[inline]
    fn need(&mut self, row: &NeedRow) {
        self.0.need(row);
        self.1.need(row);
    }

    #[inline]
    fn probe(&mut self, row: &ProbeRow) {
        self.0.probe(row);
        self.1.probe(row);
    }

    fn stored(&mut self, row: &ExplicitCacheRow) {
        self.0.stored(row);
        self.1.stored(row);
    }

    fn memory(&mut self, row: &MemoryRow<'_>) {
        self.0.memory(row);
        self.1.memory(row);
    }

    #[inline]
    fn kept(&mut self, row: &KeptRow<'_>) {
        self.0.kept(row);
        self.1.kept(row);
    }
}
