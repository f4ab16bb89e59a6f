//! A summary of no tokens: what it replaces is gone, and the report calls it summarised.

use super::{Lint, LintHit, under_all};
use crate::policy::Action;
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("summary-empty"),
    source: "docs/reference/policy.ron: `output` is the length of the summary",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Action::Summarise(summary) = &stage.apply else { continue };
        if under_all(&summary.output, &Size::Tokens(1), |output, one| output < one).is_some() {
            let message = "a summary of 0 tokens says nothing: what it replaces is lost".to_owned();
            let mend = "give it a length, such as `output: tokens(2_000)`, or write `apply: drop`";
            found.add(format!("stages.{}.apply", stage.name), message, mend);
        }
    }
}
