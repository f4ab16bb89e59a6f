//! What a reader of a report must know of a plan's scenarios and policies, in sentences.

use indexmap::{IndexMap, IndexSet};

use super::{Comparison, Load};
use crate::aging::Aging;
use crate::input::Policy;
use crate::measure::is_open;
use crate::report::Report;

impl Load {
    /// Returns what a reader must know of it and the policies that it is played under.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let blocks = self.workload.blocks().map(|_| {
            format!(
                "{} is a block trace: its prompts are as recorded, and no policy changes them.",
                self.name
            )
        });
        let strays = self.policies.iter().filter_map(|it| strays(it, self));
        let vacuous = self.workload.aging().map(Aging::notes).unwrap_or_default();
        blocks.into_iter().chain(self.note_on_tokens()).chain(strays).chain(vacuous).collect()
    }
}

/// Says what was changed for a run, so that its figures are not taken for those of the files.
pub(super) fn on_changes(comparison: &Comparison) -> Option<String> {
    let seed = comparison.seed.map(|it| format!("seed {it}"));
    let trials = comparison.trials.map(|it| format!("{it} trials"));
    let changes: Vec<String> = comparison.set.iter().cloned().chain(seed).chain(trials).collect();
    (!changes.is_empty()).then(|| format!("Changed for this run: {}.", changes.join(", ")))
}

/// Says how many guards of a suite are about what the run leaves out.
pub(super) fn on_guards(n_unjudged: usize) -> Option<String> {
    let (guards, are) = if n_unjudged == 1 { ("guard", "is") } else { ("guards", "are") };
    (n_unjudged > 0).then(|| {
        format!("{n_unjudged} {guards} of the suite {are} not judged: this run leaves out what they name.")
    })
}

/// Says for which categories of a scenario's facts a policy has no bank, and where these facts go.
fn strays(policy: &Policy, load: &Load) -> Option<String> {
    let memory = policy.memory()?;
    let banks = memory.store.declared()?;
    memory.write.extract.iter().find(|it| it.into.is_none())?;
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

/// What the profile of sessions is called that each run under their own model's.
const OWN: &str = "their own models' profiles";

/// Says of which policies the order against the first depends on what is assumed of recovery.
fn open_orders(report: &Report) -> Vec<String> {
    let is_total = report.is_one_question();
    let mut ends: IndexMap<(&str, &str), Ends<'_>> = IndexMap::new();
    for run in &report.runs {
        if run.tally.costs.total().is_none() {
            continue;
        }
        let ends_of_run = run.tally.cost_ends();
        let profile = if is_total { OWN } else { run.profile.as_str() };
        let policy = ends.entry((profile, &run.policy)).or_default();
        policy.all.iter_mut().zip(ends_of_run).for_each(|(sum, end)| *sum += end);
        policy.by_scenario.push((&run.scenario, ends_of_run));
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
