//! The rules of stages that act while nothing is asked.

use crate::diag::Problems;
use crate::input::policy::{Action, Moment, Stage};

/// Checks that a pause and the moment that it is about go together, and with no other.
pub(super) fn check(stage: &Stage, problems: &mut Problems) {
    let is_idle = stage.at.contains(&Moment::Idle);
    if is_idle != stage.pause.is_some() || (is_idle && stage.at.len() > 1) {
        problems.push_at(
            "pause-not-idle",
            if stage.pause.is_some() { "pause" } else { "at" },
            "moment `idle` and a `pause` go together, and with no other moment",
            "give it a stage of its own: `at: [idle], pause: (after: \"54m\")`",
        );
    }
    if stage.pause.is_some_and(|it| it.after.0 == 0 || it.times == 0) {
        let message = "a pause of no time, or one that is taken no times, never comes";
        problems.push_at("pause-never", "pause", message, "write `pause: (after: \"54m\")`");
    }
    let steps = stage.then.iter().map(|it| &it.apply);
    let pings = std::iter::once(&stage.apply).chain(steps).any(|it| matches!(it, Action::Ping { .. }));
    if pings && !is_idle {
        let message = "the cache is kept by requests that are made while no other is";
        problems.push_at("ping-not-idle", "apply", message, "write `at: [idle]` and a `pause`");
    }
}
