//! What changed in the user's folders since a revision, beside the policies that are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git;
use ctxsim_app::catalog::{Catalog, Kind, Origin};
use ctxsim_app::input_change;
use ctxsim_base::error::Error;
use ctxsim_input::Format;
use ctxsim_input::text::source::read_text;
use ctxsim_report::contrast::{Beside, InputFate};

/// Returns what changed since the revision that a base names; nothing if it names none.
pub(super) fn beside(catalog: &Catalog, base: &str) -> Result<Beside, Error> {
    let Some(revision) = revision_of(base) else { return Ok(Beside::default()) };
    let (mut changed, mut unknown) = (Vec::new(), Vec::new());
    for folder in catalog.folders() {
        for kind in Kind::ALL {
            // That the revision exists is known of the policies; a folder need not lie in their repository.
            let Ok(before) = had(revision, folder, kind) else {
                unknown.push(folder.display().to_string());
                break;
            };
            let now = has(catalog, folder, kind)?;
            let paths: BTreeSet<&PathBuf> = before.keys().chain(now.keys()).collect();
            for path in paths {
                let texts = [before.get(path), now.get(path)].map(|it| it.map(String::as_str));
                let Some(format) = Format::of(path) else { continue };
                let change = input_change(kind, &name(path), format, texts);
                // Policies that both have are compared, and new ones are named.
                let is_told = |how| kind != Kind::Policy || how == InputFate::Removed;
                changed.extend(change.filter(|it| is_told(it.how)));
            }
        }
    }
    Ok(Beside { revision: Some(revision.to_owned()), changed, unknown, ..Beside::default() })
}

/// Returns whether the user's folders had policies in the revision that a base names.
pub(super) fn had_policies(catalog: &Catalog, base: &str) -> Result<bool, Error> {
    let Some(revision) = revision_of(base) else { return Ok(false) };
    for folder in catalog.folders() {
        if !had(revision, folder, Kind::Policy)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the revision that a base names.
fn revision_of(base: &str) -> Option<&str> {
    let rest = base.strip_prefix(git::MARK)?;
    Some(rest.split_once(':').map_or(rest, |it| it.0))
}

/// Returns the files of a kind as a revision has them, by path below the kind's folder.
fn had(revision: &str, folder: &Path, kind: Kind) -> Result<BTreeMap<PathBuf, String>, Error> {
    // A folder whose last file is gone is no longer there.
    let own = folder.join(kind.folder());
    let is_there = own.is_dir();
    let files = git::files_at(revision, if is_there { &own } else { folder })?;
    let below = |(path, text): (&Path, &str)| {
        let path = if is_there { path } else { path.strip_prefix(kind.folder()).ok()? };
        Some((path.to_owned(), text.to_owned()))
    };
    Ok(files.files().filter_map(below).collect())
}

/// Returns the files of a kind as they are now.
fn has(catalog: &Catalog, folder: &Path, kind: Kind) -> Result<BTreeMap<PathBuf, String>, Error> {
    let own = folder.join(kind.folder());
    let mut found = BTreeMap::new();
    for (_, origin) in catalog.origins(kind) {
        if let Origin::File(path) = origin
            && let Ok(below) = path.strip_prefix(&own)
        {
            found.insert(below.to_owned(), read_text(path)?);
        }
    }
    Ok(found)
}

/// Returns the name of an input's file.
fn name(path: &Path) -> String {
    path.with_extension("").display().to_string().replace('\\', "/")
}
