//! The trace of a scenario, with recorded sessions found beside the scenario's own file.

use crate::catalog::Loaded;
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::spec::ScenarioSpec;
use crate::trace::Trace;

/// Makes the trace of a scenario.
///
/// # Errors
/// Every problem of the scenario or of its recording.
pub(super) fn trace(scenario: &Loaded<ScenarioSpec>, spec: &ScenarioSpec) -> Result<Trace, Error> {
    let _ = spec;
    let problem = Diagnostic::at("load-missing", "load", "no load can be made yet");
    Err(scenario.locate(vec![problem]).into())
}
