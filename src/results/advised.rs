//! Settings of agents, and what became of them: what `ctxsim advise` and `ctxsim realised` find.

use serde::{Deserialize, Serialize};

use super::{BillShare, Paste, Word};

/// Which settings of which agent to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Advice {
    /// Each agent that recorded some of the sessions.
    pub agents: Vec<AgentSettings>,
    /// What bills tell where the agent's settings are not known: its name, its sessions and levers.
    #[serde(default)]
    pub by_bills: Vec<AgentSettings>,
    /// Formats whose agent's settings are not known, with the number of sessions.
    pub unknown: Vec<(String, u64)>,
    /// The forecast, which [`Comparison::realised`](crate::Comparison::realised) reads later; `None` where nothing is advised. It is not part
    /// of the JSON.
    #[serde(skip)]
    pub forecast: Option<String>,
}

/// Advice on the settings of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AgentSettings {
    /// The agent.
    pub agent: String,
    /// The oldest and the newest version in the logs.
    pub versions: Option<[String; 2]>,
    /// How many sessions there are.
    pub sessions: u64,
    /// Those of sub-agents among them.
    pub sub_agents: u64,
    /// How many requests they made.
    pub requests: u64,
    /// What the logs say was billed.
    pub as_logged: Option<LoggedBill>,
    /// What a month costs with the current settings.
    pub month: MonthlyCost,
    /// The share of needed evidence that prompts hold as things are, from 0 to 1.
    pub evidence_kept: Option<f64>,
    /// The current settings.
    pub in_force: Vec<SettingInForce>,
    /// The share of needed evidence that must be kept, from 0 to 1.
    pub min_evidence: f64,
    /// How many settings and combinations were tried.
    pub tried: u64,
    /// What does something in some session, the most saved first.
    pub levers: Vec<AdvisedLever>,
    /// The index of the lever to paste; `None` where none is *do*.
    pub pasted: Option<usize>,
    /// What to paste, and where.
    pub paste: Vec<Paste>,
    /// What to heed when pasting.
    pub heed: Vec<String>,
}

/// What logs say was billed, at list prices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoggedBill {
    /// The requests that have a price.
    pub requests: u64,
    /// What they cost in US dollars: the sum of the next four.
    pub total_usd: f64,
    /// Plain input, in US dollars.
    pub uncached_usd: f64,
    /// Cache reads, in US dollars.
    pub cache_read_usd: f64,
    /// Cache writes, in US dollars.
    pub cache_write_usd: f64,
    /// Output, in US dollars.
    pub output_usd: f64,
    /// Tokens of plain input.
    pub uncached_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens written to it for minutes.
    pub cache_write_short_tokens: u64,
    /// Tokens written to it for an hour or more.
    pub cache_write_long_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
}

/// What a month costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MonthlyCost {
    /// US dollars; `None` if a price is unknown.
    pub usd: Option<f64>,
    /// Which sessions it is of: `all_sessions`, `last_30_days` or `scaled`.
    #[serde(alias = "of")]
    pub basis: String,
    /// The days of these sessions, where they are known.
    pub days: Option<f64>,
    /// What it goes to; of [`SessionsBill`](super::SessionsBill) alone. The parts add up to it.
    pub parts: Vec<BillShare>,
    /// The causes of other cache misses, which add up to their part; of [`SessionsBill`](super::SessionsBill) alone.
    pub other_misses: Vec<BillShare>,
}

/// A current setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SettingInForce {
    /// Its name in the agent's settings.
    pub key: String,
    /// What it decides.
    pub about: String,
    /// Its value.
    pub value: String,
    /// Who says so: `log`, `file` or `default`.
    pub from: String,
}

/// A setting, or several together, or a habit, and what it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AdvisedLever {
    /// The agent; of [`SessionsBill`](super::SessionsBill) alone.
    pub agent: String,
    /// Which lever it is: `settings`, or the name of one that bills tell.
    pub name: String,
    /// The settings, `key=value`; none of a lever that bills tell.
    pub set: Vec<String>,
    /// What it does, in a few words.
    pub title: String,
    /// What to do about it; `None` where nothing changes.
    pub word: Option<Word>,
    /// What the word rests on, in a sentence.
    pub why: String,
    /// US dollars that it saves a month, negative where it costs more.
    pub saved_month: Option<f64>,
    /// The 95% interval of that, the least saving first.
    pub saved_interval: Option<[f64; 2]>,
    /// Minutes less that one waits for answers a month, negative where one waits longer.
    pub saved_minutes_month: Option<f64>,
    /// The relative change in cost over all sessions.
    pub change: Option<f64>,
    /// The change to expect, which the dollars are.
    pub expected: Option<f64>,
    /// The 95% interval of the change, corrected for everything that was tried beside it.
    pub interval: Option<[f64; 2]>,
    /// The share of needed evidence that prompts still hold, from 0 to 1.
    pub evidence_kept: Option<f64>,
    /// The lower end of its interval.
    pub evidence_low: Option<f64>,
    /// How it is known: `bills` or `simulated`.
    pub known_by: String,
}

/// A forecast beside what later sessions were billed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RealisedForecast {
    /// The agent.
    pub agent: String,
    /// The settings of the forecast, `key=value`.
    pub set: Vec<String>,
    /// What became of it: `as_forecast`, `less`, `more` or `cannot_tell`.
    pub answer: String,
    /// The relative change in cost that was forecast for these later sessions; `None` if none counts.
    pub forecast: Option<f64>,
    /// The one that was forecast for sessions like the earlier ones.
    pub promised: f64,
    /// The change that came about; `None` if no session counts.
    pub realised: Option<f64>,
    /// Its 95% interval.
    pub interval: Option<[f64; 2]>,
    /// How many later sessions count.
    pub sessions: u64,
    /// What they were billed, in US dollars.
    pub billed_usd: f64,
    /// What they would have been billed without the change, in US dollars.
    pub before_usd: f64,
    /// About how many more sessions it takes until it can be told.
    pub more_sessions: Option<u64>,
    /// Later sessions that do not count, by reason.
    pub left_out: Vec<(String, u64)>,
    /// What a reader must know, as sentences.
    pub notes: Vec<String>,
}
