//! Problems with inputs, as an exception with each of them.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

pyo3::create_exception!(
    ctxsim,
    Error,
    PyException,
    "Inputs that cannot be used; the message says every problem with its place and its fix. `problems` lists them as `Problem`s."
);

/// A problem of an input: what is wrong, where, and how to fix it.
#[pyclass(frozen, get_all, module = "ctxsim")]
pub(crate) struct Problem {
    /// A stable name of the kind of problem, such as `unknown-name`.
    code: &'static str,
    /// What is wrong.
    message: String,
    /// The file, or what stands for one; empty if it was made in code.
    file: String,
    /// The path of the field, such as `stages.0.apply`; empty for the whole input.
    field: String,
    /// The line in the text, from 1; None if the problem has no place in a text.
    line: Option<usize>,
    /// The column in the text, from 1; None if the problem has no place in a text.
    column: Option<usize>,
    /// How to fix it; None if there is nothing to add.
    help: Option<String>,
}

#[pymethods]
impl Problem {
    fn __str__(&self) -> String {
        let help = self.help.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
        let at = self.line.zip(self.column).map(|(line, column)| format!("{line}:{column}"));
        let file = match (self.file.as_str(), at) {
            ("", None) => String::new(),
            ("", Some(at)) => format!("{at}: "),
            (file, None) => format!("{file}: "),
            (file, Some(at)) => format!("{file}:{at}: "),
        };
        let field = if self.field.is_empty() { String::new() } else { format!("`{}`: ", self.field) };
        format!("{file}{field}{} [{}]{help}", self.message, self.code)
    }

    fn __repr__(&self) -> String {
        format!("<ctxsim.Problem: {}>", self.__str__())
    }
}

impl From<ctxsim::Problem> for Problem {
    fn from(it: ctxsim::Problem) -> Self {
        let (line, column) = it.line_column.unzip();
        let ctxsim::Problem { code, message, file, field, help, .. } = it;
        Self { code, message, file, field, line, column, help }
    }
}

/// Makes an exception of an error.
pub(crate) fn raised(py: Python<'_>, error: &ctxsim::Error) -> PyErr {
    let problems: Vec<Problem> = error.problems().into_iter().map(Problem::from).collect();
    let words: Vec<String> = problems.iter().map(Problem::__str__).collect();
    let raised = Error::new_err(words.join("\n"));
    let listed = raised.value(py).setattr("problems", problems);
    listed.err().unwrap_or(raised)
}
