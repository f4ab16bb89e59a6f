//! Snapshots on disk, in insta's format: read, compared, accepted.

use crate::prelude::*;
use std::io::ErrorKind;

use ctxsim_report::Report;
use ctxsim_report::checkup::{SnapshotCheck, SnapshotState};
use ctxsim_report::made::{MadeWith, VERSION};
use ctxsim_report::shot::{self, SnapshotTable};

use super::AcceptedFolder;
use super::assumed::{self, AssumedLines};
use crate::output::file_begins_with;

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
struct SnapshotTarget<'a> {
    path: &'a Path,
    suite: &'a str,
    inputs: &'a InputFiles,
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
    fn new(made: &MadeWith, assumed_digest: &str, shot: &SnapshotTable) -> Self {
        let [scenario, profile] = &shot.of;
        let digest = |kind: InputKind, name: &str| made.digest_of_input(kind.noun(), name).map(str::to_owned);
        Self([
            Some(made.prices.get(profile).unwrap_or(&shot.as_of).clone()),
            Some(VERSION.to_owned()),
            digest(InputKind::Scenario, scenario),
            digest(InputKind::Profile, profile),
            made.digest_of_kind(InputKind::Suite.noun()),
            Some(assumed_digest.to_owned()),
        ])
    }

    /// Reads the header of a snapshot.
    fn parse(text: &str) -> Self {
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
    pub(super) fn price_day(&self) -> Option<&String> {
        self.0[0].as_ref()
    }

    /// Returns the version that wrote the snapshot.
    pub(super) fn ctxsim_version(&self) -> Option<&String> {
        self.0[1].as_ref()
    }

    /// Returns the digest of an input, by its kind.
    pub(super) fn input_digest(&self, kind: InputKind) -> Option<&String> {
        match kind {
            InputKind::Policy => None,
            InputKind::Scenario => self.0[2].as_ref(),
            InputKind::Profile => self.0[3].as_ref(),
            InputKind::Suite => self.0[4].as_ref(),
        }
    }

    /// Returns the digest of what was assumed.
    pub(super) fn assumed_digest(&self) -> Option<&String> {
        self.0[5].as_ref()
    }

    /// Says what else than the numbers differs from what a snapshot was made with; what it does not say is not known.
    fn describe_differences(&self, now: &Self) -> Vec<String> {
        let changed = |nth: usize| {
            let both = self.0[nth].as_ref().zip(now.0[nth].as_ref());
            both.filter(|(old, new)| old != new)
        };
        let version = match (&self.0[1], changed(1)) {
            (_, Some((old, new))) => Some(format!("written by ctxsim {old}, you run {new}")),
            (None, _) => Some("the snapshot does not say which version of ctxsim wrote it".to_owned()),
            (Some(_), None) => None,
        };
        let inputs = ["the scenario has", "the profile has", "the suite has", "assumed numbers have"];
        let inputs = inputs.iter().zip(2..).filter(|(_, nth)| changed(*nth).is_some());
        version.into_iter().chain(inputs.map(|(input, _)| format!("{input} changed"))).listed()
    }
}

/// A profile whose prices are held at the day of its snapshots.
pub(super) struct PinnedPrices {
    pub(super) profile: String,
    /// The day of the snapshots, and the newest that there is.
    pub(super) days: [String; 2],
}

/// Returns the price dates of a suite's snapshots, by file stem, which is the profile's name; empty if it has none.
pub(super) fn read_price_days(root: &Path, suite: &str) -> BTreeMap<String, String> {
    let mut days = BTreeMap::new();
    for path in find_snapshots(&snapshot_folder(root, suite)).unwrap_or_default() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let SnapshotHeader([day, ..]) = SnapshotHeader::parse(&text);
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned());
        if let Some((name, day)) = name.zip(day) {
            days.entry(name).or_insert(day);
        }
    }
    days
}

/// Checks that every file which is called as a snapshot of a suite is one of ctxsim's.
pub(super) fn check_replaceable(root: &Path, suite: &str) -> Result<()> {
    let inputs = InputFiles::default();
    find_snapshots(&snapshot_folder(root, suite))?
        .iter()
        .try_for_each(|it| snapshot_overwrite_rules(&inputs).check_may_write(it, None))
}

/// Returns whether a suite has snapshots.
pub(super) fn has_snapshots(root: &Path, suite: &str) -> Result<bool> {
    find_snapshots(&snapshot_folder(root, suite)).map(|it| !it.is_empty())
}

/// Returns whether any snapshot of a suite is of the form that carries no assumed numbers.
pub(super) fn has_old_form_snapshots(root: &Path, suite: &str) -> bool {
    let all = find_snapshots(&snapshot_folder(root, suite)).unwrap_or_default();
    all.iter().filter_map(|it| read_snapshot(it)).any(|(header, _)| header.assumed_digest().is_none())
}

/// Returns what a snapshot's header says, and its table; nothing if it cannot be read.
pub(super) fn read_snapshot(path: &Path) -> Option<(SnapshotHeader, String)> {
    let text = fs::read_to_string(path).ok()?;
    Some((SnapshotHeader::parse(&text), without_header(&text).to_owned()))
}

/// Returns the text of a file that may be missing.
pub(super) fn read_if_there(path: &Path) -> Result<Option<String>> {
    // What a link leads to is not shown either.
    output::check_no_link(path)?;
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read { path: path.to_owned(), source }),
    }
}

