//! Searches parameters on recorded sessions, and writes the policy file of the result.

mod ranges;
mod search;

use super::{Comparison, Plan, Progress, reads};
use crate::catalog::Catalog;
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::input::profile::calendar;
use crate::input::text::decode::encode;
use crate::input::text::set::Setting;
use crate::input::{Format, PolicyFile};
use crate::report::tune::{Tried, Tuned, TunedSession, named};

pub use search::Search;

/// Plays a search on every session, chooses on one part and tests the choice on the other; also returns the
/// date of the newest session.
///
/// # Errors
/// Every problem of the inputs.
pub fn tune(
    catalog: &Catalog,
    comparison: &Comparison,
    search: Search,
    (min_evidence, seed): (f64, u64),
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<(Tuned, Option<String>), Error> {
    let variants = search.points.clone();
    let plan = Plan::new(catalog, &Comparison { variants, ..comparison.clone() })?;
    if let Some(load) = reads::of_memories(&plan.scenarios) {
        let message = format!("{load} declares no evidence needs, which `tune` weighs against the cost");
        let problem = Diagnostic::at("tune-needs", "", message);
        return Err(vec![problem.help("use `ctxsim sweep --objective cost retention` for memories")].into());
    }
    let names = [plan.policies[0].clone(), plan.policies.last().cloned().unwrap_or_default()];
    let policy = comparison.policies.last().map_or("", String::as_str);
    let stages = catalog.policy(policy)?.spec.stages.into_iter().map(|it| it.name).collect();
    let loads = plan.swept(threads, progress)?;
    let sessions: Vec<TunedSession> = loads
        .into_iter()
        .filter(|it| it.runs.len() == search.points.len() + 1)
        .filter_map(|it| {
            let mut tallies = it.runs.into_iter().map(|it| it.tally);
            let base = tallies.next()?;
            Some(TunedSession { project: it.project, last_ms: it.last_ms, base, variants: tallies.collect() })
        })
        .collect();
    let day = sessions.iter().filter_map(|it| it.last_ms).max().map(calendar::written);
    let Search { varied, fixed, points } = search;
    let tried = Tried { varied, fixed, points, stages };
    Ok((Tuned::new([&names[0], &names[1]], &sessions, tried, min_evidence, seed), day))
}

/// Returns the policy file of the choice; `None` if nothing is recommended.
///
/// # Errors
/// The policy cannot be read or written.
pub fn tuned_policy(
    catalog: &Catalog,
    policy: &str,
    name: &str,
    (tuned, day): (&Tuned, Option<&str>),
    format: Format,
) -> Result<Option<String>, Error> {
    if !tuned.is_recommended {
        return Ok(None);
    }
    let set = &tuned.chosen;
    let loaded = catalog.policy(policy)?;
    let mut specs = [loaded.spec.clone()];
    let policies = super::set_policies::Policies { catalog, loaded: std::slice::from_ref(&loaded) };
    for text in set {
        let setting = Setting::parse(text).map_err(|it| vec![*it])?;
        policies.set(&setting, &mut specs).map_err(|it| vec![*it])?;
    }
    let [spec] = specs;
    let mut sources = spec.sources.clone();
    sources.push(tuned.evidence(day));
    let spec = PolicyFile {
        base: None,
        about: format!("{} Tuned: {}.", spec.about, named(set)),
        as_of: day.map(str::to_owned).or(spec.as_of.clone()),
        name: name.to_owned(),
        sources,
        ..spec
    };
    let text = encode(&spec, format).map_err(|it| vec![*it])?;
    Ok(Some(text))
}
