//! What callers name: sessions, policies, profiles and overrides.

use std::path::PathBuf;
use std::sync::Arc;

use ctxsim::{Catalog, Comparison, Lasts};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::code::code;
use crate::error::raised;
use crate::stop::Stop;

/// A policy that is more than a name. `str` arguments of `compare` are names and paths.
#[pyclass(frozen, from_py_object, module = "ctxsim")]
#[derive(Clone)]
pub(crate) struct Policy(Form);

#[derive(Clone)]
enum Form {
    Text(ctxsim::Policy),
    Code { name: String, make: Arc<Py<PyAny>>, title: Option<String>, about: Option<String>, lasts: Lasts },
}

#[pymethods]
impl Policy {
    /// A policy in RON, as a policy file has it.
    #[staticmethod]
    fn ron(py: Python<'_>, text: &str) -> PyResult<Self> {
        ctxsim::Policy::ron(text).map(|it| Self(Form::Text(it))).map_err(|it| raised(py, &it))
    }

    /// A policy in TOML, as a policy file has it.
    #[staticmethod]
    fn toml(py: Python<'_>, text: &str) -> PyResult<Self> {
        ctxsim::Policy::toml(text).map(|it| Self(Form::Text(it))).map_err(|it| raised(py, &it))
    }

    /// A policy in Python: `make(trace)` is called for each run and returns the run's `view(cx, history)`.
    ///
    /// Its name is that of the function by default; verdicts say its `title`, at most 48 characters, beside it. A view replaces the history until the
    /// next one (`lasts="history"`), or holds for one request (`lasts="request"`).
    #[staticmethod]
    #[pyo3(signature = (make, name=None, *, title=None, about=None, lasts="history"))]
    fn code(
        make: &Bound<'_, PyAny>,
        name: Option<String>,
        title: Option<String>,
        about: Option<String>,
        lasts: &str,
    ) -> PyResult<Self> {
        let name = match name {
            Some(name) => name,
            None => make.getattr("__name__")?.extract()?,
        };
        let lasts = match lasts {
            "history" => Lasts::History,
            "request" => Lasts::Request,
            other => {
                let words = format!("`lasts` is \"history\" or \"request\", not \"{other}\"");
                return Err(PyValueError::new_err(words));
            }
        };
        Ok(Self(Form::Code { name, make: Arc::new(make.clone().unbind()), title, about, lasts }))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        match &self.0 {
            Form::Text(it) => it.name(),
            Form::Code { name, .. } => name,
        }
    }
}

/// Lists the names of bundled inputs.
#[pyfunction]
#[pyo3(signature = (kind="policies"))]
pub(crate) fn names(kind: &str) -> PyResult<Vec<String>> {
    let catalog = Catalog::bundled();
    Ok(match kind {
        "policies" => catalog.policies().map(str::to_owned).collect(),
        "scenarios" => catalog.scenarios().map(str::to_owned).collect(),
        "profiles" => catalog.profiles().map(str::to_owned).collect(),
        "suites" => catalog.suites().map(str::to_owned).collect(),
        other => {
            let words = format!("unknown kind `{other}`: use policies, scenarios, profiles or suites");
            return Err(PyValueError::new_err(words));
        }
    })
}

/// A session or a folder of sessions: something to look for, or bytes with a name.
pub(crate) enum Session {
    Named(String),
    Bytes(String, Py<PyBytes>),
}

/// Returns what is listed; a single thing is a list of one.
fn listed<'py>(given: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if given.is_none() {
        return Ok(Vec::new());
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        return given.try_iter()?.collect();
    }
    Ok(vec![given.clone()])
}

/// Returns a path or a name as the command line takes it; `~` is the user's folder.
pub(crate) fn word(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = given.py();
    let text = if given.is_instance_of::<PyString>() {
        given.extract::<String>()?
    } else {
        given.extract::<PathBuf>()?.display().to_string()
    };
    if text.starts_with('~') {
        return py.import("os.path")?.call_method1("expanduser", (text,))?.extract();
    }
    Ok(text)
}

/// Reads the names of a list.
pub(crate) fn words(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    given.map_or_else(|| Ok(Vec::new()), |it| listed(it)?.iter().map(word).collect())
}

/// Reads what sessions are named: paths and names, pairs of a name and bytes, or a dict of bytes by name.
pub(crate) fn sessions(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Session>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Ok(by_name) = given.cast::<PyDict>() {
        return by_name.iter().map(|(name, data)| bytes(&name, &data)).collect();
    }
    // A pair of a name and bytes is one session, not two.
    if let Ok(pair) = given.cast::<PyTuple>()
        && pair.len() == 2
        && pair.get_item(1)?.is_instance_of::<PyBytes>()
    {
        return Ok(vec![bytes(&pair.get_item(0)?, &pair.get_item(1)?)?]);
    }
    let one = |it: &Bound<'_, PyAny>| match it.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => bytes(&pair.get_item(0)?, &pair.get_item(1)?),
        _ => Ok(Session::Named(word(it)?)),
    };
    listed(given)?.iter().map(one).collect()
}

