//! A suite file as written.

use crate::prelude::*;
use serde::{Deserializer, Serializer, de};

crate::decoded_here!(SuiteFile, Habits);
crate::encoded_here!(SuiteFile, Habits);

/// A suite: a named set of policies, scenarios and profiles to run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The name: the file's path below `suites/` without its extension.
    pub name: String,
    /// What it shows, in one sentence.
    pub about: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The policies by name, in report order; the first is the baseline. `*` in any input name matches
    /// anything.
    pub policies: Vec<String>,
    /// The scenarios, by name.
    pub scenarios: Vec<String>,
    /// The profiles, by name.
    pub profiles: Vec<String>,
    /// Whether a recorded session runs under the profile of the model that was billed for most of its input,
    /// instead of under `profiles`. Default: false.
    #[serde(default)]
    pub own_models: bool,
    /// Parameters of policies that it overrides.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, Size>,
    /// Fields that it overrides, as in `--set`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Whether reports add, per policy and profile, a row with the sum over the scenarios.
    #[serde(default)]
    pub sum: bool,
    /// Whether tables rank the policies: after the first, by ascending cost, each with the reason for its
    /// change in cost.
    #[serde(default)]
    pub ranked: bool,
    /// Sentences that a reader of the table must know; omitted if a run uses other scenarios or profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Guards on the results; a run that breaks one ends with exit code 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Guard>,
    /// Published figures shown beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Published figures shown beside ours, in their own table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Inputs of break-even points.
    pub break_even: Option<Habits>,
}

/// The usage assumptions behind the break-even points in a comparison of price lists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Habits {
    /// Tokens that a prune removes from the prompt.
    pub prune_removes_tokens: Tokens,
    /// Tokens after them, which must be written to the cache again.
    pub prune_rewrites_tokens: Tokens,
    /// The share of a lifetime, above 0, after which a request is sent to keep an entry alive.
    pub keep_alive_after: Decimal,
    /// Requests that share a prefix which could be padded to the shortest cached length; at least 1.
    pub fill_up_requests: u32,
    /// How many times smaller a prompt becomes if it is compressed instead of cached; above 0.
    pub compression: Decimal,
    /// Tokens that a compaction leaves.
    pub compaction_prefix_tokens: Tokens,
    /// Tokens that a request adds after them, including the carried-over part of a summary.
    pub compaction_growth_tokens: Tokens,
    /// The share of requests that miss the cache, 0 to 1.
    pub compaction_miss_share: Decimal,
}

// Published figures in a suite, as written: what others found, and where to find our own number.

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

// How a suite checks its results, as written: guards that fail a build, and published figures for comparison.

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

// A guard's bound as written: a number, a percentage, or a share of the model's limits.

/// A bound: a number, `"3%"`, or a share of a limit of the profile, as in `"0.9 window"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardBound {
    /// The number.
    pub number: f64,
    /// The unit of the number.
    pub of: BoundOf,
}

/// The unit of a bound's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundOf {
    /// None: the number is the bound.
    One,
    /// Percent.
    Percent,
    /// Shares of the profile's context window.
    Window,
    /// Shares of the profile's longest prompt.
    Limit,
}

impl GuardBound {
    /// Returns the bound as a plain share; in a checked suite, only a percentage has one.
    pub fn share(self) -> f64 {
        if self.of == BoundOf::Percent { self.number / 100.0 } else { self.number }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, of) = match text.strip_suffix('%') {
            Some(number) => (number, BoundOf::Percent),
            None => match text.split_once(char::is_whitespace)? {
                (number, of) if of.trim() == "window" => (number, BoundOf::Window),
                (number, of) if of.trim() == "limit" => (number, BoundOf::Limit),
                _ => return None,
            },
        };
        let number = number.trim().parse::<f64>().ok().filter(|it| it.is_finite())?;
        Some(Self { number, of })
    }
}

impl fmt::Display for GuardBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            BoundOf::One => write!(f, "{}", self.number),
            BoundOf::Percent => write!(f, "{}%", self.number),
            BoundOf::Window => write!(f, "{} window", self.number),
            BoundOf::Limit => write!(f, "{} limit", self.number),
        }
    }
}

impl Serialize for GuardBound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.of {
            BoundOf::One => serializer.serialize_f64(self.number),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for GuardBound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BoundVisitor)
    }
}

/// Parses a number, or a text with a number and its unit.
struct BoundVisitor;

impl de::Visitor<'_> for BoundVisitor {
    type Value = GuardBound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, `\"3%\"`, `\"0.9 window\"` or `\"0.9 limit\"`")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<GuardBound, E> {
        Ok(GuardBound { number, of: BoundOf::One })
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<GuardBound, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<GuardBound, E> {
        self.visit_f64(number as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<GuardBound, E> {
        GuardBound::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_says_what_it_is_a_part_of() {
        let bound = |text: &str| GuardBound::parse(text).map(|it| (it.number, it.of));

        assert_eq!(bound("3%"), Some((3.0, BoundOf::Percent)));
        assert_eq!(bound("0.9 window"), Some((0.9, BoundOf::Window)));
        assert_eq!(bound("1 limit"), Some((1.0, BoundOf::Limit)));
        assert_eq!(bound("3"), None, "a number needs no quotes");
        assert_eq!(bound("0.9 windows"), None);
        assert_eq!(GuardBound::parse("3%").unwrap().to_string(), "3%");
    }
}
