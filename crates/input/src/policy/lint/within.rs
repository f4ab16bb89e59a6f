//! A trigger that no prompt can reach.

use super::{Lint, LintHit, floor, under_all};
use crate::policy::Cond;
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("trigger-beyond-window"),
    source: "BaseInfinity/claude-sdlc-harness#520: thresholds that a smaller window never reaches",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Some((what, trigger)) = stage.when.as_ref().and_then(floor) else { continue };
        // What a client that keeps everything would send, or counts itself, may be more than is sent.
        if !matches!(what, Cond::Prompt(_) | Cond::Body(_)) {
            continue;
        }
        if let Some(([at, limit], under)) = under_all(trigger, &Size::Limit, |at, limit| at > limit) {
            let message = format!(
                "it waits for {at} tokens, and a prompt of {limit} is the longest that can be sent{under}"
            );
            found.add(format!("stages.{}.when", stage.name), message, "stay below the limit: `ratio(0.8)`");
        }
    }
}
