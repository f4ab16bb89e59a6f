//! What tables and notes look at in each run, beside what they add up.

use crate::prelude::*;
use ctxsim_base::quantity::Expected;
use ctxsim_input::profile::Counting;

/// A run in brief.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'r> {
    pub policy: &'r str,
    pub scenario: &'r str,
    pub profile: &'r str,
    /// The date of the profile's sources.
    pub as_of: &'r str,
    /// Its numbers.
    pub figures: Figures,
}

/// Its numbers: what intervals are made of, and what is asked of single runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
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

impl Figures {
    /// Returns the turns that it was asked, and those that it completed.
    pub fn turns(&self) -> [u32; 2] {
        [self.turns_requested, self.turns_completed]
    }
}

impl<'r> From<&'r Run> for Brief<'r> {
    fn from(run: &'r Run) -> Self {
        Self {
            policy: &run.policy,
            scenario: &run.scenario,
            profile: &run.profile,
            as_of: &run.assumed.as_of,
            figures: run.into(),
        }
    }
}

impl From<&Run> for Figures {
    fn from(run: &Run) -> Self {
        let tally = &run.tally;
        Self {
            turns_requested: tally.outcome.turns_requested,
            turns_completed: tally.outcome.turns_completed,
            cost: tally.costs.total(),
            saved_by_luck: tally.hit_stake.map(|it| it.saved.usd()),
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
