//! Resolves a scenario's name to files: one file, the recordings of a folder, or the matches of a pattern.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::{fs, io};

use super::origin::other_kind_problem;
use super::{Catalog, InputKind, Origin};
use ctxsim_base::foreign::is_name;
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
pub struct FoundScenarios {
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
    pub fn search_scenarios(&self, argument: &str) -> Result<FoundScenarios> {
        let named = |name: &str| ScenarioHit { name: name.to_owned(), is_searched: false };
        let all = |found: Vec<ScenarioHit>| Ok(FoundScenarios { found, left_out: Vec::new() });
        if self.entries.contains_key(&(InputKind::Scenario, argument.to_owned())) {
            return all(vec![named(argument)]);
        }
        let path = expand_home(argument);
        let searched = |search: FolderSearch| {
            let found = |it: PathBuf| ScenarioHit { name: it.display().to_string(), is_searched: true };
            let (named, nameless): (Vec<_>, Vec<_>) =
                search.files.into_iter().partition(|it| is_name(&it.to_string_lossy()));
            let nameless = nameless.into_iter().map(|it| (it, NAMELESS));
            let left_out = search.left_out.into_iter().chain(nameless).listed();
            Ok(FoundScenarios { found: named.into_iter().map(found).listed(), left_out })
        };
        if path.is_dir() {
            let mut search = FolderSearch::new(may_be_sessions);
            search.search_root(&path)?;
            if search.files.is_empty() && search.left_out.is_empty() {
                let message = "the folder contains no recorded sessions";
                let help = "recordings end in `.jsonl`, `.json`, `.csv`, `.eval`, `.db` or `.sqlite`; `ctxsim` alone looks where agents keep them";
                let problem = Diagnostic::at(Code("folder-empty"), "", message).in_file(argument);
                return Err(problem.help(help).into());
            }
            return searched(search);
        }
        if path.exists() || !is_pattern(argument) {
            return all(vec![named(&path.to_string_lossy())]);
        }
        let mut search = FolderSearch::new(may_be_sessions);
        for path in paths_matching(&path.to_string_lossy()) {
            search.add_below(path, 0);
        }
        let names = || self.matching_names(InputKind::Scenario, argument).map(|it| named(&it)).listed();
        // What cannot be a session is meant only if nothing else is.
        if search.files.iter().any(|it| may_be_sessions(it)) {
            search.files.retain(|it| may_be_sessions(it));
            return searched(search);
        }
        match names() {
            names if !names.is_empty() => all(names),
            _ if search.files.is_empty() && search.left_out.is_empty() => all(vec![named(argument)]),
            _ => searched(search),
        }
    }

    /// Returns what a file names as scenarios, as [`Catalog::search_scenarios`] does for a command line.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn search_scenarios_in_file(&self, file: &Origin, argument: &str) -> Result<FoundScenarios> {
        if let Some(path) = self.path_beside_file(file, InputKind::Scenario, argument) {
            return self.search_scenarios(&path);
        }
        let named = |name| ScenarioHit { name, is_searched: false };
        let names = self.matching_names(InputKind::Scenario, argument).map(named).listed();
        if names.is_empty() {
            return self.search_scenarios(argument);
        }
        Ok(FoundScenarios { found: names, left_out: Vec::new() })
    }

    /// Returns whether an argument means recorded sessions and nothing else: recordings, folders or patterns of them, or the name of one.
    pub fn means_recordings(&self, argument: &str) -> bool {
        if self.entries.contains_key(&(InputKind::Scenario, argument.to_owned())) {
            return self.scenario(argument).is_ok_and(|it| matches!(it.spec.load, LoadSpec::Recorded { .. }));
        }
        let is_folder = expand_home(argument).is_dir();
        let Ok(FoundScenarios { found, .. }) = self.search_scenarios(argument) else { return is_folder };
        (is_folder || !found.is_empty()) && found.iter().all(|it| is_recording(Path::new(&it.name)))
    }

    /// Returns whether a path is there and leads to recorded sessions; an agent's folder has other files too.
    pub fn has_recordings(&self, path: &str) -> bool {
        let Ok(hits) = self.search_scenarios(path) else { return false };
        hits.found.iter().filter_map(|it| self.origin_of_recording(&it.name)).any(|it| it.is_recording())
    }

    /// Returns whether an argument in the place of another kind of input means sessions: a recording or a scenario, or a folder
    /// or a pattern of them.
    ///
    /// # Errors
    /// It means both, or a folder cannot be read.
    pub fn means_sessions(&self, option_kind: InputKind, argument: &str) -> Result<bool> {
        // An option means its own kind wherever a name or a pattern is one of that kind; `**` is one of paths alone.
        let is_known = self.entries.contains_key(&(option_kind, argument.to_owned()));
        let is_of_names = is_pattern(argument) && !argument.contains("**");
        if is_known || is_of_names && self.matching_names(option_kind, argument).next().is_some() {
            return Ok(false);
        }
        let path = expand_home(argument);
        let files = match is_pattern(argument) && !path.exists() {
            true => {
                let mut search = FolderSearch::new(may_be_sessions);
                let matched = paths_matching(&path.to_string_lossy());
                let below = matched.iter().filter(|it| it.is_dir() || may_be_sessions(it));
                below.for_each(|it| search.add_below(it.clone(), 0));
                let inputs = matched.into_iter().filter(|it| is_non_scenario_input(it));
                [search.files, inputs.listed()].concat()
            }
            false if path.is_dir() => {
                files_below(&path, |it| may_be_sessions(it) || Format::from_path(it).is_some())?
            }
            false => vec![path.clone()],
        };
        let n_sessions = files.iter().filter(|it| may_be_sessions(it)).count();
        if n_sessions > 0 && files.iter().any(|it| is_non_scenario_input(it)) {
            // Where a pattern matches inputs of the option's kind, files of other kinds are not meant; recordings may be.
            if is_pattern(argument)
                && !files.iter().any(|it| is_recording(it))
                && files.iter().any(|it| is_input(it) && may_be_of_kind(option_kind, it))
            {
                return Ok(false);
            }
            let nouns = option_kind.folder_name();
            let message = format!("`{argument}` holds sessions and other inputs");
            let help = format!("name its {nouns} one by one, and its sessions with `--scenario`");
            return Err(Error::refused(Code("path-ambiguous"), message, help));
        }
        Ok(n_sessions > 0
            || self.names(InputKind::Scenario).any(|it| it == argument || wildcard(argument, it)))
    }
}

