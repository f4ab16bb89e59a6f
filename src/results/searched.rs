//! Grids of parameters: what `ctxsim sweep` and `ctxsim tune` find.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Spread, Word};

/// All points of a grid, and which of them are worth a look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SweptGrid {
    /// The points, in the order of the grid.
    pub points: Vec<SweptPoint>,
    /// The Pareto front: indices of points, the cheapest first.
    pub front: Vec<usize>,
    /// The index of the point of the front that is closest to the best value of every objective; `None` if none is worth what it costs
    /// against the base.
    pub knee: Option<usize>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A point of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SweptPoint {
    /// Its index in `points`.
    pub index: usize,
    /// Its overrides, `PATH=VALUE`.
    pub set: Vec<String>,
    /// Its numbers by metric, such as `cost_usd.total` (US dollars), `evidence_kept` (0 to 1) and `prompt_tokens_max` (tokens).
    pub numbers: BTreeMap<String, Option<f64>>,
    /// The base's numbers under the same overrides of scenarios.
    pub base: BTreeMap<String, Option<f64>>,
    /// How it compares with the base: `wins`, `loses` and so on.
    pub label: Option<String>,
    /// The 95% interval of its relative change in cost.
    pub interval: Option<[f64; 2]>,
    /// The lowest and the highest of that change where everything that is assumed is wrong in one direction.
    pub bound: Option<[f64; 2]>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// The best parameters of a policy: chosen on one part of the sessions, tested on the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TunedPolicy {
    /// The policy that it is compared with.
    pub base: String,
    /// The policy whose parameters were varied.
    pub policy: String,
    /// The share of needed evidence that had to be kept, from 0 to 1.
    pub min_evidence: f64,
    /// How many variants were simulated.
    pub variants: u64,
    /// The overrides of the best variant.
    pub chosen: Vec<String>,
    /// Its results on the sessions that it was chosen on and, if there are enough, on those held out.
    pub parts: Vec<TriedPart>,
    /// By how much its saving was smaller on what was held out, as a share of the base's cost.
    pub optimism: Option<f64>,
    /// What to do about it.
    pub word: Option<Word>,
    /// What that word rests on, in a sentence.
    pub word_rests_on: Option<String>,
    /// Whether the best variant is recommended.
    pub is_recommended: bool,
    /// Why not, in a sentence.
    pub reason: Option<String>,
    /// Stages that never fired.
    pub never_fired: Vec<String>,
    /// The longest prompt under the base, in tokens.
    pub prompt_tokens_max: u64,
    /// All variants, the best first.
    pub points: Vec<TriedPoint>,
    /// The recommended policy as a RON file, which [`Policy::ron`](crate::Policy::ron) reads; `None` if none is. It is not part of the JSON.
    #[serde(skip)]
    pub file: Option<String>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TriedPoint {
    /// Its overrides; none for the policy as it is.
    pub set: Vec<String>,
    /// Its results on the sessions to choose on and, if there are enough, on those held out.
    pub parts: Vec<TriedPart>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A variant on one part of the sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TriedPart {
    /// How many sessions there are.
    pub sessions: u64,
    /// How many projects they are of.
    pub projects: u64,
    /// Its cost in US dollars; `None` if a price is unknown, or if it does less work than the base.
    pub cost: Option<f64>,
    /// The base's cost in US dollars.
    pub base_cost: Option<f64>,
    /// The relative change of its cost.
    pub spread: Option<Spread>,
    /// The share of needed evidence that it keeps, from 0 to 1.
    pub evidence_kept: Option<f64>,
    /// The lower end of that share's 95% interval for later sessions.
    pub evidence_low: Option<f64>,
    /// The share that the base keeps.
    pub base_kept: Option<f64>,
    /// The relative change without the project (or the session) that saves most.
    pub without_best: Option<f64>,
    /// The lowest and the highest change where everything that is assumed is wrong in one direction.
    pub bound: Option<[f64; 2]>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}
