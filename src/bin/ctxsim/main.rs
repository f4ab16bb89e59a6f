//! Reads arguments, calls the library, prints, sets the exit code.

mod args;
mod format;
mod git;
mod output;
mod pictures;
mod render;
mod usage;
mod verbs;
mod words;

use std::path::Path;
use std::process::ExitCode;

use ctxsim::catalog::Catalog;
use ctxsim::error::Error;

use verbs::Command;

/// A guard failed.
const GUARD_FAILED: u8 = 1;
/// Bad input or usage.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let opened = Catalog::open(Path::new(""));
    let cli = match usage::parse(opened.as_ref().ok()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let catalog = match opened {
        Ok(catalog) => catalog,
        Err(error) => return unopened(&cli.command, &error),
    };
    match cli.command.run(&catalog) {
        Ok(code) => code,
        Err(error) => refuse(&catalog, &error),
    }
}

/// Reports inputs that cannot be read; `check` writes a result all the same, for those who read only that.
fn unopened(command: &Command, error: &Error) -> ExitCode {
    let catalog = Catalog::bundled();
    if let Command::Check(args) = command
        && let Err(unwritten) = verbs::check::unopened(args, error)
    {
        render::error(&catalog, &unwritten);
    }
    refuse(&catalog, error)
}

/// Draws what is wrong and returns the exit code for it.
fn refuse(catalog: &Catalog, error: &Error) -> ExitCode {
    render::error(catalog, error);
    ExitCode::from(BAD_INPUT)
}
