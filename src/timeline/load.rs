//! A scenario's load as a timeline, wherever its items come from.

use super::{Conversation, Timeline, generate, scripted};
use crate::error::Error;
use crate::spec::ScenarioSpec;
use crate::spec::scenario::{AssumeSpec, LoadSpec};

/// Makes the timeline of a scenario, of conversations that of the first; it has the scenario's name, one of several sessions its
/// own behind that.
///
/// Recorded sessions are left to the caller, who knows where the scenario's folder is: `recorded` gets the path
/// as the scenario writes it, and what the recording does not say.
///
/// # Errors
/// Every problem of the scenario, each with its field path, or what `recorded` says.
pub fn load(
    spec: &ScenarioSpec,
    recorded: impl FnOnce(&str, &AssumeSpec) -> Result<Timeline, Error>,
) -> Result<Timeline, Error> {
    match &spec.load {
        LoadSpec::Turns(turns) => Ok(scripted::timeline(spec, turns)?),
        LoadSpec::Generate { kind, turns, scale } => Ok(generate::timeline(spec, kind, *turns, *scale)?),
        LoadSpec::Conversation(conversation) => {
            let conversation = Conversation::new(spec, conversation)?;
            Ok(conversation.timeline(&conversation.trial(0)))
        }
        LoadSpec::Recorded { path, assume } => {
            let mut timeline = recorded(path, assume)?;
            if !timeline.name.starts_with(&format!("{}/", spec.name)) {
                timeline.name.clone_from(&spec.name);
            }
            Ok(timeline)
        }
    }
}
