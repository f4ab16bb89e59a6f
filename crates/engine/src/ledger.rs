//! The engine's output: rows of requests and needs, and their sums.

pub mod pairing;
mod sums;

use crate::prelude::*;

use ctxsim_input::policy::memory::{ServiceCall, State};
use ctxsim_input::scenario::summaries::FactKind;
use ctxsim_timeline::facts::FactIx;
use ctxsim_timeline::{Inferred, Level};

pub use crate::projection::{Change, Firing, ToolResults};
pub use sums::{
    ExplicitCacheSums, ExploredSums, LeftSums, MemorySums, NeedSums, RequestSums, Sums, TokenUse, UserSums,
};

/// Which model a request goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The agent itself.
    #[default]
    Main,
    /// The model that writes summaries.
    Summariser,
    /// The agent's model, called only to keep the prompt in its provider's cache.
    KeepAlive,
}

/// How the cache divides a prompt; the parts always add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Tokens read from the cache.
    pub read: Tokens,
    /// Tokens billed as written, by lifetime class: short, long.
    pub write: [Tokens; 2],
    /// Tokens billed as plain input.
    pub uncached: Tokens,
    /// The first slot that no earlier prompt shares, if the rules know it.
    pub broke_at: Option<u32>,
}

/// One model request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestRow {
    pub turn_ix: TurnIx,
    /// The timeline's step.
    pub step: StepIx,
    /// The index of the request within the step, from 0.
    pub n: u32,
    /// The model's role.
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
    /// The number of turns a summary replaces; 0 for the agent's own requests.
    pub items: u32,
    /// Whether the agent asks for something that it fetches again, and not for what the step answers.
    pub fetches: bool,
}

/// What is expected of a request of the agent beside its row; most requests have nothing beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExpectedRow {
    /// What the agent is expected to have fetched again, outside the prompt.
    pub recovered: Carry,
    /// What it is expected to have looked up anew after context was removed.
    pub explored: Carry,
    /// Tokens of the prompt that are expected to be read besides, because a session that nobody recorded may have left them, less those
    /// that longer-lived entries than the recorded ones may not give: as declared, and at the ends where least and where most is read.
    pub left: [f64; 3],
}

/// Expected tokens outside a prompt that are carried with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carry {
    /// All of them.
    pub tokens: f64,
    /// Of these, tokens after a change of the prompt, which therefore cannot be read.
    pub anew: f64,
}

/// What is looked up anew before a request, because context was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExploredRow {
    pub turn_ix: TurnIx,
    /// The timeline's step.
    pub step: StepIx,
    /// Expected calls, or calls that were sampled.
    pub calls: f64,
    /// Tokens that they bring.
    pub fetched: f64,
    /// Their expected cost, apart from carrying what they bring later; `None` where they were sampled and made, so that requests
    /// include them.
    pub tokens: Option<TokenUse<f64>>,
}

impl RequestRow {
    /// Returns its tokens by how they are billed.
    #[inline]
    pub fn tokens(&self) -> TokenUse {
        let CacheUse { read, write, uncached, .. } = self.usage;
        TokenUse { read, write, uncached, output: self.output }
    }

    /// Returns how carried tokens are billed: read with the prompt, written with it, or plain.
    pub fn carried_tokens(&self, carry: Carry) -> TokenUse<f64> {
        let anew = if self.usage.read > 0 { carry.anew.min(carry.tokens) } else { carry.tokens };
        TokenUse { read: carry.tokens - anew, ..self.added_tokens(anew) }
    }

    /// Returns what it changes in the bill that tokens may have been left by another session: they are read, not written anew.
    pub fn left_tokens(&self, tokens: f64) -> TokenUse<f64> {
        let read = TokenUse { read: tokens, ..TokenUse::default() };
        read - self.added_tokens(tokens)
    }

