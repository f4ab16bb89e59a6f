//! Results.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::Error as InnerError;
use crate::face::Error;
use crate::report::sections::Detail;
use crate::report::{self, Totals, json, markdown, shot};

use crate::take::{self, FailedRuns};

pub use crate::take::FailedRun;

/// A comparison's results: every policy on every scenario under every profile.
///
/// `Display` is the Markdown report: totals first, then each scenario, notes and assumptions. It serialises as the JSON report does.
#[derive(Clone, Debug)]
pub struct Report {
    inner: report::Report,
    runs: Vec<Run>,
    sums: Vec<Run>,
}

/// One policy on one scenario under one profile, or summed over all scenarios.
#[derive(Clone, Debug)]
pub struct Run {
    inner: take::Run,
    totals: Totals,
}

/// Numbers selected and rounded so that a release that adds fields does not change any snapshot; `Display` is a table with the date of the prices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    text: String,
}

impl Report {
    pub(super) fn new(inner: report::Report) -> Self {
        let runs = |all: &[take::Run]| all.iter().map(Run::new).collect();
        Self { runs: runs(&inner.runs), sums: runs(&inner.added_up()), inner }
    }

    /// Returns the runs, ordered by scenario, then by profile, then by policy.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the sums over all scenarios, ordered by profile, then by policy. A policy that failed on a scenario has no sum.
    #[must_use]
    pub fn sums(&self) -> &[Run] {
        &self.sums
    }

    /// Returns the runs that failed; they are in no other list.
    #[must_use]
    pub fn failures(&self) -> &[FailedRun] {
        &self.inner.failures
    }

    /// Returns an error that names every run that failed, if any did.
    ///
    /// # Errors
    /// The runs that failed.
    pub fn all_passed(&self) -> Result<(), Error> {
        let failed = self.inner.failures.clone();
        if failed.is_empty() { Ok(()) } else { Err(InnerError::Run(Box::new(FailedRuns(failed))).into()) }
    }

    /// Returns notes that a reader of the numbers must know, as sentences.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    /// Returns the run with these names.
    #[must_use]
    pub fn get(&self, policy: &str, scenario: &str, profile: &str) -> Option<&Run> {
        let mut runs = self.runs.iter();
        runs.find(|it| it.policy() == policy && it.scenario() == scenario && it.profile() == profile)
    }

    /// Returns the guards of the suite that do not hold, as sentences; empty if all hold.
    #[must_use]
    pub fn broken_guards(&self) -> Vec<String> {
        let broken = self.inner.guard_verdicts.iter().filter(|it| !it.holds);
        broken.map(ToString::to_string).collect()
    }

    /// Returns the numbers as a snapshot keeps them.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let tables = self.inner.shots().into_iter().map(|it| {
            let [scenario, profile] = &it.path;
            format!("{scenario} under {profile}, prices of {}\n{}", it.as_of, it.text)
        });
        let failed = self.inner.failures.iter().map(|it| format!("FAILED {it}\n"));
        Snapshot { text: tables.chain(failed).collect::<Vec<_>>().join("\n") }
    }
}

impl Run {
    fn new(run: &take::Run) -> Self {
        Self { totals: Totals::new(&run.tally), inner: run.clone() }
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        &self.inner.policy
    }

    /// Returns the scenario; `ALL` for the sum over all scenarios.
    #[must_use]
    pub fn scenario(&self) -> &str {
        &self.inner.scenario
    }

    /// Returns the profile.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.inner.profile
    }

    /// Returns how many requests the agent made.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.inner.tally.sums.main.n
    }

    /// Returns the size of the longest prompt, in tokens.
    #[must_use]
    pub fn prompt_max(&self) -> u64 {
        self.inner.tally.sums.main.prompt_max
    }

    /// Returns the total size of the agent's prompts, in tokens.
    #[must_use]
    pub fn input(&self) -> u64 {
        self.inner.tally.sums.main.tokens.prompt()
    }

    /// Returns how many tokens of the agent's prompts were read from the cache.
    #[must_use]
    pub fn cache_read(&self) -> u64 {
        self.inner.tally.sums.main.tokens.read
    }

    /// Returns how many tokens of the agent's prompts were billed as written to the cache.
    #[must_use]
    pub fn cache_write(&self) -> u64 {
        let [short, long] = self.inner.tally.sums.main.tokens.write;
        short.saturating_add(long)
    }

    /// Returns how many tokens of the agent's prompts were billed as plain input.
    #[must_use]
    pub fn uncached(&self) -> u64 {
        self.inner.tally.sums.main.tokens.uncached
    }

    /// Returns how many output tokens the agent's model wrote.
    #[must_use]
    pub fn output(&self) -> u64 {
        self.inner.tally.sums.main.tokens.output
    }

    /// Returns the total cost in US dollars; `None` if any token has no price.
    #[must_use]
    pub fn usd(&self) -> Option<f64> {
        self.inner.tally.costs.total().filter(|it| it.is_finite())
    }

    /// Returns the total cost at both ends of the recovery assumptions' intervals; `None` if there are none.
    #[must_use]
    pub fn usd_interval(&self) -> Option<[f64; 2]> {
        self.inner.tally.cost_interval().filter(|it| it.iter().all(|end| end.is_finite()))
    }

    /// Returns the share of needed evidence that prompts still contained, from 0 to 1; `None` if no needs are known.
    #[must_use]
    pub fn evidence_kept(&self) -> Option<f64> {
        self.inner.tally.evidence_kept()
    }

    /// Returns the expected number of calls that fetch evidence again; `None` if no needs are known.
    #[must_use]
    pub fn recovery_calls(&self) -> Option<f64> {
        self.metric("recovery.expected_calls")
    }

    /// Returns any number in the JSON report's `totals` by its path, such as `cost_usd.total`; `None` if it is unknown.
    #[must_use]
    pub fn metric(&self, place: &str) -> Option<f64> {
        self.totals.number(place)
    }

    /// Returns the numbers as a snapshot keeps them.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let prices = &self.inner.assumed.as_of;
        Snapshot { text: format!("prices of {prices}\n{}", shot::table(&[&self.inner])) }
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::run_value(&self.inner).serialize(serializer)
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = json::document(&self.inner).map_err(serde::ser::Error::custom)?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&markdown::report(&self.inner, Detail::Scenarios))
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}
