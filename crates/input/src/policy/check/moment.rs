//! The rules of stages that act while the agent is idle.

use crate::policy::{Action, Moment, Stage};
use ctxsim_base::diag::{Code, Problems};

/// Checks that a pause comes with the moment `idle`, and that moment with a pause.
pub(super) fn check(stage: &Stage, problems: &mut Problems) {
    let is_idle = stage.at.contains(&Moment::Idle);
    if is_idle != stage.pause.is_some() || (is_idle && stage.at.len() > 1) {
        problems.push_at(
            Code::PauseNotIdle,
            if stage.pause.is_some() { "pause" } else { "at" },
            "the moment `idle` needs a `pause`, and a `pause` works at no other moment",
            "use a separate stage: `at: [idle], pause: (after: \"54m\")`",
        );
    }
    if stage.pause.is_some_and(|it| it.after.0 == 0 || it.times == 0) {
        let message = "a pause needs a duration and at least one repetition";
        problems.push_at(Code::PauseNever, "pause", message, "write `pause: (after: \"54m\")`");
    }
    let steps = stage.then.iter().map(|it| &it.apply);
    let pings = std::iter::once(&stage.apply).chain(steps).any(|it| matches!(it, Action::Ping { .. }));
    if pings && !is_idle {
        let message = "`ping` works only in an `idle` stage";
        problems.push_at(Code::PingNotIdle, "apply", message, "write `at: [idle]` and a `pause`");
    }
}
