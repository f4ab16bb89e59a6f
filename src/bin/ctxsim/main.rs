//! Reads arguments, calls the library, prints, sets the exit code.

mod args;
mod check;
mod cli;
mod compare;
mod explain;
mod fit;
mod format;
mod git;
mod import;
mod init;
mod inputs;
mod output;
mod pages;
mod pictures;
mod prices;
mod render;
mod run;
mod sensitivity;
mod store;
mod sweep;
mod tune;
mod usage;
mod words;

use std::path::Path;
use std::process::ExitCode;

use ctxsim::catalog::Catalog;
use ctxsim::error::Error;

use cli::Command;

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
    let result = match cli.command {
        Command::Run(args) => run::run(&catalog, &args),
        Command::Compare(args) => compare::compare(&catalog, &args).map(|()| true),
        Command::Check(args) => match check::check(&catalog, &args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Sweep(args) => sweep::sweep(&catalog, &args).map(|()| true),
        Command::Merge(args) => sweep::merge(&args).map(|()| true),
        Command::Tune(args) => tune::tune(&catalog, &args).map(|()| true),
        Command::Fit(args) => fit::fit(&catalog, &args).map(|()| true),
        Command::Init(args) => init::init(&catalog, &args).map(|()| true),
        Command::Sensitivity(args) => sensitivity::sensitivity(&catalog, &args).map(|()| true),
        Command::Explain(args) => explain::explain(&catalog, &args).map(|()| true),
        Command::Import(args) => import::import(&catalog, &args).map(|()| true),
        Command::List(args) => inputs::list(&catalog, &args).map(|()| true),
        Command::Show(args) => inputs::show(&catalog, &args).map(|()| true),
        Command::Validate(args) => inputs::validate(&catalog, &args).map(|()| true),
        Command::Convert(args) => inputs::convert(&args).map(|()| true),
        Command::Prices(args) => prices::prices(&args.command).map(|()| true),
        Command::Store(args) => store::store(&catalog, &args.command).map(|()| true),
        Command::Schema(args) => pages::schema(&args).map(|()| true),
        Command::Man(args) => pages::man(&args).map(|()| true),
        Command::Completions(args) => pages::completions(&args).map(|()| true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(GUARD_FAILED),
        Err(error) => refuse(&catalog, &error),
    }
}

/// Reports inputs that cannot be read; `check` writes a result all the same, for those who read only that.
fn unopened(command: &Command, error: &Error) -> ExitCode {
    let catalog = Catalog::bundled();
    if let Command::Check(args) = command
        && let Err(unwritten) = check::unopened(args, error)
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