fn bytes(name: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<Session> {
    let data = data.cast::<PyBytes>().map_err(|_| {
        PyTypeError::new_err(
            "a session in memory is a name with bytes: (\"mine\", open(path, \"rb\").read())",
        )
    })?;
    Ok(Session::Bytes(name.extract()?, data.clone().unbind()))
}

/// The arguments of a comparison.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Arguments<'py> {
    #[pyo3(default)]
    pub(crate) policies: Option<Bound<'py, PyAny>>,
    #[pyo3(default)]
    pub(crate) profiles: Option<Bound<'py, PyAny>>,
    #[pyo3(default)]
    pub(crate) suite: Option<Bound<'py, PyAny>>,
    #[pyo3(default)]
    pub(crate) set: Option<Bound<'py, PyAny>>,
    pub(crate) folders: Option<Bound<'py, PyAny>>,
    #[pyo3(default)]
    pub(crate) own_models: bool,
    #[pyo3(default)]
    pub(crate) seed: Option<u64>,
    #[pyo3(default)]
    pub(crate) trials: Option<u64>,
    #[pyo3(default)]
    pub(crate) threads: Option<usize>,
    #[pyo3(default)]
    pub(crate) since: Option<String>,
    #[pyo3(default)]
    pub(crate) limit: Option<usize>,
    #[pyo3(default)]
    pub(crate) model: Option<String>,
    #[pyo3(default)]
    pub(crate) min_evidence: Option<f64>,
    #[pyo3(default)]
    pub(crate) rows: bool,
    #[pyo3(default)]
    pub(crate) allow_process: bool,
    #[pyo3(default)]
    pub(crate) play_twice: bool,
    #[pyo3(default)]
    pub(crate) progress: Option<Py<PyAny>>,
}

impl Arguments<'_> {
    /// Makes a comparison of everything but the sessions.
    pub(crate) fn comparison(&self, py: Python<'_>, stop: &Stop) -> PyResult<Comparison> {
        bounded(self.threads)?;
        let mut it = Comparison::new();
        let mut catalog = Catalog::bundled();
        for folder in words(self.folders.as_ref())? {
            catalog = catalog.folder(folder).map_err(|it| raised(py, &it))?;
        }
        it = it.catalog(catalog);
        if let Some(suite) = &self.suite {
            it = it.suite(word(suite)?);
        }
        for policy in self.policies.as_ref().map_or_else(|| Ok(Vec::new()), listed)? {
            it = with_policy(it, &policy, stop)?;
        }
        for profile in words(self.profiles.as_ref())? {
            it = it.profile(profile);
        }
        for (path, value) in settings(self.set.as_ref())? {
            it = it.set(&path, value);
        }
        Ok(self.numbers(it))
    }

    fn numbers(&self, mut it: Comparison) -> Comparison {
        it = if self.own_models { it.own_models() } else { it };
        it = if self.rows { it.rows() } else { it };
        it = if self.allow_process { it.allow_process() } else { it };
        it = if self.play_twice { it.play_twice() } else { it };
        it = with(it, self.seed, Comparison::seed);
        it = with(it, self.trials, Comparison::trials);
        it = with(it, self.threads, Comparison::threads);
        it = with(it, self.since.clone(), |it, since| it.since(since));
        it = with(it, self.limit, Comparison::limit);
        it = with(it, self.model.clone(), |it, model| it.model(model));
        with(it, self.min_evidence, Comparison::min_evidence)
    }
}

/// The most threads, as on the command line.
const THREADS_MAX: usize = 1_024;

/// Refuses numbers of threads that no machine has.
pub(crate) fn bounded(threads: Option<usize>) -> PyResult<()> {
    match threads.filter(|it| !(1..=THREADS_MAX).contains(it)) {
        Some(n) => {
            Err(PyValueError::new_err(format!("threads is {n}: write a number from 1 to {THREADS_MAX}")))
        }
        None => Ok(()),
    }
}

fn with<T>(it: Comparison, value: Option<T>, set: impl FnOnce(Comparison, T) -> Comparison) -> Comparison {
    match value {
        Some(value) => set(it, value),
        None => it,
    }
}

/// Adds a policy: a name, a path, a [`Policy`], or a function that makes views.
fn with_policy(comparison: Comparison, given: &Bound<'_, PyAny>, stop: &Stop) -> PyResult<Comparison> {
    let policy = match given.cast::<Policy>() {
        Ok(policy) => policy.get().clone(),
        Err(_) if given.is_callable() => Policy::code(given, None, None, None, "history")?,
        Err(_) => return Ok(comparison.policy(word(given)?)),
    };
    Ok(match policy.0 {
        Form::Text(it) => comparison.policy(it),
        Form::Code { name, make, title, about, lasts } => {
            let code = code(&name, &make, lasts, stop);
            let code = match title {
                Some(title) => code.title(title),
                None => code,
            };
            comparison.policy(match about {
                Some(about) => code.about(about),
                None => code,
            })
        }
    })
}

/// Reads overrides: a dict, pairs, or texts `PATH=VALUE`.
fn settings(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let value = |it: &Bound<'_, PyAny>| -> PyResult<String> {
        // A flag is written as the command line has it.
        Ok(match it.extract::<bool>() {
            Ok(flag) => flag.to_string(),
            Err(_) => it.str()?.to_string(),
        })
    };
    if let Ok(by_path) = given.cast::<PyDict>() {
        return by_path.iter().map(|(path, it)| Ok((path.extract()?, value(&it)?))).collect();
    }
    let one = |it: &Bound<'_, PyAny>| -> PyResult<(String, String)> {
        if let Ok(text) = it.extract::<String>() {
            let (path, value) = text.split_once('=').ok_or_else(|| {
                PyValueError::new_err(format!("`{text}` is not an override: write \"PATH=VALUE\""))
            })?;
            return Ok((path.to_owned(), value.to_owned()));
        }
        let (path, of): (String, Bound<'_, PyAny>) = it.extract()?;
        Ok((path, value(&of)?))
    };
    listed(given)?.iter().map(one).collect()
}
