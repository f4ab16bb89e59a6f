//! Comparisons, of sessions that are named or that a workbench has read.

use ctxsim::{Comparison, Recording, Scenario};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments::{Arguments, Session, words};
use crate::error::raised;
use crate::report::Report;
use crate::stop::{Stop, watched};

/// A profile under which sessions can be read, whatever model they were recorded with.
const ANY_PROFILE: &str = "anthropic/claude-sonnet-4.5";
/// A policy under which they can.
const ANY_POLICY: &str = "identity";

/// Compares policies on sessions, or on those of a workbench.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    sessions: Option<Bound<'_, PyAny>>,
    given: Arguments<'_>,
) -> PyResult<Report> {
    let stop = Stop::default();
    let comparison = on(py, given.comparison(py, &stop)?, sessions.as_ref(), &stop)?;
    let progress = given.progress.as_ref();
    let run = || comparison.plan()?.run_with(|done| stop.told(progress, done));
    let inner = watched(py, &stop, run)?.map_err(|error| raised(py, &error))?;
    Ok(Report { inner })
}

/// Adds sessions to a comparison: those that are named, and those that are held as bytes or by a workbench.
pub(crate) fn on(
    py: Python<'_>,
    mut comparison: Comparison,
    sessions: Option<&Bound<'_, PyAny>>,
    stop: &Stop,
) -> PyResult<Comparison> {
    if let Some(bench) = sessions.and_then(|given| given.cast::<Workbench>().ok()) {
        return Ok(comparison.scenarios(&bench.borrow().sessions));
    }
    for session in crate::arguments::sessions(sessions)? {
        comparison = match session {
            Session::Named(name) => comparison.scenario(name),
            Session::Bytes(name, data) => comparison.scenarios(recorded(py, name, &data, stop)?),
        };
    }
    Ok(comparison)
}

/// Reads a recording while other Python code runs: bytes are immutable.
fn recorded(py: Python<'_>, name: String, data: &Py<PyBytes>, stop: &Stop) -> PyResult<Vec<Scenario>> {
    let bytes = data.as_bytes(py);
    watched(py, stop, || Scenario::recorded(name, bytes))?.map_err(|error| raised(py, &error))
}

/// Sessions that are read once and compared often. Every verb takes one in the place of sessions, as in `ctxsim.advise(bench)`.
#[pyclass(module = "ctxsim")]
pub(crate) struct Workbench {
    sessions: Vec<Scenario>,
}

#[pymethods]
impl Workbench {
    #[new]
    #[pyo3(signature = (sessions=None, *, since=None, limit=None, model=None, threads=None, progress=None))]
    fn new(
        py: Python<'_>,
        sessions: Option<Bound<'_, PyAny>>,
        since: Option<String>,
        limit: Option<usize>,
        model: Option<String>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut it = Self { sessions: Vec::new() };
        if let Some(sessions) = sessions {
            it.read(py, &sessions, since, limit, model, threads, progress)?;
        }
        Ok(it)
    }

    /// Reads a recording from bytes; returns the names of its sessions.
    ///
    /// `assume` is the field `load.recorded.assume` of a scenario file, in RON; `file_tools` are tools whose results can be read again by range.
    #[pyo3(signature = (name, data, *, assume=None, file_tools=None))]
    fn add(
        &mut self,
        py: Python<'_>,
        name: &str,
        data: &Bound<'_, PyBytes>,
        assume: Option<&str>,
        file_tools: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let mut recording = Recording::new(name);
        if let Some(assume) = assume {
            recording = recording.assume(assume).map_err(|it| raised(py, &it))?;
        }
        recording = recording.file_tools(words(file_tools.as_ref())?);
        let (stop, bytes) = (Stop::default(), data.as_bytes());
        let read = watched(py, &stop, || recording.read(bytes))?.map_err(|it| raised(py, &it))?;
        Ok(self.keep(read))
    }

    /// Reads sessions as `compare` names them; returns their names. Files of a folder that cannot be used are left out.
    #[pyo3(signature = (sessions, *, since=None, limit=None, model=None, threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn read(
        &mut self,
        py: Python<'_>,
        sessions: &Bound<'_, PyAny>,
        since: Option<String>,
        limit: Option<usize>,
        model: Option<String>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<String>> {
        let stop = Stop::default();
        let arguments = Arguments { since, limit, model, threads, ..Arguments::default() };
        let mut comparison = arguments.comparison(py, &stop)?.policy(ANY_POLICY).profile(ANY_PROFILE);
        let (mut names, mut has_named) = (Vec::new(), false);
        for it in crate::arguments::sessions(Some(sessions))? {
            match it {
                Session::Named(name) => {
                    comparison = comparison.scenario(name);
                    has_named = true;
                }
                Session::Bytes(name, data) => {
                    names.extend(self.keep(recorded(py, name, &data, &stop)?));
                }
            }
        }
        if !has_named {
            return Ok(names);
        }
        let told = |it| stop.told(progress.as_ref(), it);
        let found =
            watched(py, &stop, || comparison.plan()?.sessions(told))?.map_err(|it| raised(py, &it))?;
        names.extend(self.keep(found));
        Ok(names)
    }

    /// The names of its sessions.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.sessions.iter().map(|it| it.name().to_owned()).collect()
    }

    fn __len__(&self) -> usize {
        self.sessions.len()
    }

    fn __repr__(&self) -> String {
        format!("<ctxsim.Workbench: {} sessions>", self.sessions.len())
    }

    /// Compares policies on its sessions, with the arguments of `ctxsim.compare`.
    #[pyo3(
        signature = (**given),
        text_signature = "($self, *, policies=None, profiles=None, suite=None, set=None, folders=None, own_models=False, \
            seed=None, trials=None, threads=None, since=None, limit=None, model=None, min_evidence=None, rows=True, \
            allow_process=False, play_twice=False, progress=None)"
    )]
    fn compare<'py>(
        slf: &Bound<'py, Self>,
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if slf.borrow().sessions.is_empty() {
            return Err(PyValueError::new_err("this workbench has no sessions: `add` or `read` some"));
        }
        slf.py().import("ctxsim.verbs")?.call_method("compare", (slf,), given)
    }
}

impl Workbench {
    /// Adds sessions; returns their names.
    fn keep(&mut self, read: Vec<Scenario>) -> Vec<String> {
        let names = read.iter().map(|it| it.name().to_owned()).collect();
        self.sessions.extend(read);
        names
    }
}
