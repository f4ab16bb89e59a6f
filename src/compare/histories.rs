//! The recordings of a history: each is read, laid out, and kept only as far as a memory sees it.

use std::path::Path;

use super::index::{self, Indexing};
use super::load::located;
use super::twins::TWIN;
use crate::catalog::{Catalog, Found, Loaded, Origin, Searched};
use crate::error::Error;
use crate::input::ScenarioFile;
use crate::input::scenario::{Assume, HistoryLoad, HistoryUnit};
use crate::report::Skipped;
use crate::take::{World, in_order};
use crate::timeline::import;
use crate::worlds::histories::{History, Numbers, Session};
use std::sync::Arc;

/// What is read of one recording: its sessions, each with its project or user.
type Read = Result<Vec<(String, Session)>, Error>;

/// Reads the recordings that a scenario names, and groups their sessions.
pub(super) fn worlds(
    scenario: &Loaded<ScenarioFile>,
    spec: &ScenarioFile,
    (load, paths): (&HistoryLoad, &[String]),
) -> Result<Vec<Arc<dyn World>>, Error> {
    let catalog = Catalog::default();
    let folder = match &scenario.origin {
        Origin::File(path) => path.parent().unwrap_or(Path::new("")).to_owned(),
        _ => Path::new("").to_owned(),
    };
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for path in paths {
        let given = if path.starts_with('~') {
            path.clone()
        } else {
            folder.join(path).to_string_lossy().into_owned()
        };
        let Searched { found: more, left_out } = catalog.search(&given)?;
        skipped.extend(left_out.into_iter().map(Skipped::from));
        found.extend(more);
    }
    let origins: Vec<Option<Origin>> = found.iter().map(|it| catalog.recording_origin(&it.name)).collect();
    let recordings: Vec<Option<&Origin>> = origins.iter().map(Option::as_ref).collect();
    let indexed = index::indexed(&recordings, false);
    let all = in_order(found.len(), |nth| {
        let origin = origins[nth].clone().unwrap_or_else(|| Origin::File(found[nth].name.clone().into()));
        read(&origin, &indexed[nth], load.by)
    });
    let mut sessions = Vec::new();
    for (Found { name, is_searched }, (read, Indexing { twins, .. })) in
        found.into_iter().zip(all.into_iter().zip(&indexed))
    {
        match read {
            Ok(read) => sessions.extend(read),
            Err(error) if is_searched => skipped.push(Skipped::new(&name, error)),
            Err(error) => return Err(error),
        }
        skipped.extend(twins.iter().map(|_| super::twins::skipped(&name, TWIN.to_owned())));
    }
    if sessions.is_empty() {
        return Err(super::selection::none_left(&skipped));
    }
    let numbers = Numbers::declared().with(&load.numbers)?;
    let notes = match skipped.len() {
        0 => Vec::new(),
        n => vec![format!("{n} recordings take no part: {}.", Skipped::counted(&skipped))],
    };
    Ok(History::all((&spec.name, spec.seed), &numbers, sessions, notes))
}

/// Reads the sessions of one recording; those that another one holds, too, are left out.
fn read(origin: &Origin, indexing: &Indexing, by: HistoryUnit) -> Read {
    let name = origin.path().file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let mut reader = origin.reader()?;
    let assume = Assume::default();
    let all = located(origin, import::import_beside(reader.as_mut(), &name, &assume, &[], &indexing.beside))?;
    // A recording alone is not indexed with others.
    let alone =
        if indexing.sessions.is_empty() { import::index(origin.reader()?.as_mut()).ok() } else { None };
    let sessions = alone.as_ref().unwrap_or(&indexing.sessions);
    let own = all.into_iter().filter(|it| !indexing.twins.contains(&it.session));
    let one = |it: import::Imported| {
        let indexed = sessions.iter().find(|one| one.session == it.session).or(sessions.first());
        let project = indexed.map(|it| it.project.as_str()).unwrap_or_default();
        let group = match by {
            HistoryUnit::Project => project,
            HistoryUnit::User => indexed.map(|it| it.user.as_str()).unwrap_or_default(),
        };
        let root = indexed.and_then(|it| it.parent.as_deref().or(Some(&it.id))).filter(|it| !it.is_empty());
        (group.to_owned(), Session::read(&it.timeline, root.unwrap_or(&it.timeline.name), project))
    };
    Ok(own.map(one).collect())
}
