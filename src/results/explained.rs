//! One request of a run, explained: what `ctxsim explain` finds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
