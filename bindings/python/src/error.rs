//! Problems with inputs, as an exception with each of them.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

pyo3::create_exception!(
    ctxsim,
    Error,
    PyException,
    "Inputs that cannot be used. `problems` lists every problem of every input at once: dicts with `code`, `message`, `file`, `field`, \
    `line`, `column` and `help`."
);

/// Makes an exception of an error.
pub(crate) fn raised(py: Python<'_>, error: &ctxsim::Error) -> PyErr {
    let raised = Error::new_err(words(error));
    let listed = problems(py, error).and_then(|it| raised.value(py).setattr("problems", it));
    listed.err().unwrap_or(raised)
}

/// Says all problems, each with its fix.
fn words(error: &ctxsim::Error) -> String {
    let lines = error.problems().into_iter().map(|it| {
        let help = it.help.map_or_else(String::new, |it| format!(" ({it})"));
        let at = it.line_column.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
        let file = if it.file.is_empty() { String::new() } else { format!("{}{at}: ", it.file) };
        let field = if it.field.is_empty() { String::new() } else { format!("`{}`: ", it.field) };
        format!("{file}{field}{} [{}]{help}", it.message, it.code)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn problems<'py>(py: Python<'py>, error: &ctxsim::Error) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    for it in error.problems() {
        let (line, column) = it.line_column.unzip();
        let one = PyDict::new(py);
        one.set_item("code", it.code)?;
        one.set_item("message", it.message)?;
        one.set_item("file", it.file)?;
        one.set_item("field", it.field)?;
        one.set_item("line", line)?;
        one.set_item("column", column)?;
        one.set_item("help", it.help)?;
        all.append(one)?;
    }
    Ok(all)
}
