//! Inputs by name: the bundled ones, overridden by the user's folders.

mod files;
mod load;
mod origin;
mod search;

use crate::prelude::*;
use std::borrow::Cow;
use std::{fs, io};

use ctxsim_base::foreign::is_name;
use ctxsim_input::profile::calendar::parse_day;
use ctxsim_input::text::source::read_text;

pub use files::{InputFiles, PipedBytes, is_same_file};
pub use load::{Loaded, PolicyReader, scenario_of_recording};
pub(crate) use load::{file_name, file_stem};
use origin::normalize_path;
pub use origin::{BuiltInput, Bundle, BundledFile, Origin, REVISION_MARK, Revision, kind_of_file};
pub use search::{FoundScenarios, ScenarioHit};

/// The prefix of a bundled file's name in diagnostics.
const BUNDLED_MARK: &str = "bundled:";

/// The file that lists the user's folders.
const CONFIG: &str = "ctxsim.toml";

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputKind {
    /// A policy.
    Policy,
    /// A scenario.
    Scenario,
    /// A model profile.
    Profile,
    /// A suite.
    Suite,
}

impl InputKind {
    /// All kinds, in the order of a listing.
    pub const ALL: [Self; 4] = [Self::Policy, Self::Scenario, Self::Profile, Self::Suite];

    /// Returns the name of one of them.
    pub fn noun(self) -> &'static str {
        self.singular_and_plural()[0]
    }

    /// Returns the folder of the kind.
    pub fn folder_name(self) -> &'static str {
        self.singular_and_plural()[1]
    }

    /// Returns the inputs of the kind that a suite names.
    pub(crate) fn names_in_suite(self, suite: &SuiteFile) -> &[String] {
        match self {
            Self::Policy => &suite.policies,
            Self::Scenario => &suite.scenarios,
            Self::Profile => &suite.profiles,
            Self::Suite => &[],
        }
    }

    /// Returns the word for one, and that for several, which is the name of their folder.
    fn singular_and_plural(self) -> [&'static str; 2] {
        match self {
            Self::Policy => ["policy", "policies"],
            Self::Scenario => ["scenario", "scenarios"],
            Self::Profile => ["profile", "profiles"],
            Self::Suite => ["suite", "suites"],
        }
    }
}

/// Inputs by name.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    entries: BTreeMap<(InputKind, String), Origin>,
    /// The files that ship; entries may hide some or all of them.
    bundle: Bundle,
    /// The user's folders of inputs.
    folders: Vec<PathBuf>,
    /// The files that were named, in this catalog and in every copy of it.
    files: InputFiles,
    /// Texts that are read in the place of files.
    replaced: BTreeMap<PathBuf, String>,
    /// What the configuration pins.
    pins: Pins,
}

/// What a project's numbers are accepted under, as its configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// The version of ctxsim.
    pub version: Option<String>,
    /// The day of the prices: later ones do not count.
    pub prices: Option<String>,
}

ctxsim_input::decoded_here!(Config);

/// The user's configuration as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Folders that hold `policies/`, `scenarios/`, `profiles/` or `suites/`, relative to the file.
    #[serde(default)]
    folders: Vec<String>,
    /// The version of ctxsim that the project's numbers are accepted under.
    version: Option<String>,
    /// The day of the prices that all commands use here, `YYYY-MM-DD`: later ones do not count.
    prices: Option<String>,
}

impl Catalog {
    /// Returns the inputs of a bundle.
    pub fn from_bundle(bundle: Bundle) -> Self {
        let entries = bundle.files();
        let entries = entries.filter_map(|it| Some((kind_and_name(it.path)?, Origin::Bundled(it))));
        Self { entries: entries.collect(), ..Self::empty(bundle) }
    }

    /// Returns a catalog without names beside a bundle, whose profiles still tell models apart.
    pub fn empty(bundle: Bundle) -> Self {
        Self { bundle, ..Self::default() }
    }

    /// Returns the inputs that ship with it, whatever hides some of them here.
    pub fn shipped_inputs(&self) -> Self {
        Self::from_bundle(self.bundle)
    }

    /// Returns the inputs of a bundle plus the folders listed in the `ctxsim.toml` of this folder.
    ///
    /// # Errors
    /// The configuration or a folder cannot be read.
    pub fn open(bundle: Bundle, folder: &Path) -> Result<Self> {
        let mut catalog = Self::from_bundle(bundle);
        let path = folder.join(CONFIG);
        if path.is_file() {
            catalog.files.add_path(&path);
            let source = Source::read(&path)?;
            let config: Config = source.decode()?;
            if config.prices.as_deref().is_some_and(|it| parse_day(it).is_none()) {
                let problem = Diagnostic::at(Code("date-format"), "prices", "this is not a date");
                return Err(vec![source.locate(problem.help("write a day as `2026-11-21`"))].into());
            }
            catalog.pins = Pins { version: config.version, prices: config.prices };
            for relative in config.folders {
                catalog = catalog.with_folder(&folder.join(relative))?;
            }
        }
        Ok(catalog)
    }

