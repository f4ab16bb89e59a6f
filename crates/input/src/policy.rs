//! A policy: which part of a growing history the model sees.
//!
//! A checked `Policy`, `Scenario` or `Suite` wraps its file and gives read-only access to it. A variant's stage is merged over its base's
//! stage field by field. A `StageFile` may therefore omit any field, and `remove: [when]` explicitly drops an inherited one.
//! `Policy::stages` returns the merged stages. `Size`, `Cond`, `Extent`, `Rendition`, `TableRow` and `Scope` are each defined once, in
//! `policy/written.rs` and its folder. `Policy::new` replaces every parameter with its value, so nothing downstream handles parameters.
//! `Program::new` compiles the stages for one timeline and one set of limits. A second type exists only where the checked form differs from
//! the written one: a profile's cache rules (`profile/cache/`, a file each) and price lists. The meaning of a written value (the
//! breakpoints of a default layout, the threshold of a draw) is a method of its type. One check needs a higher floor, because only the
//! catalog knows which names exist. It reports in the same run.
//!
//! A stage says *at* which moment it is considered, *when* it fires, on which *scope*, what it *applies*, *until* which goal, and what it
//! does *then* if the goal is not met. Conditions are one type, sizes are expressions (also of what is known of the harness that recorded a
//! session: `harness(…)`), scopes are filters. There is no other mechanism: trimming at entry, fallback, decay and compaction are stages.
//! `docs/reference/stages.md` has the definitions that decide exact results.

pub mod apply;
mod check;
mod family;
pub mod law;
pub mod lint;
pub mod memory;
mod merge;
mod pattern;
mod reads;
mod render;
mod settable;
mod stage;
mod template;
pub mod written;

use std::ops::Deref;
use std::sync::Arc;

pub use self::family::PolicyFamily;
pub use self::pattern::{matches_any, wildcard};
pub use self::settable::SearchUse;
pub use self::stage::Stage;
pub use self::written::*;
use crate::Profile;
use crate::text::set::Override;
use ctxsim_base::diag::{Diagnostic, Problems};

/// A checked policy: its file with every parameter replaced by its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    file: PolicyFile,
    stages: Vec<Stage>,
    /// The model that writes its summaries, if not the session's own.
    summariser_model: Option<Arc<Profile>>,
}

impl Deref for Policy {
    type Target = PolicyFile;

    fn deref(&self) -> &PolicyFile {
        &self.file
    }
}

/// One action that a stage tries, in turn, until the goal is met.
#[derive(Clone, Copy, Debug)]
pub struct Rung<'p> {
    /// The condition under which it runs; always if `None`.
    pub when: Option<&'p Cond>,
    /// The items that it changes.
    pub scope: &'p Scope,
    pub action: &'p Action,
    /// The goal; without one, every item is taken.
    pub until: Option<&'p Cond>,
}

impl Policy {
    /// Checks a policy that has already been merged with its bases.
    ///
    /// # Errors
    /// Every problem of the policy, each with its field path.
    pub fn new(file: &PolicyFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let policy = check::policy(file.clone(), &mut problems);
        problems.into_result(policy)
    }

    /// Returns the policy with a field set as `--set` sets it; none if its file does not take that, or has it already.
    pub fn setting(&self, change: &Override) -> Option<Self> {
        let mut files = [self.file.clone()];
        change.apply(&mut files, |it| Self::new(it).is_ok()).ok()?;
        let changed = Self::new(&files[0]).ok().filter(|it| it.file != self.file)?;
        Some(Self { summariser_model: self.summariser_model.clone(), ..changed })
    }

    /// Returns the policy with other code, or with none.
    #[must_use]
    pub fn with_code(mut self, code: Option<Builtin>) -> Self {
        self.file.code = code;
        self
    }

    /// Returns the policy as it is for the sessions that it does not change: it keeps everything.
    #[must_use]
    pub fn resting(&self) -> Self {
        let (stages, layout) = (Vec::new(), None);
        let file =
            PolicyFile { stages, layout, code: None, process: None, memory: None, ..self.file.clone() };
        Self { file, stages: Vec::new(), summariser_model: None }
    }

    /// Sets the model that writes its summaries, as its file names it.
    #[must_use]
    pub fn summarised_by(self, model: Profile) -> Self {
        Self { summariser_model: Some(Arc::new(model)), ..self }
    }

    /// Returns the model that writes its summaries, if it is not the session's own and has been found.
    pub fn summariser(&self) -> Option<&Profile> {
        self.summariser_model.as_deref()
    }

    /// Returns the stages, in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns where prompts ask for cache breakpoints.
    pub fn layout(&self) -> &LayoutSpec {
        self.file.layout.as_ref().unwrap_or(LayoutSpec::silent())
    }

    /// Returns how the agent recovers what it cannot see.
    pub fn recovery(&self) -> &RecoverySpec {
        self.file.recovery.as_ref().unwrap_or(&RecoverySpec::OneShot)
    }

    /// Returns the steps of a stage in order: the stage itself, its `then`, and its ladder.
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
    pub fn table(&self, name: &str) -> &[TableRow] {
        self.tables.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns a text template by name.
    pub fn template(&self, name: Option<&String>) -> Option<&Template> {
        self.templates.get(name?)
    }
}
