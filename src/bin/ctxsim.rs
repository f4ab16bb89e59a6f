//! The program `ctxsim`: the library's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ctxsim::cli::main(std::env::args_os())
}
