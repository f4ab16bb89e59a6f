//! Guards and snapshots of suites: what `ctxsim check` finds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Moved;

/// The suites that were checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Check {
    /// Each suite.
    pub suites: Vec<SuiteCheck>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A suite's guards and snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SuiteCheck {
    /// The suite.
    pub suite: String,
    /// Its file.
    pub file: String,
    /// Whether every guard and every snapshot holds.
    pub holds: bool,
    /// Each guard on each run.
    pub guards: Vec<GuardCheck>,
    /// Each table of numbers beside its snapshot; empty if there are none.
    pub snapshots: Vec<SnapshotResult>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A table of numbers beside its snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SnapshotResult {
    /// The file of the snapshot.
    pub file: String,
    /// `same`, `moved`, `missing` or `orphan` (the suite no longer has this run).
    pub state: String,
    /// What else is not as it was when the snapshot was written: the version, the scenario, the profile, a policy.
    pub differs: Vec<String>,
    /// The numbers that changed.
    pub moved: Vec<Moved>,
}

/// A guard on one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GuardCheck {
    /// The policy.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The profile.
    pub profile: String,
    /// The guard's place in the suite's file: file, line and column, from 1.
    pub place: String,
    /// Its name.
    pub guard: String,
    /// The metric that it bounds, in the unit that `docs/reference/rows.md` gives.
    pub metric: String,
    /// The policy by whose number it is divided.
    pub over: Option<String>,
    /// The number; `None` if there is no data.
    pub value: Option<f64>,
    /// The bound, in words.
    pub bound: String,
    /// Whether it holds.
    pub holds: bool,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}
