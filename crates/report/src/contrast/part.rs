//! Two policies on one load, before loads are merged.

use crate::SessionReport;
use crate::chart::requests::RunRequests;
use crate::prelude::*;
use ctxsim_engine::ledger::pairing::RequestId;

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
    pub breaks: IndexMap<String, [Broken; 2]>,
    /// The requests whose costs differ.
    pub requests: Vec<RequestChange>,
    /// Needs that are met differently.
    pub needs: Vec<NeedChange>,
    /// Facts by their state in the base and in the candidate, if these differ.
    pub facts: IndexMap<[&'static str; 2], FactChange>,
    /// The stages that differ.
    pub stages: Vec<ChangedStage>,
    /// The differences between the policy files.
    pub changed: Vec<FieldChange>,
    /// The requests of both runs, for charts.
    pub traces: Vec<RunRequests>,
}

/// Prefixes broken by one author.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// How many.
    pub times: u64,
    /// Tokens that were no longer at the front.
    pub tokens: u64,
}

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

impl RequestChange {
    /// Returns by how much its cost changes.
    pub fn difference(&self) -> f64 {
        self.usd[1] - self.usd[0]
    }
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

impl NeedChange {
    /// Returns by how much it is met more, by its weight.
    pub fn difference(&self) -> f64 {
        self.weight * (self.met[1] - self.met[0])
    }
}

/// Facts that change from one state to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FactChange {
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
