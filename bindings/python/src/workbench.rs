//! Comparisons, of sessions that are named or that a workbench has read.

use ctxsim::{Comparison, Recording, Scenario};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::{Arguments, Session, words};
use crate::error::raised;
use crate::report::Report;
use crate::stop::{Stop, watched};

/// A profile under which sessions can be read, whatever model they were recorded with.
const ANY_PROFILE: &str = "anthropic/claude-sonnet-4.5";
/// A policy under which they can.
const ANY_POLICY: &str = "identity";

/// Compares policies on sessions, as `ctxsim run` does.
///
/// `sessions`: files, folders, quoted patterns or bundled names; or bytes, as pairs of a name and bytes, or a dict. `policies`: names, paths,
/// `Policy` objects and functions, the first being the baseline; the seven of the suite `default` if left out. `profiles`: models with prices by name
/// or path; each session under its own model's if left out, or with `own_models` those that are named for sessions whose model is not known. `suite`
/// names a suite that gives what is left out. `set`: overrides by path, as `--set` takes them; a bare number takes the unit that the parameter has.
/// `folders`: folders with your own `policies/`, `profiles/` and so on. `seed` is the random seed of what is drawn, `trials` how many conversations
/// are drawn of each length. `since` (`YYYY-MM-DD`), `limit` (the newest so many) and `model` select recorded sessions. `min_evidence` (0 to 1; 0.9
/// by default) is what a policy must keep to be recommended. `rows=False` saves the memory of `requests` and `needs`, about 150 bytes a row.
/// `allow_process` lets policies start the programs that they name, `play_twice` runs policies in code twice and fails where they differ. `threads`
/// (1 to 1024; all cores by default) never changes a result.
///
/// `progress(done, all)` is called after each session, from a thread that does the work. If it raises, or on Ctrl-C, the runs stop within one
/// session.
///
/// Raises `Error` with every problem of every input.
#[pyfunction]
#[pyo3(signature = (
    sessions=None, *, policies=None, profiles=None, suite=None, set=None, folders=None, own_models=false, seed=None,
    trials=None, threads=None, since=None, limit=None, model=None, min_evidence=None, rows=true, allow_process=false,
    play_twice=false, progress=None,
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn compare(
    py: Python<'_>,
    sessions: Option<Bound<'_, PyAny>>,
    policies: Option<Bound<'_, PyAny>>,
    profiles: Option<Bound<'_, PyAny>>,
    suite: Option<Bound<'_, PyAny>>,
    set: Option<Bound<'_, PyAny>>,
    folders: Option<Bound<'_, PyAny>>,
    own_models: bool,
    seed: Option<u64>,
    trials: Option<u64>,
    threads: Option<usize>,
    since: Option<String>,
    limit: Option<usize>,
    model: Option<String>,
    min_evidence: Option<f64>,
    rows: bool,
    allow_process: bool,
    play_twice: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Report> {
    let arguments = Arguments {
        policies,
        profiles,
        suite,
        set,
        folders,
        own_models,
        seed,
        trials,
        threads,
        since,
        limit,
        model,
        min_evidence,
        rows,
        allow_process,
        play_twice,
        progress,
    };
    let stop = Stop::default();
    let mut comparison = arguments.comparison(py, &stop)?;
    let all = crate::arguments::sessions(sessions.as_ref())?;
    // Bytes are immutable, so they are read while other Python code runs.
    let held: Vec<(&str, Option<&[u8]>)> = all
        .iter()
        .map(|it| match it {
            Session::Named(name) => (name.as_str(), None),
            Session::Bytes(name, data) => (name.as_str(), Some(data.as_bytes(py))),
        })
        .collect();
    let inner = arguments.run(py, &stop, || {
        for (name, data) in held {
            comparison = match data {
                None => comparison.scenario(name),
                Some(data) => comparison.scenarios(Scenario::recorded(name, data)?),
            };
        }
        Ok(comparison)
    })?;
    Ok(Report { inner })
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
                    let bytes = data.as_bytes(py);
                    let read = watched(py, &stop, || Scenario::recorded(name, bytes))?;
                    names.extend(self.keep(read.map_err(|it| raised(py, &it))?));
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
    #[pyo3(signature = (
        *, policies=None, profiles=None, suite=None, set=None, folders=None, own_models=false, seed=None, trials=None,
        threads=None, since=None, limit=None, model=None, min_evidence=None, rows=true, allow_process=false,
        play_twice=false, progress=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn compare(
        &self,
        py: Python<'_>,
        policies: Option<Bound<'_, PyAny>>,
        profiles: Option<Bound<'_, PyAny>>,
        suite: Option<Bound<'_, PyAny>>,
        set: Option<Bound<'_, PyAny>>,
        folders: Option<Bound<'_, PyAny>>,
        own_models: bool,
        seed: Option<u64>,
        trials: Option<u64>,
        threads: Option<usize>,
        since: Option<String>,
        limit: Option<usize>,
        model: Option<String>,
        min_evidence: Option<f64>,
        rows: bool,
        allow_process: bool,
        play_twice: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Report> {
        if self.sessions.is_empty() {
            return Err(PyValueError::new_err("this workbench has no sessions: `add` or `read` some"));
        }
        let arguments = Arguments {
            policies,
            profiles,
            suite,
            set,
            folders,
            own_models,
            seed,
            trials,
            threads,
            since,
            limit,
            model,
            min_evidence,
            rows,
            allow_process,
            play_twice,
            progress,
        };
        let stop = Stop::default();
        let comparison = self.of_sessions(arguments.comparison(py, &stop)?);
        Ok(Report { inner: arguments.run(py, &stop, || Ok(comparison))? })
    }
}

impl Workbench {
    /// Adds sessions; returns their names.
    fn keep(&mut self, read: Vec<Scenario>) -> Vec<String> {
        let names = read.iter().map(|it| it.name().to_owned()).collect();
        self.sessions.extend(read);
        names
    }

    pub(crate) fn of_sessions(&self, comparison: Comparison) -> Comparison {
        comparison.scenarios(&self.sessions)
    }
}
