//! A suite file as written.

mod bound;
mod figure;
mod guard;

pub use self::bound::*;
pub use self::figure::*;
pub use self::guard::*;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::policy::Size;
use ctxsim_base::quantity::{Decimal, Tokens};

crate::decoded_here!(SuiteFile, Habits);
crate::encoded_here!(SuiteFile, Habits);

/// A suite: a named set of policies, scenarios and profiles to run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The name: the file's path below `suites/` without its extension.
    pub name: String,
    /// What it shows, in one sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The policies by name, in report order; the first is the baseline. `*` in any input name matches
    /// anything.
    pub policies: Vec<String>,
    /// The scenarios, by name.
    pub scenarios: Vec<String>,
    /// The profiles, by name.
    pub profiles: Vec<String>,
    /// Whether a recorded session runs under the profile of the model that was billed for most of its input,
    /// instead of under `profiles`. Default: false.
    #[serde(default)]
    pub own_models: bool,
    /// Parameters of policies that it overrides.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// Fields that it overrides, as in `--set`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Whether reports add, per policy and profile, a row with the sum over the scenarios.
    #[serde(default)]
    pub sum: bool,
    /// Whether tables rank the policies: after the first, by ascending cost, each with the reason for its
    /// change in cost.
    #[serde(default)]
    pub ranked: bool,
    /// Sentences that a reader of the table must know; omitted if a run uses other scenarios or profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Guards on the results; a run that breaks one ends with exit code 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Guard>,
    /// Published figures shown beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Published figures shown beside ours, in their own table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Inputs of break-even points.
    pub break_even: Option<Habits>,
}

/// The usage assumptions behind the break-even points in a comparison of price lists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Habits {
    /// Tokens that a prune removes from the prompt.
    pub prune_removes_tokens: Tokens,
    /// Tokens after them, which must be written to the cache again.
    pub prune_rewrites_tokens: Tokens,
    /// The share of a lifetime, above 0, after which a request is sent to keep an entry alive.
    pub keep_alive_after: Decimal,
    /// Requests that share a prefix which could be padded to the shortest cached length; at least 1.
    pub fill_up_requests: u32,
    /// How many times smaller a prompt becomes if it is compressed instead of cached; above 0.
    pub compression: Decimal,
    /// Tokens that a compaction leaves.
    pub compaction_prefix_tokens: Tokens,
    /// Tokens that a request adds after them, including the carried-over part of a summary.
    pub compaction_growth_tokens: Tokens,
    /// The share of requests that miss the cache, 0 to 1.
    pub compaction_miss_share: Decimal,
}
