//! One input checked by itself, with every rule that a run would hold it to.

use super::overrides::NamedPolicies;
use super::{guards, load, overrides, processes, written_loads};
use crate::catalog::{Catalog, Kind, Loaded, Origin, REVISION_MARK};
use ctxsim_base::diag::{Diagnostic, Place};
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_input::policy::Builtin;
use ctxsim_input::text::set::{Override, SetTarget};
use ctxsim_input::{Policy, PolicyFile, Profile, ProfileFile, Suite, SuiteFile};
use ctxsim_timeline::import::BySession;

pub use written_loads::WARNINGS;

/// Checks an input, by its name or by its path.
///
/// # Errors
/// Every problem of the input.
pub fn check(catalog: &Catalog, kind: Kind, name: &str) -> Result<(), Error> {
    match kind {
        Kind::Policy => {
            let policy = catalog.policy(name)?;
            checked(catalog, &policy.spec, &policy.origin).map_err(|it| policy.locate(it))?;
            let unread = overrides::unread(&policy);
            if unread.is_empty() { Ok(()) } else { Err(unread.into()) }
        }
        Kind::Scenario => {
            let scenario = catalog.scenario(name)?;
            let mut problems = scenario.locate(overrides::undeclared(&scenario.spec.params, &[], catalog));
            match load::workloads(&scenario, &scenario.spec, &BySession::default()) {
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

/// Returns what is wrong with a policy or a scenario by construction, though it runs; nothing of any other input.
///
/// # Errors
/// The input cannot be read or checked.
pub fn lints(catalog: &Catalog, kind: Kind, name: &str) -> Result<Vec<Diagnostic>, Error> {
    match kind {
        Kind::Policy => {}
        Kind::Scenario => return written_loads::lints(catalog, name),
        Kind::Profile | Kind::Suite => return Ok(Vec::new()),
    }
    let policy = catalog.policy(name)?;
    let checked = checked(catalog, &policy.spec, &policy.origin).map_err(|it| policy.locate(it))?;
    let mut found = checked.lints();
    found.extend(refused_somewhere(catalog, &checked));
    Ok(policy.locate(found))
}

/// Returns which of a policy's breakpoints the API of some bundled profile refuses, and which profiles these are.
fn refused_somewhere(catalog: &Catalog, policy: &Policy) -> Vec<Diagnostic> {
    let mut all: Vec<(Diagnostic, Vec<String>)> = Vec::new();
    for name in catalog.names(Kind::Profile) {
        let Ok(profile) = catalog.profile(name) else { continue };
        for problem in profile.spec.cache.refused(policy.layout()) {
            match all.iter_mut().find(|it| it.0 == problem) {
                Some((_, names)) => names.push(name.to_owned()),
                None => all.push((problem, vec![name.to_owned()])),
            }
        }
    }
    let named = |(problem, names): (Diagnostic, Vec<String>)| {
        let help =
            format!("{}; it is refused under {}", problem.help.clone().unwrap_or_default(), names.join(", "));
        problem.help(help)
    };
    all.into_iter().map(named).collect()
}

/// Returns which breakpoints of a policy, with all that overrides make of it, the APIs of some profiles refuse.
pub(super) fn refused(
    loaded: &Loaded<PolicyFile>,
    spec: &PolicyFile,
    profiles: &[Loaded<ProfileFile>],
) -> Vec<Diagnostic> {
    let by = |profile: &Loaded<ProfileFile>| {
        let problems = spec.layout.iter().flat_map(|it| profile.spec.cache.refused(it));
        let without = |it: Diagnostic| {
            let help = it.help.clone().unwrap_or_default();
            it.help(format!("{help}, or leave out {}, whose API refuses it", profile.spec.name))
        };
        problems.map(without).listed()
    };
    loaded.locate(profiles.iter().flat_map(by).collect())
}

/// Starts the program of a policy that is one, and checks that it keeps to the protocol; there is nothing to check of any other.
///
/// # Errors
/// Everything that it does against the protocol.
pub fn try_out(catalog: &Catalog, kind: Kind, name: &str) -> Result<(), Error> {
    match kind {
        Kind::Policy => processes::try_out(catalog, name),
        _ => Ok(()),
    }
}

/// Checks a policy, that the prompts and the service that it names are declared, and that there is the model that it names.
pub(super) fn checked(
    catalog: &Catalog,
    spec: &PolicyFile,
    origin: &Origin,
) -> Result<Policy, Vec<Diagnostic>> {
    let mut policy = Policy::new(spec)?;
    // By where it is, because names may be changed to tell inputs apart.
    if let Some(code) = origin.code() {
        policy = policy.with_code(Some(Builtin::Own(code.clone())));
    }
    let unknown = spec.memory.as_ref().map(ctxsim_worlds::check_memory).unwrap_or_default();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let policy = processes::with_program(policy);
    let Some(name) = &spec.summariser else { return Ok(policy) };
    if catalog.find(Kind::Profile, name).is_err() {
        return Err(vec![catalog.unknown(Kind::Profile, "summariser", name)]);
    }
    // What is wrong inside the profile is told at its own place.
    let model =
        catalog.profile(name).and_then(|it| Ok(Profile::new(&it.spec).map_err(|found| it.locate(found))?));
    model.map(|it| policy.summarised_by(it)).map_err(|it| vec![it.into_problem()])
}

/// Checks that a suite's names lead somewhere and that its overrides can be read.
fn check_suite(catalog: &Catalog, suite: &Loaded<SuiteFile>) -> Result<(), Error> {
    let spec = &suite.spec;
    let mut problems = overrides::undeclared(&spec.params, &[], catalog);
    problems.extend(Suite::new(spec).err().unwrap_or_default());
    problems.extend(guards::check(catalog, &suite.origin, spec));
    let lists =
        [(Kind::Policy, &spec.policies), (Kind::Scenario, &spec.scenarios), (Kind::Profile, &spec.profiles)];
    for (kind, names) in lists {
        for (index, name) in names.iter().enumerate() {
            // As a run finds them: a scenario may be a folder of recordings.
            let is_found = match kind {
                // Git alone knows what a revision has.
                Kind::Policy if name.starts_with(REVISION_MARK) => true,
                Kind::Scenario => catalog
                    .search_of(&suite.origin, name)
                    .is_ok_and(|it| it.found.iter().all(|it| catalog.find(kind, &it.name).is_ok())),
                _ => catalog
                    .expand_of(&suite.origin, kind, name)
                    .iter()
                    .all(|it| catalog.find(kind, it).is_ok()),
            };
            if !is_found {
                problems.push(catalog.unknown(kind, &format!("{}.{index}", kind.folder()), name));
            }
        }
    }
    if problems.is_empty() {
        problems.extend(unset(catalog, suite));
    }
    if problems.is_empty() { Ok(()) } else { Err(suite.locate(problems).into()) }
}

/// Reports a suite's overrides of its policies that are for none of them, or for several that they do not name.
fn unset(catalog: &Catalog, file: &Loaded<SuiteFile>) -> Vec<Diagnostic> {
    let suite = &file.spec;
    let mut read = catalog.policies();
    let names = suite.policies.iter().flat_map(|it| catalog.expand_of(&file.origin, Kind::Policy, it));
    // What is wrong with a policy is told where that is checked.
    let Ok(loaded) = names.map(|it| read.policy(&it)).collect::<Result<Vec<_>, _>>() else {
        return Vec::new();
    };
    let policies = NamedPolicies { catalog, loaded: &loaded };
    let told = suite.set.iter().enumerate().filter_map(|(index, text)| {
        let setting = Override::parse(text).ok().filter(|it| it.target == SetTarget::Policy)?;
        let mut specs: Vec<PolicyFile> = loaded.iter().map(|it| it.spec.clone()).listed();
        let mut problem = *policies.set(&setting, &mut specs).err()?;
        problem.place = Place { field: format!("set.{index}"), ..Place::default() };
        Some(problem)
    });
    told.listed()
}
