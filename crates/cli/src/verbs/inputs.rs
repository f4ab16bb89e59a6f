//! `ctxsim show` and `ctxsim validate`: the files of inputs and what is wrong with them; and what editors, manuals and shells want to know.

use crate::prelude::*;

use clap_mangen::Man;

use crate::moved;
use ctxsim_app::catalog::{input_files, kind_of_file};
use ctxsim_app::check;
use ctxsim_input::text::schema;

/// The arguments of `validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Files, or folders of files [default: the whole catalog]
    #[arg(value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Start the programs that policies name, and check that they follow the protocol
    #[arg(long)]
    pub allow_process: bool,
    /// End with exit code 2 if a policy is warned of, too
    #[arg(long)]
    pub strict: bool,
}

/// The arguments of `show`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct ShowArgs {
    /// Kind of input, where several kinds have one of the name
    #[arg(value_enum)]
    pub kind: Option<InputKindArg>,
    /// Name or path
    #[arg(value_name = "NAME", required_unless_present = "schema")]
    pub name: Option<String>,
    /// Merge a policy with its bases into one file; comments are lost
    #[arg(long, conflicts_with_all = ["to", "redact"])]
    pub merged: bool,
    /// Print it in this language, with its comments
    #[arg(long = "as", value_name = "FORMAT", value_enum)]
    pub to: Option<InputFormatArg>,
    /// Write the sessions of a recording without their words, to send a log that fails
    #[arg(long, conflicts_with_all = ["kind", "to"])]
    pub redact: bool,
    /// Print the JSON Schema of a kind of file, for editors; with `--output DIR` write KIND.json there, of all kinds if none is named
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, conflicts_with_all = ["kind", "name", "merged", "to", "redact"])]
    pub schema: Option<Option<InputKindArg>>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A format of input files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormatArg {
    /// Rusty Object Notation
    Ron,
    /// TOML
    Toml,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputKindArg {
    /// Rules that turn an agent's history into prompts
    Policy,
    /// A workload: what an agent does, turn by turn
    Scenario,
    /// A model with limits, cache rules and prices
    Profile,
    /// A named comparison
    Suite,
}

/// The arguments of `--man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder to write ctxsim.1 and one page per command to, created if missing
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// The arguments of `--completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Shown below the options of `show`.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim show clear_tool_results --as toml                     a bundled policy as TOML
  ctxsim show session.jsonl --redact --output redacted.jsonl   the same numbers, none of the words
  ctxsim show --schema policy                                  the JSON Schema of policy files";

/// Prints an input's file or the same in the other language, a policy merged with its bases, sessions without their words, or a schema.
pub(super) fn print_input(catalog: &Catalog, args: &ShowArgs) -> Result<()> {
    if let Some(kind) = args.schema {
        return write_schemas(kind, &args.output);
    }
    let name = args.name.as_deref().unwrap_or_default();
    if args.redact {
        args.output.check_output_path(catalog.files_read())?;
        let text = ctxsim_app::redact_recording(catalog, name)?;
        return args.output.write_result(catalog.files_read(), FormatArg::JSONL, &text);
    }
    let asked = args.to.map(|format| match format {
        InputFormatArg::Ron => Format::Ron,
        InputFormatArg::Toml => Format::Toml,
    });
    // The file is what its name says.
    let of_file = args.output.file().and_then(Format::from_path);
    if let Some(path) = args.output.file() {
        if let Some(format) = asked.filter(|_| asked != of_file) {
            return Err(wrong_extension_error(path, format));
        }
        output::check_output_path(path)?;
    }
    let (kind, format) = (args.kind.map(kind_of_arg), asked.or(of_file));
    let text = match kind.filter(|it| *it != InputKind::Policy) {
        _ if !args.merged => ctxsim_app::input_text(catalog, kind, name, format)?,
        None => ctxsim_app::merged_policy_text(catalog, name, format)?,
        Some(kind) => {
            let message = format!("only policies have bases: `--merged` does not apply to a {}", kind.noun());
            return Err(usage_error(message, "remove `--merged`"));
        }
    };
    // The file is the user's from now on: the next one does not replace it without a word.
    args.output.write_new_input_file(catalog.files_read(), &text)
}

fn kind_of_arg(named: InputKindArg) -> InputKind {
    InputKind::ALL[named as usize]
}

/// Reports a file extension that does not match the format written.
fn wrong_extension_error(path: &Path, format: Format) -> Error {
    let (name, extension) = match format {
        Format::Ron => ("RON", "ron"),
        Format::Toml => ("TOML", "toml"),
    };
    let help = format!("name it `{}`", path.with_extension(extension).display());
    error_at(Code("output-extension"), path, format!("a {name} file ends in `.{extension}`"), help)
}

/// Checks inputs and reports every problem in all of them.
pub(super) fn validate_inputs(catalog: &Catalog, args: &ValidateArgs) -> Result<()> {
    let (mut problems, mut warnings, mut n_programs) = (Vec::new(), Vec::new(), 0);
    if args.allow_process {
        ends::install_interrupt_handler();
    }
    let mut checked = Vec::new();
    if args.paths.is_empty() {
        checked = check_inputs_of_catalog(catalog, None, args.allow_process);
    }
    for path in &args.paths {
        let found = check_path(catalog, path, args.allow_process);
        checked.extend(found.unwrap_or_else(|error| vec![Err(error)]));
    }
    let n_checked = checked.len();
    for found in checked {
        match found {
            Ok(CheckFindings { n_programs_not_run: not_run, warnings: more }) => {
                n_programs += not_run;
                warnings.extend(more);
            }
            Err(error) => problems.extend(error.problems()),
        }
    }
    if args.strict {
        problems.append(&mut warnings);
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    if !warnings.is_empty() {
        render::print_warnings(catalog, &warnings);
    }
    let are_valid = if n_checked == 1 { "input is valid" } else { "inputs are valid" };
    let valid = format!("{n_checked} {are_valid}");
    let valid = match warnings.len() {
        0 => valid,
        n => format!("{valid}, with {}", counted(n, "warning")),
    };
    output::print_text(&match n_programs {
        0 => format!("{valid}\n"),
        1 => format!("{valid}; 1 program was not run: add `--allow-process` to test it\n"),
        n => format!("{valid}; {n} programs were not run: add `--allow-process` to test them\n"),
    })
}

/// Checks a file, or what is in a folder.
fn check_path(catalog: &Catalog, path: &Path, with_programs: bool) -> Result<Vec<Result<CheckFindings>>> {
    if InputKind::ALL.iter().any(|it| path.join(it.folder_name()).is_dir()) {
        Catalog::default().with_folder(path)?;
        return Ok(check_inputs_of_catalog(&catalog.clone().with_folder(path)?, Some(path), with_programs));
    }
    let files = if path.is_dir() { input_files(path)? } else { vec![path.to_owned()] };
    if files.is_empty() {
        let help = "inputs end in `.ron` or `.toml`; name recordings one by one";
        return Err(error_at(Code("folder-empty"), path, "the folder contains no inputs", help));
    }
    let check_file =
        |it: &PathBuf| check_input(catalog, kind_of_file(it)?, &it.to_string_lossy(), with_programs);
    Ok(files.iter().map(check_file).listed())
}

/// Checks what a catalog names, of all inputs or of those below a folder.
fn check_inputs_of_catalog(
    catalog: &Catalog,
    folder: Option<&Path>,
    with_programs: bool,
) -> Vec<Result<CheckFindings>> {
    let mut checked = Vec::new();
    for kind in InputKind::ALL {
        for name in catalog.names(kind) {
            let is_in =
                |folder| catalog.find_origin(kind, name).is_ok_and(|it| it.path().starts_with(folder));
            if folder.is_none_or(is_in) {
                checked.push(check_input(catalog, kind, name, with_programs));
            }
        }
    }
    checked
}

/// Checks one input, and what its program does where it may start.
fn check_input(catalog: &Catalog, kind: InputKind, name: &str, with_programs: bool) -> Result<CheckFindings> {
    check::check_input(catalog, kind, name)?;
    if with_programs && kind == InputKind::Policy {
        check::try_out_program(catalog, name)?;
    }
    let has_program = kind == InputKind::Policy && catalog.policy(name)?.spec.process.is_some();
    Ok(CheckFindings {
        n_programs_not_run: usize::from(has_program && !with_programs),
        warnings: check::lint_input(catalog, kind, name)?,
    })
}

/// What is known of a valid input: how many programs did not run, and what is wrong with it by construction.
struct CheckFindings {
    n_programs_not_run: usize,
    warnings: Vec<Diagnostic>,
}

/// Prints the schema of one kind of file, or writes it to a folder, or those of all kinds.
pub(super) fn write_schemas(kind: Option<InputKindArg>, output: &OutputArgs) -> Result<()> {
    if kind.is_none() && output.file().is_none() {
        return Err(usage_error("missing: `<KIND>`", "name a kind of file, or a folder for all of them"));
    }
    output.file().map_or(Ok(()), output::make_folder)?;
    let (inputs, mut files) = (InputFiles::default(), Vec::new());
    let kinds = kind.map_or(InputKind::ALL.to_vec(), |it| vec![kind_of_arg(it)]);
    for kind in kinds {
        let text = match kind {
            InputKind::Policy => schema::POLICY,
            InputKind::Scenario => schema::SCENARIO,
            InputKind::Profile => schema::PROFILE,
            InputKind::Suite => schema::SUITE,
        };
        match output.file() {
            Some(folder) => files.push((folder.join(format!("{}.json", kind.noun())), text)),
            None => output::print_encoded(text.as_bytes())?,
        }
    }
    output::write_together(&files, output.force.overwrite_rules(&inputs))
}

/// Prints the manual page, or writes one per command.
pub(super) fn write_manual(args: &ManArgs) -> Result<()> {
    let Some(folder) = &args.output else {
        return output::print_encoded(render_manual_page(Man::new(command_for_manual()))?.as_bytes());
    };
    output::make_folder(folder)?;
    let (inputs, mut files) = (InputFiles::default(), Vec::new());
    add_manual_pages(folder, command_for_manual(), &mut files)?;
    output::write_together(&files, args.force.overwrite_rules(&inputs))
}

/// Adds the pages of a command and its subcommands; the hidden ones have the options of flags.
fn add_manual_pages(folder: &Path, command: clap::Command, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    for inner in command.get_subcommands() {
        add_manual_pages(folder, inner.clone(), files)?;
    }
    let man = Man::new(command);
    let path = folder.join(man.get_filename());
    files.push((path, render_manual_page(man)?));
    Ok(())
}

fn render_manual_page(man: Man) -> Result<String> {
    let mut page = Vec::new();
    let failed = |source| Error::Write { path: "the manual page".into(), source };
    man.render(&mut page).map_err(failed)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Prints a completion script.
pub(super) fn print_completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut moved::command_for_completions(), "ctxsim", &mut script);
    output::print_encoded(&script)
}

/// Returns the command line with full subcommand names, as the pages are named.
fn command_for_manual() -> clap::Command {
    let mut command = moved::build_root_command().disable_help_subcommand(true);
    command.build();
    command
}
