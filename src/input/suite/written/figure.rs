//! Published figures that a suite speaks of, as written: what others found, and where our own number of the same stands.

use serde::{Deserialize, Serialize};

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What it is called in reports: a contract.
    pub name: String,
    /// What it says, and where it was published, in a sentence.
    pub about: String,
    /// The published number; none where there is only a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// What ours rests on.
    pub kind: FigureKind,
    /// The policy whose number it is.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The profile; the first of the suite, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The number's place in a run of the JSON report, as in `aging.final.mean`.
    pub metric: String,
    /// The policy whose same number is taken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus: Option<String>,
    /// The scenario whose same number is taken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus_scenario: Option<String>,
    /// The policy whose same number it is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The least that ours may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most that ours may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// What our number for a published figure rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// A parameter was fitted to it.
    Fitted,
    /// Nothing was fitted to it.
    HeldOut,
    /// What it rests on was fitted to nothing.
    Assumed,
    /// The mechanism is known not to reach it.
    Miss,
}

impl FigureKind {
    /// Returns its word in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::HeldOut => "held_out",
            Self::Assumed => "assumed",
            Self::Miss => "miss",
        }
    }
}
