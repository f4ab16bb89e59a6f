//! What the users of an agent should set: what the settings in force cost, the best others, and how far that holds.

pub mod saved;
mod whom;
pub(crate) mod words;

use crate::prelude::*;
pub use ctxsim_engine::measure::month::Basis;
use ctxsim_engine::measure::month::Calendar;

use super::BillAsLogged;
use super::SkippedFile;
use crate::lever::{KnownBy, Lever, Word, best_lever_of_each_setting};
use saved::TrialDay;
use serde::Serializer;

pub(crate) use words::{
    ADVISE_DETAILS, brief_levers_grid, ceilings_sentence, format_rough_usd, format_usd_cents,
    indices_of_top_levers,
};
pub use words::{advice_markdown, draw_advice, render_advice_page};

/// The schema; fields are added, never renamed without a new version.
pub const SCHEMA: &str = "ctxsim.advice/2";

/// Advice on the settings of each agent that recorded some sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    pub schema: &'static str,
    pub agents: Vec<AgentAdvice>,
    /// What bills tell where the agent's settings are not known.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "without_settings")]
    pub by_bills: Vec<AgentAdvice>,
    /// Formats whose agent's settings are not known, with the number of sessions.
    pub unknown: Vec<(String, usize)>,
    /// What was named and takes no part.
    pub skipped: Vec<SkippedFile>,
    /// The text of the forecast that `realised` reads later; `None` where nothing is advised. It is no part of the JSON.
    #[serde(skip)]
    pub forecast: Option<String>,
}

/// Advice on the settings of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentAdvice {
    /// The agent, or the format of its logs where its settings are not known.
    pub agent: String,
    /// The oldest and the newest version in the logs; none where they name none.
    pub versions: Option<[String; 2]>,
    /// The number of sessions, of those the sub-agents', and of their requests.
    pub sessions: usize,
    /// The sessions of sub-agents among them.
    pub sub_agents: usize,
    pub requests: u64,
    /// The number of projects; 0 where they are not known.
    pub projects: usize,
    /// What the logs say was billed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "with_limits")]
    pub as_logged: Option<BillAsLogged>,
    /// What a month costs.
    pub month: MonthCost,
    /// The share of needed evidence that prompts hold as things are; none if nothing says what is needed.
    pub evidence_kept: Option<f64>,
    /// What a reader must know of the settings file; empty if there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The settings in force.
    pub in_force: Vec<SettingInForce>,
    /// The share of the needed evidence that must be kept.
    pub min_evidence: f64,
    /// How many settings and combinations were tried.
    pub tried: usize,
    /// All of them that do something in some session, and what bills tell of other levers, the most saved first.
    pub levers: Vec<Lever>,
    /// Which of them to paste; none where none is *do*.
    pub pasted: Option<usize>,
    /// What the user asked for, if he did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAdvice>,
    /// What to paste, and where.
    pub paste: Vec<Paste>,
    /// What to heed when pasting: what outranks it, and which version has it.
    pub heed: Vec<String>,
    /// Short and long cache lifetimes.
    pub lifetimes: Vec<LifetimeComparison>,
    /// Settings that were not tried, with the reasons.
    pub left_out: Vec<UntriedSetting>,
    /// Levers that no log of these sessions tells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<UntoldLever>,
    /// What only the agent's maintainers can change, where it would save.
    pub wishes: Vec<WishEffect>,
    /// What other models' prices would save at most, the most first: no word, no interval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<Lever>,
    /// Which of the settings files that were given is its own.
    #[serde(skip)]
    pub settings_file: Option<usize>,
}

/// Writes a bill with what is known of the account's limits.
fn with_limits<S: Serializer>(bill: &Option<BillAsLogged>, to: S) -> Result<S::Ok, S::Error> {
    let limits = bill.as_ref().and_then(|it| it.beside.used.limits_used());
    let limits = limits.map(|it| group! { "limits": Value::serialised(&it) });
    limits.into_iter().fold(Value::serialised(bill), Value::and).serialize(to)
}

/// Writes what bills alone tell, without all that only settings have.
fn without_settings<S: Serializer>(all: &[AgentAdvice], to: S) -> Result<S::Ok, S::Error> {
    let one = |advice: &AgentAdvice| {
        let (sessions, month) = (advice.sessions, Value::serialised(&advice.month));
        let told = group! { "agent": advice.agent.clone(), "sessions": sessions, "month": month, "levers": Value::serialised(&advice.levers) };
        let untold =
            (!advice.untold.is_empty()).then(|| group! { "untold": Value::serialised(&advice.untold) });
        let ceilings =
            (!advice.ceilings.is_empty()).then(|| group! { "ceilings": Value::serialised(&advice.ceilings) });
        untold.into_iter().chain(ceilings).fold(told, Value::and)
    };
    all.iter().map(one).listed().serialize(to)
}

