//! `ctxsim show --schema`, `ctxsim --man` and `ctxsim --completions`: what editors, manuals and shells want to know.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap_mangen::Man;
use ctxsim_app::catalog::Files;
use ctxsim_base::diag::Code;
use ctxsim_base::error::Error;
use ctxsim_input::text::schema;

use crate::args::{CompletionsArgs, ManArgs, SchemaArg};
use crate::output::OutputArgs;
use crate::{moved, output, wrong};

/// Prints the schema of one kind of file, or writes it to a folder, or those of all kinds.
pub(super) fn schema(kind: Option<SchemaArg>, output: &OutputArgs) -> Result<(), Error> {
    if kind.is_none() && output.file().is_none() {
        return Err(wrong(
            Code::Usage,
            "missing: `<KIND>`",
            "name a kind of file, or a folder for all of them",
        ));
    }
    output.file().map_or(Ok(()), output::make_folder)?;
    let (inputs, mut files) = (Files::default(), Vec::new());
    let kinds = kind.map_or(SchemaArg::value_variants().to_vec(), |it| vec![it]);
    for kind in kinds {
        let text = match kind {
            SchemaArg::Policy => schema::POLICY,
            SchemaArg::Scenario => schema::SCENARIO,
            SchemaArg::Profile => schema::PROFILE,
            SchemaArg::Suite => schema::SUITE,
        };
        let name = kind.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default();
        match output.file() {
            Some(folder) => files.push((folder.join(format!("{name}.json")), text)),
            None => output::print_encoded(text.as_bytes())?,
        }
    }
    output::write_all(&files, output.force().kept(&inputs))
}

/// Prints the manual page, or writes one per command.
pub(super) fn man(args: &ManArgs) -> Result<(), Error> {
    let Some(folder) = &args.output else {
        return output::print_encoded(page(Man::new(command()))?.as_bytes());
    };
    output::make_folder(folder)?;
    let (inputs, mut files) = (Files::default(), Vec::new());
    pages(folder, command(), &mut files)?;
    output::write_all(&files, args.force.kept(&inputs))
}

/// Adds the pages of a command and its subcommands; the hidden ones have the options of flags.
fn pages(folder: &Path, command: clap::Command, files: &mut Vec<(PathBuf, String)>) -> Result<(), Error> {
    for inner in command.get_subcommands() {
        pages(folder, inner.clone(), files)?;
    }
    let man = Man::new(command);
    let path = folder.join(man.get_filename());
    files.push((path, page(man)?));
    Ok(())
}

fn page(man: Man) -> Result<String, Error> {
    let mut page = Vec::new();
    let failed = |source| Error::Write { path: "the manual page".into(), source };
    man.render(&mut page).map_err(failed)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Prints a completion script.
pub(super) fn completions(args: &CompletionsArgs) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut moved::completed(), "ctxsim", &mut script);
    output::print_encoded(&script)
}

/// Returns the command line with full subcommand names, as the pages are named.
fn command() -> clap::Command {
    let mut command = moved::command().disable_help_subcommand(true);
    command.build();
    command
}
