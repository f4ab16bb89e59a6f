//! The recordings of a history: each is read, laid out, and kept only as far as a memory sees it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::index::{self, Indexing};
use super::load::located;
use crate::catalog::{Catalog, Loaded, Origin, ScenarioHit};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::take::{World, in_order};
use ctxsim_input::ScenarioFile;
use ctxsim_input::scenario::{Assume, HistoryLoad, HistorySource, HistoryUnit, LoadSpec};
use ctxsim_report::Skipped;
use ctxsim_timeline::import::{self, Indexed};
use ctxsim_worlds::histories::{HistoryNumbers, ProjectHistory, ProjectSession};

/// The recordings of a history: the index tells which project or user each session belongs to before any is read.
pub(super) struct Recordings {
    recordings: Vec<IndexedRecording>,
    /// What was found and is no recording.
    left_out: Vec<Skipped>,
    by: HistoryUnit,
}

/// A recording with what the index tells of it.
pub(super) struct IndexedRecording {
    pub(super) name: String,
    pub(super) is_searched: bool,
    pub(super) origin: Origin,
    pub(super) indexing: Indexing,
}

/// What is read of one recording: its sessions, each with its group.
type ReadRecording = Result<Vec<(String, ProjectSession)>, Error>;

/// What recordings came to, in their order.
#[derive(Default)]
pub(super) struct HistorySessions {
    /// The sessions, each with its group.
    pub(super) sessions: Vec<(String, ProjectSession)>,
    /// What of the recordings takes no part.
    pub(super) skipped: Vec<OutOf>,
}

/// What takes no part, and with which group that is told.
pub(super) struct OutOf {
    pub(super) group: String,
    /// Its place among all that was found.
    pub(super) place: usize,
    pub(super) skipped: Skipped,
}

/// Returns the history that a load is, and where its recordings are.
pub(super) fn recorded(load: &LoadSpec) -> Option<(&HistoryLoad, &[String])> {
    let LoadSpec::History(load) = load else { return None };
    let HistorySource::Recorded(paths) = &load.from else { return None };
    Some((load, paths))
}

/// Reads the recordings that a scenario names, and groups their sessions.
pub(super) fn worlds(
    scenario: &Loaded<ScenarioFile>,
    spec: &ScenarioFile,
    load: &HistoryLoad,
    paths: &[String],
) -> Result<Vec<Arc<dyn World>>, Error> {
    let HistorySessions { sessions, skipped } = Recordings::find(scenario, load, paths)?.read(&|_| true)?;
    let skipped: Vec<Skipped> = skipped.into_iter().map(|it| it.skipped).listed();
    if sessions.is_empty() {
        return Err(super::selection::none_left(&skipped));
    }
    grouped(spec, load, sessions, Skipped::note(&skipped).into_iter().listed())
}

/// Groups sessions into histories.
pub(super) fn grouped(
    spec: &ScenarioFile,
    load: &HistoryLoad,
    sessions: Vec<(String, ProjectSession)>,
    notes: Vec<String>,
) -> Result<Vec<Arc<dyn World>>, Error> {
    let numbers = HistoryNumbers::declared().with(&load.numbers)?;
    Ok(ProjectHistory::all((&spec.name, spec.seed), &numbers, sessions, notes))
}

impl Recordings {
    /// Finds and indexes what a scenario names.
    pub(super) fn find(
        scenario: &Loaded<ScenarioFile>,
        load: &HistoryLoad,
        paths: &[String],
    ) -> Result<Self, Error> {
        let catalog = Catalog::default();
        let folder = match &scenario.origin {
            Origin::File(path) => path.parent().unwrap_or(Path::new("")).to_owned(),
            _ => Path::new("").to_owned(),
        };
        let (mut found, mut left_out) = (Vec::new(), Vec::new());
        for path in paths {
            let given = if path.starts_with('~') {
                path.clone()
            } else {
                folder.join(path).to_string_lossy().into_owned()
            };
            let searched = catalog.search(&given)?;
            left_out.extend(searched.left_out.into_iter().map(Skipped::from));
            found.extend(searched.found);
        }
        let origins: Vec<Option<Origin>> = found.iter().map(|it| catalog.recording_origin(&it.name)).listed();
        let indexed = index::indexed(&origins.iter().map(Option::as_ref).listed(), false);
        let recording = |nth: usize| {
            let ScenarioHit { name, is_searched } = found[nth].clone();
            let origin = origins[nth].clone().unwrap_or_else(|| Origin::File(name.clone().into()));
            let mut indexing = indexed[nth].clone();
            // A recording alone is not indexed with others.
            if indexing.sessions.is_empty() {
                let sessions = origin.reader().ok().and_then(|mut it| import::index(it.as_mut()).ok());
                indexing.sessions = sessions.unwrap_or_default();
            }
            IndexedRecording { name, is_searched, origin, indexing }
        };
        let recordings = in_order(found.len(), recording);
        Ok(Self { recordings, left_out, by: load.by })
    }

