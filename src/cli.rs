//! The command line over the files that ship.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::catalog::BUNDLE;

/// Runs the command line on arguments, the first of which is the program's name; returns its exit code.
///
/// 0 is success; 1, that a guard or a run failed, or a number changed; 2, bad input or usage.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ctxsim_cli::main(args, BUNDLE)
}
