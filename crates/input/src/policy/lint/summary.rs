//! A summary that is no smaller than what it replaces.

use super::{Lint, LintHit, floor, tokens, under_all};
use crate::policy::{Action, Extent};
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("summary-too-large"),
    source: "Martian-Engineering/lossless-claw#310: compactions that lost money",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Some((_, trigger)) = stage.when.as_ref().and_then(floor) else { continue };
        let Action::Summarise(summary) = &stage.apply else { continue };
        let kept = match &stage.scope.keep_recent {
            Some(Extent::Size(size)) => size.clone(),
            Some(Extent::Tokens(count)) => Size::Tokens(count.get()),
            _ => Size::Tokens(0),
        };
        let replaced = Size::Minus(vec![trigger.clone(), kept]);
        if let Some(([most, output], under)) =
            under_all(&replaced, &summary.output, |most, output| output >= most)
        {
            let message = format!("at its trigger it replaces at most {most} tokens by {output}{under}");
            let half = tokens(&replaced, most).map_or(0, |it| it / 2);
            let mend = format!("summarise later, or shorter: `output: tokens({half})` at the most");
            found.add(format!("stages.{}.apply", stage.name), message, &mend);
        }
    }
}
