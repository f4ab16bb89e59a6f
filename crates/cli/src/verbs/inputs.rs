//! `ctxsim list` and `ctxsim validate`: what inputs there are, and what is wrong with them.

use std::fmt::Write as _;
use std::path::Path;

use ctxsim_app::catalog::{Catalog, Files, Kind, input_files, kind_of};
use ctxsim_app::check;
use ctxsim_base::diag::{Code, Diagnostic, nearest};
use ctxsim_base::error::Error;
use ctxsim_base::grid::numbers;
use ctxsim_base::list::Listed as _;
use ctxsim_input::Format;
use ctxsim_timeline::import;

use crate::args::{ConvertArgs, InputFormatArg, KindArg, ListArgs, SchemaArg, ShowArgs, ValidateArgs};
use crate::output;
use crate::{ends, render, wrong, wrong_at};

/// Prints the names and descriptions of inputs.
pub(super) fn list(catalog: &Catalog, args: &ListArgs) -> Result<(), Error> {
    let kinds = match args.kind {
        None => Kind::ALL.to_vec(),
        Some(KindArg::Policies) => vec![Kind::Policy],
        Some(KindArg::Scenarios) => vec![Kind::Scenario],
        Some(KindArg::Profiles) => vec![Kind::Profile],
        Some(KindArg::Suites) => vec![Kind::Suite],
        Some(KindArg::Formats) => return list_formats(&args.filter),
    };
    let mut text = String::new();
    for &kind in &kinds {
        let names = filtered(catalog, kind, &args.filter);
        if names.is_empty() && !args.filter.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{} ({})", kind.folder(), names.len());
        let widest = names.iter().map(|it| it.chars().count()).max().unwrap_or(0);
        for name in names {
            let line = format!("  {name:widest$}  {}", about(catalog, kind, name));
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if text.is_empty() {
        return Err(vec![nothing_listed(catalog, &kinds, &args.filter)].into());
    }
    output::print(&text)
}

/// Prints what is known of the formats of recorded sessions whose name or description contains a text.
fn list_formats(filter: &str) -> Result<(), Error> {
    let wanted = filter.to_lowercase();
    let has = |it: &&&import::LogFormat| {
        let said = [it.name, it.looks_like, it.place, it.reads, it.omits].join(" ").to_lowercase();
        said.contains(&wanted)
    };
    let all = import::formats();
    let found: Vec<_> = all.iter().filter(has).listed();
    if found.is_empty() {
        let message = format!("no format has `{filter}` in its description");
        return Err(wrong(Code::NothingListed, message, "remove `--filter` to list everything"));
    }
    let mut text = format!("formats ({})\n", found.len());
    for format in found {
        let checked = format.checked.words();
        let lines = [
            ("looks like", format.looks_like),
            ("found in", format.place),
            ("read", format.reads),
            ("not read", format.omits),
            ("checked on", &checked),
        ];
        let _ = writeln!(text, "\n  {}", format.name);
        for (head, line) in lines {
            let _ = writeln!(text, "    {head:10}  {line}");
        }
    }
    output::print(&text)
}

/// Returns the inputs of a kind whose names or descriptions contain a text.
fn filtered<'c>(catalog: &'c Catalog, kind: Kind, filter: &str) -> Vec<&'c str> {
    let wanted = filter.to_lowercase();
    let has = |name: &&str| {
        wanted.is_empty() || format!("{name} {}", about(catalog, kind, name)).to_lowercase().contains(&wanted)
    };
    catalog.names(kind).filter(has).listed()
}

/// Reports that no input contains a text; it may be of another kind, or misspelt.
fn nothing_listed(catalog: &Catalog, kinds: &[Kind], filter: &str) -> Diagnostic {
    let nouns: Vec<&str> = kinds.iter().map(|it| it.noun()).listed();
    let nouns = match nouns.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        only => only.concat(),
    };
    let message = format!("no {nouns} has `{filter}` in its name or description");
    let others = Kind::ALL.into_iter().filter(|it| !kinds.contains(it));
    let of_others = others.map(|kind| (kind, filtered(catalog, kind, filter).len())).filter(|it| it.1 > 0);
    let of_others: Vec<String> = of_others
        .map(|(it, n)| format!("{n} under `ctxsim list {} --filter {filter}`", it.folder()))
        .listed();
    let words = |kind: &Kind| {
        catalog.names(*kind).flat_map(|it| std::iter::once(it).chain(it.split(['/', '_', '-'])))
    };
    let help = match nearest(&filter.to_lowercase(), kinds.iter().flat_map(words)) {
        _ if !of_others.is_empty() => format!("found {}", of_others.join(", ")),
        Some(near) => format!("did you mean `--filter {near}`?"),
        None => "remove `--filter` to list everything".to_owned(),
    };
    Diagnostic::at(Code::NothingListed, "", message).help(help)
}

/// Returns an input's description, after its title if it has one, or nothing for a broken file, which `validate` reports.
fn about(catalog: &Catalog, kind: Kind, name: &str) -> String {
    let about = match kind {
        Kind::Policy => catalog.policy(name).map(|it| match it.spec.title {
            Some(title) => format!("{title}. {}", it.spec.about),
            None => it.spec.about,
        }),
        Kind::Scenario => catalog.scenario(name).map(|it| it.spec.about),
        Kind::Profile => catalog.profile(name).map(|it| it.spec.about),
        Kind::Suite => catalog.suite(name).map(|it| it.spec.about),
    };
    about.unwrap_or_default()
}

/// Prints an input's file, or a policy merged with its bases.
pub(super) fn show(catalog: &Catalog, args: &ShowArgs) -> Result<(), Error> {
    args.output.file().map_or(Ok(()), output::check)?;
    let kind = match args.kind {
        SchemaArg::Policy => Kind::Policy,
        SchemaArg::Scenario => Kind::Scenario,
        SchemaArg::Profile => Kind::Profile,
        SchemaArg::Suite => Kind::Suite,
    };
    let text = match (args.merged, kind) {
        (false, _) => ctxsim_app::show(catalog, kind, &args.name)?,
        (true, Kind::Policy) => ctxsim_app::show_merged(catalog, &args.name)?,
        (true, _) => {
            let message = format!("only policies have bases: `--merged` does not apply to a {}", kind.noun());
            return Err(wrong(Code::Usage, message, "remove `--merged`"));
        }
    };
    // The file is the user's from now on: the next one does not replace it without a word.
    args.output.put_source(catalog.files(), &text)
}

/// Prints or writes an input in the other format.
pub(super) fn convert(args: &ConvertArgs) -> Result<(), Error> {
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
    let text = ctxsim_app::convert(&args.path, format)?;
    let inputs = Files::default();
    inputs.note(&args.path);
    args.output.put_source(&inputs, &text)
}

/// Reports a file extension that does not match the format written.
fn other_extension(path: &Path, to: InputFormatArg) -> Error {
    let (name, extension) = match to {
        InputFormatArg::Ron => ("RON", "ron"),
        InputFormatArg::Toml => ("TOML", "toml"),
    };
    let help = format!("name it `{}`", path.with_extension(extension).display());
    wrong_at(Code::OutputExtension, path, format!("a {name} file ends in `.{extension}`"), help)
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
    wrong_at(Code::FolderEmpty, folder, "the folder contains no inputs", help)
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
