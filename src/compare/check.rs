//! One input checked by itself, with every rule that a run would hold it to.

use std::path::Path;

use super::{load, params};
use crate::catalog::{Catalog, Kind, Loaded};
use crate::error::Error;
use crate::guard;
use crate::measure::break_even;
use crate::model::{Policy, Profile};
use crate::source::Source;
use crate::spec::set::Setting;
use crate::spec::{Format, PolicySpec, ProfileSpec, ScenarioSpec, SuiteSpec, decode};

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
fn check_suite(catalog: &Catalog, suite: &Loaded<SuiteSpec>) -> Result<(), Error> {
    let spec = &suite.spec;
    let mut problems = params::undeclared(&spec.params, &[], catalog);
    problems.extend(spec.break_even.as_ref().and_then(|it| break_even::check(it).err()).unwrap_or_default());
    problems.extend(guard::check(&spec.guards, &spec.policies).err().unwrap_or_default());
    let lists =
        [(Kind::Policy, &spec.policies), (Kind::Scenario, &spec.scenarios), (Kind::Profile, &spec.profiles)];
    for (kind, names) in lists {
        for (index, name) in names.iter().enumerate() {
            if catalog.expand(kind, name).iter().any(|it| catalog.find(kind, it).is_err()) {
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
        (Kind::Policy, n_known(decode::fields::<PolicySpec>())),
        (Kind::Scenario, n_known(decode::fields::<ScenarioSpec>())),
        (Kind::Profile, n_known(decode::fields::<ProfileSpec>())),
        (Kind::Suite, n_known(decode::fields::<SuiteSpec>())),
    ];
    let most = known.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let likely: Vec<Kind> = known.into_iter().filter(|(_, n)| *n == most).map(|(kind, _)| kind).collect();
    let folders: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).collect();
    let of_folder = folders.iter().rev().find_map(|it| likely.iter().find(|kind| kind.folder() == it));
    Ok(*of_folder.or(likely.first()).unwrap_or(&Kind::Policy))
}
