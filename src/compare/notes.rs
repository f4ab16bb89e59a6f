//! What a reader of a report must know of a plan's scenarios and policies, in sentences.

use indexmap::{IndexMap, IndexSet};

use super::Load;
use crate::input::Policy;
use crate::report::Report;

/// Returns the notes on scenarios and the policies that they are played under, each once.
pub(super) fn notes(scenarios: &[Load]) -> Vec<String> {
    let blocks = scenarios.iter().filter(|it| it.workload.blocks().is_some()).map(|it| {
        format!("{} is a block trace: its prompts are as recorded, and no policy changes them.", it.name)
    });
    let strays = scenarios.iter().flat_map(|load| load.policies.iter().filter_map(|it| strays(it, load)));
    blocks.chain(strays).collect::<IndexSet<_>>().into_iter().collect()
}

/// Says for which categories of a scenario's facts a policy has no bank, and where these facts go.
fn strays(policy: &Policy, load: &Load) -> Option<String> {
    let memory = policy.memory()?;
    let banks = memory.store.declared()?;
    memory.extract.iter().find(|it| it.into.is_none())?;
    let categories = load.workload.conversations()?.categories();
    let strays: Vec<String> =
        categories.iter().filter(|it| !banks.contains(it)).map(|it| format!("`{it}`")).collect();
    let strays = match strays.as_slice() {
        [] => return None,
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    };
    Some(format!("{} has no bank for {strays}: those facts go to `{}`.", policy.name, banks.last()?))
}

/// Says of a report where recovery was played, and which orderings hang on what is assumed of it.
pub(super) fn on_recovery(report: &Report) -> Vec<String> {
    let played: IndexSet<&str> =
        report.runs.iter().filter(|it| it.tally.n_played > 0).map(|it| it.policy.as_str()).collect();
    let n_played = report.runs.iter().map(|it| it.tally.n_played).max().unwrap_or_default();
    let mut notes = Vec::new();
    if !played.is_empty() {
        let names: Vec<&str> = played.into_iter().collect();
        notes.push(format!(
            "Recovery was played, with needs drawn {n_played} times, where a policy edits what was fetched: {}.",
            names.join(", ")
        ));
    }
    notes.extend(open_orders(report));
    notes
}

/// What a policy costs under a profile: over all scenarios, and on each; at the lower ends of what is assumed, as declared, and
/// at the upper ends.
#[derive(Default)]
struct Ends<'r> {
    all: [f64; 3],
    by_scenario: Vec<(&'r str, [f64; 3])>,
}

/// Says of which policies the order against the first depends on what is assumed of recovery.
fn open_orders(report: &Report) -> Vec<String> {
    let mut ends: IndexMap<(&str, &str), Ends<'_>> = IndexMap::new();
    for run in &report.runs {
        let Some(total) = run.tally.costs.total() else { continue };
        let [low, high] = run.tally.cost_interval().unwrap_or([total; 2]);
        let policy = ends.entry((&run.profile, &run.policy)).or_default();
        policy.all.iter_mut().zip([low, total, high]).for_each(|(sum, end)| *sum += end);
        policy.by_scenario.push((&run.scenario, [low, total, high]));
    }
    let mut notes = Vec::new();
    for ((profile, policy), costs) in &ends {
        let Some(((_, first), base)) = ends.iter().find(|((it, _), _)| it == profile) else { continue };
        let pairs = base.by_scenario.iter().zip(&costs.by_scenario);
        let open: Vec<&str> =
            pairs.filter(|(one, other)| is_open(&one.1, &other.1)).map(|it| it.1.0).collect();
        let place = match (is_open(&base.all, &costs.all), open.as_slice()) {
            (true, _) => "over all scenarios".to_owned(),
            (false, []) => continue,
            (false, [only]) => format!("on {only}"),
            (false, open) => format!("on {} of {} scenarios", open.len(), costs.by_scenario.len()),
        };
        notes.push(format!(
            "Whether {policy} costs less than {first} under {profile} is open {place}: it depends on what is assumed of recovery."
        ));
    }
    notes
}

/// Returns whether two policies change places between the lower ends of what is assumed, the declared values and the upper ends;
/// both are taken at the same end.
fn is_open(one: &[f64; 3], other: &[f64; 3]) -> bool {
    let differs = |by: fn(&f64, &f64) -> bool| one.iter().zip(other).any(|(one, other)| by(one, other));
    differs(f64::lt) && differs(f64::gt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_open_where_it_turns_between_the_ends_and_not_where_intervals_merely_overlap() {
        assert!(is_open(&[5.0, 5.0, 5.0], &[4.0, 4.9, 5.2]));
        assert!(!is_open(&[4.0, 5.0, 6.0], &[4.5, 5.5, 6.5]), "each end says the same");
        assert!(!is_open(&[5.0, 5.0, 5.0], &[5.0, 5.0, 5.0]), "equal costs have no order");
    }
}
