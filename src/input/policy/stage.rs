//! A stage with every field that its file may leave out.

use super::{Action, Cond, Lasts, Moment, Pause, Prefix, Scope, StageFile, Step};

/// A stage: when it fires, where it acts, and until what goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// The moments at which it is considered.
    pub at: Vec<Moment>,
    /// After how long a pause between two turns it is considered, where it is while nothing is asked.
    pub pause: Option<Pause>,
    /// The trigger, looked at once; always, when silent.
    pub when: Option<Cond>,
    /// Which items it acts on.
    pub scope: Scope,
    /// What it does to them.
    pub apply: Action,
    /// The goal, looked at after each unit; without one all units are taken.
    pub until: Option<Cond>,
    /// Further steps towards the same goal.
    pub then: Vec<Step>,
    /// A ladder of the policy whose steps follow `then`.
    pub ladder: Option<String>,
    /// Whether its edits stay.
    pub lasts: Lasts,
    /// Whether its edits change what the provider's cache knows the prompt by.
    pub prefix: Prefix,
}

impl Stage {
    /// Fills in what a file leaves out; nothing, where it does not say what the stage does.
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
