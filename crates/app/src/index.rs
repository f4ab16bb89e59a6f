//! The index of recordings: which sessions they hold, which of these another file holds, too (each is counted once), and what the others tell of each.
//!
//! **A folder is one user's life.** `app/index.rs` scans the logs of a comparison once (`Indexed`): twins, `--since`, `--limit` and
//! `--model` use it, and each session gets what the others tell of it (`Neighbours`) before it is laid out: fronts, and what was counted in
//! those that had ended when it began, which narrows declared odds (`timeline/own.rs`). Of prompts only tools and system prompt are ever
//! shared (`Shared`), so no policy changes another session's facts. Sub-agents are lanes: sessions with a parent, with lifetimes and
//! neighbours of their own; a policy's `applies_to` says which lanes it changes. `docs/reference/caches.md` has the rules.

use crate::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::BufRead;

use ctxsim_input::scenario::Assume;
use ctxsim_timeline::import::{Among, BySession, Indexed, import_from, index, neighbours};

/// What the index tells of one recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RecordingIndex {
    /// Its sessions, as far as a scan tells of them.
    pub(super) sessions: Vec<Indexed>,
    /// Its sessions that another recording holds, too.
    pub(super) twins: Twins,
    /// What the others tell of its sessions.
    pub(super) beside: BySession,
    /// The digest of its bytes, if somebody else has read them for it.
    pub(super) content: Option<u64>,
}

/// Indexes recordings, in order; `None` stands for what is not one. A recording alone, and each where `is_each_alone`, is told nothing by
/// others.
pub(super) fn index_recordings(recordings: &[Option<&Origin>], is_each_alone: bool) -> Vec<RecordingIndex> {
    if recordings.iter().flatten().nth(1).is_none() {
        return vec![RecordingIndex::default(); recordings.len()];
    }
    let scan = |nth: usize| {
        if let Some(timeline) = recordings[nth].and_then(Origin::built_timeline) {
            let among = timeline.recorded.as_ref().and_then(|it| it.among.as_ref());
            // It is one session, whatever else its bytes held.
            let alone = |it: &Arc<Among>| it.indexed.as_whole_file();
            return among.map(alone).into_iter().listed();
        }
        scan_recording(recordings[nth])
    };
    let sessions: Vec<Vec<Indexed>> = in_order(recordings.len(), scan);
    let twins = find_dropped_twins(recordings, &sessions);
    let one = |(sessions, twins)| RecordingIndex { sessions, twins, ..RecordingIndex::default() };
    let mut all = sessions.into_iter().zip(twins).map(one).listed();
    if !is_each_alone {
        let told = neighbours_by_recording(&all);
        all.iter_mut().zip(told).for_each(|(it, beside)| it.beside = beside);
    }
    all
}

/// Scans one recording, of which others tell nothing.
pub(super) fn scan_recording(recording: Option<&Origin>) -> Vec<Indexed> {
    let reader = recording.and_then(|it| it.open_reader().ok());
    reader.and_then(|mut it| index(it.as_mut()).ok()).unwrap_or_default()
}

/// Returns what others tell of the sessions of each recording.
fn neighbours_by_recording(all: &[RecordingIndex]) -> Vec<BySession> {
    let counted = |(nth, file): (usize, &'_ RecordingIndex)| {
        let sessions = file.sessions.iter().filter(|one| !file.twins.contains_key(&one.session));
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

/// Why a session takes no part.
pub(super) const TWIN: &str = "the same session in another file";
/// Why a copy that cannot be read takes no part.
const BROKEN_TWIN: &str = "a broken copy of a session that another file has";

/// The sessions of a recording that another one holds, by their names within it; an empty one stands for a file of one session.
pub(super) type Twins = BTreeMap<String, String>;

/// Returns for each recording the names of its sessions that another one holds with more detail: what can be read before what
/// cannot, texts before usage alone, then the longer file, then the first one; each with why it is left out. `None` stands for what is not a
/// recording.
pub(super) fn find_dropped_twins(recordings: &[Option<&Origin>], index: &[Vec<Indexed>]) -> Vec<Twins> {
    let mut twins = vec![Twins::default(); recordings.len()];
    let mut holders: IndexMap<&str, Vec<Holder<'_>>> = IndexMap::new();
    for (nth, (origin, sessions)) in recordings.iter().zip(index).enumerate() {
        // Who gives a session in code names it, and may name it twice.
        let Some(origin) = origin.filter(|it| it.built_timeline().is_none()) else { continue };
        for Indexed { id, session, has_texts, .. } in sessions.iter().filter(|it| !it.id.is_empty()) {
            let all = holders.entry(id).or_default();
            if all.iter().all(|it| it.index != nth) {
                all.push(Holder { origin, index: nth, name: session.clone(), has_texts: *has_texts });
            }
        }
    }
    // Only a session that is there twice has its files read for this.
    let mut is_readable: IndexMap<usize, bool> = IndexMap::new();
    for all in holders.into_values().filter(|it| it.len() > 1) {
        let mut detail = |holder: &Holder<'_>| {
            let is_readable = *is_readable.entry(holder.index).or_insert_with(|| can_be_read(holder.origin));
            (is_readable, holder.has_texts, file_length(holder.origin.path()), Reverse(holder.index))
        };
        let kept = all.iter().max_by_key(|it| detail(it)).map(|it| it.index);
        for twin in all.into_iter().filter(|it| Some(it.index) != kept) {
            let reason = if is_readable[&twin.index] { TWIN } else { BROKEN_TWIN };
            twins[twin.index].insert(twin.name, reason.to_owned());
        }
    }
    twins
}

/// Returns which of some sessions that were read from bytes are there twice, by the same rule; one file names no session twice.
pub fn dropped_twins_in_memory(sessions: &[Option<&Among>]) -> BTreeSet<usize> {
    let mut holders: IndexMap<&str, Vec<(usize, &Among)>> = IndexMap::new();
    let known = sessions.iter().enumerate().filter_map(|(nth, it)| Some((nth, (*it)?)));
    for (nth, among) in known.filter(|it| !it.1.indexed.id.is_empty()) {
        let all = holders.entry(&among.indexed.id).or_default();
        if all.iter().all(|it| it.1.file != among.file) {
            all.push((nth, among));
        }
    }
    let mut twins = BTreeSet::new();
    for all in holders.into_values() {
        let kept = all.iter().max_by_key(|(nth, it)| (it.indexed.has_texts, it.length, Reverse(*nth)));
        let kept = kept.map(|it| it.0);
        twins.extend(all.iter().map(|it| it.0).filter(|it| Some(*it) != kept));
    }
    twins
}

/// A recording that holds a session.
struct Holder<'o> {
    origin: &'o Origin,
    /// Its place among the recordings.
    index: usize,
    /// The name of the session within it.
    name: String,
    has_texts: bool,
}

/// Returns whether a recording can be used, under any scenario's assumptions.
fn can_be_read(origin: &Origin) -> bool {
    let read = |mut it: Box<dyn BufRead>| import_from(it.as_mut(), "", &Assume::default(), &[]).ok();
    origin.open_reader().ok().and_then(read).is_some_and(|it| it.is_ok())
}

/// Returns a session that takes no part: because it is counted elsewhere, or because it was not asked for.
pub(super) fn skipped_session(file: &str, reason: String) -> SkippedFile {
    match reason.as_str() {
        TWIN | BROKEN_TWIN => SkippedFile::with_reason(file.to_owned(), &reason),
        _ => SkippedFile::not_asked(file, reason),
    }
}

fn file_length(path: &Path) -> u64 {
    path.metadata().map_or(0, |it| it.len())
}
