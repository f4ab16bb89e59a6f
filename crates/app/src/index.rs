//! The index of recordings: which sessions they hold, which of these another file holds, too, and what the others tell of each.
//!
//! **A folder is one user's life.** `app/index.rs` scans the logs of a comparison once (`Indexed`): twins, `--since`, `--limit` and
//! `--model` use it, and each session gets what the others tell of it (`Neighbours`) before it is laid out: fronts, and what was counted in
//! those that had ended when it began, which narrows declared odds (`timeline/own.rs`). Of prompts only tools and system prompt are ever
//! shared (`Shared`), so no policy changes another session's facts. Sub-agents are lanes: sessions with a parent, with lifetimes and
//! neighbours of their own; a policy's `applies_to` says which lanes it changes. `docs/reference/caches.md` has the rules.

use std::sync::Arc;

use super::twins::{self, Twins};
use crate::catalog::Origin;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::take::in_order;
use ctxsim_timeline::import::{Among, BySession, Indexed, index, neighbours};

/// What the index tells of one recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Indexing {
    /// Its sessions, as far as a scan tells of them.
    pub(super) sessions: Vec<Indexed>,
    /// Its sessions that another recording holds, too.
    pub(super) twins: Twins,
    /// What the others tell of its sessions.
    pub(super) beside: BySession,
    /// The digest of its bytes, if somebody else has read them for it.
    pub(super) content: Option<u64>,
}

/// Indexes recordings, in order; `None` stands for what is not one. A recording alone, and each where `is_alone`, is told nothing by
/// others.
pub(super) fn indexed(recordings: &[Option<&Origin>], is_alone: bool) -> Vec<Indexing> {
    if recordings.iter().flatten().nth(1).is_none() {
        return vec![Indexing::default(); recordings.len()];
    }
    let scan = |nth: usize| {
        if let Some(timeline) = recordings[nth].and_then(Origin::timeline) {
            let among = timeline.recorded.as_ref().and_then(|it| it.among.as_ref());
            // It is one session, whatever else its bytes held.
            let alone = |it: &Arc<Among>| it.indexed.as_whole_file();
            return among.map(alone).into_iter().listed();
        }
        alone(recordings[nth])
    };
    let sessions: Vec<Vec<Indexed>> = in_order(recordings.len(), scan);
    let twins = twins::twins(recordings, &sessions);
    let mut all: Vec<Indexing> = sessions
        .into_iter()
        .zip(twins)
        .map(|(sessions, twins)| Indexing { sessions, twins, ..Indexing::default() })
        .listed();
    if !is_alone {
        let told = tell(&all);
        all.iter_mut().zip(told).for_each(|(it, beside)| it.beside = beside);
    }
    all
}

/// Scans one recording, of which others tell nothing.
pub(super) fn alone(recording: Option<&Origin>) -> Vec<Indexed> {
    let reader = recording.and_then(|it| it.reader().ok());
    reader.and_then(|mut it| index(it.as_mut()).ok()).unwrap_or_default()
}

/// Returns what others tell of the sessions of each recording.
fn tell(all: &[Indexing]) -> Vec<BySession> {
    let counted = |(nth, it): (usize, &'_ Indexing)| {
        let sessions = it.sessions.iter().filter(|one| !it.twins.contains_key(&one.session));
        sessions.map(|one| (nth, one.clone())).listed()
    };
    let sessions: Vec<(usize, Indexed)> = all.iter().enumerate().flat_map(counted).listed();
    let told = neighbours(&sessions.iter().map(|it| &it.1).listed());
    let mut beside = vec![BySession::default(); all.len()];
    for ((nth, session), told) in sessions.into_iter().zip(told).filter(|it| !it.1.is_silent()) {
        beside[nth].insert(session.session, told);
    }
    beside
}
