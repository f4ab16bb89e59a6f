//! Something that changes in front of everything that could be cached.

use super::{Lint, LintHit};
use crate::policy::{Changes, DynamicPlace};
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("volatile-front"),
    source: "Anthropic, prompt caching: a change in front invalidates all that follows",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for (nth, it) in policy.layout().dynamic.iter().enumerate() {
        if it.at == DynamicPlace::FrontOfSystem && it.changes != Changes::Session {
            let message = "it changes within a session and stands in front, so nothing behind it is read from the cache again";
            found.add(format!("layout.dynamic.{nth}"), message.to_owned(), "move it to the end: `at: tail`");
        }
    }
}
