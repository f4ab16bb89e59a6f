//! Parameters of policies, weakest first: base, policy, scenario, suite, `--set`.

use indexmap::{IndexMap, IndexSet};

use crate::catalog::{Catalog, Kind};
use crate::diag::{Diagnostic, nearest};
use crate::spec::PolicySpec;
use crate::spec::size::SizeSpec;

/// Lays parameters over those that a policy declares; others are not its own.
pub(super) fn overlay(spec: &mut PolicySpec, params: &IndexMap<String, SizeSpec>) {
    for (name, value) in params {
        if let Some(own) = spec.params.get_mut(name) {
            own.clone_from(value);
        }
    }
}

/// Returns a problem for each parameter that nothing declares: no policy of the run, and none of the catalog.
///
/// A suite or a scenario is written for many policies, so a run of a few of them may declare fewer names than it sets.
pub(super) fn undeclared(
    params: &IndexMap<String, SizeSpec>,
    policies: &[PolicySpec],
    catalog: &Catalog,
) -> Vec<Diagnostic> {
    let mut declared: IndexSet<&str> = policies.iter().flat_map(names).collect();
    if params.keys().all(|it| declared.contains(it.as_str())) {
        return Vec::new();
    }
    let mut read = catalog.policies();
    let others: Vec<PolicySpec> =
        catalog.names(Kind::Policy).filter_map(|it| read.policy(it).ok()).map(|it| it.spec).collect();
    declared.extend(others.iter().flat_map(names));
    let unknown = params.keys().filter(|it| !declared.contains(it.as_str()));
    unknown
        .map(|name| {
            let message = format!("no policy declares the parameter `{name}`");
            let help = match nearest(name, declared.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "declare it in a policy's `params`, or leave it out".to_owned(),
            };
            Diagnostic::at("param-undeclared", format!("params.{name}"), message).help(help)
        })
        .collect()
}

/// Returns the parameters that a policy declares.
fn names(spec: &PolicySpec) -> impl Iterator<Item = &str> {
    spec.params.keys().map(String::as_str)
}
