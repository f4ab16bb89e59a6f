//! A stage that can take the message away that the agent is working on.

use super::{Lint, LintHit};
use crate::policy::{Action, Extent, Keep, Kind, Moment, PromptPart, Scope, ShownAs, Unit};
use crate::prelude::*;

pub(super) const LINT: Lint = Lint {
    code: Code("task-removed"),
    source: "assumptions/user_messages.toml: each request of a turn needs its user's message, and no call fetches it again",
    find,
};

fn find(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let is_before_requests = stage
            .at
            .iter()
            .any(|it| matches!(it, Moment::SessionStart | Moment::TurnStart | Moment::Request));
        let removes = |(scope, action): (&Scope, &Action)| {
            let hides = match action {
                Action::Drop => true,
                Action::Show(rendition) => rendition.shown() != ShownAs::Raw,
                _ => false,
            };
            hides && reaches(scope)
        };
        if is_before_requests && policy.rungs(stage).any(|it| removes((it.scope, it.action))) {
            let message = "it can take away the user's message while the agent is working on it";
            let mend = "protect it: add `keep: [(kinds: [user], recent: messages(1))]` to its scope, or leave `user` out of its `kinds`";
            found.add(format!("stages.{}.scope", stage.name), message.to_owned(), mend);
        }
    }
}

/// Returns whether nothing in a scope protects the newest message of the user.
fn reaches(scope: &Scope) -> bool {
    let has_users = |kinds: &[Kind]| kinds.is_empty() || kinds.contains(&Kind::User);
    let is_of_results = !scope.tools.is_empty()
        || !scope.preserve.is_empty()
        || !scope.superseded_by.is_empty()
        || scope.part == PromptPart::Entering;
    let is_of_users = scope.kinds() == [Kind::User];
    let keeps = |it: &Keep| {
        let is_of_users = it.kinds == [Kind::User];
        has_users(&it.kinds)
            && it.tools.is_empty()
            && it.recent.as_ref().is_some_and(|it| leaves_newest(it, is_of_users))
    };
    let is_by_whole_turns =
        scope.whole && scope.by.as_ref().and_then(Extent::units).is_some_and(|it| it.0 == Unit::Turns);
    has_users(scope.kinds())
        && !is_of_results
        && scope.part != PromptPart::Completed
        && !is_by_whole_turns
        && !scope.keep.iter().any(keeps)
        && !scope.keep_recent.as_ref().is_some_and(|it| leaves_newest(it, is_of_users))
}

/// Returns whether what is left at the end has the message of the last turn: whole turns do, and one of users' messages is it.
fn leaves_newest(extent: &Extent, is_of_users: bool) -> bool {
    match extent {
        Extent::All => true,
        _ => extent.units().is_some_and(|(unit, n)| {
            n > 0 && (unit == Unit::Turns || is_of_users && matches!(unit, Unit::Messages | Unit::Groups))
        }),
    }
}
