//! What recorded sessions were billed and where that goes: what `ctxsim SESSIONS` finds.

use serde::{Deserialize, Serialize};

use super::{AdvisedLever, BillCheck, MonthlyCost};

/// What recorded sessions were billed at list prices, where that goes, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionsBill {
    /// What all sessions were billed.
    pub bill: BilledPeriod,
    /// How well the bill is predicted; `None` if no request could be compared.
    pub predicted: Option<BillCheck>,
    /// What a month's bill goes to.
    pub month: MonthlyCost,
    /// What each project was billed in all, the most expensive first.
    pub by_project: Vec<BillShare>,
    /// What each day (UTC) was billed.
    pub by_day: Vec<BillShare>,
    /// What can be done about it, the largest saving first.
    pub levers: Vec<AdvisedLever>,
    /// How sure all of this is, in a sentence.
    pub certainty: String,
}

/// What was billed in all and lately, in US dollars at list prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BilledPeriod {
    /// In all.
    pub total_usd: f64,
    /// In the last 30 days; `None` if the logs cover fewer.
    pub last_30_days_usd: Option<f64>,
    /// In the 30 days before.
    pub previous_30_days_usd: Option<f64>,
    /// By how much the last 30 days differ, as a share of the 30 days before.
    pub change: Option<f64>,
}

/// A part of a bill: of a project, of a day, of what it was for, or of a cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BillShare {
    /// The project, the day (`YYYY-MM-DD`), the part or the cause.
    #[serde(alias = "project", alias = "day", alias = "part", alias = "cause")]
    pub of: String,
    /// The same in words, of parts and causes.
    #[serde(default)]
    pub about: String,
    /// How many sessions, of a project.
    #[serde(default)]
    pub sessions: u64,
    /// What it was billed, in US dollars.
    pub usd: f64,
}
