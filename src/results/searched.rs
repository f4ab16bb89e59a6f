//! Grids of parameters: what `ctxsim sweep` finds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
