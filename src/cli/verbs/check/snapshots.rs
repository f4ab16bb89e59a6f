//! Snapshots on disk, in insta's format: read, compared, accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::catalog::Files;
use crate::error::Error;
use crate::input::Profile;
use crate::report::Report;
use crate::report::checkup::{SnapshotCheck, SnapshotState};
use crate::report::shot::{self, Shot};

use super::Accepted;
use crate::cli::output::{self, KeptFile, Replaced, begins_with};

/// The line that separates a snapshot's header from its content.
const RULE: &str = "---\n";
/// How a snapshot begins that ctxsim made.
const BEGINNING: &str = "---\nsource: ctxsim check\n";
/// The prefix of the price date in a header.
const DAY: &str = "description: prices of ";
/// The extensions of a snapshot and of one that waits for review.
const EXTENSIONS: [&str; 2] = ["snap", "snap.new"];

/// Where a snapshot is, and what it must not replace.
#[derive(Clone, Copy)]
struct At<'a> {
    path: &'a Path,
    suite: &'a str,
    inputs: &'a Files,
}

/// The price dates of snapshots, by file stem, which is the profile's name.
pub(super) struct Days(BTreeMap<String, String>);

impl Days {
    /// Returns overrides that set a plan's profiles to the price dates of their snapshots.
    pub(super) fn pins(&self, profiles: &[Profile]) -> Vec<String> {
        let pinned = profiles.iter().filter_map(|it| {
            let day = self.0.get(&shot::as_file(&it.name))?;
            (*day < it.as_of).then(|| format!("profile.{}.assumptions.starts_at=\"{day}\"", it.name))
        });
        pinned.collect()
    }
}

/// Returns the price dates of a suite's snapshots; empty if it has none.
pub(super) fn days(root: &Path, suite: &str) -> Option<Days> {
    let mut days = BTreeMap::new();
    for path in kept(&folder(root, suite)).ok()? {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let day = text.lines().find_map(|it| it.strip_prefix(DAY));
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned());
        if let Some((name, day)) = name.zip(day) {
            days.entry(name).or_insert_with(|| day.to_owned());
        }
    }
    (!days.is_empty()).then_some(Days(days))
}

/// Checks that every file which is called as a snapshot of a suite is one of ctxsim's.
pub(super) fn replaceable(root: &Path, suite: &str) -> Result<(), Error> {
    let inputs = Files::default();
    let replaced = KeptFile { inputs: &inputs, replaced: Replaced::Beginning(BEGINNING) };
    kept(&folder(root, suite))?.iter().try_for_each(|it| replaced.check(it, None))
}

/// Compares a report with a suite's snapshots, or accepts its numbers; returns nothing if there are no
/// snapshots yet.
pub(super) fn held(
    Accepted { root, inputs, bless }: Accepted<'_>,
    suite: &str,
    report: &Report,
) -> Result<Vec<SnapshotCheck>, Error> {
    let folder = folder(root, suite);
    if !bless && !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    let mut all = Vec::new();
    for it in report.shots() {
        let path = folder.join(&it.path[0]).join(format!("{}.{}", it.path[1], EXTENSIONS[0]));
        let at = At { path: &path, suite, inputs };
        all.push(if bless { accepted(at, &it)? } else { compared(at, &it)? });
        known.insert(path);
    }
    for path in kept(&folder)?.into_iter().filter(|it| !known.contains(it) && begins_with(it, BEGINNING)) {
        if bless {
            output::remove(&path)?;
        } else {
            all.push(SnapshotCheck { file: name(&path), state: SnapshotState::Orphan, moved: Vec::new() });
        }
    }
    Ok(all)
}

/// Compares a table with its snapshot; changed numbers are written beside it for review.
fn compared(at: At<'_>, shot: &Shot) -> Result<SnapshotCheck, Error> {
    let path = at.path;
    // What a link leads to is not shown either.
    output::unlinked(path)?;
    let pending = path.with_extension(EXTENSIONS[1]);
    let snapshot = |state, moved| SnapshotCheck { file: name(path), state, moved };
    let old = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            wait(At { path: &pending, ..at }, shot)?;
            return Ok(snapshot(SnapshotState::Missing, Vec::new()));
        }
        Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
    };
    let old = content(&old);
    if old.trim_end() == shot.text.trim_end() {
        forget(&pending)?;
        return Ok(snapshot(SnapshotState::Same, Vec::new()));
    }
    wait(At { path: &pending, ..at }, shot)?;
    Ok(snapshot(SnapshotState::Moved, shot::moved(old, &shot.text)))
}

/// Writes a snapshot.
fn accepted(at: At<'_>, shot: &Shot) -> Result<SnapshotCheck, Error> {
    write(at, shot)?;
    forget(&at.path.with_extension(EXTENSIONS[1]))?;
    Ok(SnapshotCheck { file: name(at.path), state: SnapshotState::Blessed, moved: Vec::new() })
}

/// Writes a snapshot for review, except in CI.
fn wait(at: At<'_>, shot: &Shot) -> Result<(), Error> {
    if std::env::var_os("CI").is_some() { Ok(()) } else { write(at, shot) }
}

/// Writes a snapshot, over another snapshot or nothing.
fn write(At { path, suite, inputs }: At<'_>, shot: &Shot) -> Result<(), Error> {
    let Shot { as_of, text, .. } = shot;
    let text = format!("{BEGINNING}{DAY}{as_of}\nexpression: {suite}\n{RULE}{text}");
    let kept = KeptFile { inputs, replaced: Replaced::Beginning(BEGINNING) };
    output::write_all(&[(path.to_owned(), text)], kept)
}

/// Removes a snapshot that waits for review; anything else stays.
fn forget(pending: &Path) -> Result<(), Error> {
    if begins_with(pending, BEGINNING) { output::remove(pending) } else { Ok(()) }
}

/// Returns a snapshot without its header.
fn content(text: &str) -> &str {
    let below = text.strip_prefix(RULE).and_then(|it| it.split_once(&format!("\n{RULE}")));
    below.map_or(text, |it| it.1)
}

/// Returns the snapshots below a folder.
fn kept(folder: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let failed = |source| Error::Read { path: folder.to_owned(), source };
    let mut found = BTreeSet::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for scenario in fs::read_dir(folder).map_err(failed)? {
        let scenario = scenario.map_err(failed)?.path();
        for file in fs::read_dir(scenario).into_iter().flatten() {
            let path = file.map_err(failed)?.path();
            // A link may lead to what is not the project's, or to what has no end.
            let is_kept = path.extension().is_some_and(|it| it == EXTENSIONS[0]);
            found.extend((is_kept && output::unlinked(&path).is_ok()).then_some(path));
        }
    }
    Ok(found)
}

/// Returns the folder of a suite's snapshots.
pub(super) fn folder(root: &Path, suite: &str) -> PathBuf {
    root.join(shot::as_file(suite))
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
