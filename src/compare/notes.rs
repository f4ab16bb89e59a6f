//! What a reader of a report must know of a plan's scenarios and policies, in sentences.

use indexmap::{IndexMap, IndexSet};

use super::Load;
use crate::input::Policy;
use crate::report::{Report, Run};

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
    let compared = if report.sums.is_empty() { &report.runs } else { &report.sums };
    let mut open: IndexMap<(&str, &str), IndexSet<&str>> = IndexMap::new();
    for (at, run) in compared.iter().enumerate() {
        let is_same = |it: &&Run| it.scenario == run.scenario && it.profile == run.profile;
        let Some(first) = compared[..at].iter().find(is_same) else { continue };
        if overlaps(first, run) {
            open.entry((&run.policy, &first.policy)).or_default().insert(&run.profile);
        }
    }
    for ((policy, first), profiles) in open {
        let profiles: Vec<&str> = profiles.into_iter().collect();
        notes.push(format!(
            "Whether {policy} costs less than {first} is open under {}: it depends on what is assumed of recovery.",
            profiles.join(", ")
        ));
    }
    notes
}

/// Returns whether the costs of two runs change places within what is assumed of recovery.
fn overlaps(one: &Run, other: &Run) -> bool {
    let interval = |run: &Run| run.tally.cost_interval().filter(|[low, high]| low < high);
    let total = |run: &Run| run.tally.costs.total().map(|it| [it; 2]);
    let known = |run: &Run| interval(run).or_else(|| total(run));
    let (Some(_), Some([a, b]), Some([c, d])) =
        (interval(one).or_else(|| interval(other)), known(one), known(other))
    else {
        return false;
    };
    a < d && c < b
}