    /// Opens the inputs of a folder beside the same bundle.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn reopen_in(&self, folder: &Path) -> Result<Self> {
        Self::open(self.bundle, folder)
    }

    /// Adds a folder's inputs, which override those of the same name.
    ///
    /// # Errors
    /// The folder cannot be read, contains no folder of inputs, or has two files with the same name.
    pub fn with_folder(mut self, folder: &Path) -> Result<Self> {
        let mut added: BTreeMap<(InputKind, String), Origin> = BTreeMap::new();
        let mut problems = Vec::new();
        let mut has_inputs = false;
        for kind in InputKind::ALL {
            let root = folder.join(kind.folder_name());
            if !root.is_dir() {
                continue;
            }
            has_inputs = true;
            for path in input_files(&root)? {
                let relative = path.strip_prefix(folder).unwrap_or(&path);
                if let Some(problem) = unnameable_problem(&relative.to_string_lossy()) {
                    problems.push(problem.in_file(path.display().to_string()));
                    continue;
                }
                let Some(name) = name_below_folder(kind, &normalize_path(relative)) else { continue };
                let origin = Origin::File(path);
                if let Some(other) = added.insert((kind, name.clone()), origin.clone()) {
                    problems.push(duplicate_name_problem(&name, &other, &origin));
                }
            }
        }
        if !has_inputs {
            fs::read_dir(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })?;
            let problem = Diagnostic::at(Code("folder-empty"), "", "the folder contains no inputs")
                .help("put files into a `policies/`, `scenarios/`, `profiles/` or `suites/` folder below it");
            problems.push(problem.in_file(folder.display().to_string()));
        }
        self.entries.extend(added);
        self.folders.push(folder.to_owned());
        if problems.is_empty() { Ok(self) } else { Err(problems.into()) }
    }

    /// Returns the user's folders of inputs.
    pub fn user_folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns what the configuration pins.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Returns the same inputs at the prices of a day; `None` for the newest.
    pub fn with_prices_of_day(mut self, day: Option<String>) -> Self {
        self.pins.prices = day;
        self
    }

    /// Reads a text in the place of a file.
    pub fn with_text_in_place_of(mut self, path: &Path, text: String) -> Self {
        self.replaced.insert(path.to_owned(), text);
        self
    }

    /// Adds a policy of another revision under its own name, which no listing shows and no pattern matches.
    pub fn with_policy_of_revision(mut self, name: &str, revision: &Arc<Revision>, path: &Path) -> Self {
        let origin = Origin::Revision(Arc::clone(revision), path.to_owned());
        self.entries.insert((InputKind::Policy, name.to_owned()), origin);
        self
    }

    /// Returns the names of a kind, sorted.
    pub fn names(&self, kind: InputKind) -> impl Iterator<Item = &str> {
        self.names_and_origins(kind).map(|it| it.0)
    }

    /// Returns the names of a kind, sorted, each with its place.
    pub fn names_and_origins(&self, kind: InputKind) -> impl Iterator<Item = (&str, &Origin)> {
        self.entries_of_kind(kind).filter(|(_, origin)| !matches!(origin, Origin::Revision(..)))
    }

    /// Returns all names of a kind, sorted, each with its place, those of other revisions, too.
    pub(super) fn entries_of_kind(&self, kind: InputKind) -> impl Iterator<Item = (&str, &Origin)> {
        self.entries_from(kind, "")
    }

    /// Returns the same from a name on.
    fn entries_from(&self, kind: InputKind, first: &str) -> impl Iterator<Item = (&str, &Origin)> + use<'_> {
        let from = self.entries.range((kind, first.to_owned())..);
        from.take_while(move |((it, _), _)| *it == kind).map(|((_, name), origin)| (name.as_str(), origin))
    }

    /// Returns what a pattern matches: files of the kind, else names, in which `*` matches anything; or the files of a folder. If
    /// there are none, files of other kinds, which are refused with their kind; the pattern itself if nothing matches.
    pub fn expand_pattern(&self, kind: InputKind, pattern: &str) -> Vec<String> {
        let is_pattern = search::is_pattern(pattern);
        let files = match is_pattern {
            true => search::paths_matching(pattern).into_iter().filter(|it| search::is_input(it)).listed(),
            false if self.entries.contains_key(&(kind, pattern.to_owned())) => Vec::new(),
            false => input_files(Path::new(pattern)).unwrap_or_default(),
        };
        let (own, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|it| search::may_be_of_kind(kind, it));
        let path = |it: PathBuf| it.display().to_string();
        let mut names: Vec<String> = own.into_iter().map(path).listed();
        if names.is_empty() && is_pattern {
            names.extend(self.matching_names(kind, pattern));
        }
        if names.is_empty() {
            names.extend(others.into_iter().map(path));
        }
        if names.is_empty() {
            names.push(pattern.to_owned());
        }
        names
    }

    /// Returns a name as written in a file: a catalog name, or a path from the file's own folder.
    pub fn resolve_name_in_file(&self, file: &Origin, kind: InputKind, name: &str) -> String {
        self.path_beside_file(file, kind, name).unwrap_or_else(|| name.to_owned())
    }

    /// Returns what a file names: files from its own folder on, else inputs of the catalog, also by a pattern; else whatever a
    /// command line would mean.
    pub fn expand_pattern_in_file(&self, file: &Origin, kind: InputKind, name: &str) -> Vec<String> {
        if let Some(path) = self.path_beside_file(file, kind, name) {
            return self.expand_pattern(kind, &path);
        }
        let names: Vec<String> = self.matching_names(kind, name).listed();
        if names.is_empty() { self.expand_pattern(kind, name) } else { names }
    }

    /// Returns the path of a name written in a file, unless it is a name of the catalog.
    pub(super) fn path_beside_file(&self, file: &Origin, kind: InputKind, name: &str) -> Option<String> {
        if self.entries.contains_key(&(kind, name.to_owned())) {
            return None;
        }
        let Some(Origin::File(path)) = file.file_beside(name) else { return None };
        let written = path.display().to_string();
        let is_path = match search::is_pattern(name) {
            true => !search::paths_matching(&written).is_empty(),
            false => path.exists() || path.extension().is_some(),
        };
        is_path.then_some(written)
    }

    /// Returns the names of a kind that a pattern matches.
    pub(super) fn matching_names(&self, kind: InputKind, pattern: &str) -> impl Iterator<Item = String> {
        // A plan looks for many names, of which hardly any is a pattern.
        let is_pattern = pattern.contains('*');
        let all = self.entries_from(kind, if is_pattern { "" } else { pattern });
        let near = all.take_while(move |it| is_pattern || it.0 == pattern);
        let listed = near.filter(|(_, origin)| !matches!(origin, Origin::Revision(..)));
        listed.map(|it| it.0).filter(move |it| wildcard(pattern, it)).map(str::to_owned)
    }

    /// Returns an input's name on a command line: its catalog name, else its path.
    pub fn command_line_name(&self, kind: InputKind, origin: &Origin) -> String {
        let entry = self.entries_of_kind(kind).find(|it| it.1 == origin);
        entry.map_or_else(|| origin.label(), |(name, _)| name.to_owned())
    }

    /// Returns the place of an input, by its name or path.
    ///
    /// # Errors
    /// There is no such name or file.
    pub fn find_origin(&self, kind: InputKind, name: &str) -> Result<Origin> {
        let found = self.find_origin_unnoted(kind, name)?;
        self.files.add_origin(&found);
        Ok(found)
    }

    /// Returns the files on disk that inputs were read from so far, or will be.
    pub fn files_read(&self) -> &InputFiles {
        &self.files
    }

    fn find_origin_unnoted(&self, kind: InputKind, name: &str) -> Result<Origin> {
        if let Some(problem) = unnameable_problem(name) {
            return Err(problem.into());
        }
        if let Some(origin) = self.entries.get(&(kind, name.to_owned())) {
            return Ok(origin.clone());
        }
        let path = Path::new(name);
        let is_recording = kind == InputKind::Scenario
            && path.extension().is_some_and(|it| it == "json" || it == "jsonl" || it == "csv");
        if !path.is_dir() && (path.exists() || Format::from_path(path).is_some() || is_recording) {
            let is_stream = Format::from_path(path).is_none() && path.exists() && !path.is_file();
            if is_stream {
                return self.files.read_stream_once(path).map(Origin::Stream);
            }
            return Ok(Origin::File(path.to_owned()));
        }
        let is_like_none = self.suggest_names(kind, name).is_empty() && self.kind_of_name(name).is_none();
        // No name begins or ends so; a pattern may mean names or paths.
        let is_of_path =
            name.starts_with(['.', '/', '~']) || name.ends_with('/') || name.contains(['*', '?']);
        let wrong_path = match path.is_dir() {
            true => Some(io::ErrorKind::IsADirectory),
            false => is_of_path.then_some(io::ErrorKind::NotFound),
        };
        Err(match wrong_path.filter(|_| is_like_none) {
            Some(source) => Error::Read { path: path.to_owned(), source: source.into() },
            None => self.unknown_name_error(kind, name),
        })
    }

    /// Returns the first kind that has an input of this name.
    pub fn kind_of_name(&self, name: &str) -> Option<InputKind> {
        InputKind::ALL.into_iter().find(|it| self.entries.contains_key(&(*it, name.to_owned())))
    }

    /// Reports a name that is not in the catalog, with suggestions.
    fn unknown_name_error(&self, kind: InputKind, name: &str) -> Error {
        Error::UnknownName {
            kind: kind.noun(),
            name: name.to_owned(),
            suggestions: self.suggest_names(kind, name),
            other_kind: self.kind_of_name(name).map(InputKind::noun),
        }
    }

    /// Returns suggestions for an unknown name: the nearest, the same name in another folder, or all names
    /// that contain it.
    fn suggest_names(&self, kind: InputKind, wrong: &str) -> Vec<String> {
        let last = |it: &str| it.rsplit('/').next().unwrap_or_default().to_owned();
        let by_last = || self.names(kind).find(|it| last(it) == last(wrong));
        if let Some(one) = nearest(wrong, self.names(kind)).or_else(by_last) {
            return vec![one.to_owned()];
        }
        let part = wrong.to_lowercase();
        let has_part = |it: &&str| !part.is_empty() && it.to_lowercase().contains(&part);
        self.names(kind).filter(has_part).map(str::to_owned).listed()
    }

    /// Returns the text of a file named in a diagnostic.
    pub fn text_of_file(&self, label: &str) -> Option<Cow<'static, str>> {
        match label.strip_prefix(BUNDLED_MARK) {
            Some(path) => self.bundle.file(path).map(|it| Cow::Borrowed(it.text)),
            None => {
                let held = self.text_in_memory(label).or_else(|| self.text_in_revisions(label));
                let path = Path::new(label);
                held.or_else(|| path.is_file().then(|| read_text(path).ok()).flatten()).map(Cow::Owned)
            }
        }
    }

    /// Returns the text of a file of another revision.
    fn text_in_revisions(&self, label: &str) -> Option<String> {
        let mut revisions = self.entries.values().filter_map(|origin| match origin {
            Origin::Revision(revision, _) => Some(revision),
            _ => None,
        });
        revisions.find_map(|it| it.text_by_label(label)).map(str::to_owned)
    }
}

