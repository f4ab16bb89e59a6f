//! Variants of a policy that differ in overrides: a run has one policy for each.

use super::found::ProblemsFound;
use super::set_policies::NamedPolicies;
use crate::catalog::{Catalog, Loaded};
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::list::Listed as _;
use ctxsim_input::PolicyFile;
use ctxsim_input::text::set::Override;

/// Puts so many copies in the place of the last policy.
pub(super) fn laid_out(mut policies: Vec<Loaded<PolicyFile>>, n: usize) -> Vec<Loaded<PolicyFile>> {
    // A policy that is varied against itself stands there once.
    let last = if policies.len() > 1 && n > 0 { policies.pop() } else { policies.last().cloned() };
    policies.extend(last.into_iter().flat_map(|last| (0..n).map(move |_| last.clone())));
    policies
}

/// Reads the overrides of variants.
pub(super) fn settings(variants: &[Vec<String>], found: &mut ProblemsFound) -> Vec<Vec<Override>> {
    let mut read = |text: &String| Override::parse(text).map_err(|it| found.problems.push(*it)).ok();
    variants.iter().map(|it| it.iter().filter_map(&mut read).listed()).listed()
}

/// Applies the overrides of variants to the last of the policies, each to one.
///
/// # Errors
/// The problems of the first variant with an invalid override.
pub(super) fn apply(
    catalog: &Catalog,
    loaded: &[Loaded<PolicyFile>],
    variants: &[Vec<Override>],
    specs: &mut [PolicyFile],
) -> Result<(), Box<Diagnostic>> {
    let first = specs.len().saturating_sub(variants.len());
    for (nth, settings) in (first..).zip(variants) {
        let one = NamedPolicies { catalog, loaded: &loaded[nth..=nth] };
        settings.iter().try_for_each(|it| one.set(it, &mut specs[nth..=nth]))?;
    }
    Ok(())
}
