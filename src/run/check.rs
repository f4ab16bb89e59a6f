//! One input checked by itself, with every rule that a run would hold it to.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::{load, params};
use crate::catalog::{Catalog, Kind, Loaded};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::model::{Policy, Profile};
use crate::source::Source;
use crate::spec::set::Setting;
use crate::spec::{Format, PolicySpec, ProfileSpec, ScenarioSpec, SuiteSpec};

/// Checks an input, by its name or by its path.
///
/// # Errors
/// Every problem of the input.
pub fn check(catalog: &Catalog, kind: Kind, name: &str) -> Result<(), Error> {
    match kind {
        Kind::Policy => {
            let policy = catalog.policy(name)?;
            Policy::new(&policy.spec).map_err(|it| policy.locate(it))?;
            Ok(())
        }
        Kind::Scenario => {
            let scenario = catalog.scenario(name)?;
            let mut problems = scenario.locate(params::undeclared(&scenario.spec.params, &[], catalog));
            match load::traces(&scenario, &scenario.spec) {
                Ok(_) => {}
                Err(Error::Invalid(more)) => problems.extend(more),
                Err(other) => return Err(other),
            }
            if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
        }
        Kind::Profile => {
            let profile = catalog.profile(name)?;
            Profile::new(&profile.spec).map_err(|it| profile.locate(it))?;
            Ok(())
        }
        Kind::Suite => check_suite(catalog, &catalog.suite(name)?),
    }
}

/// Checks that a suite's names lead somewhere and that its overrides can be read.
fn check_suite(catalog: &Catalog, suite: &Loaded<SuiteSpec>) -> Result<(), Error> {
    let spec = &suite.spec;
    let mut problems = params::undeclared(&spec.params, &[], catalog);
    let lists =
        [(Kind::Policy, &spec.policies), (Kind::Scenario, &spec.scenarios), (Kind::Profile, &spec.profiles)];
    for (kind, names) in lists {
        for (index, name) in names.iter().enumerate() {
            if catalog.find(kind, name).is_err() {
                problems.push(catalog.unknown(kind, &format!("{}.{index}", kind.folder()), name));
            }
        }
    }
    for (index, text) in spec.set.iter().enumerate() {
        if let Err(mut problem) = Setting::parse(text) {
            problem.place.field = format!("set.{index}");
            problems.push(*problem);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(suite.locate(problems).into()) }
}

/// Returns the kind of a file: by the folder that it stands in, else by what its text comes nearest to.
///
/// # Errors
/// The file cannot be read, or its text is of no kind.
pub fn kind_of(path: &Path) -> Result<Kind, Error> {
    if Format::of(path).is_none() {
        return Ok(Kind::Scenario);
    }
    let folders: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).collect();
    if let Some(kind) =
        folders.iter().rev().find_map(|it| Kind::ALL.into_iter().find(|kind| kind.folder() == it))
    {
        return Ok(kind);
    }
    let source = Source::read(path)?;
    let tries = [
        (Kind::Policy, refused::<PolicySpec>(&source)),
        (Kind::Scenario, refused::<ScenarioSpec>(&source)),
        (Kind::Profile, refused::<ProfileSpec>(&source)),
        (Kind::Suite, refused::<SuiteSpec>(&source)),
    ];
    let reached = |problem: &Diagnostic| problem.place.span.as_ref().map_or(0, |it| it.start);
    let nearest = tries.iter().max_by_key(|(_, problem)| problem.as_ref().map_or(usize::MAX, reached));
    nearest.map(|(kind, _)| *kind).ok_or_else(|| Vec::new().into())
}

/// Returns why a text is not of a kind, if it is not.
fn refused<T: DeserializeOwned>(source: &Source) -> Option<Diagnostic> {
    source.decode::<T>().err().map(|it| *it)
}
