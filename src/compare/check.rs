//! One input checked by itself, with every rule that a run would hold it to.

use std::path::Path;

use super::set_policies::Policies;
use super::{guards, load, params};
use crate::catalog::{Catalog, Kind, Loaded};
use crate::diag::{Diagnostic, Place};
use crate::error::Error;
use crate::input::text::decode;
use crate::input::text::set::{Setting, Target};
use crate::input::{
    Format, Policy, PolicyFile, Profile, ProfileFile, ScenarioFile, Source, Suite, SuiteFile,
};

/// Checks an input, by its name or by its path.
///
/// # Errors
/// Every problem of the input.
pub fn check(catalog: &Catalog, kind: Kind, name: &str) -> Result<(), Error> {
    match kind {
        Kind::Policy => {
            let policy = catalog.policy(name)?;
            Policy::new(&policy.spec).map_err(|it| policy.locate(it))?;
            let unread = params::unread(&policy);
            if unread.is_empty() { Ok(()) } else { Err(unread.into()) }
        }
        Kind::Scenario => {
            let scenario = catalog.scenario(name)?;
            let mut problems = scenario.locate(params::undeclared(&scenario.spec.params, &[], catalog));
            match load::workloads(&scenario, &scenario.spec) {
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
fn check_suite(catalog: &Catalog, suite: &Loaded<SuiteFile>) -> Result<(), Error> {
    let spec = &suite.spec;
    let mut problems = params::undeclared(&spec.params, &[], catalog);
    problems.extend(Suite::new(spec).err().unwrap_or_default());
    problems.extend(guards::check(catalog, spec));
    let lists =
        [(Kind::Policy, &spec.policies), (Kind::Scenario, &spec.scenarios), (Kind::Profile, &spec.profiles)];
    for (kind, names) in lists {
        for (index, name) in names.iter().enumerate() {
            let name = &catalog.named_by(&suite.origin, kind, name);
            if catalog.expand(kind, name).iter().any(|it| catalog.find(kind, it).is_err()) {
                problems.push(catalog.unknown(kind, &format!("{}.{index}", kind.folder()), name));
            }
        }
    }
    if problems.is_empty() {
        problems.extend(unset(catalog, spec));
    }
    if problems.is_empty() { Ok(()) } else { Err(suite.locate(problems).into()) }
}

/// Reports a suite's overrides of its policies that are for none of them, or for several that they do not name.
fn unset(catalog: &Catalog, suite: &SuiteFile) -> Vec<Diagnostic> {
    let mut read = catalog.policies();
    let names = suite.policies.iter().flat_map(|it| catalog.expand(Kind::Policy, it));
    // What is wrong with a policy is told where that is checked.
    let Ok(loaded) = names.map(|it| read.policy(&it)).collect::<Result<Vec<_>, _>>() else {
        return Vec::new();
    };
    let policies = Policies { catalog, loaded: &loaded };
    let told = suite.set.iter().enumerate().filter_map(|(index, text)| {
        let setting = Setting::parse(text).ok().filter(|it| it.target == Target::Policy)?;
        let mut specs: Vec<PolicyFile> = loaded.iter().map(|it| it.spec.clone()).collect();
        let mut problem = *policies.set(&setting, &mut specs).err()?;
        problem.place = Place { field: format!("set.{index}"), ..Place::default() };
        Some(problem)
    });
    told.collect()
}

/// Returns the kind of a file: by the fields at its top; where these could be of several, by the nearest folder that is
/// called after one.
///
/// # Errors
/// The file cannot be read.
pub fn kind_of(path: &Path) -> Result<Kind, Error> {
    if Format::of(path).is_none() {
        return Ok(Kind::Scenario);
    }
    let source = Source::read(path)?;
    let keys = decode::keys(&source.text, source.format);
    let n_known = |fields: &[&str]| keys.iter().filter(|it| fields.contains(&it.as_str())).count();
    let known = [
        (Kind::Policy, n_known(decode::fields::<PolicyFile>())),
        (Kind::Scenario, n_known(decode::fields::<ScenarioFile>())),
        (Kind::Profile, n_known(decode::fields::<ProfileFile>())),
        (Kind::Suite, n_known(decode::fields::<SuiteFile>())),
    ];
    let most = known.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let likely: Vec<Kind> = known.into_iter().filter(|(_, n)| *n == most).map(|(kind, _)| kind).collect();
    let folders: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).collect();
    let of_folder = folders.iter().rev().find_map(|it| likely.iter().find(|kind| kind.folder() == it));
    Ok(*of_folder.or(likely.first()).unwrap_or(&Kind::Policy))
}
