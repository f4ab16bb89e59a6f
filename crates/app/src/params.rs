//! Parameters of policies, weakest first: base, policy, scenario, suite, `--set`.

use indexmap::{IndexMap, IndexSet};

use crate::catalog::{Catalog, Kind, Loaded};
use ctxsim_base::diag::{Code, Diagnostic, near_or};
use ctxsim_base::list::Listed as _;
use ctxsim_input::PolicyFile;
use ctxsim_input::policy::Size;

/// Lays parameters over those that a policy declares; others are not its own.
pub(super) fn overlay(spec: &mut PolicyFile, params: &IndexMap<String, Size>) {
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
    params: &IndexMap<String, Size>,
    policies: &[PolicyFile],
    catalog: &Catalog,
) -> Vec<Diagnostic> {
    // Mostly the first policy that declares a name also reads it; only for a name that none has are all looked through.
    let reads = |it: &PolicyFile, name: &str| it.params.contains_key(name) && names(it).any(|it| it == name);
    if params.keys().all(|name| policies.iter().any(|it| reads(it, name))) {
        return Vec::new();
    }
    let mut declared: IndexSet<&str> = policies.iter().flat_map(names).collect();
    let mut read = catalog.policies();
    let others: Vec<PolicyFile> =
        catalog.names(Kind::Policy).filter_map(|it| read.policy(it).ok()).map(|it| it.spec).listed();
    declared.extend(others.iter().flat_map(names));
    let unknown = params.keys().filter(|it| !declared.contains(it.as_str()));
    unknown
        .map(|name| {
            let message = format!("no policy declares the parameter `{name}`");
            let otherwise = || "declare it in a policy's `params`, or remove it".to_owned();
            let help = near_or(name, declared.iter().copied(), otherwise);
            Diagnostic::at(Code("param-undeclared"), format!("params.{name}"), message).help(help)
        })
        .listed()
}

/// Returns the parameters that a policy declares and reads.
fn names(spec: &PolicyFile) -> impl Iterator<Item = &str> {
    let read = spec.params_read();
    let is_read = move |name: &&str| read.as_ref().is_none_or(|it| it.contains(*name));
    spec.params.keys().map(String::as_str).filter(is_read)
}

/// Returns a problem for each parameter that a policy's own file gives and nothing of the policy reads. What only its base gives may
/// have been for a stage that the policy has replaced.
pub(super) fn unread(policy: &Loaded<PolicyFile>) -> Vec<Diagnostic> {
    let Some(source) = &policy.source else { return Vec::new() };
    let all = || policy.spec.params.keys();
    let own = all().filter(|it| source.gives(&format!("params.{it}"))).listed();
    let Some(read) = (!own.is_empty()).then(|| policy.spec.params_read()).flatten() else {
        return Vec::new();
    };
    let problems = own.into_iter().filter(|it| !read.contains(*it)).map(|name| {
        let known = all().map(String::as_str).filter(|it| read.contains(*it));
        let help = near_or(name, known, || format!("read it with `param(\"{name}\")`, or remove it"));
        let message = format!("the parameter `{name}` is never used");
        source.locate(Diagnostic::at(Code("param-unread"), format!("params.{name}"), message).help(help))
    });
    problems.listed()
}
