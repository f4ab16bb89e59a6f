//! What it costs to remember: a stream as requests, with the memory of each session in front of them.

use super::assumed::{Assumed, Numbers};
use super::play::Log;
use super::stream::Stream;
use crate::input::Policy;
use crate::input::policy::{SessionKeep, SessionRecall};
use crate::memory::{Memory, Recalled};
use crate::timeline::build::{NewItem, TimelineBuilder};
use crate::timeline::{Kind, Timeline};

/// No item is larger, so that sums of a few never leave 32 bits.
const ITEM_MAX: u32 = (1 << 31) - 1;

/// The requests of a stream under one memory.
#[derive(Clone, Debug)]
pub struct Requests {
    /// Each request is a session of its own behind the same system prompt; of a memory that keeps everything all are one session.
    pub timeline: Timeline,
    /// By session of the timeline: what the memory says in its prompts.
    recalled: Vec<Option<Recalled>>,
    /// How many requests make summaries.
    pub n_compactions: u64,
}

/// Says what a memory said when it was played.
struct Replay {
    recalled: Vec<Option<Recalled>>,
    session: usize,
}

impl Memory for Replay {
    fn recall(&mut self) -> Option<Recalled> {
        self.recalled.get(self.session).copied().flatten()
    }

    fn session_end(&mut self, session: usize) {
        self.session = session + 1;
    }
}

impl Requests {
    /// Lays out what a memory was asked, session by session.
    #[must_use]
    pub fn new(stream: &Stream, log: &Log, policy: &Policy, numbers: &Numbers) -> Self {
        let keep = policy.aging.as_ref().map_or(&SessionKeep::Nothing, |it| &it.keep);
        let assumed = &numbers.assumed;
        let mut builder = TimelineBuilder::new(&policy.name, &[]);
        builder.stable(Kind::System, assumed.system_tokens);
        let mut writer = Writer {
            builder,
            is_one_session: *keep == SessionKeep::Everything,
            n_requests: 0,
            at_ms: 0,
            recalled: Vec::new(),
        };
        let (mut n_compactions, mut history) = (0, 0_u32);
        for (at, session) in stream.sessions.iter().enumerate() {
            let of_session = log.sessions.get(at);
            let memory =
                of_session.and_then(|it| recalled(it.memory_tokens, it.memory_digest, policy, stream, at));
            let n_tasks = session.tasks.max(1);
            for _ in 0..n_tasks {
                let said = assumed.task_tokens.saturating_add(session.tokens / n_tasks);
                writer.request(said, assumed.work_tokens, memory);
            }
            let asked = log.asked.iter().filter(|it| it.session as usize == at).count();
            (0..asked).for_each(|_| writer.request(assumed.question_tokens, assumed.answer_tokens, memory));
            let worked = n_tasks.saturating_mul(assumed.task_tokens.saturating_add(assumed.work_tokens));
            let own = session.tokens.saturating_add(worked);
            history = history.saturating_add(own);
            let after = log.sessions.get(at + 1).map_or(0, |it| it.memory_tokens);
            if let Some(said) = compacted(keep, own, history, assumed) {
                let seen = if matches!(keep, SessionKeep::Summary(_)) { memory } else { None };
                writer.request(said, u32::try_from(after).unwrap_or(u32::MAX), seen);
                n_compactions += 1;
            }
            writer.at_ms = writer.at_ms.saturating_add(assumed.session_seconds.saturating_mul(1_000));
        }
        Self { timeline: writer.builder.finish(), recalled: writer.recalled, n_compactions }
    }

    /// Returns the memory as it was when it was played.
    #[must_use]
    pub fn memory(&self) -> Box<dyn Memory> {
        Box::new(Replay { recalled: self.recalled.clone(), session: 0 })
    }
}

/// Appends requests.
struct Writer {
    builder: TimelineBuilder,
    is_one_session: bool,
    n_requests: u64,
    at_ms: i64,
    recalled: Vec<Option<Recalled>>,
}

impl Writer {
    /// Appends a request with what it says, what it answers, and what the memory says in it.
    fn request(&mut self, said: u32, answered: u32, memory: Option<Recalled>) {
        /// From one request of a session to the next.
        const REQUEST_MS: i64 = 20_000;
        if self.n_requests > 0 && !self.is_one_session {
            self.builder.begin_session(&format!("request {}", self.n_requests), None);
        }
        if self.recalled.is_empty() || !self.is_one_session {
            self.recalled.push(memory.filter(|_| !self.is_one_session));
        }
        let [said, answered] = [said, answered].map(|it| it.min(ITEM_MAX));
        self.builder.begin_turn(&[NewItem::plain(Kind::User, said)]);
        self.builder.step(self.at_ms, answered.into(), &[NewItem::plain(Kind::Assistant, answered)], &[]);
        self.n_requests += 1;
        self.at_ms = self.at_ms.saturating_add(REQUEST_MS);
    }
}

/// Returns what a memory says in the prompts of a session: of records and files the part that a question brings back.
fn recalled(tokens: u64, digest: u64, policy: &Policy, stream: &Stream, session: usize) -> Option<Recalled> {
    let aging = policy.aging.as_ref()?;
    let n_records = stream.graph.records.partition_point(|it| (it.session as usize) < session) as u64;
    let n_all = match aging.keep {
        SessionKeep::Files => stream.graph.domains.len() as u64,
        _ => n_records,
    };
    let tokens = match aging.recall {
        SessionRecall::All => tokens,
        SessionRecall::Last(n) | SessionRecall::Top { n, .. } => {
            tokens.saturating_mul(n.min(n_all)).checked_div(n_all).unwrap_or(0)
        }
    };
    let tokens = u32::try_from(tokens).unwrap_or(ITEM_MAX).min(ITEM_MAX);
    (tokens > 0).then_some(Recalled { tokens, digest })
}

/// Returns what a request says that makes a summary; none where no summary is made.
fn compacted(keep: &SessionKeep, own: u32, history: u32, assumed: &Assumed) -> Option<u32> {
    let read = match keep {
        SessionKeep::Summary(_) | SessionKeep::Episodes(_) => own,
        SessionKeep::History(_) => history,
        SessionKeep::Nothing | SessionKeep::Everything | SessionKeep::Entries { .. } | SessionKeep::Files => {
            return None;
        }
    };
    Some(read.saturating_add(assumed.compaction_prompt_tokens))
}
