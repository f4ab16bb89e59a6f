//! A clear that may free less than it makes the provider write again.

use super::{Lint, LintHit, floor, tokens, under_all};
use crate::policy::Size;
use crate::policy::{Cond, PrefixRule, Relation};
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("saving-below-write"),
    source: "gptme/gptme#946: clears that freed 3.8% lost money, so 10% became the minimum",
    find,
};

/// What must be freed at least, as a part of the prompt.
const PART: u64 = 10;

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages().iter().filter(|it| it.prefix == PrefixRule::Breaks) {
        let Some(when) = &stage.when else { continue };
        let (Some((_, trigger)), Some(least)) = (floor(when), freed(when)) else { continue };
        let is_little = |prompt: u64, freed: u64| freed.saturating_mul(PART) < prompt;
        if let Some(([prompt, freed], under)) = under_all(trigger, least, is_little) {
            // Anthropic's prices; others charge less for a write, and it is earned back a little sooner.
            let requests = (prompt - freed).saturating_mul(115) / (freed.max(1) * 10);
            let back = match requests {
                0..1_000 => format!("after {requests} more requests"),
                _ => "in no session of a usual length".to_owned(),
            };
            let message = format!(
                "it may free {freed} of {prompt} tokens{under}: where that breaks the prefix near its front, it is earned back {back}, \
                 if a write costs 1.25 of plain input and a read 0.1"
            );
            let enough = tokens(trigger, prompt).map_or(0, |it| it.div_ceil(PART));
            let mend =
                format!("free at least a tenth of the prompt: `reclaimable(at_least: tokens({enough}))`");
            found.add(format!("stages.{}.when", stage.name), message, &mend);
        }
    }
}

/// Returns how much a condition wants to be freed at least.
fn freed(cond: &Cond) -> Option<&Size> {
    match cond {
        Cond::All(parts) => parts.iter().find_map(freed),
        Cond::Reclaimable(bound) => {
            bound.given().filter(|it| matches!(it.0, Relation::Above | Relation::AtLeast)).map(|it| it.1)
        }
        _ => None,
    }
}
