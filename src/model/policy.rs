//! A well-formed policy and its only constructor.

use indexmap::IndexMap;

use super::fold::{self, Fold};
use super::layout::Layout;
use super::memory::Memory;
use super::scope::{Patterns, Scope};
use super::size::{Cond, Extent, Resolver, Size};
use crate::diag::{Diagnostic, Problems, nearest};
use crate::spec::PolicySpec;
use crate::spec::fold::FoldSpec;
use crate::spec::policy::{
    ActionSpec, BudgetSpec, CountsSpec, KindSpec, LastsSpec, MomentSpec, PrefixSpec, PreserveSpec,
    RecoverySpec, RenditionSpec, RowSpec, StageSpec, StepSpec, SummariseSpec, SummaryPromptSpec,
};
use crate::spec::size::SizeSpec;

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

/// What is done to the items of a scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Shows each by the first row that matches, within a pool of exact tokens.
    Show {
        /// The rows.
        rows: Vec<Row>,
        /// The pool.
        budget: Option<Budget>,
    },
    /// Hides each.
    Drop,
    /// Replaces all by a summary.
    Summarise(Summarise),
    /// Replaces each loop by what stays of it and one summary from a template.
    Fold(Fold),
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which tools; all, when empty.
    pub tools: Patterns,
    /// Which evidence classes; all, when empty.
    pub preserve: Vec<PreserveSpec>,
    /// Only items with more raw tokens than this.
    pub larger_than: Option<Size>,
    /// How they are shown.
    pub rendition: Rendition,
    /// How they are shown when the pool has no room.
    pub over_budget: Rendition,
    /// Whether they count as exact evidence, against the rendition's own rule.
    pub exact: Option<bool>,
}

/// How an item is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Rendition {
    /// As it came.
    Raw,
    /// An exact excerpt with its handle.
    Exact,
    /// A summary with its handle.
    Summary,
    /// A summary without.
    Gist,
    /// Its handle alone.
    Handle,
    /// A placeholder of so many tokens.
    Marker(u64),
    /// Its first tokens and its handle.
    Preview(Size),
    /// Head and tail.
    Truncate(Size),
    /// A handle with head and tail.
    Offload(Size),
}

/// A pool of exact tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Its size.
    pub tokens: Size,
    /// Whether each loop has its own.
    pub per_loop: bool,
    /// Whether what is already exact in its unit is charged too.
    pub counts_shown: bool,
}

