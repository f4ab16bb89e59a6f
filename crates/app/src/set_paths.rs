//! The paths that an override of a run may have.

use std::collections::BTreeMap;

use super::named::NamedScenario;
use crate::catalog::Loaded;
use ctxsim_input::text::set::{Override, SetTarget};
use ctxsim_input::{PolicyFile, ProfileFile, SuiteFile};

/// Returns all paths into the inputs of a run; those into one of several policies begin with its name.
pub(super) fn known(
    policies: &[Loaded<PolicyFile>],
    scenarios: &[NamedScenario],
    profiles: &[Loaded<ProfileFile>],
    suite: Option<&Loaded<SuiteFile>>,
) -> Vec<String> {
    let of_policies = policies.iter().flat_map(|it| {
        let plain = Override::paths(SetTarget::Policy, None, &it.spec);
        plain.into_iter().map(|path| (path, it.spec.name.as_str()))
    });
    let mut owners: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    of_policies.for_each(|(path, name)| owners.entry(path).or_default().push(name));
    let mut known = Vec::new();
    for (path, names) in owners {
        known.extend(names.iter().map(|it| format!("{it}.{path}")));
        if names.len() == 1 {
            known.push(path);
        }
    }
    let numbers = scenarios.iter().flat_map(|it| ctxsim_worlds::numbers(&it.loaded.spec.load));
    let scenarios =
        scenarios.iter().flat_map(|it| Override::paths(SetTarget::Scenario, None, &it.loaded.spec));
    known.extend(scenarios.chain(numbers));
    for profile in profiles {
        known.extend(Override::paths(SetTarget::Profile, None, &profile.spec));
        known.extend(Override::paths(SetTarget::Profile, Some(&profile.spec.name), &profile.spec));
    }
    let habits = suite.and_then(|it| it.spec.break_even.as_ref());
    known.extend(habits.map(|it| Override::paths(SetTarget::BreakEven, None, it)).unwrap_or_default());
    let mut seen = std::collections::BTreeSet::new();
    known.retain(|it| seen.insert(it.clone()));
    known
}