/// Returns whether a file is an input, but not a scenario.
fn is_non_scenario_input(path: &Path) -> bool {
    is_input(path) && !is_scenario(path)
}

/// Returns whether a file is an input of some kind: it has a format of inputs, and a name as all of them do.
pub(super) fn is_input(path: &Path) -> bool {
    Format::from_path(path).is_some() && read_source(path).is_some_and(|it| it.keys().any(|it| it == "name"))
}

/// Returns whether a file may be of a kind: it cannot be read, or its fields are not those of another one.
pub(super) fn may_be_of_kind(kind: InputKind, path: &Path) -> bool {
    read_source(path).is_none_or(|it| other_kind_problem(kind, &it).is_none())
}

/// Returns an input, if it can be read.
fn read_source(path: &Path) -> Option<Source> {
    Source::read(path).ok()
}

/// Returns whether an argument is a pattern.
pub(super) fn is_pattern(argument: &str) -> bool {
    argument.contains(['*', '?', '['])
}

/// Returns the paths that a pattern matches.
pub(super) fn paths_matching(pattern: &str) -> Vec<PathBuf> {
    glob::glob(pattern).into_iter().flatten().flatten().listed()
}

/// Returns a path in which a leading `~` is replaced by the home folder.
fn expand_home(argument: &str) -> PathBuf {
    let below = argument.strip_prefix("~/").or((argument == "~").then_some(""));
    match below.and_then(|below| Some((std::env::home_dir()?, below))) {
        Some((home, below)) if !Path::new(argument).exists() => home.join(below),
        _ => PathBuf::from(argument),
    }
}

/// Returns the matching files below a folder, sorted by path; circular links are not followed.
pub(super) fn files_below(folder: &Path, is_wanted: fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut search = FolderSearch::new(is_wanted);
    search.search_root(folder)?;
    Ok(search.files)
}

/// Returns the paths in a folder, sorted.
fn list_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|it| Ok(it?.path())).collect::<io::Result<Vec<_>>>()?;
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
    fn search_root(&mut self, folder: &Path) -> Result<()> {
        list_folder(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })?;
        self.add_below(folder.to_owned(), 0);
        Ok(())
    }

    /// Adds a file, or everything below a folder, once per real path.
    fn add_below(&mut self, path: PathBuf, depth: usize) {
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
            match list_folder(&path) {
                Err(_) => self.left_out.push((path, "a folder that cannot be read")),
                Ok(below) => {
                    let is_wanted = self.is_wanted;
                    let wanted = below.into_iter().filter(|it| it.is_dir() || is_wanted(it));
                    wanted.for_each(|it| self.add_below(it, depth + 1));
                }
            }
        }
    }
}

/// Returns whether a file may be a recording or a scenario.
fn may_be_sessions(path: &Path) -> bool {
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
    read_source(path).is_some_and(|it| has_load(&it))
}
