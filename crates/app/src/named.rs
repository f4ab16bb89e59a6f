//! Resolves names to inputs, each once, and distinguishes equal names.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use xxhash_rust::xxh3::Xxh3Default;

use super::found::ProblemsFound;
use super::index::{self, Indexing};
use super::naming::{self, NameChoices as Choices};
use crate::catalog::{Catalog, Kind, Loaded, Origin, Searched};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_input::{ScenarioFile, SuiteFile};
use ctxsim_report::Skipped;

/// The names of one kind, and the suite that gives them.
pub(super) struct InputNames<'a> {
    pub(super) kind: Kind,
    pub(super) names: Vec<String>,
    pub(super) by: Option<&'a Loaded<SuiteFile>>,
}

impl InputNames<'_> {
    /// Reads what they name, each once.
    pub(super) fn load<T>(
        self,
        catalog: &Catalog,
        found: &mut ProblemsFound,
        mut read: impl FnMut(&str) -> Result<Loaded<T>, Error>,
    ) -> Vec<Loaded<T>> {
        let named = |name: &str| {
            let names = match self.by {
                Some(suite) => catalog.expand_of(&suite.origin, self.kind, name),
                None => catalog.expand(self.kind, name),
            };
            Ok(names.into_iter().map(|it| (it, ())).listed())
        };
        let loaded = self.read(catalog, found, named, |name, ()| read(name));
        loaded.into_iter().map(|it| it.0).listed()
    }

    /// Reads the scenarios that they name, each once, in folders and by patterns, too.
    pub(super) fn load_scenarios(
        self,
        catalog: &Catalog,
        found: &mut ProblemsFound,
    ) -> (Vec<NamedScenario>, Vec<Skipped>) {
        let mut skipped = Vec::new();
        let search = |name: &str| {
            let Searched { found, left_out } = match self.by {
                Some(suite) => catalog.search_of(&suite.origin, name)?,
                None => catalog.search(name)?,
            };
            skipped.extend(left_out.into_iter().map(Skipped::from));
            Ok(found.into_iter().map(|it| (it.name, it.is_searched)).listed())
        };
        let loaded = self.read(catalog, found, search, |name, _| catalog.scenario(name));
        let scenarios = loaded.into_iter().map(|(loaded, is_searched)| NamedScenario {
            loaded,
            is_searched,
            indexing: Indexing::default(),
        });
        (scenarios.listed(), skipped)
    }

    fn read<T, I>(
        &self,
        catalog: &Catalog,
        found: &mut ProblemsFound,
        mut expand: impl FnMut(&str) -> Result<Vec<(String, I)>, Error>,
        mut read: impl FnMut(&str, &I) -> Result<Loaded<T>, Error>,
    ) -> Vec<(Loaded<T>, I)> {
        let mut loaded = Vec::with_capacity(self.names.len());
        let mut seen = IndexSet::new();
        if self.names.is_empty() {
            let field = self.kind.folder();
            let problem =
                Diagnostic::at(Code("list-empty"), field, format!("there are no {}", self.kind.noun()));
            let problem = problem.help("name at least one");
            found.problems.extend(self.by.map_or_else(Vec::new, |it| it.locate(vec![problem])));
        }
        for (index, name) in self.names.iter().enumerate() {
            let expanded = match expand(name) {
                Ok(expanded) => expanded,
                Err(error) => {
                    found.error(error);
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
                        let field = format!("{}.{index}", self.kind.folder());
                        found.problems.extend(suite.locate(vec![catalog.unknown(self.kind, &field, &name)]));
                    }
                    (Err(error), _) => found.error(error),
                }
            }
        }
        loaded
    }
}

/// A scenario that was read, by what it was named.
#[derive(Clone, Debug)]
pub(super) struct NamedScenario {
    pub(super) loaded: Loaded<ScenarioFile>,
    /// Whether it was found in a folder or by a pattern, so that it may turn out to be something else.
    pub(super) is_searched: bool,
    /// What the index tells of it, if it is a recording among several.
    pub(super) indexing: Indexing,
}

