//! The rules of what is assumed of users' messages.

use super::check_interval;
use crate::scenario::ScenarioFile;
use crate::scenario::user_messages::{UserMessages, UserNeeds};
use ctxsim_base::diag::{Code, Problems};
use ctxsim_base::quantity::Decimal;

/// Checks what a scenario says of them, and that its load has any.
pub(super) fn check(spec: &ScenarioFile, problems: &mut Problems) {
    let Some(messages) = spec.user_messages else { return };
    if !spec.load.is_of_items() {
        let message = "this load has no messages of users that a need could be of";
        problems.push(Code::UserMessagesUnused, message, "remove it");
    }
    let UserMessages::Needed(UserNeeds { earlier, summarised }) = messages else { return };
    for (field, number) in [("earlier", earlier), ("summarised", summarised)] {
        let Some(it) = number else { continue };
        problems.within(format_args!("needed.{field}"), |problems| {
            let ends = [("value", it.value), ("low", it.low), ("high", it.high)];
            for (end, _) in ends.into_iter().filter(|it| it.1 > Decimal::ONE) {
                let message = "it must be from 0 to 1";
                problems.push_at(Code::RatioAboveOne, end, message, "write a number from 0 to 1");
            }
            check_interval([it.low, it.value, it.high], problems);
        });
    }
}
