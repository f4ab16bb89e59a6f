//! A well-formed policy and its only constructor.

pub mod action;
pub mod fold;
pub mod layout;
pub mod memory;
mod merge;
pub mod scope;
pub mod size;
pub mod template;
pub mod written;

use indexmap::IndexMap;

pub use self::action::{Action, Budget, Rendition, Row, Summarise};
pub use self::fold::Fold;
pub use self::layout::{Breakpoint, Layout, Place};
use self::memory::Memory;
pub use self::scope::{Keep, Patterns, Scope, wildcard};
use self::size::Resolver;
pub use self::size::{Bound, Comparison, Cond, Extent, Size, Unit};
pub use self::template::Template;
use crate::diag::{Diagnostic, Problems, nearest};

pub use self::written::*;

/// A moment of the session.
pub type Moment = MomentSpec;

/// A policy whose names and numbers are all known.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: String,
    /// Where prompts ask for cache breakpoints.
    pub layout: Layout,
    /// What is done, in order.
    pub stages: Vec<Stage>,
    /// The code that acts in their place.
    pub code: Option<CodeSpec>,
    /// How the agent gets back what it cannot see.
    pub recovery: Recovery,
    /// What is remembered beside the window.
    pub memory: Option<Memory>,
    /// The parameters it runs with.
    pub params: IndexMap<String, SizeSpec>,
}

/// A stage: a trigger and its ladder of rungs.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// When it is considered.
    pub at: Vec<Moment>,
    /// The trigger, looked at once.
    pub when: Cond,
    /// What is tried, in order, until the goal is met; the first is the stage itself.
    pub rungs: Vec<Rung>,
    /// Whether its edits are taken back after the request.
    pub lasts: LastsSpec,
    /// Whether its edits change what the cache knows the prompt by.
    pub prefix: PrefixSpec,
}

/// One thing to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// Whether it is its turn.
    pub when: Cond,
    /// Where.
    pub scope: Scope,
    /// What.
    pub action: Action,
    /// How far; without a goal all is taken.
    pub until: Option<Cond>,
}

/// How the agent gets back what it cannot see.
#[derive(Clone, Debug, PartialEq)]
pub enum Recovery {
    /// One call that fetches what the need asks for.
    OneShot,
    /// One call; raw file content is met by its smallest exact range.
    Pinned,
    /// Whole files, again and again.
    NaiveReread {
        /// How often at most.
        limit: u64,
        /// The prefix and a file that take at most this much stay.
        fits: Size,
    },
}

/// How many stages and steps a policy may have: each is the author of its edits.
const RUNGS_MAX: usize = 250;

impl Policy {
    /// Checks a policy that stands on no base any more.
    ///
    /// # Errors
    /// Every problem of the policy, each with its field path.
    pub fn new(spec: &PolicySpec) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let resolver = Resolver::new(&spec.params);
        for (name, size) in &spec.params {
            problems.within(format_args!("params.{name}"), |problems| resolver.size(size, problems));
        }
        let check = StageCheck { spec, resolver: &resolver };
        for (name, rows) in &spec.tables {
            check.rows(name, rows, &mut problems);
        }
        for (name, template) in &spec.templates {
            problems.within(format_args!("templates.{name}"), |problems| Template::new(template, problems));
        }
        let mut names: IndexMap<&str, usize> = IndexMap::new();
        let stages = spec.stages.iter().map(|stage| {
            let nth = names.entry(stage.name.as_str()).and_modify(|it| *it += 1).or_insert(1);
            if *nth > 1 {
                problems.within(format_args!("stages.{}#{nth}.name", stage.name), |problems| {
                    let message = format!("two stages are called `{}`", stage.name);
                    problems.push("stage-duplicate", message, "give each stage a name of its own");
                });
            }
            let path = if *nth > 1 { format!("{}#{nth}", stage.name) } else { stage.name.clone() };
            problems.within(format_args!("stages.{path}"), |problems| check.stage(stage, problems))
        });
        let stages: Vec<Stage> = stages.collect();
        if stages.iter().map(|it| it.rungs.len()).sum::<usize>() > RUNGS_MAX {
            let message = format!("a policy has more than {RUNGS_MAX} stages and steps");
            problems.within("stages", |it| it.push("stages-too-many", message, "say it in fewer"));
        }
        if spec.code.is_some() && !spec.stages.is_empty() {
            let help = "take out `stages`, or `code`";
            problems.within("code", |it| it.push("code-with-stages", "a policy is code or stages", help));
        }
        let memory =
            spec.memory.as_ref().map(|it| problems.within("memory", |problems| Memory::new(it, problems)));
        let policy = Self {
            name: spec.name.clone(),
            about: spec.about.clone(),
            stages,
            code: spec.code,
            layout: problems.within("layout", |problems| Layout::new(spec.layout.as_ref(), problems)),
            recovery: recovery(spec.recovery.as_ref(), &resolver, &mut problems),
            memory,
            params: spec.params.clone(),
        };
        problems.into_result(policy)
    }
}

