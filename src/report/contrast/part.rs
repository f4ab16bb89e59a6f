//! What two policies came to on one load, before loads are put together.

use indexmap::IndexMap;
use serde::Serialize;

use crate::measure::Tally;
use crate::report::Run;

/// What two policies came to on one load under one profile.
#[derive(Clone, Debug)]
pub struct Part {
    /// The runs, the base's first.
    pub runs: [Run; 2],
    /// The runs trial by trial, where needs are drawn; else the runs.
    pub pairs: Vec<[Tally; 2]>,
    /// What the load is called on the command line of `explain`, and the profile, where the load does not say it.
    pub arguments: String,
    /// Prefixes that broke, by who broke them, in the base and in the candidate.
    pub breaks: IndexMap<String, [Broken; 2]>,
    /// The requests that cost most more or less.
    pub requests: Vec<RequestChange>,
    /// What was needed and is met otherwise.
    pub needs: Vec<NeedChange>,
    /// Facts by their state in the base and in the candidate, where it is another one.
    pub facts: IndexMap<[&'static str; 2], FactChange>,
    /// Stages that are not the same in both.
    pub stages: Vec<ChangedStage>,
    /// What the policy files say otherwise.
    pub changed: Vec<FieldChange>,
}

/// Prefixes that someone broke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// How many.
    pub times: u64,
    /// Tokens that no longer stood at the front.
    pub tokens: u64,
}

/// A request that costs more or less.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestChange {
    /// The load.
    pub scenario: String,
    /// The turn, from 0.
    pub turn: u32,
    /// The step, from 0.
    pub step: u32,
    /// Which row it is in the base and in the candidate, from 1, where there is one.
    pub rows: [Option<usize>; 2],
    /// What it costs in the base and in the candidate, in US dollars.
    pub usd: [f64; 2],
    /// What explains it in the base and in the candidate.
    pub commands: [Option<String>; 2],
}

impl RequestChange {
    /// Returns by how much its cost changes.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.usd[1] - self.usd[0]
    }
}

/// A need that is met otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeedChange {
    /// The load.
    pub scenario: String,
    /// The turn in which it is due, from 0.
    pub turn: u32,
    /// What is needed, in a word, and of which item.
    pub what: String,
    /// How probable it is.
    pub weight: f64,
    /// The share that the prompt meets, in the base and in the candidate.
    pub met: [f64; 2],
}

impl NeedChange {
    /// Returns by how much it is met more, by its weight.
    #[must_use]
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

/// A field that the two policies have otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// Its path.
    pub field: String,
    /// What the base and the candidate say; nothing where one says nothing.
    pub says: [Option<String>; 2],
}

/// A stage that is not the same in both policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedStage {
    /// Its name.
    pub name: String,
    /// Which stage it is of the base and of the candidate, where it has one.
    pub places: [Option<usize>; 2],
}
