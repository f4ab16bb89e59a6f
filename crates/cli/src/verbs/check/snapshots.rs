//! Snapshots on disk, in insta's format: read, compared, accepted.

use crate::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

use ctxsim_input::Profile;
use ctxsim_report::Report;
use ctxsim_report::checkup::{SnapshotCheck, SnapshotState};
use ctxsim_report::made::MadeWith;
use ctxsim_report::shot::{self, Shot};

use super::Accepted;
use super::assumed::{self, AssumedLines};
use crate::output::{self, KeptFile, Replaced, begins_with};

/// The line that separates a snapshot's header from its content.
const RULE: &str = "---\n";
/// How a snapshot begins that ctxsim made.
const BEGINNING: &str = "---\nsource: ctxsim check\n";
/// The beginning of the line that says what the snapshot was made with.
const MADE: &str = "description: ";
/// The parts of that line, in their order: the day of the prices, the version, and digests of inputs and of what is assumed. Policies have theirs
/// in their own lines, so that a changed policy changes no other.
const PARTS: [&str; 6] = ["prices of ", "ctxsim ", "scenario ", "profile ", "suite ", "assumed "];
/// What is between two parts.
const BETWEEN: &str = "; ";
/// The extensions of a snapshot and of one that waits for review.
const EXTENSIONS: [&str; 2] = ["snap", "snap.new"];

/// Where a snapshot is, and what it must not replace.
#[derive(Clone, Copy)]
struct At<'a> {
    path: &'a Path,
    suite: &'a str,
    inputs: &'a Files,
    made: &'a MadeWith,
    /// The digest of what is assumed.
    assumed: &'a str,
    /// Whether a changed table is written beside it.
    reviews: bool,
}

/// What a snapshot's header says that it was made with, part by part; nothing of what older headers lack.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SnapshotHeader([Option<String>; PARTS.len()]);

impl SnapshotHeader {
    /// Returns what a snapshot of today is made with.
    fn new(made: &MadeWith, assumed: &str, shot: &Shot) -> Self {
        let [scenario, profile] = &shot.of;
        let digest = |kind: Kind, name: &str| made.digest_of_one(kind.noun(), name).map(str::to_owned);
        Self([
            Some(made.prices.get(profile).unwrap_or(&shot.as_of).clone()),
            Some(made.version.to_owned()),
            digest(Kind::Scenario, scenario),
            digest(Kind::Profile, profile),
            made.digest_of(Kind::Suite.noun()),
            Some(assumed.to_owned()),
        ])
    }

    /// Reads the header of a snapshot.
    fn read(text: &str) -> Self {
        let line = text.lines().skip(1).take_while(|it| format!("{it}\n") != RULE);
        let line = line.filter_map(|it| it.strip_prefix(MADE)).next().unwrap_or_default();
        let mut said = Self::default();
        for part in line.trim_matches(['"', '\'']).split(BETWEEN) {
            let place = PARTS.iter().position(|it| part.starts_with(it));
            if let Some((nth, rest)) = place.and_then(|nth| Some((nth, part.strip_prefix(PARTS[nth])?))) {
                said.0[nth] = Some(rest.to_owned());
            }
        }
        said
    }

    /// Returns the day of the prices.
    pub(super) fn day(&self) -> Option<&String> {
        self.0[0].as_ref()
    }

    /// Returns the version that wrote the snapshot.
    pub(super) fn version(&self) -> Option<&String> {
        self.0[1].as_ref()
    }

    /// Returns the digest of an input, by its kind.
    pub(super) fn digest(&self, kind: Kind) -> Option<&String> {
        match kind {
            Kind::Policy => None,
            Kind::Scenario => self.0[2].as_ref(),
            Kind::Profile => self.0[3].as_ref(),
            Kind::Suite => self.0[4].as_ref(),
        }
    }

    /// Returns the digest of what was assumed.
    pub(super) fn assumed(&self) -> Option<&String> {
        self.0[5].as_ref()
    }

    fn line(&self) -> String {
        let part = |(name, value): (&&str, &Option<String>)| Some(format!("{name}{}", value.as_ref()?));
        let parts: Vec<String> = PARTS.iter().zip(&self.0).filter_map(part).listed();
        format!("{MADE}{}", parts.join(BETWEEN))
    }