/// Resolves how the agent recovers.
fn recovery(spec: Option<&RecoverySpec>, resolver: &Resolver<'_>, problems: &mut Problems) -> Recovery {
    match spec {
        None | Some(RecoverySpec::OneShot) => Recovery::OneShot,
        Some(RecoverySpec::Pinned) => Recovery::Pinned,
        Some(RecoverySpec::NaiveReread { limit, fits }) => {
            problems.within("recovery.naive_reread", |problems| {
                if *limit == 0 {
                    problems.within("limit", |problems| {
                        problems.push(
                            "reread-limit-zero",
                            "an agent that re-reads does so at least once",
                            "write `limit: 1` or more",
                        );
                    });
                }
                let fits = fits.as_ref().map_or(Size::Limit, |it| {
                    problems.within("fits", |problems| resolver.size(it, problems))
                });
                Recovery::NaiveReread { limit: *limit, fits }
            })
        }
    }
}

/// Checks the stages of one policy.
pub(super) struct StageCheck<'a> {
    pub(super) spec: &'a PolicySpec,
    pub(super) resolver: &'a Resolver<'a>,
}

impl StageCheck<'_> {
    fn stage(&self, spec: &StageSpec, problems: &mut Problems) -> Stage {
        if spec.at.is_empty() {
            problems.within("at", |problems| {
                problems.push(
                    "stage-never",
                    "a stage needs a moment",
                    "write `at: [request]`, or leave `at` out",
                );
            });
        }
        let when = self.cond("when", spec.when.as_ref(), problems).unwrap_or(Cond::Always);
        let until = self.cond("until", spec.until.as_ref(), problems);
        let scope =
            problems.within("scope", |problems| Scope::new(&spec.scope, &spec.at, self.resolver, problems));
        let action = problems.within("apply", |problems| self.action(&spec.apply, &scope, problems));
        foresees(&action, "when", Some(&when), problems);
        foresees(&action, "until", until.as_ref(), problems);
        let mut rungs = vec![Rung { when: Cond::Always, scope, action, until: until.clone() }];
        for (index, step) in spec.then.iter().enumerate() {
            let first = &rungs[0];
            let rung = problems
                .within(format_args!("then.{index}"), |problems| self.step(step, spec, first, problems));
            rungs.push(rung);
        }
        if let Some(name) = &spec.ladder {
            let ladders = &self.spec.ladders;
            let steps = problems.within("ladder", |problems| self.named("ladder", name, ladders, problems));
            for (index, step) in steps.into_iter().flatten().enumerate() {
                let first = &rungs[0];
                let rung = problems.elsewhere(format_args!("ladders.{name}.{index}"), |problems| {
                    self.step(step, spec, first, problems)
                });
                rungs.push(rung);
            }
        }
        Stage {
            name: spec.name.clone(),
            at: spec.at.clone(),
            when,
            rungs,
            lasts: spec.lasts,
            prefix: spec.prefix,
        }
    }

    fn step(&self, spec: &StepSpec, stage: &StageSpec, first: &Rung, problems: &mut Problems) -> Rung {
        let scope = match &spec.scope {
            Some(scope) => {
                problems.within("scope", |problems| Scope::new(scope, &stage.at, self.resolver, problems))
            }
            None => first.scope.clone(),
        };
        let action = problems.within("apply", |problems| self.action(&spec.apply, &scope, problems));
        let when = self.cond("when", spec.when.as_ref(), problems).unwrap_or(Cond::Always);
        let until = self.cond("until", spec.until.as_ref(), problems);
        foresees(&action, "when", Some(&when), problems);
        // What is wrong with the stage's own goal is told there, unless it is wrong for this step alone.
        foresees(
            &action,
            if until.is_some() { "until" } else { "apply" },
            until.as_ref().or(first.until.as_ref()),
            problems,
        );
        let until = until.or_else(|| first.until.clone());
        Rung { when, scope, action, until }
    }

    fn cond(
        &self,
        field: &str,
        spec: Option<&crate::input::policy::CondSpec>,
        problems: &mut Problems,
    ) -> Option<Cond> {
        spec.map(|it| problems.within(field, |problems| self.resolver.cond(it, problems)))
    }

    pub(super) fn named<'m, T>(
        &self,
        kind: &str,
        name: &str,
        known: &'m IndexMap<String, T>,
        problems: &mut Problems,
    ) -> Option<&'m T> {
        let found = known.get(name);
        if found.is_some() {
            return found;
        }
        let help = match nearest(name, known.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it under `{kind}s`"),
        };
        problems.push("name-unknown", format!("there is no {kind} called `{name}`"), help);
        None
    }
}

/// Checks that a condition asks what a step would free only where that is known beforehand.
fn foresees(action: &Action, field: &str, cond: Option<&Cond>, problems: &mut Problems) {
    let is_known = match action {
        Action::Show { budget, template, grows, .. } => budget.is_none() && template.is_none() && !grows,
        Action::Drop => true,
        Action::Summarise(_) | Action::Fold(_) => false,
    };
    if !is_known && cond.is_some_and(reclaims) {
        problems.within(field, |problems| {
            problems.push(
                "reclaimable-with-budget",
                "what a budget, a template or a summary would free is not known beforehand",
                "use `scope(…)`",
            );
        });
    }
}

/// Returns whether a condition asks what the stage would free.
fn reclaims(cond: &Cond) -> bool {
    match cond {
        Cond::Reclaimable(_) => true,
        Cond::All(parts) | Cond::Any(parts) => parts.iter().any(reclaims),
        Cond::Not(part) => reclaims(part),
        _ => false,
    }
}
