//! The lines of a report's tables: sums over scenarios, whatever profiles they ran under.

use crate::face::Error;
use crate::face::report::known_metric;
use ctxsim_engine::measure::{Spread, Tally};
use ctxsim_report::RunTotals;
use ctxsim_report::sections::{Section, TableLine};
use ctxsim_timeline::row::heads;

/// One policy in a table of several scenarios, against the first policy of the table.
///
/// Recorded sessions that each ran under the profile of their own model stand in one table. All shares of change are fractions of the first
/// policy's cost: −0.1 is a tenth less.
#[derive(Clone, Debug)]
pub struct Total {
    load: String,
    profile: String,
    policy: String,
    scenarios: usize,
    runs: usize,
    is_part: bool,
    change: Option<f64>,
    spread: Option<Spread>,
    totals: RunTotals,
}

impl Total {
    /// Returns the lines of a table.
    pub(super) fn of(section: &Section) -> impl Iterator<Item = Self> {
        section.lines.iter().enumerate().map(|(nth, line)| Self::new(section, line, nth == 0))
    }

    fn new(section: &Section, line: &TableLine, is_first: bool) -> Self {
        Self {
            load: section.load.clone(),
            profile: section.profile.clone(),
            policy: line.policy.clone(),
            scenarios: section.scenarios,
            runs: usize::try_from(line.tally.n_runs).unwrap_or_default(),
            is_part: section.is_part,
            change: if is_first { None } else { section.change(line) },
            spread: line.spread,
            totals: RunTotals::new(&line.tally),
        }
    }

    /// Returns what was run, as the table's heading has it.
    #[must_use]
    pub fn load(&self) -> &str {
        &self.load
    }

    /// Returns the profile, or that each session ran under its own model's.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Returns how many scenarios the table adds up.
    #[must_use]
    pub fn scenarios(&self) -> usize {
        self.scenarios
    }

    /// Returns whether every scenario of the table is in the sum. A policy that failed on some has a sum over the others only, which says
    /// nothing beside the sums of other policies.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.runs >= self.scenarios
    }

    /// Returns whether the table is a part of another one.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// Returns the total cost in US dollars; `None` if any token has no price.
    #[must_use]
    pub fn usd(&self) -> Option<f64> {
        self.totals.number("cost_usd.total")
    }

    /// Returns the share of needed evidence that prompts still contained, from 0 to 1; `None` if no needs are known.
    #[must_use]
    pub fn evidence_kept(&self) -> Option<f64> {
        self.totals.number("evidence_kept")
    }

    /// Returns by which share its cost differs from the first policy's; `None` for the first policy, or if the work done differs.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        self.change
    }

    /// Returns the 95% interval of that share for later sessions, over what is assumed, too.
    #[must_use]
    pub fn change_interval(&self) -> Option<[f64; 2]> {
        self.spread.and_then(|it| it.interval)
    }

    /// Returns that share in the median session.
    #[must_use]
    pub fn change_median(&self) -> Option<f64> {
        self.spread.map(|it| it.median)
    }

    /// Returns the shares of sessions, from 0 to 1, that get cheaper, cost the same within 0.05%, and get more expensive.
    #[must_use]
    pub fn cheaper_same_dearer(&self) -> Option<[f64; 3]> {
        self.spread.map(|it| [it.cheaper, it.same, it.dearer])
    }

    /// Returns any number in the JSON report's `totals` by its path, as [`Run::metric`](crate::Run::metric) does.
    ///
    /// # Errors
    /// No report has such a number (`guard-metric`); the error suggests one.
    pub fn metric(&self, place: &str) -> Result<Option<f64>, Error> {
        known_metric(place)?;
        Ok(self.totals.number(place))
    }

    /// Returns every number in the JSON report's `totals` with its path, as [`Run::metrics`](crate::Run::metrics) does.
    pub fn metrics(&self) -> impl Iterator<Item = (String, Option<f64>)> {
        let numbers = heads::<Tally>().into_iter().filter(|it| it.unit.is_number());
        numbers.map(|it| {
            let number = self.totals.number(&it.name);
            (it.name, number)
        })
    }
}
