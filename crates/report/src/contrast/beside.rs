//! What comparisons are made of and what stands beside them: two policies on one load, the inputs that changed, what the results were made with.

use super::words::describe_field_changes;
use crate::SessionReport;
use crate::chart::requests::RunRequests;
use crate::made::MadeWith;
use crate::prelude::*;
use ctxsim_base::grid::numbers::listed_code;
use ctxsim_base::quantity::sums;
use ctxsim_engine::ledger::pairing::RequestId;

/// What stands beside comparisons.
#[derive(Clone, Debug, Default)]
pub struct ComparisonContext {
    /// The loads, in a sentence for each group of comparisons, where nobody named them.
    pub loads: Vec<String>,
    /// The revision that the base is of, if it is of one.
    pub revision: Option<String>,
    /// Policies that the revision does not have.
    pub new: Vec<String>,
    /// Inputs other than the compared policies that are not as the revision has them.
    pub changed: Vec<InputChange>,
    /// Folders of inputs that git does not have, so that what changed there is unknown.
    pub unknown: Vec<String>,
    pub made: MadeWith,
}

/// An input that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputChange {
    /// What kind of input it is.
    pub kind: &'static str,
    pub name: String,
    pub how: InputFate,
    /// What its file says otherwise; of what was added or removed, nothing.
    pub fields: Vec<FieldChange>,
}

/// What happened to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputFate {
    Added,
    Removed,
    Changed,
}

impl InputChange {
    /// Returns its kind and its name.
    fn kind_and_name(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }

    /// Says what changed in it.
    fn describe(&self) -> String {
        let fields = describe_field_changes(&self.fields);
        let how = if fields.is_empty() { serialized_name(self.how) } else { fields.join(", ") };
        format!("{}: {how}", self.kind_and_name())
    }
}

impl ComparisonContext {
    /// Says why there is no comparison.
    pub fn explain_no_comparison(&self) -> String {
        let revision = self.revision.as_deref().unwrap_or_default();
        let titles: Vec<String> = self.changed.iter().map(InputChange::kind_and_name).listed();
        match (self.new.is_empty(), titles.is_empty()) {
            (true, true) => "The candidate is the same as the base: nothing changes.".to_owned(),
            (true, false) => format!(
                "Nothing to compare with `{revision}`: no policy that both have changed. This changed: {}.",
                listed(&titles)
            ),
            (false, _) => format!("{}: there is nothing to compare.", self.describe_new_policies()),
        }
    }

    /// Says which policies are new.
    pub fn describe_new_policies(&self) -> String {
        format!("`{}` does not have {}", self.revision.as_deref().unwrap_or_default(), listed_code(&self.new))
    }

    /// Says in a line each what changed beside the policies.
    pub fn changed_input_lines(&self) -> Vec<String> {
        let unknown = |folder: &String| format!("{folder}: git does not have it, so what changed is unknown");
        self.changed.iter().map(InputChange::describe).chain(self.unknown.iter().map(unknown)).listed()
    }

    /// Returns the heading of these lines.
    pub fn changed_inputs_heading(&self) -> String {
        format!("Changed beside the policies since `{}`", self.revision.as_deref().unwrap_or_default())
    }
}

/// Two policies on one load under one profile.
#[derive(Clone, Debug)]
pub struct ContrastPart {
    /// The runs, the base's first.
    pub runs: [Run; 2],
    /// The recorded session, if it is one.
    pub session: Option<SessionReport>,
    /// The runs by trial if needs are sampled; else the runs.
    pub pairs: Vec<[Tally; 2]>,
    /// The load's name on the command line of `explain`, and the profile, unless the load determines it.
    pub arguments: String,
    /// Broken prefixes, by author, in the base and in the candidate.
    pub breaks: IndexMap<String, [BrokenPrefixes; 2]>,
    /// The requests whose costs differ.
    pub requests: Vec<RequestChange>,
    /// Needs that are met differently.
    pub needs: Vec<NeedChange>,
    /// Facts whose state in the base and in the candidate differ.
    pub facts: Vec<FactsChanged>,
    /// The stages that differ.
    pub stages: Vec<ChangedStage>,
    /// The differences between the policy files.
    pub changed: Vec<FieldChange>,
    /// The requests of both runs, for charts.
    pub traces: Vec<RunRequests>,
}

/// Prefixes broken by one author.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BrokenPrefixes {
    /// How many.
    pub times: u64,
    /// Tokens that were no longer at the front.
    pub tokens: u64,
}

sums!(BrokenPrefixes: times, tokens);

/// A request whose costs differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestChange {
    /// The load.
    pub scenario: String,
    /// The turn, from 0.
    pub turn: u32,
    /// The step, from 0.
    pub step: u32,
    /// What it is in either run.
    pub pair: RequestId,
    /// Its row, from 1, in the base and in the candidate, if there is one.
    pub rows: [Option<usize>; 2],
    /// What it costs in the base and in the candidate, in US dollars.
    pub usd: [f64; 2],
    /// The commands that explain it in the base and in the candidate.
    pub commands: [Option<String>; 2],
}

/// A need that is met differently.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeedChange {
    /// The load.
    pub scenario: String,
    /// The turn in which it is due, from 0.
    pub turn: u32,
    /// What is needed, in a word, and of which item.
    pub what: String,
    /// Its probability.
    pub weight: f64,
    /// The share that the prompt meets, in the base and in the candidate.
    pub met: [f64; 2],
}

/// Facts that change from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactsChanged {
    /// The state in the base.
    pub from: &'static str,
    /// The state in the candidate.
    pub to: &'static str,
    /// How many.
    pub n: u64,
    /// One of them.
    pub example: String,
}

/// A field in which the two policies differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// Its path.
    pub field: String,
    /// Its values in the base and in the candidate; `None` if not set.
    pub says: [Option<String>; 2],
}

/// A stage that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedStage {
    pub name: String,
    /// Its index in the base and in the candidate, if it exists.
    pub places: [Option<usize>; 2],
}
