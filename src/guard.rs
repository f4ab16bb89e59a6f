//! Rules on reports: a result that breaks one fails a build.

use crate::input::suite::Guard;
use crate::report::json::Numbers;
use crate::report::{Report, Run};

pub use crate::report::guards::GuardVerdict;

/// The places of costs, which are of less work where a run has stopped.
const COSTS: &str = "totals.cost_usd.";

/// A guard whose names are those that a report gives its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedGuard {
    /// The guard as written.
    pub guard: Guard,
    /// The policy whose number it is.
    pub policy: String,
    /// The policy whose same number it is divided by.
    pub over: Option<String>,
    /// The scenarios on which it is judged; all, when silent.
    pub scenarios: Option<Vec<String>>,
    /// The profile under which it is judged; all, when silent.
    pub profile: Option<String>,
}

impl NamedGuard {
    fn is_about(&self, run: &Run) -> bool {
        run.policy == self.policy
            && self.scenarios.as_ref().is_none_or(|it| it.iter().any(|it| is_of(&run.scenario, it)))
            && self.profile.as_ref().is_none_or(|it| *it == run.profile)
    }

    /// Returns the number that it is about, or why there is none.
    fn number(&self, own: &Numbers<'_>, all: &[Numbers<'_>]) -> Result<f64, String> {
        let value = covered(own, &self.guard.metric)?;
        let Some(over) = &self.over else { return Ok(value) };
        let is_other = |it: &&Numbers<'_>| {
            it.run.policy == *over && it.run.scenario == own.run.scenario && it.run.profile == own.run.profile
        };
        let other = all.iter().find(is_other).ok_or_else(|| format!("{over} has no such run"))?;
        match covered(other, &self.guard.metric).map_err(|it| format!("{over}: {it}"))? {
            0.0 => Err(format!("{over} has 0 there, and nothing is divided by that")),
            divisor => Ok(value / divisor),
        }
    }
}

/// Returns whether a run's scenario is this one, or a session of it.
fn is_of(scenario: &str, name: &str) -> bool {
    scenario.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the number at a place, or why the run gives none.
fn covered(numbers: &Numbers<'_>, metric: &str) -> Result<f64, String> {
    let place = metric.strip_prefix("retention.").zip(numbers.run.retention.as_deref());
    if let Some(reason) = place.and_then(|(place, it)| it.uncovered(place)) {
        return Err(reason.to_owned());
    }
    if let Some(failure) = numbers.run.tally.outcome.failure.filter(|_| metric.starts_with(COSTS)) {
        return Err(format!("the run stopped at turn {}, and its cost is that of less work", failure.turn));
    }
    numbers.at(metric).filter(|it| it.is_finite()).ok_or_else(|| "it is unknown for this run".to_owned())
}

/// Holds a report against guards.
#[must_use]
pub fn judge(guards: &[NamedGuard], report: &Report) -> Vec<GuardVerdict> {
    let runs: Vec<Numbers<'_>> = report.labelled().map(|(run, label)| Numbers::new(run, label)).collect();
    let pairs = guards
        .iter()
        .flat_map(|guard| runs.iter().filter(|it| guard.is_about(it.run)).map(move |it| (guard, it)));
    let mut verdicts = Vec::new();
    for (guard, numbers) in pairs {
        let number = guard.number(numbers, &runs);
        for (word, bound, compare) in guard.guard.bounds() {
            let Run { policy, scenario, profile, .. } = numbers.run;
            verdicts.push(GuardVerdict {
                guard: guard.guard.name.clone(),
                run: [policy, scenario, profile].map(String::clone),
                metric: guard.guard.metric.clone(),
                over: guard.over.clone(),
                value: number.as_ref().ok().copied(),
                bound: format!("{word} {bound}"),
                holds: number.as_ref().is_ok_and(|it| compare(it, &bound)),
                reason: number.as_ref().err().cloned(),
            });
        }
    }
    verdicts
}
