//! How a suite checks its results, as written: guards that fail a build, and published figures for comparison.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::GuardBound;

/// A rule on one number of a report, or on stages that must fire; set exactly one bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// What it requires, in one sentence.
    pub name: String,
    /// The policy of the number.
    pub policy: String,
    /// Only this scenario. Default: each of them. `ALL` is the sum over all.
    pub scenario: Option<String>,
    /// Only this profile. Default: each of them.
    pub profile: Option<String>,
    /// The metric of a run in the JSON report, such as `retention.accuracy.mean`; every bound except `fired`
    /// needs one.
    pub metric: Option<String>,
    /// The policy by whose number it is divided; for `max_increase` and `max_decrease`, the baseline, by
    /// default the suite's first policy. `rev:main:mine`, if the suite names that policy, is `mine` in git's
    /// `main`.
    pub over: Option<String>,
    /// More than.
    pub above: Option<GuardBound>,
    /// At least.
    pub at_least: Option<GuardBound>,
    /// Less than.
    pub below: Option<GuardBound>,
    /// At most.
    pub at_most: Option<GuardBound>,
    /// The largest share by which it may exceed the baseline, such as `"3%"`.
    pub max_increase: Option<GuardBound>,
    /// The largest share by which it may fall below the baseline.
    pub max_decrease: Option<GuardBound>,
    /// The policy's stages that must fire at least once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fired: Vec<String>,
    /// Whether the bound must hold for the number's whole interval, if it has one. Default: false.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub surely: bool,
}

/// A comparison that a guard makes.
pub type Compare = fn(&f64, &f64) -> bool;

/// A guard's requirement.
#[derive(Clone, Copy, Debug)]
pub enum GuardRule<'g> {
    /// A number on one side of a bound: the bound's name, its value, the comparison, and whether it is a
    /// lower bound.
    Bound(&'static str, GuardBound, Compare, bool),
    /// A number that exceeds the baseline by at most a share.
    MaxIncrease(GuardBound),
    /// A number that falls below the baseline by at most a share.
    MaxDecrease(GuardBound),
    /// Stages that fire.
    Fired(&'g [String]),
}

impl Guard {
    /// Returns the requirement; exactly one, in a checked suite.
    pub fn rules(&self) -> Vec<GuardRule<'_>> {
        let bounds = [
            self.above.map(|it| GuardRule::Bound("above", it, f64::gt, true)),
            self.at_least.map(|it| GuardRule::Bound("at least", it, f64::ge, true)),
            self.below.map(|it| GuardRule::Bound("below", it, f64::lt, false)),
            self.at_most.map(|it| GuardRule::Bound("at most", it, f64::le, false)),
            self.max_increase.map(GuardRule::MaxIncrease),
            self.max_decrease.map(GuardRule::MaxDecrease),
            (!self.fired.is_empty()).then_some(GuardRule::Fired(&self.fired)),
        ];
        bounds.into_iter().flatten().collect()
    }
}

/// Published figures, shown in their own column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The heading of the column.
    pub name: String,
    /// The source of the figures, in one sentence.
    pub about: String,
    /// By policy, then by metric in `retention` of the JSON report.
    pub values: IndexMap<String, IndexMap<String, f64>>,
    /// Conclusions drawn from them, in numbers; shown beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<DerivedNumber>,
}

/// A number that others derive from their figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DerivedNumber {
    /// What it states, in one sentence.
    pub name: String,
    /// The policy of the number.
    pub policy: String,
    /// The metric in `retention` of the JSON report.
    pub metric: String,
    /// The policy by whose number it is divided.
    pub over: Option<String>,
    /// The decimals to which both numbers are rounded before division. Default: not rounded.
    pub from_decimals: Option<u8>,
    /// The published number.
    pub value: f64,
    /// Its decimals.
    #[serde(default = "one_decimal")]
    pub decimals: u8,
}

/// Returns the decimals of a finding, if it does not state them.
fn one_decimal() -> u8 {
    1
}