/// Compares a report with a suite's snapshots, or accepts its numbers; returns nothing if there are no
/// snapshots yet.
pub(super) fn compare_or_accept_snapshots(
    accepted_in: AcceptedFolder<'_>,
    suite: &str,
    report: &Report,
    made: &MadeWith,
    numbers: &AssumedLines,
) -> Result<Vec<SnapshotCheck>> {
    let AcceptedFolder { root, inputs, bless, reviews } = accepted_in;
    let folder = snapshot_folder(root, suite);
    if !bless && !has_snapshots(root, suite)? {
        return Ok(Vec::new());
    }
    let digest = assumed::digest_of_assumed(numbers);
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    let (mut all, mut files) = (Vec::new(), Vec::new());
    let mut is_today = true;
    for shot in report.snapshot_tables_for_files(made) {
        let [scenario, profile] = &shot.path;
        let path = folder.join(scenario).join(format!("{profile}.{}", EXTENSIONS[0]));
        let at = SnapshotTarget { path: &path, suite, inputs, made, assumed: &digest, reviews };
        is_today &= bless || read_snapshot(&path).is_some_and(|it| it.0.assumed_digest() == Some(&digest));
        all.push(if bless {
            SnapshotCheck::new(path.display().to_string(), SnapshotState::Blessed)
        } else {
            compare_with_snapshot(at, &shot)?
        });
        files.extend(bless.then(|| (path.clone(), snapshot_text(at, &shot))));
        known.insert(path);
    }
    // All of them are accepted, or none is.
    output::write_together(&files, snapshot_overwrite_rules(inputs))?;
    files.iter().try_for_each(|it| remove_pending_snapshot(&it.0.with_extension(EXTENSIONS[1])))?;
    let mut others = find_snapshots(&folder)?;
    others.retain(|it| !known.contains(it) && file_begins_with(it, BEGINNING));
    for path in others {
        if bless {
            output::remove_own_file(&path)?;
        } else {
            all.push(SnapshotCheck::new(path.display().to_string(), SnapshotState::Orphan));
        }
    }
    // Whoever accepted the snapshots one by one accepted what they rest on.
    let is_reviewed =
        || all.iter().all(SnapshotCheck::is_passing) && is_today && std::env::var_os("CI").is_none();
    if bless || is_reviewed() && assumed::read_assumed(root, suite)?.as_ref() != Some(numbers) {
        assumed::write_assumed(root, suite, inputs, numbers)?;
    }
    Ok(all)
}

/// Compares a table with its snapshot; changed numbers are written beside it for review.
fn compare_with_snapshot(at: SnapshotTarget<'_>, shot: &SnapshotTable) -> Result<SnapshotCheck> {
    let path = at.path;
    let pending = path.with_extension(EXTENSIONS[1]);
    let snapshot = |state| SnapshotCheck::new(path.display().to_string(), state);
    let Some(text) = read_if_there(path)? else {
        write_for_review(SnapshotTarget { path: &pending, ..at }, shot)?;
        return Ok(snapshot(SnapshotState::Missing));
    };
    let old = without_header(&text);
    if shot::has_same_numbers(old, &shot.text) {
        if at.reviews {
            remove_pending_snapshot(&pending)?;
        }
        return Ok(snapshot(SnapshotState::Same));
    }
    write_for_review(SnapshotTarget { path: &pending, ..at }, shot)?;
    let mut differs =
        SnapshotHeader::parse(&text).describe_differences(&SnapshotHeader::new(at.made, at.assumed, shot));
    let (before, now) = (shot::policy_file_digests(old), shot::policy_file_digests(&shot.text));
    let changed = now.iter().filter(|(policy, file)| before.get(*policy).is_some_and(|it| it != *file));
    differs.extend(changed.map(|(policy, _)| format!("the policy {policy} has changed")));
    let moved = shot::changed_numbers(old, &shot.text);
    Ok(SnapshotCheck { of: shot.of.clone(), differs, moved, ..snapshot(SnapshotState::Moved) })
}

/// Writes a snapshot for review, except in CI.
fn write_for_review(at: SnapshotTarget<'_>, shot: &SnapshotTable) -> Result<()> {
    if !at.reviews || std::env::var_os("CI").is_some() {
        return Ok(());
    }
    let files = [(at.path.to_owned(), snapshot_text(at, shot))];
    output::write_together(&files, snapshot_overwrite_rules(at.inputs))
}

/// Returns a snapshot as a file.
fn snapshot_text(at: SnapshotTarget<'_>, shot: &SnapshotTable) -> String {
    let made = SnapshotHeader::new(at.made, at.assumed, shot);
    let part = |(name, value): (&&str, &Option<String>)| Some(format!("{name}{}", value.as_ref()?));
    let made = PARTS.iter().zip(&made.0).filter_map(part).listed().join(BETWEEN);
    format!("{BEGINNING}{MADE}{made}\nexpression: {}\n{RULE}{}", at.suite, shot.text)
}

/// A snapshot is written over another snapshot or nothing.
fn snapshot_overwrite_rules(inputs: &InputFiles) -> OverwriteRules<'_> {
    OverwriteRules { inputs, replaced: Replaceable::Beginning(BEGINNING) }
}

/// Removes a snapshot that waits for review; anything else stays.
fn remove_pending_snapshot(pending: &Path) -> Result<()> {
    if file_begins_with(pending, BEGINNING) { output::remove_own_file(pending) } else { Ok(()) }
}

/// Returns a snapshot without its header.
fn without_header(text: &str) -> &str {
    let below = text.strip_prefix(RULE).and_then(|it| it.split_once(&format!("\n{RULE}")));
    below.map_or(text, |it| it.1)
}

/// Returns the snapshots below a folder.
fn find_snapshots(folder: &Path) -> Result<BTreeSet<PathBuf>> {
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
            found.extend((is_kept && output::check_no_link(&path).is_ok()).then_some(path));
        }
    }
    Ok(found)
}

/// Returns the folder of a suite's snapshots.
pub(super) fn snapshot_folder(root: &Path, suite: &str) -> PathBuf {
    root.join(shot::to_file_name(suite))
}
