//! What `ctxsim explain`, `sensitivity`, `sweep` and `check` find: values that are read from their JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::BreakEven;
#[cfg(feature = "cli")]
use super::SnapshotCheck;

/// How every item of a request is shown and why, where the cached prefix broke, and what was billed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The policy.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The profile.
    pub profile: String,
    /// Which request of the run, from 1.
    pub request: u64,
    /// How many requests the run makes.
    pub requests: u64,
    /// The stage that made the request; `None` for the agent itself.
    pub asked_by: Option<String>,
    /// The request's tokens and cost.
    pub row: ExplainedRequest,
    /// What the request costs in picodollars (10⁻¹² US dollars), by part: `cache_read`, `cache_write`, `uncached`, `output` and `total`.
    pub cost_picodollars: BTreeMap<String, Option<u128>>,
    /// What the cache did, in a sentence.
    pub cache: CacheReads,
    /// How the prompt compares with the agent's previous one.
    pub prefix: PrefixCheck,
    /// What stages did since the previous request.
    pub stages: Vec<StageEffect>,
    /// Tokens of the prompt outside items, such as recalled memory.
    pub tokens_beside_items: u64,
    /// Every item that had entered, in order.
    pub items: Vec<ExplainedItem>,
    /// The text of the prompt as it was sent; empty if the scenario has no text. It is not part of the JSON.
    #[serde(skip)]
    pub prompt: String,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// What the cache read of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CacheReads {
    /// In a sentence.
    pub says: String,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// The tokens and the cost of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedRequest {
    /// The user turn, counted from 0 as in `--rows requests`.
    pub turn: u32,
    /// The step, counted from 0 over the whole session, as in `--rows requests`.
    pub step: u32,
    /// Who asks: `main`, `summariser` or `keep_alive`.
    pub role: String,
    /// When, in seconds from the start of the scenario.
    pub t_s: f64,
    /// The size of the prompt, in tokens: the sum of the next three.
    pub prompt_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens billed as written to the cache.
    pub cache_write_tokens: u64,
    /// Tokens billed as plain input.
    pub uncached_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// The cost of its tokens in US dollars; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// How a prompt compares with the agent's previous one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PrefixCheck {
    /// The same in a sentence.
    pub says: String,
    /// The previous request of the agent, from 1; `None` for the first.
    pub compared_with_request: Option<u64>,
    /// The tokens of that prompt.
    pub previous_tokens: Option<u64>,
    /// How many of them this prompt begins with.
    pub same_tokens: Option<u64>,
    /// The first item that differs, counted from 0 as in `items`; `None` if the prompt begins with the whole previous one.
    pub differs_at_item: Option<u64>,
    /// What changed that item.
    pub changes: Vec<ItemChange>,
}

/// What a stage did between two requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageEffect {
    /// The stage, or who else did it.
    pub by: String,
    /// How many items it changed.
    pub items: u64,
    /// Tokens shown of these items before.
    pub tokens_before: u64,
    /// Tokens shown of them after.
    pub tokens_after: u64,
}

/// An item, and how it is shown in the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedItem {
    /// Its number, from 0.
    pub item: u64,
    /// What it is, such as `system`, `user` or `tool_result`.
    pub kind: String,
    /// The tool, of a call or a result.
    pub tool: Option<String>,
    /// The user turn that it came in, from 0; `None` for what came before any.
    pub turn: Option<u32>,
    /// Whether it was in no earlier request.
    pub is_new: bool,
    /// Its size as it came, in tokens.
    pub raw_tokens: u64,
    /// How it is shown, such as `as received`.
    pub shown: String,
    /// Its tokens as shown; 0 if it is not.
    pub shown_tokens: u64,
    /// The item that stands for it, if it is behind a summary.
    pub behind_summary_at: Option<u64>,
    /// Of the tokens shown: those read from the cache.
    pub cache_read_tokens: u64,
    /// Those written to it.
    pub cache_write_tokens: u64,
    /// Those billed as plain input.
    pub uncached_tokens: u64,
    /// Each change that it went through, in order.
    pub changes: Vec<ItemChange>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A change of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ItemChange {
    /// The stage, or who else made it.
    pub by: String,
    /// The moment at which a stage made it, such as `turn_end`.
    pub at: Option<String>,
    /// The agent's first request that was sent with it, from 1.
    pub request: Option<u64>,
    /// How it was shown before.
    pub from: String,
    /// The tokens that it had.
    pub from_tokens: u64,
    /// How it is shown after.
    pub to: String,
    /// The tokens that it has.
    pub to_tokens: u64,
}

