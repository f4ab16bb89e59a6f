//! The numbers of a declared memory that explain what a user's own agent answered.

use crate::prelude::*;

use super::{check, load};
use ctxsim_base::rng::Seed;
use ctxsim_input::scenario::AgingLoad;
use ctxsim_worlds::aging::probes::{self, FittedMemory, Memories};
use ctxsim_worlds::aging::{Aging, Model, ReadStreams};

/// Fits the use, write and read numbers of a policy's memory to a table of answers, over sessions like those of a scenario.
///
/// # Errors
/// Every problem of the table, the policy and the scenario.
pub fn fit_memory(
    catalog: &Catalog,
    [policy, scenario]: [&str; 2],
    file: &str,
    table_text: &str,
) -> Result<FittedMemory> {
    let answers = probes::read(file, table_text)?;
    let loaded = catalog.policy(policy)?;
    let checked = check::check_policy(catalog, &loaded.spec, &loaded.origin)
        .map_err(|it| loaded.locate_problems(it))?;
    let Some(memory) = checked.session_memory() else {
        let message = format!("{policy} has no memory over sessions");
        let problem = Diagnostic::at(Code("probes-memory"), "memory", message);
        return Err(problem.help("name a policy with `memory: sessions(…)`, such as `aging/careful`").into());
    };
    let stream = catalog.scenario(scenario)?;
    let spec = load::check_scenario(&stream, &stream.spec)?;
    let LoadSpec::Aging(own) = &spec.load else {
        let problem = Diagnostic::at(Code("probes-scenario"), "load", format!("{scenario} has no sessions"));
        return Err(problem.help("name a scenario with `load.aging`, such as `aging/s6_12`").into());
    };
    let last = answers.iter().map(|it| u64::from(it.session)).max().unwrap_or_default();
    let sessions = own.sessions.max(last.saturating_add(1));
    let own = AgingLoad { sessions, events: Vec::new(), ..own.as_ref().clone() };
    let first = Aging::all(&spec, &own, &[], ReadStreams::default()).into_iter().next();
    let model = first.map_or_else(|| Arc::new(Model::default()), |it| it.model);
    Ok(Memories::new(memory, &own, &model, Seed(spec.seed)).fit(&answers))
}