    /// Says what else than the numbers differs from what a snapshot was made with; what it does not say is not known.
    fn differences(&self, now: &Self) -> Vec<String> {
        let changed = |nth: usize| {
            let both = self.0[nth].as_ref().zip(now.0[nth].as_ref());
            both.filter(|(old, new)| old != new)
        };
        let version = match (&self.0[1], changed(1)) {
            (_, Some((old, new))) => Some(format!("written by ctxsim {old}, you run {new}")),
            (None, _) => Some("the snapshot does not say which version of ctxsim wrote it".to_owned()),
            (Some(_), None) => None,
        };
        let inputs = [
            "the scenario has changed",
            "the profile has changed",
            "the suite has changed",
            "assumed numbers have changed",
        ];
        let inputs = inputs.iter().zip(2..).filter(|(_, nth)| changed(*nth).is_some());
        version.into_iter().chain(inputs.map(|(words, _)| (*words).to_owned())).listed()
    }
}

/// A profile whose prices are held at the day of its snapshots.
pub(super) struct PinnedPrices {
    pub(super) profile: String,
    /// The day of the snapshots, and the newest that there is.
    pub(super) days: [String; 2],
}

impl PinnedPrices {
    /// Returns the override that does so.
    pub(super) fn set(&self) -> String {
        format!("profile.{}.assumptions.starts_at=\"{}\"", self.profile, self.days[0])
    }
}

/// The price dates of snapshots, by file stem, which is the profile's name.
pub(super) struct Days(BTreeMap<String, String>);

impl Days {
    /// Returns one day for all of some profiles.
    pub(super) fn all(day: &str, profiles: &[Profile]) -> Self {
        Self(profiles.iter().map(|it| (shot::as_file(&it.name), day.to_owned())).collect())
    }

    /// Returns which of a plan's profiles are held at the price dates of their snapshots, because there are newer prices.
    pub(super) fn pinned(&self, profiles: &[Profile]) -> Vec<PinnedPrices> {
        let pinned = profiles.iter().filter_map(|profile| {
            let day = self.0.get(&shot::as_file(&profile.name))?;
            let days = [day.clone(), profile.as_of.clone()];
            (*day < profile.as_of).then(|| PinnedPrices { profile: profile.name.clone(), days })
        });
        pinned.listed()
    }
}

/// Returns the price dates of a suite's snapshots; empty if it has none.
pub(super) fn days(root: &Path, suite: &str) -> Option<Days> {
    let mut days = BTreeMap::new();
    for path in kept(&folder(root, suite)).ok()? {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let SnapshotHeader([day, ..]) = SnapshotHeader::read(&text);
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned());
        if let Some((name, day)) = name.zip(day) {
            days.entry(name).or_insert(day);
        }
    }
    (!days.is_empty()).then_some(Days(days))
}

/// Checks that every file which is called as a snapshot of a suite is one of ctxsim's.
pub(super) fn replaceable(root: &Path, suite: &str) -> Result<(), Error> {
    let inputs = Files::default();
    kept(&folder(root, suite))?.iter().try_for_each(|it| kept_by(&inputs).check(it, None))
}

/// Returns whether a suite has snapshots.
pub(super) fn are_kept(root: &Path, suite: &str) -> Result<bool, Error> {
    kept(&folder(root, suite)).map(|it| !it.is_empty())
}

/// Returns whether any snapshot of a suite is of the form that carries no assumed numbers.
pub(super) fn is_of_old_form(root: &Path, suite: &str) -> bool {
    let all = kept(&folder(root, suite)).unwrap_or_default();
    all.iter().filter_map(|it| read(it)).any(|(header, _)| header.assumed().is_none())
}

/// Returns what a snapshot's header says, and its table; nothing if it cannot be read.
pub(super) fn read(path: &Path) -> Option<(SnapshotHeader, String)> {
    let text = fs::read_to_string(path).ok()?;
    Some((SnapshotHeader::read(&text), content(&text).to_owned()))
}

/// Returns where the snapshot of a table is.
fn place(root: &Path, suite: &str, shot: &Shot) -> PathBuf {
    let [scenario, profile] = &shot.path;
    folder(root, suite).join(scenario).join(format!("{profile}.{}", EXTENSIONS[0]))
}

