//! Reads files of the catalog, checks names against paths, and merges variants with their bases.

use crate::prelude::*;
use std::fs;
use std::io::Read;

use super::{Catalog, InputKind, Origin, origin};
use crate::models::SERVICE_MARK;
use ctxsim_input::policy::Law;
use ctxsim_input::text::Decode;

/// The longest chain of bases.
const BASES_MAX: usize = 32;

/// A spec and the files that it came from.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// The spec.
    pub spec: T,
    /// Where it stands.
    pub origin: Origin,
    /// Its own file; `None` for a recorded session named directly.
    pub source: Option<Source>,
    /// The files of its bases, the nearest first.
    pub bases: Vec<Source>,
}

impl<T> Loaded<T> {
    /// Adds places to problems of the spec: in its own file, or in the base that sets the field.
    pub fn locate_problems(&self, problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        problems.into_iter().map(|it| self.locate_problem(it)).listed()
    }

    /// Returns the place of a field: in its own file, or in the base that sets it.
    pub fn place_of_field(&self, field: String) -> Place {
        let place = Place { field, ..Place::default() };
        match self.file_that_sets(&place.field) {
            Some(source) => source.complete(place),
            None => Place { file: self.origin.label(), ..place },
        }
    }

    fn locate_problem(&self, problem: Diagnostic) -> Diagnostic {
        match self.file_that_sets(&problem.place.field) {
            // It is in another file, which this one names.
            _ if !problem.place.file.is_empty() => problem,
            Some(source) => source.locate(problem),
            None => problem.in_file(self.origin.label()),
        }
    }

    /// Returns the file that sets a field: of those that set most of its path, the nearest.
    fn file_that_sets(&self, field: &str) -> Option<&Source> {
        let steps: Vec<&str> = field.split('.').listed();
        let own = self.source.as_ref()?;
        // The last of several greatest is taken, so the nearest comes last.
        self.bases.iter().rev().chain([own]).max_by_key(|it| n_steps_set(it, &steps))
    }
}

/// Returns how many of the first steps of a path a file sets, down to the level at which variants are merged:
/// two, or three for stages.
fn n_steps_set(source: &Source, steps: &[&str]) -> usize {
    let find = |n: usize| source.find(&steps[..n].join("."));
    let deepest = if steps.first() == Some(&"stages") { 3 } else { 2 };
    let is_given = |n: &usize| find(*n).is_some_and(|it| *n == 1 || find(*n - 1).as_ref() != Some(&it));
    (1..=deepest.min(steps.len())).take_while(is_given).count()
}

/// Reads policies; a base of several policies is read once.
#[derive(Debug)]
pub struct PolicyReader<'c> {
    catalog: &'c Catalog,
    bases: Vec<Loaded<PolicyFile>>,
}

impl PolicyReader<'_> {
    /// Reads a policy and merges it with its bases.
    ///
    /// # Errors
    /// The name is unknown, a file cannot be read or decoded, or the bases are circular.
    pub fn read_policy(&mut self, name: &str) -> Result<Loaded<PolicyFile>> {
        let catalog = self.catalog;
        let own = self.read_file(catalog.find_origin(InputKind::Policy, name)?)?;
        let mut names = vec![own.spec.name.clone()];
        let mut next = own.spec.base.clone();
        let mut bases: Vec<Loaded<PolicyFile>> = Vec::new();
        while let Some(base) = next.take() {
            let variant = bases.last().unwrap_or(&own);
            let problem = |it| Error::from(variant.locate_problem(it));
            let found = catalog
                .find_base(&variant.origin, &base)
                .ok_or_else(|| problem(catalog.unknown_name_problem(InputKind::Policy, "base", &base)))?;
            catalog.files.add_origin(&found);
            names.push(base);
            let is_known = found == own.origin || bases.iter().any(|it| it.origin == found);
            if bases.len() >= BASES_MAX && !is_known {
                let message = format!("this policy has more than {BASES_MAX} bases, one behind the other");
                let long = Diagnostic::at(Code("base-circle"), "base", message);
                return Err(problem(long.help("write the policy with fewer bases")));
            }
            if is_known {
                let message = format!("circular `base`: {}", names.join(" → "));
                let circle = Diagnostic::at(Code("base-circle"), "base", message);
                return Err(problem(circle.help("remove `base` from one of them")));
            }
            let read = self.read_base(found)?;
            next.clone_from(&read.spec.base);
            bases.push(read);
        }
        let (sources, base_specs): (Vec<_>, Vec<_>) =
            bases.into_iter().map(|it| (it.source, it.spec)).unzip();
        // From the farthest base on, because a variant may remove what any of its bases gives.
        let base = base_specs.into_iter().rev().reduce(|base, variant| variant.over(base));
        let spec = match base {
            Some(mut base) => {
                // A reason to break a law is one of the file that gives it.
                base.allows.retain(|it, _| Law::named(it).is_none());
                own.spec.over(base)
            }
            None => own.spec,
        };
        Ok(Loaded { spec: spec.filled(), bases: sources.into_iter().flatten().listed(), ..own })
    }

    /// Reads one file, and keeps it: a base has many variants.
    fn read_base(&mut self, origin: Origin) -> Result<Loaded<PolicyFile>> {
        if let Some(known) = self.bases.iter().find(|it| it.origin == origin) {
            return Ok(known.clone());
        }
        let read = self.read_file(origin)?;
        self.bases.push(read.clone());
        Ok(read)
    }

    /// Reads one file.
    fn read_file(&self, origin: Origin) -> Result<Loaded<PolicyFile>> {
        let mut read = self.catalog.read_named_file(InputKind::Policy, origin, |it: &PolicyFile| &it.name)?;
        if let Some(process) = &mut read.spec.process {
            process.folder = read.origin.folder_on_disk();
            // A word of the command may be the program, or a file that it reads.
            let files = process.command.iter().filter_map(|it| read.origin.file_beside(it));
            files.for_each(|it| self.catalog.files.add_origin(&it));
        }
        Ok(read)
    }
}

