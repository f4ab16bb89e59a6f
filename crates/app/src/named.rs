//! Resolves names to inputs, each once, and distinguishes equal names by ones that are as short as possible.

use crate::prelude::*;
use std::fs::File;
use std::io::Read as _;

use xxhash_rust::xxh3::Xxh3Default;

use crate::catalog::{FoundScenarios, file_name, file_stem};
use crate::index::{self, RecordingIndex};

/// The names of one kind, and the suite that gives them.
pub(super) struct InputNames<'a> {
    pub(super) kind: InputKind,
    pub(super) names: Vec<String>,
    pub(super) by: Option<&'a Loaded<SuiteFile>>,
}

impl InputNames<'_> {
    /// Reads what they name, each once.
    pub(super) fn load_inputs<T>(
        self,
        catalog: &Catalog,
        found: &mut ProblemsFound,
        mut read: impl FnMut(&str) -> Result<Loaded<T>>,
    ) -> Vec<Loaded<T>> {
        let named = |name: &str| {
            let names = match self.by {
                Some(suite) => catalog.expand_pattern_in_file(&suite.origin, self.kind, name),
                None => catalog.expand_pattern(self.kind, name),
            };
            Ok(names.into_iter().map(|it| (it, ())).listed())
        };
        let loaded = self.load_each_once(catalog, found, named, |name, ()| read(name));
        loaded.into_iter().map(|it| it.0).listed()
    }

    /// Reads the scenarios that they name, each once, in folders and by patterns, too.
    pub(super) fn load_scenarios(
        self,
        catalog: &Catalog,
        found: &mut ProblemsFound,
    ) -> (Vec<NamedScenario>, Vec<SkippedFile>) {
        let mut skipped = Vec::new();
        let search = |name: &str| {
            let FoundScenarios { found, left_out } = match self.by {
                Some(suite) => catalog.search_scenarios_in_file(&suite.origin, name)?,
                None => catalog.search_scenarios(name)?,
            };
            skipped.extend(left_out.into_iter().map(SkippedFile::from));
            Ok(found.into_iter().map(|it| (it.name, it.is_searched)).listed())
        };
        let loaded = self.load_each_once(catalog, found, search, |name, _| catalog.scenario(name));
        let scenarios = loaded.into_iter().map(|(own, is_searched)| NamedScenario::new(own, is_searched));
        (scenarios.listed(), skipped)
    }

    fn load_each_once<T, I>(
        &self,
        catalog: &Catalog,
        found: &mut ProblemsFound,
        mut expand: impl FnMut(&str) -> Result<Vec<(String, I)>>,
        mut read: impl FnMut(&str, &I) -> Result<Loaded<T>>,
    ) -> Vec<(Loaded<T>, I)> {
        let mut loaded = Vec::with_capacity(self.names.len());
        let mut seen = IndexSet::new();
        if self.names.is_empty() {
            let field = self.kind.folder_name();
            let problem =
                Diagnostic::at(Code("list-empty"), field, format!("there are no {}", self.kind.noun()));
            let problem = problem.help("name at least one");
            found.problems.extend(self.by.map_or_else(Vec::new, |it| it.locate_problems(vec![problem])));
        }
        for (index, name) in self.names.iter().enumerate() {
            let expanded = match expand(name) {
                Ok(expanded) => expanded,
                Err(error) => {
                    found.add_error(error);
                    continue;
                }
            };
            for (name, how) in expanded {
                if !seen.insert(name.clone()) {
                    continue;
                }
                match (read(&name, &how), self.by) {
                    (Ok(it), _) => loaded.push((it, how)),
                    (Err(Error::UnknownName { .. }), Some(suite)) => {
                        let field = format!("{}.{index}", self.kind.folder_name());
                        let unknown = catalog.unknown_name_problem(self.kind, &field, &name);
                        found.problems.extend(suite.locate_problems(vec![unknown]));
                    }
                    (Err(error), _) => found.add_error(error),
                }
            }
        }
        loaded
    }
}

/// A scenario that was read, by what it was named.
pub(super) struct NamedScenario {
    pub(super) loaded: Loaded<ScenarioFile>,
    /// Whether it was found in a folder or by a pattern, so that it may turn out to be something else.
    pub(super) is_searched: bool,
    /// What the index tells of it, if it is a recording among several.
    pub(super) indexing: RecordingIndex,
}

impl NamedScenario {
    /// Takes a scenario that no other has been compared with yet.
    pub(super) fn new(loaded: Loaded<ScenarioFile>, is_searched: bool) -> Self {
        Self { loaded, is_searched, indexing: RecordingIndex::default() }
    }
}

