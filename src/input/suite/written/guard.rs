//! What a suite holds its results against, as written: rules that fail a build, and figures of others to stand beside ours.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A rule on one number of a report; exactly one bound is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// What it says, in a sentence.
    pub name: String,
    /// The policy whose number it is.
    pub policy: String,
    /// Only on this scenario; on each, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Only under this profile; under each, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The number's place in a run of the JSON report, as in `retention.accuracy.mean`.
    pub metric: String,
    /// The policy whose same number it is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// Strictly more than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// That much or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Strictly less than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// That much or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// A comparison that a guard makes.
type Compare = fn(&f64, &f64) -> bool;

impl Guard {
    /// Returns the bounds that it gives, in words and as comparisons; exactly one, in a checked suite.
    #[must_use]
    pub fn bounds(&self) -> Vec<(&'static str, f64, Compare)> {
        let all: [(&str, Option<f64>, Compare); 4] = [
            ("above", self.above, f64::gt),
            ("at least", self.at_least, f64::ge),
            ("below", self.below, f64::lt),
            ("at most", self.at_most, f64::le),
        ];
        all.into_iter().filter_map(|(word, bound, compare)| Some((word, bound?, compare))).collect()
    }
}

/// Figures of others, shown in a column of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What the column is called.
    pub name: String,
    /// Where the figures come from, in a sentence.
    pub about: String,
    /// By policy, then by the number's place in `retention` of the JSON report.
    pub values: IndexMap<String, IndexMap<String, f64>>,
    /// What they conclude from them, in numbers; shown beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A number that others conclude from their figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What it says, in a sentence.
    pub name: String,
    /// The policy whose number it is.
    pub policy: String,
    /// The number's place in `retention` of the JSON report.
    pub metric: String,
    /// The policy whose same number it is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// To how many decimals both numbers are rounded before they are divided; not at all, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_decimals: Option<u8>,
    /// The number as they give it.
    pub value: f64,
    /// To how many decimals.
    #[serde(default = "one_decimal")]
    pub decimals: u8,
}

/// Returns to how many decimals a finding is given, where it does not say.
fn one_decimal() -> u8 {
    1
}