impl Catalog {
    /// Returns a reader of several policies.
    pub fn policy_reader(&self) -> PolicyReader<'_> {
        PolicyReader { catalog: self, bases: Vec::new() }
    }

    /// Reads one policy and merges it with its bases.
    ///
    /// # Errors
    /// The name is unknown, a file cannot be read or decoded, or the bases are circular.
    pub fn policy(&self, name: &str) -> Result<Loaded<PolicyFile>> {
        self.policy_reader().read_policy(name)
    }

    /// Reads a scenario; any file other than `.ron` and `.toml` is read as a recorded session.
    ///
    /// # Errors
    /// The name is unknown, or the file cannot be read or decoded.
    pub fn scenario(&self, name: &str) -> Result<Loaded<ScenarioFile>> {
        let origin = self.find_origin(InputKind::Scenario, name)?;
        if origin.built_timeline().is_some() {
            let name = name.to_owned();
            let loaded = scenario_of_recording(origin);
            return Ok(Loaded { spec: ScenarioFile { name, ..loaded.spec }, ..loaded });
        }
        if Format::from_path(origin.path()).is_none() {
            // A recording is read when it is played, but a missing one is reported with all other problems.
            if let Origin::File(path) = &origin {
                fs::metadata(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
            }
            let of_world = json_file_start(&origin)
                .and_then(|it| ctxsim_worlds::of_file(&it, &file_name(origin.path())));
            let loaded = scenario_of_recording(origin);
            let load = of_world.unwrap_or_else(|| loaded.spec.load.clone());
            return Ok(Loaded { spec: ScenarioFile { load, ..loaded.spec }, ..loaded });
        }
        let loaded = self.read_named_file(InputKind::Scenario, origin, |it: &ScenarioFile| &it.name)?;
        if let Some(beside) = loaded.spec.load.path().and_then(|it| loaded.origin.file_beside(it)) {
            self.files.add_origin(&beside);
        }
        Ok(loaded)
    }

    /// Returns the file of a recording that is named directly; nothing for any other name.
    pub fn origin_of_recording(&self, name: &str) -> Option<Origin> {
        let origin = self.find_origin(InputKind::Scenario, name).ok()?;
        let is_other = matches!(origin, Origin::Bundled(_) | Origin::Built(_));
        (!is_other && Format::from_path(origin.path()).is_none()).then_some(origin)
    }

    /// Reads a profile; `NAME@SERVICE` means it at the prices of a service.
    ///
    /// # Errors
    /// The name is unknown, or the file cannot be read or decoded.
    pub fn profile(&self, name: &str) -> Result<Loaded<ProfileFile>> {
        let is_name = |it: &str| self.entries.contains_key(&(InputKind::Profile, it.to_owned()));
        let parts = name.rsplit_once(SERVICE_MARK).filter(|it| !is_name(name) && is_name(it.0));
        let (name, service) = parts.map_or((name, None), |it| (it.0, Some(it.1)));
        let origin = self.find_origin(InputKind::Profile, name)?;
        let loaded = self.read_named_file(InputKind::Profile, origin, |it: &ProfileFile| &it.name)?;
        let mut spec = match service {
            Some(service) => loaded.spec.under(service),
            None => loaded.spec,
        };
        // It is held at the prices of the day that the configuration pins, if its own are later.
        if let Some(day) = self.pins.prices.as_ref().filter(|it| **it < spec.as_of) {
            spec.assumptions.starts_at.get_or_insert_with(|| day.clone());
        }
        Ok(Loaded { spec, ..loaded })
    }

    /// Reads a suite.
    ///
    /// # Errors
    /// The name is unknown, or the file cannot be read or decoded.
    pub fn suite(&self, name: &str) -> Result<Loaded<SuiteFile>> {
        let origin = self.find_origin(InputKind::Suite, name)?;
        self.read_named_file(InputKind::Suite, origin, |it: &SuiteFile| &it.name)
    }

    /// Reports a field that names a missing input.
    pub fn unknown_name_problem(&self, kind: InputKind, field: &str, name: &str) -> Diagnostic {
        let mut problem = self.unknown_name_error(kind, name).into_problem();
        field.clone_into(&mut problem.place.field);
        problem
    }

    /// Returns the place of a base: a catalog name, else a file beside the variant's.
    fn find_base(&self, variant: &Origin, name: &str) -> Option<Origin> {
        let named = || self.entries.get(&(InputKind::Policy, name.to_owned())).cloned();
        let last = name.rsplit('/').next().unwrap_or(name);
        let beside = |extension: &str| variant.file_beside(&format!("{last}.{extension}"));
        let is_there = |it: &Origin| matches!(it, Origin::Revision(..)) || it.path().is_file();
        let near = || ["ron", "toml"].into_iter().filter_map(beside).find(is_there);
        variant.find_in_revision(name).or_else(named).or_else(near)
    }

    /// Reads one file and checks that its name is its path.
    fn read_named_file<T: Decode + Clone + Send + Sync + 'static>(
        &self,
        kind: InputKind,
        origin: Origin,
        name_of: impl Fn(&T) -> &String,
    ) -> Result<Loaded<T>> {
        if let Some(problem) = origin::recording_instead_problem(kind, &origin) {
            return Err(problem.into());
        }
        let replaced = self.replaced.get(origin.path()).filter(|_| matches!(origin, Origin::File(_)));
        let (source, spec) = match (&origin, replaced.zip(Format::from_path(origin.path()))) {
            (_, Some((text, format))) => {
                let source = Source::new(origin.label(), format, text.as_str());
                let spec = source.decode()?;
                (source, spec)
            }
            (Origin::Bundled(file), None) => file.read_once(|| decode_input(kind, &origin))?,
            _ => decode_input(kind, &origin)?,
        };
        let given = name_of(&spec);
        // A policy of another revision is in the catalog under a name that no file gives.
        let is_named = !matches!(origin, Origin::Revision(..));
        let of_catalog = self.entries_of_kind(kind).find(|it| is_named && *it.1 == origin).map(|it| it.0);
        let stem = file_stem(origin.path());
        let expected = of_catalog.unwrap_or(&stem);
        let is_named = match of_catalog {
            Some(expected) => given == expected,
            None => given.rsplit('/').next() == Some(&stem),
        };
        if is_named {
            return Ok(Loaded { spec, origin, source: Some(source), bases: Vec::new() });
        }
        let file = file_name(origin.path());
        let message = format!("`name` is `{given}`, but the file is `{file}`");
        let help = format!("write `name: \"{expected}\"`, or rename the file");
        Err(vec![source.locate(Diagnostic::at(Code("name-not-path"), "name", message).help(help))].into())
    }
}

