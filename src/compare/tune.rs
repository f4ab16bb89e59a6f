//! Searches parameters on recorded sessions, and writes the policy file of the result.

mod ranges;
mod search;

use super::{Comparison, Plan, Progress, Swept, SweptLoad, reads};
use crate::catalog::Catalog;
use crate::error::Error;
use crate::input::profile::calendar;
use crate::input::text::decode::encode;
use crate::input::text::set::Setting;
use crate::input::{Format, PolicyFile};
use crate::report::tune::{Tried, Tuned, TunedSession, named};

pub use search::Search;

/// The sessions of a search, each under the base and under every point.
#[derive(Clone, Debug)]
pub struct TunedSessions {
    /// The sessions.
    pub sessions: Vec<TunedSession>,
    /// What was tried.
    pub tried: Tried,
    /// The base, and the policy that is tuned.
    pub names: [String; 2],
}

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
    let TunedSessions { sessions, tried, names: [base, policy] } =
        tuned_sessions(catalog, comparison, search, threads, progress)?;
    let day = sessions.iter().filter_map(|it| it.last_ms).max().map(calendar::written);
    Ok((Tuned::new([&base, &policy], &sessions, tried, min_evidence, seed), day))
}

/// Plays a search on every session.
///
/// # Errors
/// Every problem of the inputs.
pub fn tuned_sessions(
    catalog: &Catalog,
    comparison: &Comparison,
    search: Search,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<TunedSessions, Error> {
    let variants = search.points.clone();
    let comparison = Comparison { variants, ..comparison.clone() };
    let plan = Plan::new(catalog, &comparison)?;
    // Memories are played over drawn sessions, so other seeds are other sessions; a file of chats is drawn anew as well.
    let seeds = match reads::of_memories(&plan.scenarios) {
        Some(_) => (0..OF_MEMORIES)
            .map(|nth| Some(comparison.seed.unwrap_or_default().saturating_add(nth)))
            .collect(),
        None => vec![None],
    };
    let names = [plan.policies[0].clone(), plan.policies.last().cloned().unwrap_or_default()];
    let policy = comparison.policies.last().map_or("", String::as_str);
    let stages = catalog.policy(policy)?.spec.stages.into_iter().map(|it| it.name).collect();
    let mut sessions: Vec<TunedSession> = Vec::new();
    for seed in seeds {
        let loads = match seed {
            None => plan.swept(threads, progress)?,
            seed => {
                Plan::new(catalog, &Comparison { seed, ..comparison.clone() })?.swept(threads, progress)?
            }
        };
        let whole = loads.into_iter().filter(|it| it.runs.len() == search.points.len() + 1);
        sessions.extend(whole.filter_map(|it| session(it, seed)));
    }
    let Search { varied, fixed, points } = search;
    Ok(TunedSessions { sessions, tried: Tried { varied, fixed, points, stages }, names })
}

/// How many seeds memories are played under: half choose, the others test the choice.
const OF_MEMORIES: u64 = 12;

/// Returns a load under the base and each variant; of what is played under a seed, what is remembered stands for evidence.
fn session(load: SweptLoad, seed: Option<u64>) -> Option<TunedSession> {
    let kept = |it: &Swept| it.remembered.first().map(|it| it.number.mean);
    let remembered = seed.and_then(|_| load.runs.iter().map(kept).collect());
    let mut tallies = load.runs.into_iter().map(|it| it.tally);
    let base = tallies.next()?;
    let project = seed.map_or(load.project, |it| format!("seed {it}"));
    Some(TunedSession { project, last_ms: load.last_ms, base, variants: tallies.collect(), remembered })
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
