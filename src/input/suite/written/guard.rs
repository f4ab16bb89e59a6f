//! What a suite holds its results against, as written: rules that fail a build, and figures of others to stand beside ours.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Bound;

/// A rule on one number of a report, or on stages that must fire; exactly one bound is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// What it says, in a sentence.
    pub name: String,
    /// The policy whose number it is.
    pub policy: String,
    /// Only on this scenario; on each, when silent. `ALL` is all of them added up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Only under this profile; under each, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The number's place in a run of the JSON report, as in `retention.accuracy.mean`; every bound but `fired` has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The policy whose same number it is divided by; of `max_increase` and `max_decrease`, the base, which is the suite's first
    /// policy when silent. `rev:main:mine`, where the suite names that policy, is `mine` as git's `main` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// Strictly more than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<Bound>,
    /// That much or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Bound>,
    /// Strictly less than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<Bound>,
    /// That much or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Bound>,
    /// The largest share by which it may exceed the base's, as in `"3%"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_increase: Option<Bound>,
    /// The largest share by which it may fall short of the base's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_decrease: Option<Bound>,
    /// The stages of the policy that have to fire at least once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fired: Vec<String>,
    /// Whether the bound has to hold for the whole interval of the number, where it has one; false, when silent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub surely: bool,
}

/// A comparison that a guard makes.
pub type Compare = fn(&f64, &f64) -> bool;

/// What a guard asks for.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'g> {
    /// A number on one side of a bound: the word for it, the bound, the comparison, and whether it bounds from below.
    Bound(&'static str, Bound, Compare, bool),
    /// A number that exceeds the base's by no more than a share.
    MaxIncrease(Bound),
    /// A number that falls short of the base's by no more than a share.
    MaxDecrease(Bound),
    /// Stages that fire.
    Fired(&'g [String]),
}

impl Guard {
    /// Returns what it asks for; exactly one rule, in a checked suite.
    #[must_use]
    pub fn rules(&self) -> Vec<Rule<'_>> {
        let bounds = [
            self.above.map(|it| Rule::Bound("above", it, f64::gt, true)),
            self.at_least.map(|it| Rule::Bound("at least", it, f64::ge, true)),
            self.below.map(|it| Rule::Bound("below", it, f64::lt, false)),
            self.at_most.map(|it| Rule::Bound("at most", it, f64::le, false)),
            self.max_increase.map(Rule::MaxIncrease),
            self.max_decrease.map(Rule::MaxDecrease),
            (!self.fired.is_empty()).then_some(Rule::Fired(&self.fired)),
        ];
        bounds.into_iter().flatten().collect()
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
