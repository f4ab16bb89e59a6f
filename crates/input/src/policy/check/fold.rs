//! The rules of folds.

use crate::policy::{Extent, Fold, Kind, Order, Scope, Unit};
use ctxsim_base::diag::{Code, Problems};

/// Reports scopes that a fold cannot have; turns are folded as a whole, oldest first.
pub(super) fn check(fold: &Fold, scope: &Scope, problems: &mut Problems) {
    let by = scope.by.as_ref().map(Extent::units);
    if by.is_some_and(|it| !matches!(it, Some((Unit::Turns | Unit::Items, 1)))) {
        problems.push(Code::FoldBy, "a fold works on one turn at a time", "remove `by` from the scope");
    }
    if scope.order != Order::Oldest {
        problems.push(Code::FoldOrder, "a fold starts with the oldest turn", "remove `order` from the scope");
    }
    if let Some(kind) = fold.copy.iter().find(|it| fold.quote.contains(it)) {
        let message = format!("`{}` is in both `copy` and `quote`", kind.name());
        let help = "keep each kind in only one of the two lists";
        problems.push_at(Code::FoldKindTwice, "quote", message, help);
    }
    if fold.quote.contains(&Kind::ToolResult) {
        problems.within("quote", |problems| {
            let message = "tool results cannot be quoted: `results` says how the summary shows them";
            problems.push(Code::FoldQuotesResults, message, "remove `tool_result` from `quote`");
        });
    }
}