/// A summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarise {
    /// Its length, copies excluded.
    pub output: Size,
    /// Kinds that stay as they are.
    pub copy: Vec<KindSpec>,
    /// The summariser's own instructions.
    pub overhead: Size,
    /// The least number of units.
    pub at_least: u64,
    /// The request that writes it, if a model does.
    pub request: Option<SummaryPromptSpec>,
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
        let memory =
            spec.memory.as_ref().map(|it| problems.within("memory", |problems| Memory::new(it, problems)));
        let policy = Self {
            name: spec.name.clone(),
            about: spec.about.clone(),
            stages,
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
struct StageCheck<'a> {
    spec: &'a PolicySpec,
    resolver: &'a Resolver<'a>,
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
        let is_known = matches!(&action, Action::Show { budget: None, .. } | Action::Drop);
        if reclaims(&when) && !is_known {
            problems.within("when", |problems| {
                problems.push(
                    "reclaimable-with-budget",
                    "what a budget or a summary would free is not known beforehand",
                    "use `scope(…)` in `when`",
                );
            });
        }
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
            for (index, step) in steps.iter().enumerate() {
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
        let until = self.cond("until", spec.until.as_ref(), problems).or_else(|| first.until.clone());
        Rung {
            when: self.cond("when", spec.when.as_ref(), problems).unwrap_or(Cond::Always),
            scope,
            action,
            until,
        }
    }

    fn cond(
        &self,
        field: &str,
        spec: Option<&crate::spec::size::CondSpec>,
        problems: &mut Problems,
    ) -> Option<Cond> {
        spec.map(|it| problems.within(field, |problems| self.resolver.cond(it, problems)))
    }

    fn named<'m, T>(
        &self,
        kind: &str,
        name: &str,
        known: &'m IndexMap<String, Vec<T>>,
        problems: &mut Problems,
    ) -> &'m [T] {
        if let Some(found) = known.get(name) {
            return found;
        }
        let help = match nearest(name, known.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it under `{kind}s`"),
        };
        problems.push("name-unknown", format!("there is no {kind} called `{name}`"), help);
        &[]
    }

    fn action(&self, spec: &ActionSpec, scope: &Scope, problems: &mut Problems) -> Action {
        match spec {
            ActionSpec::Show(rendition) => {
                let row = RowSpec {
                    tools: Vec::new(),
                    preserve: Vec::new(),
                    larger_than: None,
                    shown_as: rendition.clone(),
                    over_budget: None,
                    exact: None,
                };
                Action::Show { rows: vec![self.row(&row, "show", problems)], budget: None }
            }
            ActionSpec::Table { rows: name, budget } => problems.within("table", |problems| {
                let tables = &self.spec.tables;
                let rows = problems.within("rows", |problems| self.named("table", name, tables, problems));
                let budget = budget.as_ref();
                Action::Show {
                    rows: self.rows(name, rows, problems),
                    budget: budget
                        .map(|it| problems.within("budget", |problems| self.budget(it, scope, problems))),
                }
            }),
            ActionSpec::Drop => Action::Drop,
            ActionSpec::Summarise(spec) => {
                Action::Summarise(problems.within("summarise", |problems| self.summarise(spec, problems)))
            }
            ActionSpec::Fold(spec) => {
                Action::Fold(problems.within("fold", |problems| self.fold(spec, scope, problems)))
            }
        }
    }

    /// Checks the rows of a table where they are declared.
    fn rows(&self, name: &str, rows: &[RowSpec], problems: &mut Problems) -> Vec<Row> {
        let row = |(index, row)| {
            let path = format_args!("tables.{name}.{index}").to_string();
            problems.elsewhere(path, |problems| self.row(row, "as", problems))
        };
        rows.iter().enumerate().map(row).collect()
    }

    /// Checks a row; `field` is what its rendition is called.
    fn row(&self, spec: &RowSpec, field: &str, problems: &mut Problems) -> Row {
        let over_budget = spec.over_budget.as_ref().unwrap_or(&RenditionSpec::Summary);
        let mut rendition =
            |field: &str, spec| problems.within(field, |problems| self.rendition(spec, problems));
        let (shown_as, over_budget) =
            (rendition(field, &spec.shown_as), rendition("over_budget", over_budget));
        Row {
            tools: Patterns(spec.tools.clone()),
            preserve: spec.preserve.clone(),
            larger_than: spec
                .larger_than
                .as_ref()
                .map(|it| problems.within("larger_than", |problems| self.resolver.size(it, problems))),
            rendition: shown_as,
            over_budget,
            exact: spec.exact,
        }
    }

    fn rendition(&self, spec: &RenditionSpec, problems: &mut Problems) -> Rendition {
        let mut ends = |head: &SizeSpec, tail: &Option<SizeSpec>| {
            let head = self.resolver.size(head, problems);
            match tail {
                Some(tail) => Size::Sum(vec![head, self.resolver.size(tail, problems)]),
                None => head,
            }
        };
        match spec {
            RenditionSpec::Raw => Rendition::Raw,
            RenditionSpec::Exact => Rendition::Exact,
            RenditionSpec::Summary => Rendition::Summary,
            RenditionSpec::Gist => Rendition::Gist,
            RenditionSpec::Handle => Rendition::Handle,
            RenditionSpec::Marker(tokens) => Rendition::Marker(*tokens),
            RenditionSpec::Preview(size) => Rendition::Preview(self.resolver.size(size, problems)),
            RenditionSpec::Truncate { head, tail } => Rendition::Truncate(ends(head, tail)),
            RenditionSpec::Offload { head, tail } => Rendition::Offload(ends(head, tail)),
        }
    }

    fn budget(&self, spec: &BudgetSpec, scope: &Scope, problems: &mut Problems) -> Budget {
        let per_loop = match problems.within("per", |problems| self.resolver.extent(&spec.per, problems)) {
            Extent::Units(super::size::Unit::Loops, 1) => true,
            Extent::All => false,
            _ => {
                problems.within("per", |problems| {
                    problems.push(
                        "budget-per-unknown",
                        "a pool is per loop or for all",
                        "write `per: loops(1)` or `per: all`",
                    );
                });
                false
            }
        };
        if scope.order != crate::spec::policy::OrderSpec::Oldest {
            problems.push("budget-order", "a pool is spent from the oldest item on", "leave `order` out");
        }
        Budget {
            tokens: problems.within("tokens", |problems| self.resolver.size(&spec.tokens, problems)),
            per_loop,
            counts_shown: spec.counts == CountsSpec::Shown,
        }
    }

    fn fold(&self, spec: &FoldSpec, scope: &Scope, problems: &mut Problems) -> Fold {
        fold::check(spec, scope, problems);
        let mut size = |field: &str, size: Option<&SizeSpec>| {
            size.map_or(Size::Tokens(0), |it| {
                problems.within(field, |problems| self.resolver.size(it, problems))
            })
        };
        let (frame, each) = (size("frame", spec.frame.as_ref()), size("each", spec.each.as_ref()));
        let (rows, budget) = match &spec.results {
            Some(results) => problems.within("results", |problems| {
                let tables = &self.spec.tables;
                let name = &results.rows;
                let rows = problems.within("rows", |problems| self.named("table", name, tables, problems));
                let budget = results.budget.as_ref();
                let budget =
                    budget.map(|it| problems.within("budget", |problems| self.budget(it, scope, problems)));
                (self.rows(name, rows, problems), budget)
            }),
            None => (Vec::new(), None),
        };
        let FoldSpec { having, copy, quote, grows, .. } = spec.clone();
        Fold { having, copy, quote, rows, budget, frame, each, grows }
    }

    fn summarise(&self, spec: &SummariseSpec, problems: &mut Problems) -> Summarise {
        Summarise {
            output: problems.within("output", |problems| self.resolver.size(&spec.output, problems)),
            copy: spec.copy.clone(),
            overhead: spec.overhead.as_ref().map_or(Size::Tokens(0), |it| {
                problems.within("overhead", |problems| self.resolver.size(it, problems))
            }),
            at_least: spec
                .at_least
                .as_ref()
                .map_or(1, |it| problems.within("at_least", |problems| self.resolver.count(it, problems))),
            request: Some(spec.prompt).filter(|it| *it != SummaryPromptSpec::Free),
        }
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
