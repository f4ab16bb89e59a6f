//! The rules of scopes.

use super::size::Resolver;
use crate::policy::{Extent, Kind, Moment, PromptPart, Scope};
use ctxsim_base::diag::{Code, Problems};

impl Resolver<'_> {
    /// Checks a scope at the moments of its stage.
    pub(super) fn scope(&self, scope: &mut Scope, moments: &[Moment], problems: &mut Problems) {
        let at_entry = moments.contains(&Moment::Entry);
        if (scope.part == PromptPart::Entering) != at_entry || (at_entry && moments.len() > 1) {
            let message = "the part `entering` needs the moment `entry`, and `entry` allows no other part";
            let help = "use a separate stage: `at: [entry], scope: (part: entering)`";
            problems.push(Code::ScopeNotAtEntry, message, help);
        }
        if at_entry && !scope.kinds.is_empty() && scope.kinds != [Kind::ToolResult] {
            let message = "only tool results can be changed on entry";
            let help = "write `kinds: [tool_result]`, or leave `kinds` out";
            problems.push_at(Code::ScopeEntryKinds, "kinds", message, help);
        }
        self.extent_in("keep_first", scope.keep_first.as_mut(), problems);
        self.extent_in("keep_recent", scope.keep_recent.as_mut(), problems);
        self.extent_in("only_recent", scope.only_recent.as_mut(), problems);
        self.extent_in("by", scope.by.as_mut(), problems);
        let is_counted = |by: &Extent| match by.units() {
            Some((_, count)) => count > 0,
            None => matches!(by, Extent::Fraction(_) | Extent::All),
        };
        if !scope.by.as_ref().is_none_or(is_counted) {
            let message = "`by` needs a number of units (at least 1), a fraction, or `all`";
            problems.push_at(Code::ScopeByNotCounted, "by", message, "write `by: turns(1)`");
        }
        if scope.whole && scope.by.as_ref().is_none_or(|it| it.units().is_none()) {
            let message = "`whole` needs `by` to give the size of a unit";
            let help = "add `by: tool_uses(10)`, or remove `whole`";
            problems.push_at(Code::ScopeWholeOfNothing, "whole", message, help);
        }
        self.size_in("larger_than", scope.larger_than.as_mut(), problems);
        for (index, keep) in scope.keep.iter_mut().enumerate() {
            problems.within(format_args!("keep.{index}"), |problems| {
                self.extent_in("first", keep.first.as_mut(), problems);
                self.extent_in("recent", keep.recent.as_mut(), problems);
            });
        }
    }
}
