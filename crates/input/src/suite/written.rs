//! A suite file as written.

mod guard;

use crate::prelude::*;

pub use self::guard::*;

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
