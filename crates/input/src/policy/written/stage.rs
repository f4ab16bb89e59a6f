//! A stage as written: omitted fields come from the base, or are defaults.

use crate::prelude::*;

use super::{Action, Cond, Duration, EditsLast, Moment, PrefixRule, Scope, StageStep};

/// A stage: when it fires, which items it changes, and until which goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    /// A name, unique within the policy.
    pub name: String,
    /// The moments at which it may fire. Default: before each request.
    pub at: Option<Vec<Moment>>,
    /// For the moment `idle`: how long a pause between two turns must last.
    pub pause: Option<Pause>,
    /// The trigger, checked once.
    pub when: Option<Cond>,
    /// Which items it changes. Default: all.
    pub scope: Option<Scope>,
    /// Its action. Only a stage that exists in the base may omit it.
    pub apply: Option<Action>,
    /// The goal, checked after each unit; without one, all units are taken.
    pub until: Option<Cond>,
    /// Further steps towards the same goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<StageStep>,
    /// A ladder of the policy whose steps follow `then`.
    pub ladder: Option<String>,
    /// Whether its edits are permanent.
    pub lasts: Option<EditsLast>,
    /// Whether its edits change the text by which the provider's cache recognises the prompt.
    pub prefix: Option<PrefixRule>,
    /// Fields of the base's stage to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<StageField>,
}

/// Time since the last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Its duration.
    pub after: Duration,
    /// How often it fires within one pause, each time after the same duration. Default: once.
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

    /// Returns whether a time since the last request is one at which it fires.
    pub fn is_at(&self, idle_ms: u64) -> bool {
        self.after.0 > 0
            && idle_ms > 0
            && idle_ms.is_multiple_of(self.after.0)
            && idle_ms / self.after.0 <= self.times
    }

    /// Returns the first such time after a given time since the last request.
    pub fn next(&self, idle_ms: u64) -> Option<u64> {
        let nth = idle_ms.checked_div(self.after.0)?.checked_add(1)?;
        if nth <= self.times { nth.checked_mul(self.after.0) } else { None }
    }
}

/// A field that `remove` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// How long edits last.
    Lasts,
    /// Their effect on the cached prefix.
    Prefix,
}

impl StageField {
    /// Returns the field's name in files.
    pub fn name(self) -> &'static str {
        crate::text::name_of(&self)
    }
}
