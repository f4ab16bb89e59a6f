//! Problems with inputs, as an exception with each of them.

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

pyo3::create_exception!(
    ctxsim,
    Error,
    PyException,
    "Inputs that cannot be used; the message says every problem with its place and its fix. `problems` lists them as `Problem`s."
);

/// Values of a class of `ctxsim/values.py`.
pub(crate) type Values<'py> = PyResult<Bound<'py, PyAny>>;

/// Makes values of a class of `ctxsim/values.py`, whose fields are those of the records.
pub(crate) fn values<'py>(py: Python<'py>, class: &str, records: &(impl Serialize + ?Sized)) -> Values<'py> {
    let text = serde_json::to_string(records).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("ctxsim.values")?.call_method1("read", (class, text))
}

/// Makes an exception of an error.
pub(crate) fn raised(py: Python<'_>, error: &ctxsim::Error) -> PyErr {
    let problems = || -> PyResult<PyErr> {
        let problems = values(py, "Problem", &error.problems())?;
        let words: Vec<String> =
            problems.try_iter()?.map(|it| Ok(it?.str()?.to_string())).collect::<PyResult<_>>()?;
        let raised = Error::new_err(words.join("\n"));
        raised.value(py).setattr("problems", problems)?;
        Ok(raised)
    };
    problems().unwrap_or_else(|failed| failed)
}
