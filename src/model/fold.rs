//! A fold whose names and numbers are all known.

use super::action::{Budget, TableRow};
use super::scope::Scope;
use super::size::{Extent, Size, Unit};
use super::template::Template;
use crate::diag::Problems;
use crate::spec::fold::FoldSpec;
use crate::spec::policy::{KindSpec, OrderSpec};

/// A fold: what stays of a turn, and what its summary says.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// Only turns that have an item of one of these kinds in the scope; every turn, when empty.
    pub having: Vec<KindSpec>,
    /// Kinds that stay as they are.
    pub copy: Vec<KindSpec>,
    /// Kinds that the summary repeats.
    pub quote: Vec<KindSpec>,
    /// How tool results stand in the summary; as they are, when empty.
    pub rows: Vec<TableRow>,
    /// What writes each tool result, where there is text.
    pub result_template: Option<Template>,
    /// What writes the summary, where there is text.
    pub template: Option<Template>,
    /// How many exact tokens there may be.
    pub budget: Option<Budget>,
    /// The summary's own words, around everything.
    pub frame: Size,
    /// The summary's own words around each tool result.
    pub each: Size,
    /// Whether a turn is folded even where its summary is no smaller than what it replaces.
    pub grows: bool,
}

/// Reports what a fold cannot be about; turns are folded whole, from the oldest on.
pub(super) fn check(spec: &FoldSpec, scope: &Scope, problems: &mut Problems) {
    if !matches!(scope.by, Extent::Units(Unit::Turns | Unit::Items, 1)) {
        problems.push("fold-by", "a fold takes one turn at a time", "leave `by` out of the scope");
    }
    if scope.order != OrderSpec::Oldest {
        problems.push(
            "fold-order",
            "a fold takes turns from the oldest on",
            "leave `order` out of the scope",
        );
    }
    if let Some(kind) = spec.copy.iter().find(|it| spec.quote.contains(it)) {
        let message = format!("{} both stays and is quoted", word(*kind));
        problems.within("quote", |it| {
            it.push("fold-kind-twice", message, "name each kind in one of the two lists");
        });
    }
    if spec.quote.contains(&KindSpec::ToolResult) {
        problems.within("quote", |problems| {
            let message = "tool results are not quoted: they stand in the summary as `results` says";
            problems.push("fold-quotes-results", message, "take `tool_result` out of `quote`");
        });
    }
}

/// Returns a kind as files write it.
fn word(kind: KindSpec) -> &'static str {
    match kind {
        KindSpec::System => "`system`",
        KindSpec::ToolSchema => "`tool_schema`",
        KindSpec::User => "`user`",
        KindSpec::Assistant => "`assistant`",
        KindSpec::Reasoning => "`reasoning`",
        KindSpec::ToolCall => "`tool_call`",
        KindSpec::ToolResult => "`tool_result`",
        KindSpec::Summary => "`summary`",
        KindSpec::Memory => "`memory`",
        KindSpec::Approval => "`approval`",
    }
}
