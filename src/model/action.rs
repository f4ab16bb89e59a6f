//! What is done to the items of a scope: actions, renditions, tables, budgets, summaries, and their checks.

use super::fold::{self, Fold};
use super::policy::StageCheck;
use super::scope::{Patterns, Scope};
use super::size::{Extent, Size, Unit};
use super::template::Template;
use crate::diag::Problems;
use crate::spec::action::{
    ActionSpec, BudgetSpec, CountsSpec, RenditionSpec, RowSpec, SummariseSpec, SummaryPromptSpec,
};
use crate::spec::fold::FoldSpec;
use crate::spec::policy::{KindSpec, OrderSpec, PreserveSpec};
use crate::spec::size::SizeSpec;

/// What is done to the items of a scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Shows each by the first row that matches, within a pool of exact tokens.
    Show {
        /// The rows.
        rows: Vec<TableRow>,
        /// The pool.
        budget: Option<Budget>,
        /// What writes tool results, where there is text.
        template: Option<Template>,
        /// Whether an item is shown so even where that makes it larger.
        grows: bool,
    },
    /// Hides each.
    Drop,
    /// Replaces all by a summary.
    Summarise(Summarise),
    /// Replaces each turn by what stays of it and one summary from a template.
    Fold(Fold),
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
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
    /// Whether the pool is charged with them whatever their evidence class.
    pub charged: bool,
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
    /// Whether each turn has its own.
    pub per_turn: bool,
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

impl StageCheck<'_> {
    /// Finds a template by its name.
    fn template(&self, name: Option<&str>, problems: &mut Problems) -> Option<Template> {
        let templates = &self.spec.templates;
        let name = name?;
        let spec = problems.within("template", |it| self.named("template", name, templates, it))?;
        // What is wrong with it is told where it is declared, used or not.
        Some(Template::new(spec, &mut Problems::default()))
    }

    pub(super) fn action(&self, spec: &ActionSpec, scope: &Scope, problems: &mut Problems) -> Action {
        match spec {
            ActionSpec::Show(rendition) => {
                let row = RowSpec {
                    tools: Vec::new(),
                    preserve: Vec::new(),
                    larger_than: None,
                    shown_as: rendition.clone(),
                    over_budget: None,
                    exact: None,
                    charged: false,
                };
                let rows = vec![self.row(&row, "show", problems)];
                Action::Show { rows, budget: None, template: None, grows: false }
            }
            ActionSpec::Table { rows: name, budget, template, grows } => {
                problems.within("table", |problems| {
                    let tables = &self.spec.tables;
                    let rows =
                        problems.within("rows", |problems| self.named("table", name, tables, problems));
                    let rows = rows.map_or(&[][..], Vec::as_slice);
                    let budget = budget.as_ref();
                    Action::Show {
                        rows: self.rows(name, rows, problems),
                        budget: budget
                            .map(|it| problems.within("budget", |problems| self.budget(it, scope, problems))),
                        template: self.template(template.as_deref(), problems),
                        grows: *grows,
                    }
                })
            }
            ActionSpec::Drop => Action::Drop,
            ActionSpec::Summarise(spec) => {
                if scope.order != OrderSpec::Oldest {
                    problems.push(
                        "summary-order",
                        "a summary stands in the first slot that it replaces, so it is taken from the oldest unit on",
                        "leave `order` out",
                    );
                }
                Action::Summarise(problems.within("summarise", |problems| self.summarise(spec, problems)))
            }
            ActionSpec::Fold(spec) => {
                Action::Fold(problems.within("fold", |problems| self.fold(spec, scope, problems)))
            }
        }
    }

    /// Checks the rows of a table where they are declared.
    pub(super) fn rows(&self, name: &str, rows: &[RowSpec], problems: &mut Problems) -> Vec<TableRow> {
        let row = |(index, row)| {
            let path = format_args!("tables.{name}.{index}").to_string();
            problems.elsewhere(path, |problems| self.row(row, "as", problems))
        };
        rows.iter().enumerate().map(row).collect()
    }

    /// Checks a row; `field` is what its rendition is called.
    fn row(&self, spec: &RowSpec, field: &str, problems: &mut Problems) -> TableRow {
        let over_budget = spec.over_budget.as_ref().unwrap_or(&RenditionSpec::Summary);
        let mut rendition =
            |field: &str, spec| problems.within(field, |problems| self.rendition(spec, problems));
        let (shown_as, over_budget) =
            (rendition(field, &spec.shown_as), rendition("over_budget", over_budget));
        TableRow {
            tools: Patterns(spec.tools.clone()),
            preserve: spec.preserve.clone(),
            larger_than: spec
                .larger_than
                .as_ref()
                .map(|it| problems.within("larger_than", |problems| self.resolver.size(it, problems))),
            rendition: shown_as,
            over_budget,
            exact: spec.exact,
            charged: spec.charged,
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
        let per_turn = match problems.within("per", |problems| self.resolver.extent(&spec.per, problems)) {
            Extent::Units(Unit::Turns, 1) => true,
            Extent::All => false,
            _ => {
                problems.within("per", |problems| {
                    problems.push(
                        "budget-per-unknown",
                        "a pool is per turn or for all",
                        "write `per: turns(1)` or `per: all`",
                    );
                });
                false
            }
        };
        if scope.order != OrderSpec::Oldest {
            problems.push("budget-order", "a pool is spent from the oldest item on", "leave `order` out");
        }
        Budget {
            tokens: problems.within("tokens", |problems| self.resolver.size(&spec.tokens, problems)),
            per_turn,
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
        let template = self.template(spec.template.as_deref(), problems);
        let (rows, budget, result_template) = match &spec.results {
            Some(results) => problems.within("results", |problems| {
                let tables = &self.spec.tables;
                let name = &results.rows;
                let rows = problems.within("rows", |problems| self.named("table", name, tables, problems));
                let rows = rows.map_or(&[][..], Vec::as_slice);
                let budget = results.budget.as_ref();
                let budget =
                    budget.map(|it| problems.within("budget", |problems| self.budget(it, scope, problems)));
                let template = self.template(results.template.as_deref(), problems);
                (self.rows(name, rows, problems), budget, template)
            }),
            None => (Vec::new(), None, None),
        };
        let FoldSpec { having, copy, quote, grows, .. } = spec.clone();
        Fold { having, copy, quote, rows, result_template, template, budget, frame, each, grows }
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