/// A lever that no log of these sessions tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UntoldLever {
    pub name: &'static str,
    pub reason: &'static str,
}

/// A choice that the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AskedAdvice {
    /// Its place among the levers.
    pub lever: usize,
    /// What to paste, and where.
    pub paste: Vec<Paste>,
    /// What to heed when pasting.
    pub heed: Vec<String>,
    /// The days of a trial, where one is planned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trial: Vec<TrialDay>,
}

/// What a month of sessions costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MonthCost {
    /// US dollars; none if a price is unknown.
    pub usd: Option<f64>,
    /// How it comes about.
    pub basis: Basis,
    /// Days from the first request to the last.
    pub days: Option<f64>,
    /// The logs' bills; where no log has one, what its sessions cost as simulated.
    pub known_by: KnownBy,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingInForce {
    pub key: String,
    /// What it decides.
    pub about: String,
    pub value: String,
    /// Who says so.
    pub from: SettingSource,
    /// The variable of the environment by which the file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
}

/// Who says which value is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    /// The logs show it; who set it is unknown.
    Log,
    /// The settings file that was given.
    File,
    /// Neither, so it is the agent's default.
    Default,
}

/// What only the agent's maintainers can change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WishEffect {
    /// What it would do.
    pub about: String,
    /// Why no user can set it.
    pub reason: String,
    /// The relative change in cost over all sessions.
    pub change: f64,
    /// The share of the needed evidence that it keeps.
    pub evidence_kept: Option<f64>,
}

/// What to paste, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paste {
    /// The place.
    pub at: String,
    /// The place of one project, if there is one.
    pub project: Option<String>,
    /// The text.
    pub text: String,
}

/// Cache entries of one lane, short-lived against long-lived.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LifetimeComparison {
    /// Whose sessions.
    pub lane: &'static str,
    pub sessions: usize,
    /// US dollars a month with short and with long lifetimes.
    pub usd_month: [Option<f64>; 2],
    /// Tokens that are written with short lifetimes.
    pub written_tokens: Tokens,
    /// Of these: tokens that are written again only because an entry expired that a long lifetime keeps.
    pub rewritten_tokens: Tokens,
    pub share: f64,
    /// The share from which a long lifetime is cheaper; none where prices do not tell.
    pub break_even: Option<f64>,
    /// The relative change in cost from short to long, and its 95% interval.
    pub change: Option<f64>,
    pub interval: Option<[f64; 2]>,
}

/// A setting that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UntriedSetting {
    pub key: String,
    /// Why.
    pub reason: String,
}

impl Advice {
    /// Returns it as one JSON document.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        json_text(self)
    }
}

impl AgentAdvice {
    /// Returns what to change; none where nothing is *do*.
    pub fn advised_lever(&self) -> Option<&Lever> {
        self.levers.get(self.pasted?)
    }

    /// Returns what the user asked for.
    pub fn asked_advice_and_lever(&self) -> Option<(&AskedAdvice, &Lever)> {
        let asked = self.asked.as_ref()?;
        Some((asked, self.levers.get(asked.lever)?))
    }

    /// Returns what is worth a reader's time.
    pub fn best_levers(&self) -> Vec<&Lever> {
        best_lever_of_each_setting(&self.levers, self.pasted)
    }

    /// Replaces the levers, each with its place among those before, and puts the most saved first.
    pub fn with_replaced_levers(mut self, mut levers_by_old_index: Vec<(usize, Lever)>) -> Self {
        levers_by_old_index.order_by(|one, other| one.1.reading_order(&other.1));
        let place = |before: usize| levers_by_old_index.iter().position(|(nth, _)| *nth == before);
        self.pasted = self.pasted.and_then(place);
        self.asked = self.asked.and_then(|asked| Some(AskedAdvice { lever: place(asked.lever)?, ..asked }));
        self.levers = levers_by_old_index.into_iter().map(|(_, lever)| lever).collect();
        if let Some(used) = self.as_logged.as_ref().map(|it| &it.beside.used).filter(|it| it.is_all_by_plan())
        {
            let limits = used.limits_used();
            for lever in &mut self.levers {
                lever.is_by_plan = true;
                let change = lever.expected.zip(lever.interval).filter(|_| lever.word == Some(Word::Do));
                lever.freed =
                    change.and_then(|(change, interval)| limits.as_ref()?.freed_by(change, interval));
            }
        }
        self
    }
}

impl MonthCost {
    /// Says how the costs of a month come about.
    pub fn describe_basis(&self) -> String {
        let by =
            if self.known_by == KnownBy::Simulated { ", simulated, as the logs have no bill" } else { "" };
        let calendar = Calendar { basis: self.basis, days: self.days, ends: None };
        format!("{}{by}", calendar.words())
    }
}
