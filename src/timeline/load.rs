//! A scenario's load as a timeline, whatever its source.

use super::build::TimelineBuilder;
use super::{Timeline, random, scripted};
use crate::error::Error;
use crate::input::scenario::{Assume, Load};
use crate::input::{Scenario, ScenarioFile};

/// Makes the timeline of a scenario: of conversations, the first; of session streams and chats, none. It has
/// the scenario's name, followed by the session's own if there are several.
///
/// The caller reads recorded sessions, because it knows the scenario's folder: `recorded` receives the path
/// as written in the scenario, and the assumptions.
///
/// # Errors
/// The errors of `recorded`.
pub fn load(
    scenario: &Scenario,
    recorded: impl FnOnce(&str, &Assume) -> Result<Timeline, Error>,
) -> Result<Timeline, Error> {
    Ok(under(made(scenario, recorded)?, scenario))
}

/// Gives a timeline what its scenario sets, wherever the items come from.
pub fn under(mut timeline: Timeline, scenario: &ScenarioFile) -> Timeline {
    timeline.seed = scenario.seed;
    timeline.refetch = scenario.refetch;
    timeline.harness.unread_tokens = scenario.unread_tokens;
    timeline
}

fn made(
    spec: &Scenario,
    recorded: impl FnOnce(&str, &Assume) -> Result<Timeline, Error>,
) -> Result<Timeline, Error> {
    match &spec.load {
        Load::Turns(turns) => Ok(scripted::timeline(spec, turns)),
        Load::Generate(generate) => Ok(scripted::generated(spec, generate)),
        Load::Random { turns } => Ok(random::timeline(spec, *turns)),
        // A world of its own makes what it plays.
        Load::Conversation(_) | Load::Aging(_) | Load::Chats(_) => {
            Ok(TimelineBuilder::new(&spec.name, &[]).finish())
        }
        Load::Recorded { path, assume } => {
            let mut timeline = recorded(path, assume)?;
            if !timeline.name.starts_with(&format!("{}/", spec.name)) {
                timeline.name.clone_from(&spec.name);
            }
            Ok(timeline)
        }
    }
}