/// How the order of policies depends on prices and cache rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sensitivity {
    /// The policies, in the given order; differences are against the first.
    pub policies: Vec<String>,
    /// How many distinct pairs of cache rules and limits the profiles have.
    pub distinct_rules_and_limits: u64,
    /// How many simulations were run.
    pub simulations: u64,
    /// The profiles, with their break-even points.
    pub profiles: Vec<PricedProfile>,
    /// The sum over all scenarios (`ALL`) if there are several, then each scenario.
    pub loads: Vec<PricedScenario>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A profile of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PricedProfile {
    /// Its name.
    pub profile: String,
    /// The date of its prices, `YYYY-MM-DD`.
    pub as_of: String,
    /// How its models count the tokens of recordings, in a few words; `None` without recordings.
    pub tokens: Option<String>,
    /// Where caching, pruning, keep-alives and compactions begin to pay under its prices.
    pub break_even: BreakEven,
}

/// A scenario, or the sum of all, under every profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PricedScenario {
    /// The scenario; `ALL` is the sum.
    pub scenario: String,
    /// Each policy under each profile: profile by profile, in the order of the policies.
    pub cells: Vec<PricedPolicy>,
    /// The cheapest policy under each profile.
    pub cheapest: Vec<CheapestPolicy>,
    /// Pairs of policies whose order differs between profiles.
    pub flips: Vec<RankFlip>,
}

/// One policy under one profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PricedPolicy {
    /// The profile.
    pub profile: String,
    /// The policy.
    pub policy: String,
    /// The cost in US dollars; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
    /// Its place by cost, from 1; `None` where the cost is unknown or a limit stopped it.
    pub rank: Option<u64>,
    /// Whether a limit stopped it.
    pub stopped: bool,
    /// The share of prompt tokens that was read from the cache, from 0 to 1.
    pub cache_hit_ratio: f64,
    /// The share of needed evidence that prompts still held, from 0 to 1; `None` without needs.
    pub evidence_kept: Option<f64>,
    /// Expected tokens of recovery.
    pub recovery_tokens: Option<f64>,
    /// The share of tool results' tokens that prompts show, from 0 to 1.
    pub results_shown: Option<f64>,
    /// The longest prompt as a share of the limit.
    pub of_limit: Option<f64>,
    /// How it compares with the first policy: `baseline`, `wins`, `loses` and so on.
    pub label: Option<String>,
    /// By rate (`input`, `output`, `cache_read` and so on): how the cost follows it.
    pub rates: BTreeMap<String, RateChange>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// How a cost follows one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RateChange {
    /// Percent of cost for a percent of the rate.
    pub elasticity: Option<f64>,
    /// The cost in US dollars with the rate a tenth lower.
    pub cost_usd_at_90_percent: Option<f64>,
    /// The cost in US dollars with the rate a tenth higher.
    pub cost_usd_at_110_percent: Option<f64>,
}

/// The cheapest policy under a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheapestPolicy {
    /// The profile.
    pub profile: String,
    /// The policy; `None` if no cost is known, or if all are free.
    pub policy: Option<String>,
    /// Whether every policy is free.
    pub free: bool,
    /// The smallest change of one rate that makes another policy the cheapest; `None` if no change does.
    pub until: Option<CheapestUntil>,
}

/// The change of a rate up to which a policy stays the cheapest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheapestUntil {
    /// The rate, such as `cache_read`.
    pub rate: String,
    /// The factor at which both policies cost the same: 1.1 is a tenth more.
    pub factor: f64,
    /// The policy that is cheapest beyond it.
    pub then: String,
}

/// Two policies whose order differs between profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RankFlip {
    /// The two policies.
    pub policies: [String; 2],
    /// The profiles under which the first costs less.
    pub first_cheaper: Vec<String>,
    /// The profiles under which the second costs less.
    pub second_cheaper: Vec<String>,
}

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

/// The suites that were checked.
#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
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
    pub snapshots: Vec<SnapshotCheck>,
    /// Every other key of the JSON.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A guard on one run.
#[cfg(feature = "cli")]
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
