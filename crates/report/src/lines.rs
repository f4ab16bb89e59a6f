//! Runs added up by policy, one after the other: all that a table says of them beside its intervals.

use super::firings::Stages;
use crate::prelude::*;
use ctxsim_engine::ledger::Failure;

/// The sums of some runs, by policy, in the order in which the policies came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyLines(IndexMap<String, PolicySum>);

/// The runs of one policy, added up.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySum {
    /// The first of them, with the tally of all and with a setting only if all have the same.
    pub run: Run,
    /// What its stages did.
    pub(super) stages: Stages,
    n_runs: usize,
    n_stopped: usize,
    /// Where the first run stopped that did.
    stopped: Option<Stopped>,
}

/// Where a run stopped at a limit.
#[derive(Clone, Debug, PartialEq)]
struct Stopped {
    scenario: String,
    failure: Failure,
    turns: u32,
}

impl PolicyLines {
    /// Adds up runs.
    pub(super) fn of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Self {
        let mut lines = Self::default();
        runs.into_iter().for_each(|it| lines.add(it));
        lines
    }

    /// Adds a run.
    pub(super) fn add(&mut self, run: &Run) {
        match self.0.get_mut(&run.policy) {
            Some(sum) => sum.add(run),
            None => _ = self.0.insert(run.policy.clone(), PolicySum::new(run)),
        }
    }

    /// Returns them by policy.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PolicySum)> {
        self.0.iter().map(|(policy, it)| (policy.as_str(), it))
    }

    /// Returns the first policy.
    pub(super) fn first(&self) -> Option<&str> {
        self.0.first().map(|it| it.0.as_str())
    }
}

impl PolicySum {
    fn new(run: &Run) -> Self {
        let mut sum =
            Self { run: run.clone(), stages: Stages::default(), n_runs: 0, n_stopped: 0, stopped: None };
        sum.see(run);
        sum
    }

    fn add(&mut self, run: &Run) {
        self.run.tally.add(&run.tally);
        if self.run.apply != run.apply {
            self.run.apply = None;
        }
        self.see(run);
    }

    /// Notes what is not a number of the tally.
    fn see(&mut self, run: &Run) {
        self.n_runs += 1;
        self.stages.see(run);
        if let Some(failure) = run.tally.outcome.failure {
            self.n_stopped += 1;
            let (scenario, turns) = (&run.scenario, run.tally.outcome.turns_requested);
            self.stopped.get_or_insert_with(|| Stopped { scenario: scenario.clone(), failure, turns });
        }
    }

    /// Says where the policy stopped at a limit, if it did.
    pub(super) fn stopped(&self) -> Option<String> {
        let Stopped { scenario, failure, turns } = self.stopped.as_ref()?;
        let at = format!("turn {} of {turns}", failure.turn);
        Some(match (self.n_runs, self.n_stopped) {
            (1, _) => format!("stopped at {at} (limit)"),
            (n_runs, n_stopped) => {
                format!("stopped in {n_stopped} of {n_runs} scenarios (limit), first in {scenario} at {at}")
            }
        })
    }
}
