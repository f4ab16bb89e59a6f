//! What a reader of a report must know of a plan's scenarios and policies, in sentences.

use indexmap::IndexSet;

use super::Load;
use crate::model::Policy;

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
    let memory = policy.memory.as_ref()?;
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
