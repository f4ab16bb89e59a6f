//! Runs that came to no result, because code outside this crate did what no run can go on with.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Run;
use ctxsim_base::error::Error;

/// A run that came to no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRun {
    /// The policy.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The profile.
    pub profile: String,
    /// The user turn, from 1.
    pub turn: u32,
    /// The agent's request, from 1: the one that could not be sent.
    pub request: u32,
    /// What happened.
    pub reason: String,
}

impl fmt::Display for FailedRun {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { policy, scenario, profile, turn, request, reason } = self;
        write!(
            to,
            "{policy} failed on {scenario} under {profile}, in turn {turn} at request {request}: {reason}"
        )
    }
}

impl std::error::Error for FailedRun {}

impl FailedRun {
    /// Returns why a run came to no result, if it did.
    #[doc(hidden)]
    pub fn of(run: &Run) -> Option<Self> {
        let fault = run.tally.outcome.fault.as_deref()?;
        Some(Self {
            policy: run.policy.clone(),
            scenario: run.scenario.clone(),
            profile: run.profile.clone(),
            turn: fault.turn,
            request: fault.step.saturating_add(1),
            reason: fault.what.clone(),
        })
    }
}

/// Runs that came to no result, where everything that was asked for hangs on them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FailedRuns(pub Vec<FailedRun>);

/// Says what happened once for all runs of a policy to which the same happened.
impl fmt::Display for FailedRuns {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut alike: IndexMap<(&str, &str), Vec<&FailedRun>> = IndexMap::new();
        for run in &self.0 {
            alike.entry((&run.policy, &run.reason)).or_default().push(run);
        }
        let lines = alike.values().flat_map(|runs| {
            let others = runs.iter().skip(1).map(|it| format!("{} under {}", it.scenario, it.profile));
            let others: Vec<String> = others.collect();
            let also = runs.first().filter(|_| !others.is_empty());
            let also = also.map(|it| format!("{} failed the same way on {}", it.policy, others.join(", ")));
            runs.first().map(ToString::to_string).into_iter().chain(also)
        });
        to.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

impl FailedRuns {
    /// Returns an error where any of some runs came to no result.
    ///
    /// # Errors
    /// The runs that failed.
    pub fn none_of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Result<(), Error> {
        let failed: Vec<FailedRun> = runs.into_iter().filter_map(FailedRun::of).collect();
        if failed.is_empty() { Ok(()) } else { Err(Error::Run(Box::new(Self(failed)))) }
    }
}
