//! A scenario's load as a trace, wherever its items come from.

use super::{Conversation, Trace, generate, written};
use crate::error::Error;
use crate::input::ScenarioSpec;
use crate::input::scenario::{AssumeSpec, LoadSpec};

/// Makes the trace of a scenario, of conversations that of the first; it has the scenario's name, one of several sessions its
/// own behind that.
///
/// Recorded sessions are left to the caller, who knows where the scenario's folder is: `recorded` gets the path
/// as the scenario writes it, and what the recording does not say.
///
/// # Errors
/// Every problem of the scenario, each with its field path, or what `recorded` says.
pub fn load(
    spec: &ScenarioSpec,
    recorded: impl FnOnce(&str, &AssumeSpec) -> Result<Trace, Error>,
) -> Result<Trace, Error> {
    match &spec.load {
        LoadSpec::Loops(loops) => Ok(written::trace(spec, loops)?),
        LoadSpec::Generate { kind, turns, scale } => Ok(generate::trace(spec, kind, *turns, *scale)?),
        LoadSpec::Conversation(conversation) => {
            let conversation = Conversation::new(spec, conversation)?;
            Ok(conversation.trace(&conversation.trial(0)))
        }
        LoadSpec::Recorded { path, assume } => {
            let mut trace = recorded(path, assume)?;
            if !trace.name.starts_with(&format!("{}/", spec.name)) {
                trace.name.clone_from(&spec.name);
            }
            Ok(trace)
        }
    }
}