    /// Returns how tokens are billed that the prompt contains for the first time: written like its own, or
    /// plain.
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
    /// The probability of the need.
    pub weight: f64,
    /// The share that the prompt met, 0 to 1.
    pub met: f64,
    /// Expected recovery calls.
    pub calls: f64,
    /// Of these, calls beyond the first.
    pub repeats: f64,
    /// Tokens that one recovery call fetches.
    pub fetched: Tokens,
    /// Expected failures, where no handle leads to the result.
    pub failed: f64,
    /// The rule by which a recorded call revealed it, if one did.
    pub inferred: Option<Inferred>,
    /// What it names, if a model's summary is all that is left of it.
    pub told: Option<FactKind>,
    /// The expected cost of its calls, apart from carrying the result later; `None` if no calls are expected
    /// or all calls cost the same.
    pub refetched: Option<TokenUse<f64>>,
    /// Whether its calls were sampled and made, so that requests include them.
    pub is_sent: bool,
    /// What it would be at the ends of what is assumed of users' messages, if it is of one.
    pub of_user: Option<UserRow>,
}

/// A need for what users asked, at the ends of what is assumed of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UserRow {
    /// The weight at the lower and at the upper end.
    pub weights: [f64; 2],
    /// The share that is met where summaries keep the least and the most.
    pub met: [f64; 2],
}

/// A probe, and the state of the fact that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRow {
    pub fact: FactIx,
    /// The item that states it.
    pub item: ItemIx,
    /// The quarter of the load in which it was stated, from 0.
    pub quartile: u8,
    /// Whether the fact was explicit.
    pub is_explicit: bool,
    pub state: State,
    /// Whether that state answers the probe.
    pub is_found: bool,
    /// What lost it.
    pub loss: Option<Loss>,
}

/// A content that the harness stored at an hourly price; creating it was a separate call, billed as input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplicitCacheRow {
    /// Milliseconds since the timeline began, when it was created.
    pub at_ms: i64,
    pub tokens: Tokens,
    /// Tokens times milliseconds of storage, up to the end of its lifetime.
    pub token_ms: u128,
}

/// A fact that a memory holds at the end of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptRow<'a> {
    /// The bank or the file that holds it.
    pub bank: &'a str,
    pub fact: FactIx,
    /// Its place in the order of writing, from 0.
    pub nth: u64,
}

/// Calls from a memory to its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The turn in which they were made, or the last turn before them.
    pub turn_ix: TurnIx,
    /// Their purpose.
    pub kind: MemoryKind,
    /// The service's name.
    pub service: String,
    /// Their number.
    pub calls: u64,
    pub tokens: Tokens,
}

/// The purpose of a call to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Writes something.
    Write,
    /// Reads something.
    Read,
    /// A call of a memory runner, by its name.
    Service(ServiceCall),
}

/// The effect of a call on a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEffect {
    /// Writes something.
    Write,
    /// Reads something.
    Read,
    /// Neither: it waits.
    Wait,
}

impl MemoryKind {
    /// Returns the call's effect.
    pub fn effect(self) -> MemoryEffect {
        use ServiceCall::{AddEntry, AwaitConsistency, GetContext, ListEntries, PutContext, Search};
        match self {
            Self::Write | Self::Service(AddEntry | PutContext) => MemoryEffect::Write,
            Self::Read | Self::Service(GetContext | ListEntries | Search) => MemoryEffect::Read,
            Self::Service(AwaitConsistency) => MemoryEffect::Wait,
        }
    }

    /// Returns its name in reports.
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
    /// Something of it is left, but does not answer.
    Use,
    /// The run stopped before the question.
    Stopped,
}

/// Where a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The user turn, from 1.
    pub turn: u32,
    /// The request at which it stopped.
    pub kind: FailureKind,
}

/// The request that exceeded a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FailureKind {
    /// The n-th request that asked for a tool, from 1.
    ToolRequest(u32),
    /// The final request of a turn with tools.
    FinalAfterTools,
    /// The only request of a turn without tools.
    FinalNoTool,
}

