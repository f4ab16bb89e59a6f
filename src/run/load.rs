//! The trace of a scenario, with recorded sessions found beside the scenario's own file.

use crate::catalog::{Loaded, Origin};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::spec::ScenarioSpec;
use crate::spec::scenario::AssumeSpec;
use crate::trace::{Trace, load};

/// Makes the trace of a scenario, whose spec may have been overridden since it was read.
///
/// # Errors
/// Every problem of the scenario or of its recording.
pub(super) fn trace(scenario: &Loaded<ScenarioSpec>, spec: &ScenarioSpec) -> Result<Trace, Error> {
    let is_file = scenario.source.is_some();
    let recorded = |path: &str, assume: &AssumeSpec| {
        let origin = scenario.origin.beside(path).ok_or_else(|| vec![missing(path)])?;
        session(&origin, spec, assume)
    };
    match load::load(spec, recorded) {
        Err(Error::Invalid(problems)) if is_file => {
            let (own, others): (Vec<_>, Vec<_>) =
                problems.into_iter().partition(|it| it.place.file.is_empty());
            Err(scenario.locate(own).into_iter().chain(others).collect::<Vec<_>>().into())
        }
        result => result,
    }
}

/// Reads a recorded session.
fn session(origin: &Origin, spec: &ScenarioSpec, assume: &AssumeSpec) -> Result<Trace, Error> {
    let (_, _) = (&spec.file_tools, assume);
    let mut problem = Diagnostic::at("session-unknown", "", "no importer reads this session");
    problem.place.file = origin.label();
    origin.text()?;
    Err(vec![problem].into())
}

/// Says that a bundled scenario's recording is not bundled with it.
fn missing(path: &str) -> Diagnostic {
    Diagnostic::at(
        "recording-missing",
        "load.recorded.path",
        format!("there is no `{path}` beside the scenario"),
    )
    .help("write a path relative to the scenario's own folder")
}
