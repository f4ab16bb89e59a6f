//! Published figures in a suite, as written: what others found, and where to find our own number.

use serde::{Deserialize, Serialize};

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its name in reports: a stable contract.
    pub name: String,
    /// What it states and where it was published, in one sentence.
    pub about: String,
    /// The published number; `None` if there is only a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// The basis of our number.
    pub kind: FigureKind,
    /// The policy of the number.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The profile. Default: the suite's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The metric of a run in the JSON report, such as `aging.final.mean`.
    pub metric: String,
    /// The policy whose number is subtracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus: Option<String>,
    /// The scenario whose number is subtracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus_scenario: Option<String>,
    /// The policy by whose number it is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The smallest accepted value of our number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The largest accepted value of our number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// The basis of our number for a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// A parameter was fitted to it.
    Fitted,
    /// Nothing was fitted to it.
    HeldOut,
    /// Nothing that it depends on was fitted.
    Assumed,
    /// The mechanism is known to miss it.
    Miss,
}

impl FigureKind {
    /// Returns its name in files.
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
