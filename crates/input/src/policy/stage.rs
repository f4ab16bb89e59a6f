//! A stage with all defaults filled in.

use super::{Action, Cond, EditsLast, Moment, Pause, PrefixRule, Scope, StageFile, StageStep};

/// A stage: when it fires, which items it changes, and until which goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub name: String,
    /// The moments at which it may fire.
    pub at: Vec<Moment>,
    /// For `idle`: how long a pause between two turns must last.
    pub pause: Option<Pause>,
    /// The trigger, checked once; always true if `None`.
    pub when: Option<Cond>,
    /// The items it changes.
    pub scope: Scope,
    /// Its action.
    pub apply: Action,
    /// The goal, checked after each unit; without one, all units are taken.
    pub until: Option<Cond>,
    /// Further steps towards the same goal.
    pub then: Vec<StageStep>,
    /// A ladder of the policy whose steps follow `then`.
    pub ladder: Option<String>,
    /// Whether its edits are permanent.
    pub lasts: EditsLast,
    /// Whether its edits change the text by which the provider's cache recognises the prompt.
    pub prefix: PrefixRule,
}

impl Stage {
    /// Fills in the defaults, or returns nothing if the stage has no action.
    pub(super) fn new(file: &StageFile) -> Option<Self> {
        let file = file.clone();
        Some(Self {
            name: file.name,
            at: file.at.unwrap_or_else(|| vec![Moment::Request]),
            pause: file.pause,
            when: file.when,
            scope: file.scope.unwrap_or_default(),
            apply: file.apply?,
            until: file.until,
            then: file.then,
            ladder: file.ladder,
            lasts: file.lasts.unwrap_or_default(),
            prefix: file.prefix.unwrap_or_default(),
        })
    }
}
