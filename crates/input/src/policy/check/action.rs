//! The rules of actions: renditions, tables, budgets, summaries.

use super::size::Resolver;
use super::{StageCheck, named, summary};
use crate::policy::{
    Action, Budget, Extent, Fold, FoldedResults, Kind, Order, Rendition, Scope, TableRow, Unit,
};
use crate::prelude::*;

impl StageCheck<'_> {
    pub(super) fn action(&self, action: &mut Action, scope: &Scope, problems: &mut Problems) {
        match action {
            Action::Show(rendition) => {
                problems.within("show", |to| self.resolver.rendition(rendition, to));
            }
            Action::Table { rows, budget, template, .. } => problems.within("table", |problems| {
                problems.within("rows", |to| named("table", rows, self.tables, to));
                self.budget(budget.as_mut(), scope, problems);
                self.template(template.as_ref(), problems);
            }),
            Action::Ping { output } => self.resolver.size_in("ping.output", output.as_mut(), problems),
            Action::Summarise(it) => summary::check(it, scope, &self.resolver, problems),
            Action::Fold(it) => problems.within("fold", |problems| {
                check_fold(it, scope, problems);
                self.resolver.item_in("frame", it.frame.as_mut(), problems);
                self.resolver.size_in("each", it.each.as_mut(), problems);
                self.template(it.template.as_ref(), problems);
                if let Some(FoldedResults { rows, template, budget }) = &mut it.results {
                    problems.within("results", |problems| {
                        problems.within("rows", |to| named("table", rows, self.tables, to));
                        self.budget(budget.as_mut(), scope, problems);
                        self.template(template.as_ref(), problems);
                    });
                }
            }),
            // What has no field needs no check.
            _ => {}
        }
    }

    fn template(&self, name: Option<&String>, problems: &mut Problems) {
        if let Some(name) = name {
            problems.within("template", |to| named("template", name, self.templates, to));
        }
    }

    fn budget(&self, budget: Option<&mut Budget>, scope: &Scope, problems: &mut Problems) {
        let Some(budget) = budget else { return };
        problems.within("budget", |problems| {
            problems.within("per", |problems| {
                self.resolver.extent(&mut budget.per, problems);
                if budget.per != Extent::All && budget.per.units() != Some((Unit::Turns, 1)) {
                    let help = "write `per: turns(1)` or `per: all`";
                    let message = "a token budget resets per turn or never";
                    problems.push(Code("budget-per-unknown"), message, help);
                }
            });
            if scope.order != Order::Oldest {
                let help = "leave `order` out";
                problems.push(Code("budget-order"), "a token budget is spent on the oldest item first", help);
            }
            self.resolver.size_in("tokens", Some(&mut budget.tokens), problems);
        });
    }
}

impl Resolver<'_> {
    /// Checks a row of a table.
    pub(super) fn row(&self, row: &mut TableRow, problems: &mut Problems) {
        problems.within("as", |to| self.rendition(&mut row.shown_as, to));
        if let Some(rendition) = &mut row.over_budget {
            problems.within("over_budget", |to| self.rendition(rendition, to));
        }
        self.size_in("larger_than", row.larger_than.as_mut(), problems);
    }

    fn rendition(&self, rendition: &mut Rendition, problems: &mut Problems) {
        match rendition {
            Rendition::Preview(size) => self.size(size, problems),
            Rendition::Truncate { head, tail } | Rendition::Offload { head, tail } => {
                self.size(head, problems);
                tail.iter_mut().for_each(|it| self.size(it, problems));
            }
            Rendition::Raw
            | Rendition::Exact
            | Rendition::Summary
            | Rendition::Gist
            | Rendition::Handle
            | Rendition::Marker(_) => {}
        }
    }
}

// The rules of folds.

/// Reports scopes that a fold cannot have; turns are folded as a whole, oldest first.
fn check_fold(fold: &Fold, scope: &Scope, problems: &mut Problems) {
    let by = scope.by.as_ref().map(Extent::units);
    if by.is_some_and(|it| !matches!(it, Some((Unit::Turns | Unit::Items, 1)))) {
        problems.push(Code("fold-by"), "a fold works on one turn at a time", "remove `by` from the scope");
    }
    if scope.order != Order::Oldest {
        let help = "remove `order` from the scope";
        problems.push(Code("fold-order"), "a fold starts with the oldest turn", help);
    }
    if let Some(kind) = fold.copy.iter().find(|it| fold.quote.contains(it)) {
        let message = format!("`{}` is in both `copy` and `quote`", kind.name());
        let help = "keep each kind in only one of the two lists";
        problems.push_at(Code("fold-kind-twice"), "quote", message, help);
    }
    if fold.quote.contains(&Kind::ToolResult) {
        problems.within("quote", |problems| {
            let message = "tool results cannot be quoted: `results` says how the summary shows them";
            problems.push(Code("fold-quotes-results"), message, "remove `tool_result` from `quote`");
        });
    }
}
