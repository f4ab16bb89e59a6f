//! The Python module `ctxsim`: comparisons, tables that other libraries read without a copy, and policies as functions.
//!
//! `bindings/python` is a wheel over the face, in a workspace of its own. Tables go to other libraries as Arrow arrays, without a copy; a
//! policy in Python is a `View` that keeps the entries that it has shown, so that no function has to follow what has gone. Work runs on a
//! thread of its own, while the caller's thread looks for signals and stops the runs.

mod arguments;
mod code;
mod command;
mod error;
mod parts;
mod report;
mod stop;
mod table;
mod verbs;
mod workbench;

use pyo3::prelude::*;

/// The compiled part of `ctxsim`; its names are documented in `ctxsim/__init__.pyi`.
#[pymodule]
mod _ctxsim {
    #[pymodule_export]
    use super::arguments::{Policy, names};
    #[pymodule_export]
    use super::code::{Cx, Entry, ModelCall, Part, Trace, insert, keep, rewrite, sized};
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::error::Error;
    #[pymodule_export]
    use super::parts::{Totals, batch, fold, job, parts};
    #[pymodule_export]
    use super::report::Report;
    #[pymodule_export]
    use super::table::{Table, table};
    #[pymodule_export]
    use super::verbs::answer;
    #[pymodule_export]
    use super::workbench::{Workbench, compare};
}
