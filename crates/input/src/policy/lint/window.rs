//! A window that moves by one unit with each request: every request breaks the prefix where the window begins.

use super::{Lint, LintHit};
use crate::policy::{Action, Cond, Extent, Moment, PrefixRule, PromptPart, Stage, Unit};
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("window-of-single-units"),
    source: "lloydzhou/bash-agent#5: a cut moved by one message rewrites the prompt each time",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages().iter().filter(|it| moves(it)) {
        let keeps = stage.scope.keep_recent.as_ref().and_then(Extent::units);
        let when = if keeps.is_some_and(|it| it.0 == Unit::Turns) { "turn" } else { "request" };
        let message = format!("what it leaves moves on with each {when}, and breaks the cached prefix there");
        let mend = "give it a trigger (`when`), or let it move in steps: `by: turns(10), whole: true`";
        found.add(format!("stages.{}.scope", stage.name), message, mend);
    }
}

/// Returns whether a stage without a trigger leaves a number of units and takes one at a time.
fn moves(stage: &Stage) -> bool {
    let scope = &stage.scope;
    let is_of_one = scope.by.as_ref().is_none_or(|it| it.units().is_some_and(|it| it.1 <= 1));
    let edits = matches!(stage.apply, Action::Drop | Action::Show(_) | Action::Table { .. });
    stage.when.as_ref().is_none_or(|it| *it == Cond::Always)
        && stage.at.contains(&Moment::Request)
        && stage.prefix == PrefixRule::Breaks
        && scope.part == PromptPart::History
        && scope.keep_recent.as_ref().is_some_and(|it| it.units().is_some())
        && is_of_one
        && edits
}
