//! Requests prepared before a run, each with the memory's content in its prompt and the calls made by then.

use super::{MemoryServiceCall, PolicyMemory, Recalled};
use crate::prelude::*;
use ctxsim_timeline::build::{NewItem, TimelineBuilder};

/// The largest item, so that sums of a few items fit into 32 bits.
pub const ITEM_MAX: u32 = (1 << 31) - 1;
/// From one request to the next.
const REQUEST_MS: i64 = 20_000;

/// Requests, with the memory as played.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Whether each request is its own session after the same system prompt, or all are one.
    pub timeline: Timeline,
    /// By session of the timeline: the memory's content in its prompts.
    recalled: Vec<Option<Recalled>>,
    /// By session of the timeline: the calls made by then; one more list follows the last session.
    calls: Vec<Vec<MemoryServiceCall>>,
}

/// Appends requests.
pub struct RequestWriter {
    builder: TimelineBuilder,
    is_one_session: bool,
    n_requests: u64,
    at_ms: i64,
    recalled: Vec<Option<Recalled>>,
    calls: Vec<Vec<MemoryServiceCall>>,
    /// Calls since the last request.
    open: Vec<MemoryServiceCall>,
}

/// Replays the memory's contents as played.
struct MemoryReplay {
    recalled: Vec<Option<Recalled>>,
    calls: Vec<Vec<MemoryServiceCall>>,
    session: usize,
}

impl RequestWriter {
    /// Begins to append requests after a system prompt.
    pub fn new(name: &str, system_tokens: u32, is_one_session: bool) -> Self {
        let mut builder = TimelineBuilder::new(name, &[]);
        builder.stable(Kind::System, system_tokens);
        Self {
            builder,
            is_one_session,
            n_requests: 0,
            at_ms: 0,
            recalled: Vec::new(),
            calls: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Records a call for the next request.
    pub fn call(&mut self, call: MemoryServiceCall) {
        self.open.push(call);
    }

    /// Appends a request with its text, its answer, and the memory's content in it.
    pub fn request(&mut self, said: u32, answered: u32, memory: Option<Recalled>) {
        if self.n_requests > 0 && !self.is_one_session {
            self.builder.begin_session(&format!("request {}", self.n_requests), None);
        }
        if self.recalled.is_empty() || !self.is_one_session {
            self.recalled.push(memory.filter(|_| !self.is_one_session));
            self.calls.push(Vec::new());
        }
        if let Some(calls) = self.calls.last_mut() {
            calls.append(&mut self.open);
        }
        let [said, answered] = [said, answered].map(|it| it.min(ITEM_MAX));
        self.builder.begin_turn(&[NewItem::plain(Kind::User, said)]);
        self.builder.step(self.at_ms, answered.into(), &[NewItem::plain(Kind::Assistant, answered)], &[]);
        self.n_requests += 1;
        self.pause(REQUEST_MS);
    }

    /// Lets time pass.
    pub fn pause(&mut self, ms: i64) {
        self.at_ms = self.at_ms.saturating_add(ms);
    }

    /// Ends the requests.
    pub fn finish(mut self) -> Replayed {
        self.calls.push(self.open);
        Replayed { timeline: self.builder.finish(), recalled: self.recalled, calls: self.calls }
    }
}

impl Replayed {
    /// Returns the memory as played.
    pub fn memory(&self) -> Box<dyn PolicyMemory> {
        Box::new(MemoryReplay { recalled: self.recalled.clone(), calls: self.calls.clone(), session: 0 })
    }
}

impl PolicyMemory for MemoryReplay {
    fn recall(&mut self) -> Option<Recalled> {
        self.recalled.get(self.session).copied().flatten()
    }

    fn session_end(&mut self, session: usize) {
        self.session = session + 1;
    }

    fn take_calls(&mut self) -> Vec<MemoryServiceCall> {
        self.calls.get_mut(self.session).map(std::mem::take).unwrap_or_default()
    }
}