/// Compares a report with a suite's snapshots, or accepts its numbers; returns nothing if there are no
/// snapshots yet.
pub(super) fn held(
    accepted_in: Accepted<'_>,
    suite: &str,
    report: &Report,
    made: &MadeWith,
    numbers: &AssumedLines,
) -> Result<Vec<SnapshotCheck>, Error> {
    let Accepted { root, inputs, bless, reviews } = accepted_in;
    let folder = folder(root, suite);
    if !bless && !are_kept(root, suite)? {
        return Ok(Vec::new());
    }
    let digest = assumed::digest(numbers);
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    let (mut all, mut files) = (Vec::new(), Vec::new());
    let mut is_today = true;
    for shot in report.kept_shots(made) {
        let path = place(root, suite, &shot);
        let at = At { path: &path, suite, inputs, made, assumed: &digest, reviews };
        is_today &= bless || read(&path).is_some_and(|it| it.0.assumed() == Some(&digest));
        all.push(if bless {
            SnapshotCheck::new(name(&path), SnapshotState::Blessed)
        } else {
            compared(at, &shot)?
        });
        files.extend(bless.then(|| (path.clone(), snapshot_text(at, &shot))));
        known.insert(path);
    }
    // All of them are accepted, or none is.
    output::write_all(&files, kept_by(inputs))?;
    files.iter().try_for_each(|it| forget(&it.0.with_extension(EXTENSIONS[1])))?;
    for path in kept(&folder)?.into_iter().filter(|it| !known.contains(it) && begins_with(it, BEGINNING)) {
        if bless {
            output::remove(&path)?;
        } else {
            all.push(SnapshotCheck::new(name(&path), SnapshotState::Orphan));
        }
    }
    // Whoever accepted the snapshots one by one accepted what they rest on.
    let is_reviewed = || all.iter().all(SnapshotCheck::holds) && is_today && std::env::var_os("CI").is_none();
    if bless || is_reviewed() && assumed::kept(root, suite)?.as_ref() != Some(numbers) {
        assumed::keep(root, suite, inputs, numbers)?;
    }
    Ok(all)
}

/// Compares a table with its snapshot; changed numbers are written beside it for review.
fn compared(at: At<'_>, shot: &Shot) -> Result<SnapshotCheck, Error> {
    let path = at.path;
    // What a link leads to is not shown either.
    output::unlinked(path)?;
    let pending = path.with_extension(EXTENSIONS[1]);
    let snapshot = |state| SnapshotCheck::new(name(path), state);
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            wait(At { path: &pending, ..at }, shot)?;
            return Ok(snapshot(SnapshotState::Missing));
        }
        Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
    };
    let old = content(&text);
    if shot::is_same(old, &shot.text) {
        if at.reviews {
            forget(&pending)?;
        }
        return Ok(snapshot(SnapshotState::Same));
    }
    wait(At { path: &pending, ..at }, shot)?;
    let mut differs =
        SnapshotHeader::read(&text).differences(&SnapshotHeader::new(at.made, at.assumed, shot));
    let (before, now) = (shot::files(old), shot::files(&shot.text));
    let changed = now.iter().filter(|(policy, file)| before.get(*policy).is_some_and(|it| it != *file));
    differs.extend(changed.map(|(policy, _)| format!("the policy {policy} has changed")));
    let moved = shot::moved(old, &shot.text);
    Ok(SnapshotCheck { of: shot.of.clone(), differs, moved, ..snapshot(SnapshotState::Moved) })
}

/// Writes a snapshot for review, except in CI.
fn wait(at: At<'_>, shot: &Shot) -> Result<(), Error> {
    if !at.reviews || std::env::var_os("CI").is_some() {
        return Ok(());
    }
    output::write_all(&[(at.path.to_owned(), snapshot_text(at, shot))], kept_by(at.inputs))
}

/// Returns a snapshot as a file.
fn snapshot_text(At { suite, made, assumed, .. }: At<'_>, shot: &Shot) -> String {
    let made = SnapshotHeader::new(made, assumed, shot).line();
    format!("{BEGINNING}{made}\nexpression: {suite}\n{RULE}{}", shot.text)
}

/// A snapshot is written over another snapshot or nothing.
fn kept_by(inputs: &Files) -> KeptFile<'_> {
    KeptFile { inputs, replaced: Replaced::Beginning(BEGINNING) }
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
