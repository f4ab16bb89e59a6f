//! `ctxsim show` and `ctxsim validate`: the files of inputs, and what is wrong with them.

use std::path::Path;

use ctxsim_app::catalog::{Catalog, Kind, input_files, kind_of};
use ctxsim_app::check;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::grid::numbers;
use ctxsim_input::Format;

use crate::args::{ConvertArgs, InputFormatArg, SchemaArg, ShowArgs, ValidateArgs};
use crate::output;
use crate::{ends, render, wrong, wrong_at};

/// Prints an input's file, or a policy merged with its bases.
pub(super) fn show(catalog: &Catalog, args: &ShowArgs) -> Result<(), Error> {
    args.output.file().map_or(Ok(()), output::check)?;
    // The file is what its name says.
    let format = args.output.file().and_then(Format::of);
    let kind = kind(args.kind);
    let text = match (args.merged, kind) {
        (false, _) => ctxsim_app::show(catalog, kind, &args.name, format)?,
        (true, Kind::Policy) => ctxsim_app::show_merged(catalog, &args.name, format)?,
        (true, _) => {
            let message = format!("only policies have bases: `--merged` does not apply to a {}", kind.noun());
            return Err(wrong(Code("usage"), message, "remove `--merged`"));
        }
    };
    // The file is the user's from now on: the next one does not replace it without a word.
    args.output.put_source(catalog.files(), &text)
}

fn kind(named: SchemaArg) -> Kind {
    match named {
        SchemaArg::Policy => Kind::Policy,
        SchemaArg::Scenario => Kind::Scenario,
        SchemaArg::Profile => Kind::Profile,
        SchemaArg::Suite => Kind::Suite,
    }
}

/// Prints or writes an input in one of the two formats.
pub(super) fn convert(catalog: &Catalog, args: &ConvertArgs) -> Result<(), Error> {
    let format = match args.to {
        InputFormatArg::Ron => Format::Ron,
        InputFormatArg::Toml => Format::Toml,
    };
    if let Some(path) = args.output.file() {
        if Format::of(path) != Some(format) {
            return Err(other_extension(path, args.to));
        }
        output::check(path)?;
    }
    let text = ctxsim_app::convert(catalog, args.kind.map(kind), &args.name, format)?;
    args.output.put_source(catalog.files(), &text)
}

/// Reports a file extension that does not match the format written.
fn other_extension(path: &Path, to: InputFormatArg) -> Error {
    let (name, extension) = match to {
        InputFormatArg::Ron => ("RON", "ron"),
        InputFormatArg::Toml => ("TOML", "toml"),
    };
    let help = format!("name it `{}`", path.with_extension(extension).display());
    wrong_at(Code("output-extension"), path, format!("a {name} file ends in `.{extension}`"), help)
}

/// Checks inputs and reports every problem in all of them.
pub(super) fn validate(catalog: &Catalog, args: &ValidateArgs) -> Result<(), Error> {
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    let (mut n_checked, mut n_programs) = (0_usize, 0_usize);
    if args.allow_process {
        ends::watch();
    }
    let mut take = |result: Result<CheckedInput, Error>| {
        n_checked += 1;
        match result {
            Ok(CheckedInput { not_run, warnings: more }) => {
                n_programs += not_run;
                warnings.extend(more);
            }
            Err(Error::Invalid(more)) => problems.extend(more),
            Err(other) => problems.push(other.into_problem()),
        }
    };
    if args.paths.is_empty() {
        check_all(catalog, None, args.allow_process, &mut take);
    }
    for path in &args.paths {
        let has_inputs = Kind::ALL.iter().any(|it| path.join(it.folder()).is_dir());
        if has_inputs {
            match Catalog::default().with_folder(path).and_then(|_| catalog.clone().with_folder(path)) {
                Ok(catalog) => check_all(&catalog, Some(path), args.allow_process, &mut take),
                Err(error) => take(Err(error)),
            }
        } else if path.is_dir() {
            match input_files(path) {
                Ok(files) if files.is_empty() => take(Err(no_inputs(path))),
                Ok(files) => files.iter().for_each(|it| take(check_file(catalog, it, args.allow_process))),
                Err(error) => take(Err(error)),
            }
        } else {
            take(check_file(catalog, path, args.allow_process));
        }
    }
    if args.strict {
        problems.append(&mut warnings);
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    if !warnings.is_empty() {
        render::warnings(catalog, &warnings);
    }
    let valid = match n_checked {
        1 => "1 input is valid".to_owned(),
        n => format!("{n} inputs are valid"),
    };
    let valid = match warnings.len() {
        0 => valid,
        n => format!("{valid}, with {}", numbers::counted(n, "warning")),
    };
    output::print(&match n_programs {
        0 => format!("{valid}\n"),
        1 => format!("{valid}; 1 program was not run: add `--allow-process` to test it\n"),
        n => format!("{valid}; {n} programs were not run: add `--allow-process` to test them\n"),
    })
}

/// Reports a folder without inputs.
fn no_inputs(folder: &Path) -> Error {
    let help = "inputs end in `.ron` or `.toml`; name recordings one by one";
    wrong_at(Code("folder-empty"), folder, "the folder contains no inputs", help)
}

/// Checks what a catalog names, of all inputs or of those below a folder.
fn check_all(
    catalog: &Catalog,
    folder: Option<&Path>,
    starts: bool,
    take: &mut impl FnMut(Result<CheckedInput, Error>),
) {
    for kind in Kind::ALL {
        for name in catalog.names(kind) {
            let is_in = |folder| catalog.find(kind, name).is_ok_and(|it| it.path().starts_with(folder));
            if folder.is_none_or(is_in) {
                take(check_one(catalog, kind, name, starts));
            }
        }
    }
}

/// Checks one file.
fn check_file(catalog: &Catalog, path: &Path, starts: bool) -> Result<CheckedInput, Error> {
    let kind = kind_of(path)?;
    check_one(catalog, kind, &path.to_string_lossy(), starts)
}

/// Checks one input, and what its program does where it may start.
fn check_one(catalog: &Catalog, kind: Kind, name: &str, starts: bool) -> Result<CheckedInput, Error> {
    check::check(catalog, kind, name)?;
    if starts {
        check::try_out(catalog, kind, name)?;
    }
    let has_program = kind == Kind::Policy && catalog.policy(name)?.spec.process.is_some();
    Ok(CheckedInput {
        not_run: usize::from(has_program && !starts),
        warnings: check::lints(catalog, kind, name)?,
    })
}

/// What is known of a valid input: how many programs did not run, and what is wrong with it by construction.
struct CheckedInput {
    not_run: usize,
    warnings: Vec<Diagnostic>,
}
