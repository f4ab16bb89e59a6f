//! A stage as written: what it leaves out is its base's, else the default.

use serde::{Deserialize, Serialize};

use super::{Action, Cond, Lasts, Moment, Prefix, Scope, Step};

/// A stage: when it fires, where it acts, and until what goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    /// A name, unique in the policy.
    pub name: String,
    /// The moments at which it is considered; before each request, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<Moment>>,
    /// The trigger, looked at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Cond>,
    /// Which items it acts on; all, when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What it does to them; only a stage that the base has too may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<Action>,
    /// The goal, looked at after each unit; without one all units are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Cond>,
    /// Further steps towards the same goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Step>,
    /// A ladder of the policy whose steps follow `then`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<String>,
    /// Whether its edits stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Lasts>,
    /// Whether its edits change what the provider's cache knows the prompt by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// Fields of the base's stage that this one does without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<StageField>,
}

/// A field that a stage may do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StageField {
    /// The moments.
    At,
    /// The trigger.
    When,
    /// The items.
    Scope,
    /// The goal.
    Until,
    /// The further steps.
    Then,
    /// The ladder.
    Ladder,
    /// How long edits stay.
    Lasts,
    /// What they do to the cached prefix.
    Prefix,
}

impl StageField {
    /// Returns the name of the field in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::At => "at",
            Self::When => "when",
            Self::Scope => "scope",
            Self::Until => "until",
            Self::Then => "then",
            Self::Ladder => "ladder",
            Self::Lasts => "lasts",
            Self::Prefix => "prefix",
        }
    }
}
