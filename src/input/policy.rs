//! A policy: what part of a growing history the model gets to see.

pub mod apply;
mod check;
pub mod memory;
mod merge;
mod pattern;
mod reads;
mod render;
mod stage;
mod template;
pub mod written;

use std::ops::Deref;
use std::sync::Arc;

use self::memory::Memory;
pub use self::pattern::{matches_any, wildcard};
pub use self::stage::Stage;
pub use self::written::*;
use crate::diag::{Diagnostic, Problems};
use crate::input::Profile;

/// A policy whose names and numbers are all known: what its file says, with the value of each parameter in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    file: PolicyFile,
    stages: Vec<Stage>,
    /// The model that writes its summaries, where it is not the session's.
    summariser_model: Option<Arc<Profile>>,
}

impl Deref for Policy {
    type Target = PolicyFile;

    fn deref(&self) -> &PolicyFile {
        &self.file
    }
}

/// One thing that a stage tries, in its turn, until the goal is met.
#[derive(Clone, Copy, Debug)]
pub struct Rung<'p> {
    /// Whether it is its turn; always, when silent.
    pub when: Option<&'p Cond>,
    /// Where.
    pub scope: &'p Scope,
    /// What.
    pub action: &'p Action,
    /// How far; without a goal all is taken.
    pub until: Option<&'p Cond>,
}

impl Policy {
    /// Checks a policy that stands on no base any more.
    ///
    /// # Errors
    /// Every problem of the policy, each with its field path.
    pub fn new(file: &PolicyFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let policy = check::policy(file.clone(), &mut problems);
        problems.into_result(policy)
    }

    /// Returns the policy with other code in its place, or with none.
    #[must_use]
    pub fn with_code(mut self, code: Option<Code>) -> Self {
        self.file.code = code;
        self
    }

    /// Has its summaries written by the model that its file names.
    #[must_use]
    pub fn summarised_by(self, model: Profile) -> Self {
        Self { summariser_model: Some(Arc::new(model)), ..self }
    }

    /// Returns the model that writes its summaries, where it is not the session's and has been found.
    #[must_use]
    pub fn summariser(&self) -> Option<&Profile> {
        self.summariser_model.as_deref()
    }

    /// Returns what is done, in order.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns where prompts ask for cache breakpoints.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        self.file.layout.as_ref().unwrap_or(Layout::silent())
    }

    /// Returns what is remembered beside the window.
    #[must_use]
    pub fn memory(&self) -> Option<&Memory> {
        self.file.memory.as_ref()
    }

    /// Returns how the agent gets back what it cannot see.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        self.file.recovery.as_ref().unwrap_or(&Recovery::OneShot)
    }

    /// Returns what a stage tries, in order: itself, its further steps, those of its ladder.
    pub fn rungs<'p>(&'p self, stage: &'p Stage) -> impl Iterator<Item = Rung<'p>> {
        let Stage { scope, apply, until, then, ladder, .. } = stage;
        let until = until.as_ref();
        let first = Rung { when: None, scope, action: apply, until };
        let ladder = ladder.as_ref().and_then(|it| self.ladders.get(it)).into_iter().flatten();
        let further = then.iter().chain(ladder).map(move |step| Rung {
            when: step.when.as_ref(),
            scope: step.scope.as_ref().unwrap_or(scope),
            action: &step.apply,
            until: step.until.as_ref().or(until),
        });
        std::iter::once(first).chain(further)
    }

    /// Returns the rows of a table.
    #[must_use]
    pub fn table(&self, name: &str) -> &[TableRow] {
        self.tables.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns a text template, where one is named.
    #[must_use]
    pub fn template(&self, name: Option<&String>) -> Option<&Template> {
        self.templates.get(name?)
    }
}
