//! What it costs to remember: a stream as requests, with the memory of each session before them.

use super::assumed::{AgingNumbers, AssumedAging};
use super::play::{AgingLog, SessionLog};
use super::stream::AgingStream;
use crate::prelude::*;
use ctxsim_engine::memory::Recalled;
use ctxsim_engine::memory::requests::{ITEM_MAX, Replayed, RequestWriter};

/// The requests of a stream under one memory.
#[derive(Clone, Debug)]
pub struct StreamRequests {
    /// Of a memory that keeps everything all requests are one session.
    pub replayed: Replayed,
    /// How many requests make summaries.
    pub n_compactions: u64,
}

impl StreamRequests {
    /// Lays out what a memory was asked, session by session.
    pub fn new(stream: &AgingStream, log: &AgingLog, policy: &Policy, numbers: &AgingNumbers) -> Self {
        let store = policy.session_memory().map_or(&SessionStore::Nothing, |it| &it.store);
        let assumed = &numbers.assumed;
        let is_one_session = *store == SessionStore::Everything;
        let mut writer = RequestWriter::new(&policy.name, assumed.system_tokens, is_one_session);
        let (mut n_compactions, mut history) = (0, 0_u32);
        for (at, session) in stream.sessions.iter().enumerate() {
            let of_session = log.sessions.get(at);
            let memory = of_session.and_then(|it| recalled(it, policy, stream, at));
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
            if let Some(said) = compacted(store, own, history, assumed) {
                let seen = if matches!(store, SessionStore::Summary(_)) { memory } else { None };
                writer.request(said, saturated(after), seen);
                n_compactions += 1;
            }
            writer.pause(assumed.session_seconds.saturating_mul(1_000));
        }
        Self { replayed: writer.finish(), n_compactions }
    }
}

/// Returns what a memory says in the prompts of a session: of records and files the part that a question brings back.
fn recalled(log: &SessionLog, policy: &Policy, stream: &AgingStream, session: usize) -> Option<Recalled> {
    let spec = policy.session_memory()?;
    let n_records = stream.graph.records.partition_point(|it| (it.session as usize) < session) as u64;
    let n_all = match spec.store {
        SessionStore::Files => stream.graph.domains.len() as u64,
        _ => n_records,
    };
    let of_all = |n: u64| log.memory_tokens.saturating_mul(n.min(n_all)).checked_div(n_all).unwrap_or(0);
    let tokens = spec.read.count().map_or(log.memory_tokens, of_all);
    let tokens = saturated::<u32>(tokens).min(ITEM_MAX);
    (tokens > 0).then_some(Recalled { tokens, digest: log.memory_digest })
}

/// Returns what a request says that makes a summary, or none if no summary is made.
fn compacted(store: &SessionStore, own: u32, history: u32, assumed: &AssumedAging) -> Option<u32> {
    let read = match store {
        SessionStore::Summary(_) | SessionStore::Episodes(_) => own,
        SessionStore::History(_) => history,
        _ => return None,
    };
    Some(read.saturating_add(assumed.compaction_prompt_tokens))
}