    /// Returns the recordings, in order.
    pub(super) fn all(&self) -> &[IndexedRecording] {
        &self.recordings
    }

    /// Returns what was found and is no recording.
    pub(super) fn left_out(&self) -> &[Skipped] {
        &self.left_out
    }

    /// Returns the groups that sessions may belong to, in order. What the index cannot place is in the one without a name.
    pub(super) fn groups(&self) -> BTreeSet<&str> {
        self.recordings.iter().flat_map(|it| it.groups(self.by)).collect()
    }

    /// Reads the recordings that have sessions of groups that are wanted, and keeps these.
    pub(super) fn read(&self, is_wanted: &(dyn Fn(&str) -> bool + Sync)) -> Result<HistorySessions, Error> {
        let all = in_order(self.recordings.len(), |nth| {
            let it = &self.recordings[nth];
            it.groups(self.by).into_iter().any(is_wanted).then(|| read(it, self.by))
        });
        let mut came = HistorySessions::default();
        let first = self.groups().first().copied().unwrap_or_default();
        for (place, skipped) in self.left_out.iter().cloned().enumerate() {
            came.skipped.push(OutOf { group: first.to_owned(), place, skipped });
        }
        for (nth, (recording, read)) in self.recordings.iter().zip(all).enumerate() {
            let mut skipped = Vec::new();
            match read {
                Some(Ok(read)) => came.sessions.extend(read),
                Some(Err(error)) if recording.is_searched => {
                    skipped.push(Skipped::new(&recording.name, error));
                }
                Some(Err(error)) => return Err(error),
                None => continue,
            }
            let twins = recording.indexing.twins.values();
            skipped.extend(twins.map(|reason| super::twins::skipped(&recording.name, reason.clone())));
            let (group, place) = (recording.first_group(self.by), self.left_out.len() + nth);
            came.skipped.extend(skipped.into_iter().map(|skipped| OutOf {
                group: group.to_owned(),
                place,
                skipped,
            }));
        }
        came.sessions.retain(|it| is_wanted(&it.0));
        came.skipped.retain(|it| is_wanted(&it.group));
        Ok(came)
    }
}

impl IndexedRecording {
    /// Returns the groups that its sessions may belong to.
    fn groups(&self, by: HistoryUnit) -> BTreeSet<&str> {
        let unplaced = self.indexing.sessions.is_empty().then_some("");
        self.indexing.sessions.iter().map(|it| group(it, by)).chain(unplaced).collect()
    }

    /// Returns the group with which it is told what of it takes no part.
    fn first_group(&self, by: HistoryUnit) -> &str {
        self.groups(by).first().copied().unwrap_or_default()
    }
}

/// Returns the project or the user of a session.
fn group(session: &Indexed, by: HistoryUnit) -> &str {
    match by {
        HistoryUnit::Project => &session.project,
        HistoryUnit::User => &session.user,
    }
}

/// Reads the sessions of one recording; those that another one holds, too, are left out.
fn read(IndexedRecording { origin, indexing, .. }: &IndexedRecording, by: HistoryUnit) -> ReadRecording {
    let name = origin.path().file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let mut reader = origin.reader()?;
    let assume = Assume::default();
    let all = located(origin, import::import_beside(reader.as_mut(), &name, &assume, &[], &indexing.beside))?;
    let sessions = &indexing.sessions;
    let own = all.into_iter().filter(|it| !indexing.twins.contains_key(&it.session));
    let one = |it: import::Imported| {
        let indexed = sessions.iter().find(|one| one.session == it.session).or(sessions.first());
        let project = indexed.map(|it| it.project.as_str()).unwrap_or_default();
        let group = indexed.map(|it| group(it, by)).unwrap_or_default();
        let root = indexed.and_then(|it| it.parent.as_deref().or(Some(&it.id))).filter(|it| !it.is_empty());
        (group.to_owned(), ProjectSession::read(&it.timeline, root.unwrap_or(&it.timeline.name), project))
    };
    Ok(own.map(one).listed())
}
