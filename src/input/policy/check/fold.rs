//! The rules of folds.

use crate::diag::Problems;
use crate::input::policy::{Extent, Fold, Kind, Order, Scope, Unit};

/// Reports what a fold cannot be about; turns are folded whole, from the oldest on.
pub(super) fn check(fold: &Fold, scope: &Scope, problems: &mut Problems) {
    let by = scope.by.as_ref().map(Extent::units);
    if by.is_some_and(|it| !matches!(it, Some((Unit::Turns | Unit::Items, 1)))) {
        problems.push("fold-by", "a fold takes one turn at a time", "leave `by` out of the scope");
    }
    if scope.order != Order::Oldest {
        problems.push(
            "fold-order",
            "a fold takes turns from the oldest on",
            "leave `order` out of the scope",
        );
    }
    if let Some(kind) = fold.copy.iter().find(|it| fold.quote.contains(it)) {
        let message = format!("`{}` both stays and is quoted", kind.name());
        problems.push_at("fold-kind-twice", "quote", message, "name each kind in one of the two lists");
    }
    if fold.quote.contains(&Kind::ToolResult) {
        problems.within("quote", |problems| {
            let message = "tool results are not quoted: they stand in the summary as `results` says";
            problems.push("fold-quotes-results", message, "take `tool_result` out of `quote`");
        });
    }
}
