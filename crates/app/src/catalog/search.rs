//! Resolves a scenario's name to files: one file, the recordings of a folder, or the matches of a pattern.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fs, io};

use super::origin::other_kind;
use super::{Catalog, Kind, Origin};
use ctxsim_base::foreign::is_name;
use ctxsim_input::Source;
use ctxsim_input::policy::wildcard;
use ctxsim_input::text::source::fields;

/// The extensions of recordings; other files of a folder are ignored.
const RECORDINGS: [&str; 6] = ["jsonl", "json", "csv", "eval", "db", "sqlite"];

/// Why a file of a folder is left out.
const NAMELESS: &str = "its name has control characters, or others that cannot be seen";

/// The deepest nesting of folders.
const DEPTH_MAX: usize = 64;

/// A scenario found by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioHit {
    /// Its name in the catalog, or its path.
    pub name: String,
    /// Whether a folder or a pattern matched it, so that it may not be a scenario at all.
    pub is_searched: bool,
}

/// What a name, a path, a folder or a pattern stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// The scenarios.
    pub found: Vec<ScenarioHit>,
    /// What cannot be read, with the reason.
    pub left_out: Vec<(PathBuf, &'static str)>,
}

impl Catalog {
    /// Returns the scenarios of a name, a path, a folder or a pattern; the name itself if nothing matches.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn search(&self, given: &str) -> Result<Searched, Error> {
        let named = |name: &str| ScenarioHit { name: name.to_owned(), is_searched: false };
        let all = |found: Vec<ScenarioHit>| Ok(Searched { found, left_out: Vec::new() });
        if self.entries.contains_key(&(Kind::Scenario, given.to_owned())) {
            return all(vec![named(given)]);
        }
        let path = at_home(given);
        let searched = |search: FolderSearch| {
            let found = |it: PathBuf| ScenarioHit { name: it.display().to_string(), is_searched: true };
            let (named, nameless): (Vec<_>, Vec<_>) =
                search.files.into_iter().partition(|it| is_name(&it.to_string_lossy()));
            let nameless = nameless.into_iter().map(|it| (it, NAMELESS));
            let left_out = search.left_out.into_iter().chain(nameless).listed();
            Ok(Searched { found: named.into_iter().map(found).listed(), left_out })
        };
        if path.is_dir() {
            let mut search = FolderSearch::new(is_candidate);
            search.root(&path)?;
            if search.files.is_empty() && search.left_out.is_empty() {
                let message = "the folder contains no recorded sessions";
                let help = "recordings end in `.jsonl`, `.json`, `.csv`, `.eval`, `.db` or `.sqlite`";
                let problem = Diagnostic::at(Code("folder-empty"), "", message).in_file(given);
                return Err(problem.help(help).into());
            }
            return searched(search);
        }
        if path.exists() || !is_pattern(given) {
            return all(vec![named(&path.to_string_lossy())]);
        }
        let mut search = FolderSearch::new(is_candidate);
        for path in matches(&path.to_string_lossy()) {
            search.path(path, 0);
        }
        let names = || self.matching(Kind::Scenario, given).map(|it| named(&it)).listed();
        // What cannot be a session is meant only if nothing else is.
        if search.files.iter().any(|it| is_candidate(it)) {
            search.files.retain(|it| is_candidate(it));
            return searched(search);
        }
        match names() {
            names if !names.is_empty() => all(names),
            _ if search.files.is_empty() && search.left_out.is_empty() => all(vec![named(given)]),
            _ => searched(search),
        }
    }

    /// Returns what a file names as scenarios, as [`Catalog::search`] does for a command line.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn search_of(&self, file: &Origin, given: &str) -> Result<Searched, Error> {
        if let Some(path) = self.beside(file, Kind::Scenario, given) {
            return self.search(&path);
        }
        let names = self.matching(Kind::Scenario, given).map(|name| ScenarioHit { name, is_searched: false });
        let names: Vec<ScenarioHit> = names.listed();
        if names.is_empty() {
            return self.search(given);
        }
        Ok(Searched { found: names, left_out: Vec::new() })
    }

    /// Returns whether an argument means recorded sessions and nothing else: recordings, folders or patterns of them, or the name of one.
    pub fn means_recordings(&self, given: &str) -> bool {
        if self.entries.contains_key(&(Kind::Scenario, given.to_owned())) {
            return self.scenario(given).is_ok_and(|it| matches!(it.spec.load, LoadSpec::Recorded { .. }));
        }
        let is_folder = at_home(given).is_dir();
        let Ok(Searched { found, .. }) = self.search(given) else { return is_folder };
        (is_folder || !found.is_empty()) && found.iter().all(|it| is_recording(Path::new(&it.name)))
    }

    /// Returns whether an argument in the place of another kind of input means sessions: a recording or a scenario, or a folder
    /// or a pattern of them.
    ///
    /// # Errors
    /// It means both, or a folder cannot be read.
    pub fn means_sessions(&self, kind: Kind, given: &str) -> Result<bool, Error> {
        // An option means its own kind wherever a name or a pattern is one of that kind; `**` is one of paths alone.
        let is_known = self.entries.contains_key(&(kind, given.to_owned()));
        let is_of_names = is_pattern(given) && !given.contains("**");
        if is_known || is_of_names && self.matching(kind, given).next().is_some() {
            return Ok(false);
        }
        let path = at_home(given);
        let files = match is_pattern(given) && !path.exists() {
            true => {
                let mut search = FolderSearch::new(is_candidate);
                let matched = matches(&path.to_string_lossy());
                matched
                    .iter()
                    .filter(|it| it.is_dir() || is_candidate(it))
                    .for_each(|it| search.path(it.clone(), 0));
                let inputs = matched.into_iter().filter(|it| is_other_input(it));
                [search.files, inputs.listed()].concat()
            }
            false if path.is_dir() => {
                files_below(&path, |it| is_candidate(it) || Format::from_path(it).is_some())?
            }
            false => vec![path.clone()],
        };
        let n_sessions = files.iter().filter(|it| is_candidate(it)).count();
        if n_sessions > 0 && files.iter().any(|it| is_other_input(it)) {
            // Where a pattern matches inputs of the option's kind, files of other kinds are not meant; recordings may be.
            if is_pattern(given)
                && !files.iter().any(|it| is_recording(it))
                && files.iter().any(|it| is_input(it) && may_be(kind, it))
            {
                return Ok(false);
            }
            let nouns = kind.folder();
            let message = format!("`{given}` holds sessions and other inputs");
            let help = format!("name its {nouns} one by one, and its sessions with `--scenario`");
            return Err(Error::refused(Code("path-ambiguous"), message, help));
        }
        Ok(n_sessions > 0 || self.names(Kind::Scenario).any(|it| it == given || wildcard(given, it)))
    }
}

