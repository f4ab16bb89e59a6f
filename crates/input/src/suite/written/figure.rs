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
    pub paper: Option<f64>,
    /// The standard deviation that was published with it, over seeds.
    pub spread: Option<f64>,
    /// The basis of our number.
    pub kind: FigureKind,
    /// The policy of the number.
    pub policy: String,
    /// The scenario.
    pub scenario: String,
    /// The profile. Default: the suite's first.
    pub profile: Option<String>,
    /// The metric of a run in the JSON report, such as `aging.final.mean`.
    pub metric: String,
    /// The policy whose number is subtracted.
    pub minus: Option<String>,
    /// The scenario whose number is subtracted.
    pub minus_scenario: Option<String>,
    /// The policy by whose number it is divided.
    pub over: Option<String>,
    /// The smallest accepted value of our number.
    pub at_least: Option<f64>,
    /// The largest accepted value of our number.
    pub at_most: Option<f64>,
}

/// The basis of our number for a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// It is in the objective of the fit.
    Fitted,
    /// It follows from fitted figures or from how the model is built, so that it is no evidence.
    Derived,
    /// It is not in the objective and does not follow from what is.
    HeldOut,
    /// As held out, but of a claim or of a published number only the direction is tested.
    Sign,
    /// It rests on numbers that were chosen, not fitted.
    Assumed,
    /// A mechanism is left out, so that it must miss its band.
    Control,
    /// There is no published number for it.
    Unpublished,
}

impl Figure {
    /// Returns the policies and the scenarios whose runs it is read from.
    pub fn read_from(&self) -> [Vec<&str>; 2] {
        let policies = [Some(&self.policy), self.minus.as_ref(), self.over.as_ref()];
        let scenarios = [Some(&self.scenario), self.minus_scenario.as_ref()];
        [policies.to_vec(), scenarios.to_vec()]
            .map(|all| all.into_iter().flatten().map(String::as_str).collect())
    }
}

impl FigureKind {
    /// All kinds, in the order in which tables count them.
    pub const ALL: [Self; 7] = [
        Self::HeldOut,
        Self::Sign,
        Self::Fitted,
        Self::Derived,
        Self::Assumed,
        Self::Control,
        Self::Unpublished,
    ];

    /// Returns its name in files.
    pub fn word(self) -> &'static str {
        crate::text::name_of(&self)
    }
}
