//! The command line.

mod ends;
mod format;
mod git;
mod moved;
mod output;
mod prelude;
mod progress;
mod project;
mod render;
mod session_folders;
mod usage;
mod verbs;
mod what;

use crate::prelude::*;

use ctxsim_app::catalog::Bundle;

use project::Project;
use verbs::Command;
pub use verbs::check::check_suites_silently;

/// A guard failed.
const GUARD_FAILED: u8 = 1;
/// Bad input or usage.
const BAD_INPUT: u8 = 2;

/// Runs the command line on arguments, the first of which is the program's name, with the files that ship; returns its exit code.
///
/// 0 is success; 1, that a guard or a run failed, or a number changed; 2, bad input or usage.
pub fn main(args: impl IntoIterator<Item = OsString>, bundle: Bundle) -> ExitCode {
    let code = run_command_line(args.into_iter().listed(), bundle).unwrap_or_else(|code| code);
    // Whoever reads only the exit code must not take what nobody could be told for a success.
    if output::is_all_stderr_written() { code } else { ExitCode::from(BAD_INPUT) }
}

/// Does what was asked and returns the exit code; that of a reported error as `Err`.
fn run_command_line(args: Vec<OsString>, bundle: Bundle) -> Result<ExitCode, ExitCode> {
    Project::remember_arguments(args.get(1..).unwrap_or_default());
    let opened = Catalog::open(bundle, Path::new(""));
    let cli = usage::parse_args(args, opened.as_ref().ok())?;
    cli.tone.apply_globally();
    let catalog = opened.map_err(|error| report_unreadable_inputs(&cli.command, &error))?;
    cli.command.run(&catalog).map_err(|error| report_error(&catalog, &error))
}

/// Reports inputs that cannot be read; `check` writes a result all the same, for those who read only that.
fn report_unreadable_inputs(command: &Command, error: &Error) -> ExitCode {
    let catalog = Catalog::default();
    if let Command::Check(args) = command
        && let Err(unwritten) = verbs::check::write_failed_check(args, error)
    {
        render::print_error(&catalog, &unwritten);
    }
    report_error(&catalog, error)
}

/// Makes an error of arguments that do not go together.
fn usage_error(message: impl Into<String>, help: impl Into<String>) -> Error {
    Error::refused(Code("usage"), message, help)
}

/// Makes an error of a problem with a file, a folder or an option.
fn error_at(code: Code, at: impl AsRef<Path>, message: impl Into<String>, help: impl Into<String>) -> Error {
    Diagnostic::at(code, "", message).help(help).in_file(at.as_ref().display().to_string()).into()
}

/// Returns the exit code of a command that ran to its end.
fn exit_code(holds: bool) -> ExitCode {
    if holds { ExitCode::SUCCESS } else { ExitCode::from(GUARD_FAILED) }
}

/// Draws what is wrong and returns the exit code for it.
fn report_error(catalog: &Catalog, error: &Error) -> ExitCode {
    render::print_error(catalog, error);
    ExitCode::from(BAD_INPUT)
}
