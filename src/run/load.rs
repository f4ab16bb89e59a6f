//! The trace of a scenario, with recorded sessions found beside the scenario's own file.

use crate::catalog::{Loaded, Origin};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::spec::ScenarioSpec;
use crate::spec::scenario::AssumeSpec;
use crate::trace::{Trace, import, load};

/// Makes the traces of a scenario, whose spec may have been overridden since it was read; a recording may hold several.
///
/// # Errors
/// Every problem of the scenario or of its recording.
pub(super) fn traces(scenario: &Loaded<ScenarioSpec>, spec: &ScenarioSpec) -> Result<Vec<Trace>, Error> {
    let mut others = Vec::new();
    let first = trace(scenario, spec, &mut others)?;
    Ok(std::iter::once(first).chain(others).collect())
}

/// Makes a scenario's trace; a recording of several sessions has others beside it.
fn trace(
    scenario: &Loaded<ScenarioSpec>,
    spec: &ScenarioSpec,
    others: &mut Vec<Trace>,
) -> Result<Trace, Error> {
    let is_file = scenario.source.is_some();
    let recorded = |path: &str, assume: &AssumeSpec| {
        let origin = scenario.origin.beside(path).ok_or_else(|| vec![missing(path)])?;
        let mut all = sessions(&origin, spec, assume)?.into_iter();
        let first = all.next().ok_or_else(|| vec![missing(path)])?;
        others.extend(all);
        Ok(first)
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

/// Reads recorded sessions; what of them is left out is told among the assumptions.
fn sessions(origin: &Origin, spec: &ScenarioSpec, assume: &AssumeSpec) -> Result<Vec<Trace>, Error> {
    let text = origin.text()?;
    let imported = import::import_all(&text, &spec.name, assume, &spec.file_tools).map_err(|problems| {
        let of_file = problems.into_iter().map(|mut it| {
            if it.place.field.is_empty() {
                it.place.file = origin.label();
            }
            it
        });
        of_file.collect::<Vec<_>>()
    })?;
    let traces = imported.into_iter().map(|it| {
        let mut trace = it.trace;
        trace.assumptions.extend(it.losses.iter().map(|it| format!("Left out of {}: {it}.", spec.name)));
        trace
    });
    Ok(traces.collect())
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
