//! A part: what one scenario of a plan came to, as one line of JSON. Parts of one job fold to what all of its scenarios come to.

mod room;

use super::{FailedRun, SessionReport, SkippedFile};
use crate::prelude::*;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::take::{RunBasis, StageFacts};
use ctxsim_input::policy::Apply;
use ctxsim_input::profile::Counting;
use ctxsim_input::suite::Reference;
use ctxsim_timeline::import::LossReason;
use serde::de::DeserializeOwned;
use std::sync::Arc;

pub use room::SumHeadroom;

/// What all parts of a job have in common, by the kind of job.
pub trait JobKind: Clone + Serialize + DeserializeOwned {
    /// The schema of its parts.
    const SCHEMA: &'static str;
    /// What one load comes to.
    type Load: Clone + Serialize + DeserializeOwned;
    /// Whether its result tells what was skipped, so that recordings that were named and cannot be used may be skipped, too.
    const TELLS_SKIPPED: bool;

    /// Returns whether a load has all the results that the job plays; what was written by something else may lack some.
    fn has_all_results(&self, _load: &Self::Load) -> bool {
        true
    }
}

impl JobKind for PartHead {
    const SCHEMA: &'static str = "ctxsim.part/1";
    type Load = LoadResult;
    const TELLS_SKIPPED: bool = true;
}

/// A part of a run.
pub type RunPart = JobPart<PartHead>;

/// The version that makes parts. It reads its own alone: numbers stand by their places, and another version may count otherwise.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What one scenario of a plan came to: all of its sessions under all policies and profiles, with what others tell of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct JobPart<H: JobKind> {
    /// The schema.
    pub schema: String,
    /// The version that made it.
    pub version: String,
    /// The digest of its job: of policies, profiles, options and assumptions, and of the scenarios with what is known of each.
    pub job: String,
    /// What all parts of the job have in common.
    pub head: H,
    /// Its place in the plan, from 0.
    pub nth: usize,
    /// The number of scenarios of the plan.
    pub of: usize,
    /// The scenario.
    pub name: String,
    /// What its loads came to, in order: each session of a file is one.
    pub loads: Vec<H::Load>,
    /// What of it takes no part, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Excluded>,
}

/// What tells who may read a part.
#[derive(Debug, Deserialize)]
struct PartMark {
    schema: String,
    version: String,
}

/// A scenario that takes no part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// Its file.
    pub file: String,
    /// The reason, in a few words.
    pub reason: String,
    /// Whether it was not asked for, so that nobody misses it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_not_asked: bool,
}

/// What all parts of a job have in common: what a report needs of its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartHead {
    /// The suite, if any.
    pub suite: Option<String>,
    /// Notes on the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Published figures beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Policies that know later needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracles: Vec<String>,
    /// Policies that are schedules in hindsight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<String>,
    /// The titles of policies, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub titles: IndexMap<String, String>,
    /// The settings of agents that are played in the place of policies that nobody named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// The first policy.
    pub baseline: String,
    /// Whether the suite adds up all scenarios.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_sum: bool,
    /// Whether its tables rank the policies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ranked: bool,
    /// Whether only some recorded sessions were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_selected: bool,
    /// The share of evidence that a policy must keep to be recommended.
    pub min_evidence: f64,
}

/// What one load came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// Its name: that of the runs' scenario.
    pub name: String,
    /// Its runs, by profile, then by policy.
    pub runs: Vec<RunResult>,
    /// Those that came to no result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedRun>,
    /// Notes on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The recorded session, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionReport>,
    /// What of its recording could not be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LossReason>,
    /// Which tokens have no price, if a cost is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<MissingPrice>,
}

/// One run: exact sums and money as integers, ratios as what was met and its weight, and expected values apart from both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
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
    /// Whether nobody has published how the profile's models count tokens that others counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_counting_unknown: bool,
    /// The numbers.
    pub tally: Tally,
    /// The stages of the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageFacts>,
    /// The setting that makes a real agent behave like this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<Apply>,
}

/// A profile that lacks the price of some tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MissingPrice {
    /// The profile.
    pub profile: String,
    /// Whether output has no price.
    pub output: bool,
    /// Whether writes to the cache have none, by lifetime class: short, long.
    pub writes: [bool; 2],
}

impl From<SkippedFile> for Excluded {
    fn from(SkippedFile { file, reason, is_not_asked }: SkippedFile) -> Self {
        Self { file, reason, is_not_asked }
    }
}

impl From<Excluded> for SkippedFile {
    fn from(Excluded { file, reason, is_not_asked, .. }: Excluded) -> Self {
        Self { file, reason, is_not_asked }
    }
}

impl RunResult {
    /// Takes what totals need of a run.
    pub fn new(run: Run) -> Self {
        Self {
            policy: run.policy,
            profile: run.profile,
            as_of: run.assumed.as_of.clone(),
            seed: run.seed,
            trials: run.trials,
            looks_ahead: run.looks_ahead,
            is_counting_unknown: run.assumed.counting == Some(Counting::Unknown),
            tally: run.tally,
            stages: run.stages.to_vec(),
            apply: run.apply.as_deref().cloned(),
        }
    }

