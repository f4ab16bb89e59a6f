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
mod render;
mod settable;
mod template;
pub mod written;

use std::ops::Deref;
use std::sync::Arc;

use crate::Profile;
use crate::prelude::*;
use crate::text::set::Override;

pub use self::family::PolicyFamily;
pub use self::settable::SearchUse;
pub use self::written::*;

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

// A stage with all defaults filled in.

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
    fn new(file: &StageFile) -> Option<Self> {
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

// Names with `*` for any run of characters.

/// Returns whether a name matches one of several patterns.
pub fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| wildcard(pattern, name))
}

/// Returns whether a name matches a pattern in which `*` matches any run of characters.
pub fn wildcard(pattern: &str, name: &str) -> bool {
    // Most patterns are names.
    if !pattern.as_bytes().contains(&b'*') {
        return pattern == name;
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|it| name.strip_prefix(it)) else { return false };
    let Some(end) = parts.next_back() else { return false };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        assert!(wildcard("process_*", "process_read"));
        assert!(wildcard("*", ""));
        assert!(wildcard("a*b*c", "a--b--c"));
        assert!(!wildcard("process_*", "read_file"));
        assert!(!wildcard("read", "read_file"));
        assert!(!wildcard("a*b", "ab-"));
    }
}