/// The outcome of a run, apart from its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// User turns of the timeline.
    pub turns_requested: u32,
    /// User turns begun.
    pub turns_started: u32,
    /// User turns answered.
    pub turns_completed: u32,
    /// Where the run stopped at a limit, if it did.
    pub failure: Option<Failure>,
    /// Limits exceeded by requests; one request can exceed two.
    pub limit_violations: u32,
    /// What happened to the tool results.
    pub tool_results: ToolResults,
    /// Tokens of the prompt at the end of the load, without the memory's.
    pub end_tokens: Tokens,
    /// Tokens of the memory in it.
    pub end_memory_tokens: Tokens,
    /// The agent's prompts at the last steps before the compactions of a recorded harness.
    pub before_compactions: Vec<(StepIx, Tokens)>,
    /// Whether a stage edited the history while fetched results were expected in it.
    pub reacts: bool,
    /// Whether a stage would have done otherwise with what may have been fetched in the prompt.
    pub is_swayed: bool,
    /// Slots that the engine looked at: a measure of work that no clock disturbs.
    pub touched_slots: u64,
    /// The result of replaying block ids.
    pub blocks: Option<BlockHits>,
    /// The number of firings by stage; `None` for code, and if no policy acts.
    pub firings: Vec<Firing>,
    /// Why the run came to no result; its numbers mean nothing then.
    pub fault: Option<Arc<RunFault>>,
}

packed!(Failure: [turn, kind]);
packed!(BlockHits: [n_blocks, n_hits, n_subagents]);
ctxsim_base::quantity::sums!(BlockHits: n_blocks, n_hits, n_subagents);
packed!(Outcome:
    [turns_requested, turns_started, turns_completed, failure, limit_violations],
    [tool_results, end_tokens, end_memory_tokens, before_compactions, reacts, is_swayed],
    [touched_slots, blocks, firings]; else fault);

impl Outcome {
    /// Returns whether a run did as much as another: both completed all turns that they were asked, however many these are, or both
    /// stopped at the same one.
    pub fn did_as_much_as(&self, other: &Self) -> bool {
        is_as_much([self, other].map(|it| [it.turns_requested, it.turns_completed]))
    }

    /// Returns the share of the turns that were answered; `None` without turns.
    pub fn completed_share(&self) -> Option<f64> {
        (self.turns_requested > 0).then(|| f64::from(self.turns_completed) / f64::from(self.turns_requested))
    }
}

/// Returns whether two runs did as much, by the turns that each was asked and completed: all of them, or the same number of the same.
pub fn is_as_much([one, other]: [[u32; 2]; 2]) -> bool {
    let is_done = |[asked, completed]: [u32; 2]| completed >= asked;
    is_done(one) && is_done(other) || one == other
}

/// Why a run came to no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{policy}, turn {turn}, request {}: {what}", step.saturating_add(1))]
pub struct RunFault {
    pub policy: String,
    /// The user turn, from 1.
    pub turn: u32,
    /// The step whose request it was, or would have been.
    pub step: StepIx,
    /// What happened, in a sentence without an end.
    pub what: String,
}

/// The result of replaying block ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHits {
    /// Blocks of all prompts.
    pub n_blocks: u64,
    /// Of these, blocks in the store, up to each prompt's first missing block.
    pub n_hits: u64,
    /// Sub-agents that made some of the requests.
    pub n_subagents: u32,
}

/// Receives the rows of a run.
pub trait Sink {
    /// Receives a request.
    fn request(&mut self, row: &RequestRow);
    /// Receives what is expected beside the request before, where anything is; ignored by default.
    fn expected(&mut self, _row: &RequestRow, _beside: &ExpectedRow) {}
    /// Receives what is looked up anew before a request; ignored by default.
    fn explored(&mut self, _row: &ExploredRow) {}
    /// Receives a need.
    fn need(&mut self, row: &NeedRow);
    /// Returns whether it has seen enough: a run ends where all its sinks have.
    #[inline]
    fn is_done(&self) -> bool {
        false
    }
    /// Receives a probe; ignored by default.
    fn probe(&mut self, _row: &ProbeRow) {}
    /// Receives a stored content at the end of the run; ignored by default.
    fn stored(&mut self, _row: &ExplicitCacheRow) {}
    /// Receives calls of the memory.
    fn memory(&mut self, _row: &CallRow) {}
    /// Receives a fact that the memory holds at the end of the load, by bank, the oldest first.
    fn kept(&mut self, _row: &KeptRow<'_>) {}
}

/// Sinks that receive the same rows, and are a sink together.
pub trait Several {
    /// Each of them.
    type One: Sink + ?Sized;