/// Returns whether a file is an input, but not a scenario.
fn is_other_input(path: &Path) -> bool {
    is_input(path) && !is_scenario(path)
}

/// Returns whether a file is an input of some kind: it has a format of inputs, and a name as all of them do.
pub(super) fn is_input(path: &Path) -> bool {
    Format::from_path(path).is_some() && source(path).is_some_and(|it| it.keys().any(|it| it == "name"))
}

/// Returns whether a file may be of a kind: it cannot be read, or its fields are not those of another one.
pub(super) fn may_be(kind: Kind, path: &Path) -> bool {
    source(path).is_none_or(|it| other_kind(kind, &it).is_none())
}

/// Returns an input, if it can be read.
fn source(path: &Path) -> Option<Source> {
    Source::read(path).ok()
}

/// Returns whether an argument is a pattern.
pub(super) fn is_pattern(given: &str) -> bool {
    given.contains(['*', '?', '['])
}

/// Returns the paths that a pattern matches.
pub(super) fn matches(pattern: &str) -> Vec<PathBuf> {
    glob::glob(pattern).into_iter().flatten().flatten().listed()
}

/// Returns a path in which a leading `~` is replaced by the home folder.
fn at_home(given: &str) -> PathBuf {
    let below = given.strip_prefix("~/").or((given == "~").then_some(""));
    match below.and_then(|below| Some((std::env::home_dir()?, below))) {
        Some((home, below)) if !Path::new(given).exists() => home.join(below),
        _ => PathBuf::from(given),
    }
}

/// Returns the matching files below a folder, sorted by path; circular links are not followed.
pub(super) fn files_below(folder: &Path, is_wanted: fn(&Path) -> bool) -> Result<Vec<PathBuf>, Error> {
    let mut search = FolderSearch::new(is_wanted);
    search.root(folder)?;
    Ok(search.files)
}

/// Returns the paths in a folder, sorted.
fn listing(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// A search through folders.
struct FolderSearch {
    is_wanted: fn(&Path) -> bool,
    files: Vec<PathBuf>,
    /// What is wanted and cannot be read, with the reason.
    left_out: Vec<(PathBuf, &'static str)>,
    /// Everything reached, under its real path.
    known: BTreeSet<PathBuf>,
    /// The real path of the folder that was named: links do not lead out of it.
    named: PathBuf,
}

impl FolderSearch {
    fn new(is_wanted: fn(&Path) -> bool) -> Self {
        let (known, named) = (BTreeSet::new(), PathBuf::new());
        Self { is_wanted, files: Vec::new(), left_out: Vec::new(), known, named }
    }

    /// Searches a folder that was named by itself.
    fn root(&mut self, folder: &Path) -> Result<(), Error> {
        listing(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })?;
        self.path(folder.to_owned(), 0);
        Ok(())
    }

    /// Adds a file, or everything below a folder, once per real path.
    fn path(&mut self, path: PathBuf, depth: usize) {
        let Ok(real) = path.canonicalize() else {
            return self.left_out.push((path, "a link that leads nowhere"));
        };
        if depth == 0 {
            self.named.clone_from(&real);
        }
        let is_inside = real.starts_with(&self.named);
        if !self.known.insert(real) {
            return;
        }
        if path.is_file() {
            self.files.push(path);
        } else if !path.is_dir() {
            self.left_out.push((path, "a pipe, a socket or a device"));
        } else if !is_inside {
            self.left_out.push((path, "a link that leads out of the folder"));
        } else if depth > DEPTH_MAX {
            self.left_out.push((path, "a folder that is too deep"));
        } else {
            // What cannot be listed is left out, as a file would be; nobody asked for this folder by name.
            match listing(&path) {
                Err(_) => self.left_out.push((path, "a folder that cannot be read")),
                Ok(below) => {
                    let is_wanted = self.is_wanted;
                    let wanted = below.into_iter().filter(|it| it.is_dir() || is_wanted(it));
                    wanted.for_each(|it| self.path(it, depth + 1));
                }
            }
        }
    }
}

/// Returns whether a file may be a recording or a scenario.
fn is_candidate(path: &Path) -> bool {
    is_recording(path) || Format::from_path(path).is_some() && path.is_file() && is_scenario(path)
}

/// Returns whether a file has the extension of recordings.
fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|it| RECORDINGS.iter().any(|known| it == *known))
}

/// Returns whether an input file has the fields of a scenario and of no other kind.
fn is_scenario(path: &Path) -> bool {
    let known = fields::<ScenarioFile>();
    let has_load = |it: &Source| it.keys().any(|it| it == "load") && it.keys().all(|it| known.contains(&it));
    source(path).is_some_and(|it| has_load(&it))
}
