//! A goal that no prompt reaches: something of it always stays.

use super::{Lint, LintHit, ceiling, under_all};
use crate::policy::Cond;
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("goal-unreachable"),
    source: "docs/reference/policy.ron: no stage removes the stable prefix",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Some((Cond::Prompt(_) | Cond::Raw(_), goal)) = stage.until.as_ref().and_then(ceiling) else {
            continue;
        };
        if under_all(goal, &Size::Tokens(1), |goal, one| goal < one).is_some() {
            let message = "no prompt is so small, so it takes everything in its scope".to_owned();
            let mend = "leave `until` out if everything should go, or give a size that a prompt can have, such as \
                `until: prompt(at_most: ratio(0.4))`";
            found.add(format!("stages.{}.until", stage.name), message, mend);
        }
    }
}
