//! The command line.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the command line on arguments, the first of which is the program's name; returns its exit code: 0 is success; 1, that a guard or a run
/// failed, or a number changed; 2, bad input or usage.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    let code = py.detach(|| {
        let code = ctxsim::cli::main(args);
        // Python ends the process without what a Rust program does at its end; nobody may read any more.
        let _ = std::io::stdout().flush();
        code
    });
    (0..=u8::MAX).find(|it| ExitCode::from(*it) == code).unwrap_or(2)
}