    /// Returns the run, whose assumptions are not among what totals need.
    pub fn into_run(self, scenario: &str, is_recorded: bool) -> Run {
        let counting = self.is_counting_unknown.then_some(Counting::Unknown);
        Run {
            policy: self.policy,
            scenario: scenario.to_owned(),
            profile: self.profile,
            seed: self.seed,
            trials: self.trials,
            findings: None,
            looks_ahead: self.looks_ahead,
            tally: self.tally,
            assumed: Arc::new(RunBasis { as_of: self.as_of, is_recorded, counting, sentences: Vec::new() }),
            stages: self.stages.into(),
            apply: self.apply.map(Arc::new),
        }
    }
}

impl<H: JobKind> JobPart<H> {
    /// Returns it as one line of JSON.
    ///
    /// # Errors
    /// A number that JSON cannot hold.
    pub fn to_json_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(|it| it + "\n")
    }

    /// Reads a line; one that another version made, or another kind of job, is told apart from one that is broken.
    ///
    /// # Errors
    /// It is no part, or this version cannot read it.
    pub fn from_json_line(line: &str) -> Result<Self, Box<Diagnostic>> {
        let broken = |error: serde_json::Error| {
            let is_cut = error.is_eof();
            let message = if is_cut { "this part is cut off".into() } else { format!("not a part: {error}") };
            let help = "run its shard again: it makes only the parts that are missing";
            part_problem(Code("part-broken"), "", message, help)
        };
        let mark: PartMark = serde_json::from_str(line).map_err(broken)?;
        if mark.version != VERSION {
            let PartMark { version, schema } = mark;
            let message = format!("this part was made by ctxsim {version} ({schema}), and this is {VERSION}");
            let help = "use one version for all parts: run its shard again, into another folder";
            return Err(part_problem(Code("part-version"), "version", message, help));
        }
        if mark.schema != H::SCHEMA {
            let (own, job) = (mark.schema, H::SCHEMA);
            let message = format!("this part is a `{own}`, and those of this job are `{job}`");
            let help = "keep the parts of each job in a folder of its own";
            return Err(part_problem(Code("part-job"), "schema", message, help));
        }
        let part: Self = serde_json::from_str(line).map_err(broken)?;
        if !part.loads.iter().all(|it| part.head.has_all_results(it)) {
            return Err(foreign_part_problem("a load does not have one result for each variant"));
        }
        Ok(part)
    }
}

/// Reports a part that no version of this program wrote.
fn foreign_part_problem(reason: &str) -> Box<Diagnostic> {
    let help = "ctxsim did not write this: remove it, and run its shard again";
    part_problem(Code("part-broken"), "", format!("not a part: {reason}"), help)
}

fn part_problem(code: Code, field: &str, message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::at(code, field, message).help(help))
}

/// Parts that are gathered in any order, until there is one for each scenario of the job.
#[derive(Clone, Debug, Default)]
pub struct PartSet {
    job: Option<String>,
    /// What its parts have in common, as it is written.
    head: Option<String>,
    /// The number of scenarios of the job, as its parts say.
    of: usize,
    /// By place in the plan, where the part stands and the digest of its text.
    places: BTreeMap<usize, (usize, u128)>,
    /// What is left for the numbers of parts.
    room: SumHeadroom,
}

impl PartSet {
    /// Notes a part, with the number that it was given and the digest of its text; a part that is there already, word for word, is passed over.
    ///
    /// # Errors
    /// It belongs to another job, or differs from another part of the same scenario.
    pub fn add_part<H: JobKind>(
        &mut self,
        part: &JobPart<H>,
        part_number: usize,
        text_digest: u128,
    ) -> Result<(), Box<Diagnostic>> {
        let job = self.job.get_or_insert_with(|| part.job.clone());
        if *job != part.job {
            let message = format!("this part is of job {}, and the ones before are of {job}", part.job);
            let help = "fold parts of one command line and one set of sessions; keep each job in a folder of its own";
            return Err(part_problem(Code("part-job"), "job", message, help));
        }
        let head = serde_json::to_string(&part.head).map_err(|it| foreign_part_problem(&it.to_string()))?;
        // A fold takes the first, and each part was read by its own.
        if *self.head.get_or_insert_with(|| head.clone()) != head {
            return Err(foreign_part_problem("its `head` differs from that of other parts of its job"));
        }
        self.room.reserve_for(part).map_err(|reason| foreign_part_problem(&reason))?;
        self.of = part.of.max(self.of);
        if part.nth >= part.of {
            let message = format!("{} is number {} of {}", part.name, part.nth, part.of);
            return Err(part_problem(Code("part-broken"), "job", message, "run its shard again"));
        }
        let (_, known) = *self.places.entry(part.nth).or_insert((part_number, text_digest));
        if known != text_digest {
            let message = format!("two parts of {} differ", part.name);
            let help = "remove both and run their shard again";
            return Err(part_problem(Code("part-twice"), "job", message, help));
        }
        Ok(())
    }

    /// Returns the numbers of the parts in the order of the plan.
    ///
    /// # Errors
    /// Some are missing.
    pub fn part_numbers_in_plan_order(&self) -> Result<Vec<usize>, Box<Diagnostic>> {
        let order: Vec<usize> = self.places.values().map(|it| it.0).listed();
        let missing = self.of - order.len();
        if missing == 0 && !order.is_empty() {
            return Ok(order);
        }
        let first = (0..self.of).find(|it| !self.places.contains_key(it)).unwrap_or_default();
        let some = format!("{missing} of {} parts are missing; the first is number {first}", self.of);
        let message = if order.is_empty() { "there are no parts".to_owned() } else { some };
        let help = "run every shard to its end: each makes only the parts that are missing";
        Err(part_problem(Code("part-missing"), "", message, help))
    }
}