/// Reads one file as an input of a kind.
fn decode_input<T: Decode + Clone + 'static>(kind: InputKind, origin: &Origin) -> Result<(Source, T)> {
    let source = origin.read_source()?;
    if let Some(spec) = origin.built_value::<T>() {
        return Ok((source, spec.clone()));
    }
    // What every field lacks or has too much says less than what the file is.
    let explained = |error| origin::other_kind_problem(kind, &source).map_or(error, Error::from);
    let spec: T = source.decode().map_err(explained)?;
    Ok((source, spec))
}

/// How much of a file is looked at to tell what it is.
const FRONT: u64 = 64 * 1_024;

/// Returns how a JSON file begins; nothing of what cannot be read.
fn json_file_start(origin: &Origin) -> Option<String> {
    if origin.path().extension().is_none_or(|it| it != "json") {
        return None;
    }
    let mut bytes = Vec::new();
    let mut reader = origin.open_reader().ok()?;
    Read::take(reader.as_mut(), FRONT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns what a file is called.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Makes a scenario of a recorded session with default assumptions.
pub fn scenario_of_recording(origin: Origin) -> Loaded<ScenarioFile> {
    let file = file_name(origin.path());
    let spec = ScenarioFile {
        about: format!("Recorded session {file}."),
        load: LoadSpec::Recorded { path: file, assume: Box::default() },
        ..ScenarioFile::named(&file_stem(origin.path()))
    };
    Loaded { spec, origin, source: None, bases: Vec::new() }
}

/// Returns a file's name without its extension.
pub(crate) fn file_stem(path: &Path) -> String {
    path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}
