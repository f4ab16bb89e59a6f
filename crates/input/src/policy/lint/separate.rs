//! A summary whose request finds nothing in the cache: the whole history is paid for as plain input once more.

use super::{Lint, LintHit};
use crate::policy::{Action, SummaryPrompt};
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("summary-misses-cache"),
    source: "anthropics/claude-code#94197: about 97,000 tokens written again with each compaction",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    // Another model's cache has nothing of the session in any case.
    if policy.summariser.is_some() {
        return;
    }
    for stage in policy.stages() {
        let asks = |it: &Action| matches!(it, Action::Summarise(it) if it.prompt == SummaryPrompt::Separate);
        if policy.rungs(stage).any(|it| asks(it.action)) {
            let message = "the request for the summary has a prompt of its own, which the cache of the session's model does not hold";
            let mend = "ask behind the agent's own prompt (`prompt: aligned`), or name a cheaper model (`summariser`)";
            found.add(format!("stages.{}.apply", stage.name), message.to_owned(), mend);
        }
    }
}