/// Returns the input files below a folder, sorted by path.
///
/// # Errors
/// A folder cannot be read.
pub fn input_files(folder: &Path) -> Result<Vec<PathBuf>> {
    search::files_below(folder, |it| Format::from_path(it).is_some())
}

/// Returns the files below a folder that may be price lists, sorted by path.
///
/// # Errors
/// A folder cannot be read.
pub fn price_list_files(folder: &Path) -> Result<Vec<PathBuf>> {
    search::files_below(folder, |it| it.extension().is_some_and(|it| it == "toml" || it == "json"))
}

/// Returns the name of a path below a kind's folder.
fn name_below_folder(kind: InputKind, path: &str) -> Option<String> {
    let below = path.strip_prefix(kind.folder_name())?.strip_prefix('/')?;
    below.strip_suffix(".ron").or_else(|| below.strip_suffix(".toml")).map(str::to_owned)
}

/// Returns the kind of an input and its name, by the path of its file below the folder of all kinds.
fn kind_and_name(path: &str) -> Option<(InputKind, String)> {
    InputKind::ALL.into_iter().find_map(|kind| Some((kind, name_below_folder(kind, path)?)))
}

/// Reports a name that no input may have, because it cannot be shown as it is.
fn unnameable_problem(name: &str) -> Option<Diagnostic> {
    if is_name(name) {
        return None;
    }
    let message = "this name has control characters, or others that cannot be seen";
    let help = "rename it: letters of any language, digits, blanks and signs are fine";
    Some(Diagnostic::at(Code("name-characters"), "", message).help(help).in_file(name))
}

/// Reports two files with the same name.
fn duplicate_name_problem(name: &str, first: &Origin, second: &Origin) -> Diagnostic {
    let message = format!("`{name}` is also the name of {}", first.path().display());
    let problem = Diagnostic::at(Code("name-duplicate"), "", message).in_file(second.label());
    problem.help("remove or rename one of the two")
}

/// Returns the inputs that ship with ctxsim, read from the top of the repository: this crate knows none of them.
#[cfg(test)]
pub(crate) fn shipped_catalog() -> Catalog {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for kind in InputKind::ALL {
        for path in search::files_below(&root.join(kind.folder_name()), |_| true).unwrap() {
            let text: &'static str = fs::read_to_string(&path).unwrap().leak();
            let name: &'static str = normalize_path(path.strip_prefix(&root).unwrap()).leak();
            files.push((name, text));
        }
    }
    Catalog::from_bundle(Bundle::new(files.leak()))
}
