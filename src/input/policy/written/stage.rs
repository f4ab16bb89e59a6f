//! A stage as written: what it leaves out is its base's, else the default.

use serde::{Deserialize, Serialize};

use super::{Action, Cond, Duration, Lasts, Moment, Prefix, Scope, Step};

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
    /// After how long a pause between two turns it is considered, where its moment is `idle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
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

/// A time since the last request, in which no other has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// How long it is.
    pub after: Duration,
    /// How often it is taken in one pause, each time as long after the last; once, when silent.
    #[serde(default = "Pause::once", skip_serializing_if = "Pause::is_once")]
    pub times: u64,
}

impl Pause {
    fn once() -> u64 {
        1
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_once(times: &u64) -> bool {
        *times == 1
    }

    /// Returns whether a time since the last request is one of those meant.
    #[must_use]
    pub fn is_at(&self, idle_ms: u64) -> bool {
        self.after.0 > 0
            && idle_ms > 0
            && idle_ms.is_multiple_of(self.after.0)
            && idle_ms / self.after.0 <= self.times
    }

    /// Returns the first of those meant behind a time since the last request.
    #[must_use]
    pub fn next(&self, idle_ms: u64) -> Option<u64> {
        let nth = idle_ms.checked_div(self.after.0)?.checked_add(1)?;
        if nth <= self.times { nth.checked_mul(self.after.0) } else { None }
    }
}

/// A field that a stage may do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StageField {
    /// The moments.
    At,
    /// The pause.
    Pause,
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
            Self::Pause => "pause",
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