/// Keeps the first of equal inputs, and gives inputs of equal names the shortest distinct names.
pub(super) fn tell_apart<T: PartialEq>(
    mut loaded: Vec<Loaded<T>>,
    name: fn(&mut T) -> &mut String,
) -> Vec<Loaded<T>> {
    let mut kept: Vec<Loaded<T>> = Vec::with_capacity(loaded.len());
    for one in loaded.drain(..) {
        if !kept.iter().any(|it| it.spec == one.spec) {
            kept.push(one);
        }
    }
    let choices: Vec<Choices> = kept.iter_mut().map(|it| choices(&it.origin, name(&mut it.spec))).listed();
    for (one, chosen) in kept.iter_mut().zip(naming::told_apart(&choices)) {
        *name(&mut one.spec) = chosen;
    }
    kept
}

/// Does the same for scenarios, whose recordings are equal if their files are; also returns what is left out.
pub(super) fn tell_scenarios_apart(
    (scenarios, mut skipped): (Vec<NamedScenario>, Vec<Skipped>),
    is_alone: bool,
) -> (Vec<NamedScenario>, Vec<Skipped>) {
    let mut copies = Copies::of(&scenarios);
    let mut kept: Vec<NamedScenario> = Vec::with_capacity(scenarios.len());
    for one in scenarios {
        let is_known = match &one.loaded.source {
            None => !copies.is_new(one.loaded.origin.path()),
            Some(_) => kept.iter().any(|it| {
                it.loaded.source.is_some()
                    && it.loaded.spec == one.loaded.spec
                    && it.loaded.origin.path().parent() == one.loaded.origin.path().parent()
            }),
        };
        if !is_known {
            kept.push(one);
        } else if one.loaded.source.is_none() {
            skipped.push(Skipped::of(one.loaded.origin.label(), "the same content"));
        }
    }
    let recordings = kept.iter().map(|it| it.loaded.source.is_none().then_some(&it.loaded.origin));
    let indexed = index::indexed(&recordings.listed(), is_alone);
    for (one, indexing) in kept.iter_mut().zip(indexed) {
        one.indexing = indexing;
    }
    kept.retain(|it| {
        let reason = it.indexing.twins.get("");
        skipped.extend(reason.map(|reason| Skipped::of(it.loaded.origin.label(), reason)));
        reason.is_none()
    });
    let choices = kept.iter().map(|it| match (&it.loaded.source, &it.loaded.origin) {
        (None, Origin::File(path)) => Choices::of_recording(path),
        (None, Origin::Stream(it)) if it.is_file => Choices::of_recording(&it.path),
        (_, origin) => choices(origin, &it.loaded.spec.name),
    });
    let choices: Vec<Choices> = choices.listed();
    for (one, name) in kept.iter_mut().zip(naming::told_apart(&choices)) {
        one.loaded.spec.name = name;
    }
    (kept, skipped)
}

/// Returns the names that a file may have which says one itself.
fn choices(origin: &Origin, name: &str) -> Choices {
    match origin {
        Origin::Bundled(_) | Origin::Stream(_) | Origin::Memory(_) | Origin::Built(_) => Choices::fixed(name),
        Origin::File(path) => Choices::of_file(name, path),
        Origin::Revision(revision, _) => Choices::fixed(&format!("{name}@{}", revision.name())),
    }
}

/// Which files have been seen, under whatever name: only files of equal length are read to compare them.
struct Copies {
    n_of_length: IndexMap<u64, usize>,
    known: IndexSet<(u64, u128)>,
}

impl Copies {
    fn of(scenarios: &[NamedScenario]) -> Self {
        let mut n_of_length: IndexMap<u64, usize> = IndexMap::new();
        for one in scenarios.iter().filter(|it| it.loaded.source.is_none()) {
            if let Some(length) = length(one.loaded.origin.path()) {
                *n_of_length.entry(length).or_default() += 1;
            }
        }
        Self { n_of_length, known: IndexSet::new() }
    }

    /// Returns whether no file before had this content; one that cannot be read is told when it is opened.
    fn is_new(&mut self, path: &Path) -> bool {
        let Some(length) = length(path) else { return true };
        if self.n_of_length.get(&length).is_none_or(|it| *it < 2) {
            return true;
        }
        digest(path).is_none_or(|it| self.known.insert((length, it)))
    }
}

fn length(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|it| it.len())
}

fn digest(path: &Path) -> Option<u128> {
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
