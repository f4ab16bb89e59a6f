//! A suite file as written.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::guard::{GuardSpec, ReferenceSpec};
use super::size::SizeSpec;

/// A suite: a named set of policies, scenarios and profiles that are run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuiteSpec {
    /// The name: the file's path below `suites/` without its extension.
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The policies, by name, in the order of the report; differences are against the first.
    pub policies: Vec<String>,
    /// The scenarios, by name.
    pub scenarios: Vec<String>,
    /// The profiles, by name.
    pub profiles: Vec<String>,
    /// Parameters of policies that it sets.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, SizeSpec>,
    /// Fields that it overrides, as `--set` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Whether reports add, per policy and profile, a row that sums the scenarios.
    #[serde(default)]
    pub sum: bool,
    /// Sentences that a reader of the table must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Rules on the results; a run of the suite that breaks one ends with exit code 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardSpec>,
    /// Figures of others that stand beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceSpec>,
}
