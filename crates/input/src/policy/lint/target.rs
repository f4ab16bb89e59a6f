//! A trigger that is also the goal: a little is edited at nearly every request, and each edit breaks the cached prefix.

use std::mem::discriminant;

use super::{Lint, LintHit, ceiling, floor, under_all};
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("trigger-is-target"),
    source: "QwenLM/qwen-code#8452: it cleared one result a turn",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let (Some(when), Some(until)) = (&stage.when, &stage.until) else { continue };
        let (Some(trigger), Some(goal)) = (floor(when), ceiling(until)) else { continue };
        if discriminant(trigger.0) != discriminant(goal.0) {
            continue;
        }
        if trigger.1 == goal.1 || under_all(trigger.1, goal.1, |at, to| to >= at).is_some() {
            let message =
                "it stops where it starts, so it edits again as soon as anything is added".to_owned();
            found.add(
                format!("stages.{}.until", stage.name),
                message,
                "stop well below the trigger, at half of it for a start",
            );
        }
    }
}
