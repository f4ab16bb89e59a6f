//! A part of a job over histories: what the sessions of one project or user came to, run by run, with what was found beside the bill.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Common, MissingPrice, OfRun, PartHead, PartOf};
use ctxsim_engine::take::{Run, RunBasis};
use ctxsim_worlds::histories::FetchSummary;

/// What all parts of a job over histories have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryHead(pub PartHead);

/// A part of a job over histories.
pub type HistoryPart = PartOf<HistoryHead>;

impl Common for HistoryHead {
    const SCHEMA: &'static str = "ctxsim.memory-part/1";
    type Load = OfHistory;
    const TELLS_SKIPPED: bool = true;
}

/// What one history came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfHistory {
    /// Its name: that of the runs' scenario.
    pub name: String,
    /// Its runs, by profile, then by policy.
    pub runs: Vec<WholeRun>,
    /// Notes on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Which tokens have no price, if a cost is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<MissingPrice>,
}

/// One run with all that a report shows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WholeRun {
    /// What totals need of it.
    pub run: OfRun,
    /// Its assumptions, in sentences.
    pub assumed: Vec<String>,
    /// What was fetched again, and what a memory would have made of it.
    pub found: Option<FetchSummary>,
}

impl WholeRun {
    /// Takes all of a run of a history, which is none of one recorded session.
    pub fn new(run: Run) -> Self {
        let found = run.found::<FetchSummary>().cloned();
        Self { assumed: run.assumed.sentences.clone(), found, run: OfRun::new(run) }
    }

    /// Returns the run.
    pub fn run(self, scenario: &str) -> Run {
        let run = self.run.run(scenario, false);
        let assumed = RunBasis { sentences: self.assumed, ..(*run.assumed).clone() };
        Run { findings: self.found.map(|it| Arc::new(it) as _), assumed: Arc::new(assumed), ..run }
    }
}
