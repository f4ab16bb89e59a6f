//! Policies under many price lists: what `ctxsim sensitivity` finds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::BreakEven;

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