/// Keeps the first of equal inputs, and gives inputs of equal names the shortest distinct names.
pub(super) fn dedup_and_name_inputs<T: PartialEq>(
    mut loaded: Vec<Loaded<T>>,
    name_of: fn(&mut T) -> &mut String,
) -> Vec<Loaded<T>> {
    let mut kept: Vec<Loaded<T>> = Vec::with_capacity(loaded.len());
    for one in loaded.drain(..) {
        if !kept.iter().any(|it| it.spec == one.spec) {
            kept.push(one);
        }
    }
    let choices = kept.iter_mut().map(|it| name_choices(&it.origin, name_of(&mut it.spec))).listed();
    let names = shortest_unique_names(&choices);
    kept.iter_mut().zip(names).for_each(|(one, chosen)| *name_of(&mut one.spec) = chosen);
    kept
}

/// Does the same for scenarios, whose recordings are equal if their files are; also returns what is left out.
pub(super) fn dedup_and_name_scenarios(
    (scenarios, mut skipped): (Vec<NamedScenario>, Vec<SkippedFile>),
    is_each_alone: bool,
) -> (Vec<NamedScenario>, Vec<SkippedFile>) {
    let mut copies = SeenFiles::counting_lengths(&scenarios);
    let mut kept: Vec<NamedScenario> = Vec::with_capacity(scenarios.len());
    for one in scenarios {
        let is_known = match &one.loaded.source {
            None => !copies.is_new_content(one.loaded.origin.path()),
            Some(_) => kept.iter().any(|other| {
                other.loaded.source.is_some()
                    && other.loaded.spec == one.loaded.spec
                    && other.loaded.origin.path().parent() == one.loaded.origin.path().parent()
            }),
        };
        if !is_known {
            kept.push(one);
        } else if one.loaded.source.is_none() {
            skipped.push(SkippedFile::with_reason(one.loaded.origin.label(), "the same content"));
        }
    }
    let recordings = kept.iter().map(|it| it.loaded.source.is_none().then_some(&it.loaded.origin));
    let indexed = index::index_recordings(&recordings.listed(), is_each_alone);
    kept.iter_mut().zip(indexed).for_each(|(one, indexing)| one.indexing = indexing);
    kept.retain(|scenario| {
        let reason = scenario.indexing.twins.get("");
        skipped.extend(reason.map(|reason| SkippedFile::with_reason(scenario.loaded.origin.label(), reason)));
        reason.is_none()
    });
    let choices = kept.iter().map(|scenario| match (&scenario.loaded.source, &scenario.loaded.origin) {
        (None, Origin::File(path)) => NameChoices::of_recording(path),
        (None, Origin::Stream(piped)) if piped.is_file => NameChoices::of_recording(&piped.path),
        (_, origin) => name_choices(origin, &scenario.loaded.spec.name),
    });
    let choices: Vec<NameChoices> = choices.listed();
    let names = shortest_unique_names(&choices);
    kept.iter_mut().zip(names).for_each(|(one, name)| one.loaded.spec.name = name);
    (kept, skipped)
}

/// Returns the names that a file may have which says one itself.
fn name_choices(origin: &Origin, name: &str) -> NameChoices {
    match origin {
        Origin::Bundled(_) | Origin::Stream(_) | Origin::Built(_) => NameChoices::fixed(name),
        Origin::File(path) => NameChoices::of_file(name, path),
        Origin::Revision(revision, _) => NameChoices::fixed(&format!("{name}@{}", revision.name())),
    }
}

/// Which files have been seen, under whatever name: only files of equal length are read to compare them.
struct SeenFiles {
    n_of_length: IndexMap<u64, usize>,
    known: IndexSet<(u64, u128)>,
}

impl SeenFiles {
    fn counting_lengths(scenarios: &[NamedScenario]) -> Self {
        let mut n_of_length: IndexMap<u64, usize> = IndexMap::new();
        let recordings = scenarios.iter().filter(|it| it.loaded.source.is_none());
        let lengths = recordings.filter_map(|it| file_length(it.loaded.origin.path()));
        lengths.for_each(|it| *n_of_length.entry(it).or_default() += 1);
        Self { n_of_length, known: IndexSet::new() }
    }

    /// Returns whether no file before had this content; one that cannot be read is told when it is opened.
    fn is_new_content(&mut self, path: &Path) -> bool {
        let Some(length) = file_length(path) else { return true };
        if self.n_of_length.get(&length).is_none_or(|it| *it < 2) {
            return true;
        }
        file_digest(path).is_none_or(|it| self.known.insert((length, it)))
    }
}

fn file_length(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|it| it.len())
}

