//! The workload of a scenario, with recordings found beside the scenario's own file.

use crate::blocks::{self, BlockTrace};
use crate::catalog::{Loaded, Origin};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::spec::ScenarioSpec;
use crate::spec::scenario::{AssumeSpec, LoadSpec};
use crate::trace::{Trace, import, load};

/// What a scenario plays.
#[expect(clippy::large_enum_variant, reason = "a plan holds one a scenario")]
#[derive(Clone, Debug)]
pub enum Workload {
    /// Items, which policies act on.
    Items(Trace),
    /// Recorded prompts as block ids, which no policy changes.
    Blocks(BlockTrace),
}

impl Workload {
    /// Returns the trace of items, if it is one.
    #[must_use]
    pub fn items(&self) -> Option<&Trace> {
        match self {
            Self::Items(trace) => Some(trace),
            Self::Blocks(_) => None,
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Items(trace) => &trace.name,
            Self::Blocks(trace) => &trace.name,
        }
    }

    /// Returns whether anything in it needs anything.
    #[must_use]
    pub fn has_needs(&self) -> bool {
        self.items().is_some_and(|it| !it.needs.is_empty())
    }

    /// Returns what is assumed rather than known, in sentences.
    #[must_use]
    pub fn assumptions(&self) -> &[String] {
        match self {
            Self::Items(trace) => &trace.assumptions,
            Self::Blocks(trace) => &trace.assumptions,
        }
    }
}

/// Makes the workloads of a scenario, whose spec may have been overridden since it was read; a recording may hold several.
///
/// # Errors
/// Every problem of the scenario or of its recording.
pub(super) fn workloads(
    scenario: &Loaded<ScenarioSpec>,
    spec: &ScenarioSpec,
) -> Result<Vec<Workload>, Error> {
    if let LoadSpec::Recorded { path, .. } = &spec.load {
        let origin = recording(scenario, path)?;
        let text = origin.text()?;
        if import::detect(&text).is_none() && blocks::detect(&text) {
            let mut trace = blocks::read(&text, &spec.name).map_err(|mut it| {
                it.place.file = origin.label();
                vec![*it]
            })?;
            trace.name.clone_from(&spec.name);
            return Ok(vec![Workload::Blocks(trace)]);
        }
    }
    let mut others = Vec::new();
    let first = trace(scenario, spec, &mut others)?;
    Ok(std::iter::once(first).chain(others).map(Workload::Items).collect())
}

/// Makes a scenario's trace; a recording of several sessions has others beside it.
fn trace(
    scenario: &Loaded<ScenarioSpec>,
    spec: &ScenarioSpec,
    others: &mut Vec<Trace>,
) -> Result<Trace, Error> {
    let is_file = scenario.source.is_some();
    let recorded = |path: &str, assume: &AssumeSpec| {
        let origin = recording(scenario, path)?;
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

/// Returns where a scenario's recording stands.
///
/// # Errors
/// There is nothing beside the scenario.
fn recording(scenario: &Loaded<ScenarioSpec>, path: &str) -> Result<Origin, Error> {
    let is_there = |it: &Origin| match it {
        // A recording that was named itself is looked for where it is read.
        Origin::File(path) => scenario.source.is_none() || path.is_file(),
        _ => true,
    };
    match scenario.origin.beside(path).filter(is_there) {
        Some(origin) => Ok(origin),
        None => Err(scenario.locate(vec![missing(path)]).into()),
    }
}

/// Says that a scenario's recording is not beside it.
fn missing(path: &str) -> Diagnostic {
    Diagnostic::at(
        "recording-missing",
        "load.recorded.path",
        format!("there is no `{path}` beside the scenario"),
    )
    .help("write a path relative to the scenario's own folder")
}
