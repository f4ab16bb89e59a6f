//! A scenario's load as a trace, wherever its items come from.

use super::{Conversation, Trace, generate, written};
use crate::error::Error;
use crate::input::Scenario;
use crate::input::scenario::{Assume, Load};

/// Makes the trace of a scenario, of conversations that of the first; it has the scenario's name, one of several sessions its
/// own behind that.
///
/// Recorded sessions are left to the caller, who knows where the scenario's folder is: `recorded` gets the path
/// as the scenario writes it, and what the recording does not say.
///
/// # Errors
/// What the scenario's generator refuses, each with its field path, or what `recorded` says.
pub fn load(
    scenario: &Scenario,
    recorded: impl FnOnce(&str, &Assume) -> Result<Trace, Error>,
) -> Result<Trace, Error> {
    let mut trace = made(scenario, recorded)?;
    trace.refetch = scenario.refetch;
    Ok(trace)
}

fn made(
    spec: &Scenario,
    recorded: impl FnOnce(&str, &Assume) -> Result<Trace, Error>,
) -> Result<Trace, Error> {
    match &spec.load {
        Load::Loops(loops) => Ok(written::trace(spec, loops)),
        Load::Generate { kind, turns, scale } => Ok(generate::trace(spec, kind, *turns, *scale)?),
        Load::Conversation(conversation) => {
            let conversation = Conversation::new(spec, conversation);
            Ok(conversation.trace(&conversation.trial(0)))
        }
        Load::Recorded { path, assume } => {
            let mut trace = recorded(path, assume)?;
            if !trace.name.starts_with(&format!("{}/", spec.name)) {
                trace.name.clone_from(&spec.name);
            }
            Ok(trace)
        }
    }
}