fn file_digest(path: &Path) -> Option<u128> {
    let mut file = File::open(path).ok()?;
    let mut hasher = Xxh3Default::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.digest128()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// The number of letters that identify a session.
const ID_LETTERS: usize = 8;

/// The names that an input may have, the shortest first.
pub(super) struct NameChoices(Vec<String>);

impl NameChoices {
    /// An input whose name is sufficient.
    pub(super) fn fixed(name: &str) -> Self {
        Self(vec![name.to_owned()])
    }

    /// A file with its own name; its path distinguishes it from others of that name.
    pub(super) fn of_file(name: &str, path: &Path) -> Self {
        let mut names = vec![name.to_owned()];
        names.extend(path_endings_with_name(path, &file_name(path)));
        Self(names)
    }

    /// A recorded session: its folder and the first letters of its identifier, or its file's name.
    pub(super) fn of_recording(path: &Path) -> Self {
        let stem = file_stem(path);
        let mut names = Vec::new();
        let folder = path.parent().and_then(Path::file_name).map(|it| it.to_string_lossy().into_owned());
        if let (true, Some(folder)) = (is_uuid(&stem), folder) {
            // A name that begins like an option could not be given to one.
            let folder = folder.trim_start_matches('-').to_owned();
            names.push(format!("{folder}/{}", &stem[..ID_LETTERS]));
            names.push(format!("{folder}/{stem}"));
        } else {
            names.push(stem.clone());
        }
        names.extend(path_endings_with_name(path, &stem));
        names.push(path.display().to_string());
        Self(names)
    }
}

/// Returns the names of recordings, by their paths.
pub fn names_of_recordings(paths: &[PathBuf]) -> Vec<String> {
    shortest_unique_names(&paths.iter().map(|it| NameChoices::of_recording(it)).listed())
}

/// Returns for each input its shortest unique name; inputs with equal names are numbered.
pub(super) fn shortest_unique_names(inputs: &[NameChoices]) -> Vec<String> {
    let mut levels = vec![0; inputs.len()];
    loop {
        let all = inputs.iter().enumerate();
        let shared = grouped(all.map(|(index, NameChoices(names))| (&names[levels[index]], index)));
        let mut has_grown = false;
        for index in shared.into_values().filter(|it| it.len() > 1).flatten() {
            if levels[index] + 1 < inputs[index].0.len() {
                levels[index] += 1;
                has_grown = true;
            }
        }
        if !has_grown {
            break;
        }
    }
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    let names = inputs.iter().zip(levels).map(|(NameChoices(names), level)| {
        let count = counts.entry(&names[level]).or_default();
        *count += 1;
        if *count == 1 { names[level].clone() } else { format!("{}#{count}", names[level]) }
    });
    names.listed()
}

/// Returns a path's ends, the shortest first, with something in the place of the file's name.
fn path_endings_with_name(path: &Path, name: &str) -> Vec<String> {
    let mut ends = vec![name.to_owned()];
    let folders = path.parent().into_iter().flat_map(Path::components).rev();
    for folder in folders {
        let longer = format!("{}/{}", folder.as_os_str().to_string_lossy(), ends[ends.len() - 1]);
        ends.push(longer.replacen("//", "/", 1));
    }
    ends
}

/// Returns whether a name is an identifier as harnesses give sessions: 8, 4, 4, 4 and 12 hexadecimal digits.
fn is_uuid(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').listed();
    let is_hex = |it: &&str| it.bytes().all(|it| it.is_ascii_hexdigit());
    parts.iter().all(is_hex) && parts.iter().map(|it| it.len()).eq([8, 4, 4, 4, 12])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<String> {
        shortest_unique_names(&paths.iter().map(|it| NameChoices::of_recording(Path::new(it))).listed())
    }

    #[test]
    fn a_session_is_called_by_its_folder_and_the_head_of_its_identifier() {
        let paths = [
            "p/-home-me-src/0a1b2c3d-1111-2222-3333-444455556666.jsonl",
            "p/other/0a1b2c3d-1111-2222-3333-444455556666.jsonl",
            "p/other/notes.jsonl",
        ];

        assert_eq!(named(&paths), ["home-me-src/0a1b2c3d", "other/0a1b2c3d", "notes"]);
    }

    #[test]
    fn equal_names_grow_until_they_differ() {
        assert_eq!(named(&["one/a.jsonl", "two/a.jsonl", "b.jsonl"]), ["one/a", "two/a", "b"]);
        assert_eq!(named(&["x/one/a.jsonl", "y/one/a.jsonl"]), ["x/one/a", "y/one/a"]);
        assert_eq!(named(&["a.jsonl", "a.json"]), ["a.jsonl", "a.json"]);
        let twice = [NameChoices::fixed("p"), NameChoices::of_file("p", Path::new("mine/p.ron"))];
        assert_eq!(shortest_unique_names(&twice), ["p", "p.ron"]);
    }
}
