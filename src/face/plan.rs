//! Checked inputs, ready to run.

use std::sync::Arc;

use crate::compare;
use crate::diag::Diagnostic;
use crate::explain;
use crate::face::rows::Streamed;
use crate::face::{Error, Explanation, Report, Sensitivity, Sink};
use crate::report::rows::Context;
use crate::take::{Cell, Load};

/// Checked inputs, ready to run any number of times.
#[derive(Clone, Debug)]
pub struct Plan {
    plan: Arc<compare::Plan>,
    threads: Option<usize>,
}

/// Which run of a plan: its policy, its scenario and its profile, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[non_exhaustive]
pub struct RunId {
    /// The policy.
    pub policy: String,
    /// The scenario; each session of a recording is a scenario of its own.
    pub scenario: String,
    /// The profile.
    pub profile: String,
}

impl RunId {
    /// Creates the name of a run.
    pub fn new(policy: impl Into<String>, scenario: impl Into<String>, profile: impl Into<String>) -> Self {
        Self { policy: policy.into(), scenario: scenario.into(), profile: profile.into() }
    }

    fn of(load: &Load, cell: Cell) -> Self {
        let (policy, profile) = (&load.policies[cell.policy], &load.profiles[cell.profile]);
        Self::new(&policy.name, &load.name, &profile.name)
    }
}

impl Plan {
    pub(super) fn new(plan: compare::Plan, threads: Option<usize>) -> Self {
        Self { plan: Arc::new(plan), threads }
    }

    /// Runs everything.
    ///
    /// Runs whose code fails are left out of the tables and listed in [`Report::failures`].
    ///
    /// # Errors
    /// A scenario cannot be read.
    pub fn run(&self) -> Result<Report, Error> {
        Ok(Report::new(self.plan.report(self.threads, &|_, _| {})?))
    }

    /// Runs everything and hands each row to a sink as it is produced; returns the sinks in report order.
    ///
    /// Each run gets a sink of its own, on the run's thread. A run ends early when its sink returns `Break`. Scenarios without requests of their own
    /// (conversations, ageing memories, chats, block traces) have no rows; of scenarios with several trials, only the first is run.
    ///
    /// # Errors
    /// A scenario cannot be read, or the code of a run failed.
    pub fn stream<S: Sink + Send>(
        &self,
        sink: impl Fn(&RunId) -> S + Sync,
    ) -> Result<Vec<(RunId, S)>, Error> {
        let of_loads = self.plan.each(self.threads, &|_, _| {}, |load, _| {
            load.stream(|cell| Streamed::new(sink(&RunId::of(load, cell)), load, cell)).map(|all| {
                all.into_iter().map(|(cell, it)| (RunId::of(load, cell), it.into_sink())).collect()
            })
        })?;
        let of_loads: Vec<Vec<(RunId, S)>> = of_loads.into_iter().collect::<Result<_, _>>()?;
        Ok(of_loads.into_iter().flatten().collect())
    }

    /// Explains one request of a run, counted from 1 in the order of the rows from [`Plan::stream`].
    ///
    /// # Errors
    /// The plan has no such run, the run has no such request, a scenario cannot be read, or the run's code failed.
    pub fn explain(&self, run: &RunId, request: usize) -> Result<Explanation, Error> {
        let found = self.plan.each(Some(1), &|_, _| {}, |load, _| {
            let cell = load.cells().find(|it| RunId::of(load, *it) == *run)?;
            let timeline = load.timeline_of(cell)?;
            let (policy, profile) = (&load.policies[cell.policy], &load.profiles[cell.profile]);
            let context = Context::alone(policy, &load.name, &timeline, profile);
            let explained = explain::explain(&timeline, policy, profile, request);
            Some(explained.map_err(Error::from).and_then(|it| Explanation::new(&it, context)))
        })?;
        let missing = || -> Error {
            let RunId { policy, scenario, profile } = run;
            let message = format!("no run of {policy} on {scenario} under {profile} has requests to explain");
            Diagnostic::at("run-unknown", "", message).help("use a `RunId` from `Plan::stream`").into()
        };
        found.into_iter().flatten().next().ok_or_else(missing)?
    }

    /// Runs everything and compares the policies across the profiles.
    ///
    /// # Errors
    /// A scenario cannot be read, or the code of a run failed.
    pub fn sensitivity(&self) -> Result<Sensitivity, Error> {
        Ok(Sensitivity::new(self.plan.sensitivity(self.threads, &|_, _| {})?))
    }
}
