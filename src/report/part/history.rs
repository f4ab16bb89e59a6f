//! A part of a job over histories: what the sessions of one project or user came to, run by run, with what was found beside the bill.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Common, Head, MissingPrice, PartOf};
use crate::input::policy::Apply;
use crate::measure::Tally;
use crate::take::{Assumed, Run, StageFacts};
use crate::worlds::histories::Summary;

/// What all parts of a job over histories have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryHead(pub Head);

/// A part of a job over histories.
pub type HistoryPart = PartOf<HistoryHead>;

impl Common for HistoryHead {
    const SCHEMA: &'static str = "ctxsim.memory-part/1";
    type Load = OfHistory;
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
    /// The policy.
    pub policy: String,
    /// The profile.
    pub profile: String,
    /// The date of its sources.
    pub as_of: String,
    /// The seed.
    pub seed: u64,
    /// The number of trials.
    pub trials: u64,
    /// Whether the policy knows later needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub looks_ahead: bool,
    /// The numbers.
    pub tally: Tally,
    /// Its assumptions, in sentences.
    pub assumed: Vec<String>,
    /// The stages of the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageFacts>,
    /// The setting that makes a real agent behave like this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<Apply>,
    /// What was fetched again, and what a memory would have made of it.
    pub found: Option<Summary>,
}

impl WholeRun {
    /// Takes all of a run of a history, which is none of one recorded session.
    pub fn new(run: Run) -> Self {
        let found = run.found::<Summary>().cloned();
        Self {
            policy: run.policy,
            profile: run.profile,
            as_of: run.assumed.as_of.clone(),
            seed: run.seed,
            trials: run.trials,
            looks_ahead: run.looks_ahead,
            tally: run.tally,
            assumed: run.assumed.sentences.clone(),
            stages: run.stages.to_vec(),
            apply: run.apply.as_deref().cloned(),
            found,
        }
    }

    /// Returns the run.
    pub fn run(self, scenario: &str) -> Run {
        let assumed =
            Assumed { as_of: self.as_of, is_recorded: false, counting: None, sentences: self.assumed };
        Run {
            policy: self.policy,
            scenario: scenario.to_owned(),
            profile: self.profile,
            seed: self.seed,
            trials: self.trials,
            findings: self.found.map(|it| Arc::new(it) as _),
            looks_ahead: self.looks_ahead,
            tally: self.tally,
            assumed: Arc::new(assumed),
            stages: self.stages.into(),
            apply: self.apply.map(Arc::new),
        }
    }
}