    /// Returns all of them, to tell them something.
    fn all(&mut self) -> impl Iterator<Item = &mut Self::One>;

    /// Returns whether each has seen enough.
    fn are_done(&self) -> bool;
}

impl<'a> Several for &'a mut dyn Sink {
    type One = dyn Sink + 'a;

    fn all(&mut self) -> impl Iterator<Item = &mut Self::One> {
        std::iter::once(&mut **self)
    }

    fn are_done(&self) -> bool {
        (**self).is_done()
    }
}

/// Lets what holds sinks be several.
macro_rules! several {
    ($($of:ident)+) => {
        $(impl<S: Sink> Several for $of<S> {
            type One = S;

            fn all(&mut self) -> impl Iterator<Item = &mut S> {
                self.iter_mut()
            }

            fn are_done(&self) -> bool {
                self.iter().all(Sink::is_done)
            }
        })+
    };
}

several!(Vec Option);

/// Lets several sinks, and two, be a sink together: each is told of every row.
macro_rules! told_to_each {
    ($($tell:ident($($row:ident: $of:ty),+);)+) => {
        impl<T: Several> Sink for T {
            fn is_done(&self) -> bool {
                self.are_done()
            }

            $(fn $tell(&mut self, $($row: $of),+) {
                self.all().for_each(|it| it.$tell($($row),+));
            })+
        }

        impl<A: Sink, B: Sink> Sink for (A, B) {
            $(#[inline(always)]
            fn $tell(&mut self, $($row: $of),+) {
                self.0.$tell($($row),+);
                self.1.$tell($($row),+);
            })+
        }
    };
}

told_to_each! {
    request(row: &RequestRow);
    expected(row: &RequestRow, beside: &ExpectedRow);
    explored(row: &ExploredRow);
    need(row: &NeedRow);
    probe(row: &ProbeRow);
    stored(row: &ExplicitCacheRow);
    memory(row: &CallRow);
    kept(row: &KeptRow<'_>);
}

/// A whole ledger, for callers that show rows.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The requests, in order.
    pub requests: Vec<RequestRow>,
    /// What is expected beside them, by the request's place among them.
    pub expected: Vec<(usize, ExpectedRow)>,
    /// What was looked up anew, in order.
    pub explored: Vec<ExploredRow>,
    /// The needs, in order.
    pub needs: Vec<NeedRow>,
    /// The stored contents, in order of creation.
    pub stored: Vec<ExplicitCacheRow>,
    /// The probes, in order.
    pub probes: Vec<ProbeRow>,
    /// The calls of the memory, in order.
    pub calls: Vec<CallRow>,
    /// Why the run came to no result; its rows mean nothing then.
    pub fault: Option<Arc<RunFault>>,
}

impl Rows {
    /// Tells another sink the same.
    pub fn tell(&self, sink: &mut impl Sink) {
        self.requests.iter().for_each(|it| sink.request(it));
        self.expected.iter().for_each(|(at, it)| sink.expected(&self.requests[*at], it));
        self.explored.iter().for_each(|it| sink.explored(it));
        self.needs.iter().for_each(|it| sink.need(it));
        self.stored.iter().for_each(|it| sink.stored(it));
        self.calls.iter().for_each(|it| sink.memory(it));
    }
}

impl Sink for Rows {
    fn request(&mut self, row: &RequestRow) {
        self.requests.push(*row);
    }

    fn expected(&mut self, _: &RequestRow, beside: &ExpectedRow) {
        self.expected.push((self.requests.len() - 1, *beside));
    }

    fn explored(&mut self, row: &ExploredRow) {
        self.explored.push(*row);
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

    fn memory(&mut self, row: &CallRow) {
        self.calls.push(row.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_did_as_much_if_each_completed_what_it_was_asked_or_both_stopped_at_the_same_turn() {
        assert!(is_as_much([[2_500, 2_500], [300, 300]]), "two memories ask differently often");
        assert!(is_as_much([[48, 12], [48, 12]]));
        assert!(!is_as_much([[48, 12], [48, 48]]));
        assert!(!is_as_much([[48, 12], [12, 12]]), "one of them stopped");
    }
}
