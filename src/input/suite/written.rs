//! A suite file as written.

mod bound;
mod figure;
mod guard;

pub use self::bound::*;
pub use self::figure::*;
pub use self::guard::*;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::input::policy::Size;
use crate::quantity::{Decimal, Tokens};

/// A suite: a named set of policies, scenarios and profiles that are run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The name: the file's path below `suites/` without its extension.
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The policies, by name, in the order of the report; differences are against the first. In any name of an input, `*`
    /// stands for anything.
    pub policies: Vec<String>,
    /// The scenarios, by name.
    pub scenarios: Vec<String>,
    /// The profiles, by name.
    pub profiles: Vec<String>,
    /// Whether a recorded session runs under the profile of the model that was billed for most of its input, instead of
    /// under `profiles`; false, when silent.
    #[serde(default)]
    pub own_models: bool,
    /// Parameters of policies that it sets.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// Fields that it overrides, as `--set` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Whether reports add, per policy and profile, a row that sums the scenarios.
    #[serde(default)]
    pub sum: bool,
    /// Whether tables rank the policies: the first stays in front, then they stand from the cheapest to the dearest, each with the
    /// reason for its change of cost.
    #[serde(default)]
    pub ranked: bool,
    /// Sentences that a reader of the table must know; left out where a run takes other scenarios or profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Rules on the results; a run of the suite that breaks one ends with exit code 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Guard>,
    /// Figures of others that stand beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Published figures that stand beside ours, in a table of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// What break-even points are asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_even: Option<Habits>,
}

/// The habits whose break-even points a comparison of price lists tells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Habits {
    /// Tokens that a prune takes out of the prompt.
    pub prune_removes_tokens: Tokens,
    /// Tokens behind them, which have to be written to the cache again.
    pub prune_rewrites_tokens: Tokens,
    /// After which share of a lifetime a request is sent to keep an entry alive; above 0.
    pub keep_alive_after: Decimal,
    /// How many requests share a prefix that could be filled up to the shortest that is cached; 1 and up.
    pub fill_up_requests: u32,
    /// How many times smaller a prompt is that is compressed instead of cached; above 0.
    pub compression: Decimal,
    /// Tokens that a compaction leaves.
    pub compaction_prefix_tokens: Tokens,
    /// Tokens that a request adds behind them, the carried-over part of a summary included.
    pub compaction_growth_tokens: Tokens,
    /// The share of requests that miss the cache, 0 to 1.
    pub compaction_miss_share: Decimal,
}
