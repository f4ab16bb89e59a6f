//! What tables look at in each run in brief, and runs added up by policy: all that a table says of them beside its intervals.

use super::firings::StageActivity;
use crate::prelude::*;
use ctxsim_base::quantity::Expected;
use ctxsim_input::profile::Counting;

/// The sums of some runs, by policy, in the order in which the policies came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicySums(IndexMap<String, PolicySum>);

/// The runs of one policy, added up.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySum {
    /// The first of them, with the tally of all and with a setting only if all have the same.
    pub run: Run,
    /// What its stages did.
    pub(super) stages: StageActivity,
    n_runs: usize,
    n_stopped: usize,
    /// Where the first run stopped that did.
    stopped: Option<Stopped>,
}

/// Where a run stopped at a limit.
#[derive(Clone, Debug, PartialEq)]
struct Stopped {
    scenario: String,
    /// At which turn of how many.
    at: String,
}

impl PolicySums {
    /// Adds up runs.
    pub(super) fn from_runs<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Self {
        let mut lines = Self::default();
        runs.into_iter().for_each(|it| lines.add_run(it));
        lines
    }

    /// Adds a run.
    pub(super) fn add_run(&mut self, run: &Run) {
        match self.0.get_mut(&run.policy) {
            Some(sum) => sum.add_run(run),
            None => _ = self.0.insert(run.policy.clone(), PolicySum::new(run)),
        }
    }

    /// Returns them by policy.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PolicySum)> {
        self.0.iter().map(|(policy, it)| (policy.as_str(), it))
    }
}

impl PolicySum {
    fn new(run: &Run) -> Self {
        let (run_of_all, stages) = (run.clone(), StageActivity::default());
        let mut sum = Self { run: run_of_all, stages, n_runs: 0, n_stopped: 0, stopped: None };
        sum.note_stages_and_stop(run);
        sum
    }

    fn add_run(&mut self, run: &Run) {
        self.run.tally.add(&run.tally);
        self.run.apply = self.run.apply.take().filter(|it| run.apply.as_ref() == Some(it));
        self.note_stages_and_stop(run);
    }

    /// Notes what is not a number of the tally.
    fn note_stages_and_stop(&mut self, run: &Run) {
        self.n_runs += 1;
        self.stages.add_run(run);
        if let Some(failure) = run.tally.outcome.failure {
            self.n_stopped += 1;
            let at = format!("turn {} of {}", failure.turn, run.tally.outcome.turns_requested);
            self.stopped.get_or_insert_with(|| Stopped { scenario: run.scenario.clone(), at });
        }
    }

    /// Says where the policy stopped at a limit, if it did.
    pub(super) fn where_stopped(&self) -> Option<String> {
        let Stopped { scenario, at } = self.stopped.as_ref()?;
        let Self { n_runs, n_stopped, .. } = self;
        let first =
            format!("stopped in {n_stopped} of {n_runs} scenarios (limit), first in {scenario} at {at}");
        Some(if *n_runs == 1 { format!("stopped at {at} (limit)") } else { first })
    }
}

/// A run in brief.
#[derive(Clone, Copy, Debug)]
pub struct RunBrief<'r> {
    pub policy: &'r str,
    pub scenario: &'r str,
    pub profile: &'r str,
    /// The date of the profile's sources.
    pub as_of: &'r str,
    /// Its numbers.
    pub figures: RunFigures,
}

/// Its numbers: what intervals are made of, and what is asked of single runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunFigures {
    /// User turns of the load.
    pub(super) turns_requested: u32,
    /// User turns answered.
    pub turns_completed: u32,
    /// Its cost in US dollars; `None` if a price is unknown.
    pub cost: Option<f64>,
    /// What its reads would cost more as plain input, in US dollars, if its provider promises no hit.
    pub saved_by_luck: Option<f64>,
    /// The number of sampled runs over which recovery is averaged.
    pub n_played: u32,
    /// Whether the load has needs.
    pub(super) has_needs: bool,
    /// Whether the harness's own compactions are in it.
    pub(super) has_resets: bool,
    /// Whether recovery was drawn.
    pub(super) is_drawn: bool,
    /// Whether nobody has published how the profile's models count tokens that others counted.
    pub(super) is_counting_unknown: bool,
    /// Whether nobody measured how long some model takes.
    pub(super) is_waiting_unknown: bool,
    /// Whether the policy knows later needs.
    pub(super) looks_ahead: bool,
    /// Whether its world found more than a bill.
    pub(super) has_findings: bool,
    /// Whether it stands in the tables of bills.
    pub(super) is_in_sections: bool,
}

impl<'r> From<&'r Run> for RunBrief<'r> {
    fn from(run: &'r Run) -> Self {
        let Run { policy, scenario, profile, assumed, .. } = run;
        Self { policy, scenario, profile, as_of: &assumed.as_of, figures: run.into() }
    }
}

impl From<&Run> for RunFigures {
    fn from(run: &Run) -> Self {
        let tally = &run.tally;
        Self {
            turns_requested: tally.outcome.turns_requested,
            turns_completed: tally.outcome.turns_completed,
            cost: tally.costs.total(),
            saved_by_luck: tally.hit_stake.map(Cost::usd),
            n_played: tally.n_played,
            has_needs: tally.has_needs,
            has_resets: tally.resets.is_some(),
            is_drawn: tally.sums.needs.sent_calls > Expected::ZERO,
            is_counting_unknown: run.assumed.counting == Some(Counting::Unknown),
            is_waiting_unknown: tally.waiting.total().is_unknown,
            looks_ahead: run.looks_ahead,
            has_findings: run.findings.is_some(),
            is_in_sections: run.is_in_sections(),
        }
    }
}
