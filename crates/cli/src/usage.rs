//! What is wrong with a command line, in the same form as what is wrong with an input.

use crate::prelude::*;
use std::io::{self, Write as _};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser as _};
use ctxsim_app::catalog::kind_of_file;
use ctxsim_base::diag::nearest;

use crate::moved::{build_root_command, find_option, replace_flags_with_verbs};
use crate::verbs::Cli;
use crate::{BAD_INPUT, report_error};

/// Parses the command line; prints help or an error and returns the exit code.
pub(super) fn parse_args(args: Vec<OsString>, catalog: Option<&Catalog>) -> Result<Cli, ExitCode> {
    // A flag that means a hidden verb may stand behind a verb that was left out.
    let mut command = build_root_command();
    let args = replace_flags_with_verbs(move_options_behind_verb(args));
    let args = replace_flags_with_verbs(insert_missing_verb(args, &command, catalog));
    let words: Vec<String> = args.iter().skip(1).map(|it| it.to_string_lossy().into_owned()).listed();
    let parsed = command.try_get_matches_from_mut(args).and_then(|it| Cli::from_arg_matches(&it));
    parsed.map_err(|error| {
        if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            return print_help_or_version(&error);
        }
        report_error(&Catalog::default(), &diagnose_usage_error(&error, &words, catalog).into())
    })
}

/// Prints help or a version; returns the exit code, which also says that nobody could read it.
fn print_help_or_version(error: &clap::Error) -> ExitCode {
    match error.print().and_then(|()| io::stdout().flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            report_error(&Catalog::default(), &Error::Write { path: "standard output".into(), source })
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT)),
    }
}

/// Puts options of all verbs that stand in front of the verb behind it.
fn move_options_behind_verb(mut args: Vec<OsString>) -> Vec<OsString> {
    let mut moved = Vec::new();
    while let Some(word) = args.get(1).map(|it| it.to_string_lossy().into_owned()) {
        let n = match word.as_str() {
            "-q" | "--quiet" => 1,
            "--color" => 2.min(args.len() - 1),
            it if it.starts_with("--color=") => 1,
            _ => break,
        };
        moved.extend(args.drain(1..=n));
    }
    let end = args.iter().position(|it| it == "--").unwrap_or(args.len());
    args.splice(end..end, moved);
    args
}

/// Inserts a command before arguments that begin without one: `screen` if they are recorded sessions and what it has options for, else `run`.
fn insert_missing_verb(mut args: Vec<OsString>, root: &Command, catalog: Option<&Catalog>) -> Vec<OsString> {
    let Some(first) = args.get(1).map(|it| it.to_string_lossy().into_owned()) else {
        args.push(OsString::from("screen"));
        return args;
    };
    let is_verb = root.find_subcommand(&first).is_some();
    let is_own = matches!(first.as_str(), "-h" | "--help" | "-V" | "--version" | "help");
    let is_known = || catalog.is_some_and(|it| it.names(InputKind::Scenario).any(|name| name == first));
    let is_input = first.starts_with('-')
        || first.contains(['/', '.', '*', '?', '[', '~'])
        || Path::new(&first).exists()
        || is_known();
    if !is_verb && !is_own && is_input {
        let mut of_screen = args.clone();
        of_screen.insert(1, OsString::from("screen"));
        let parsed = catalog.and_then(|it| Some((it, Cli::try_parse_from(&of_screen).ok()?)));
        if parsed.is_some_and(|(catalog, it)| it.command.is_screen_of_recordings(catalog)) {
            return of_screen;
        }
        args.insert(1, OsString::from("run"));
    }
    args
}

/// Returns the problem of a command line.
fn diagnose_usage_error(error: &clap::Error, words: &[String], catalog: Option<&Catalog>) -> Diagnostic {
    let text = error.render().to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let names = |kind| context_texts(error.get(kind));
    let more = names(ContextKind::InvalidArg).join(", ").replace(['[', ']'], "");
    let value = names(ContextKind::InvalidValue).concat();
    let root = Cli::command();
    let (command, full_name) = find_named_command(&root, words);
    let (message, help) = match error.kind() {
        ErrorKind::TooManyValues => (format!("`{more}` takes no value"), None),
        ErrorKind::MissingRequiredArgument => {
            // One of a group is missing: `<--apply|--undo <FORECAST>>`.
            let of_group = more.strip_prefix('<').filter(|it| it.starts_with("--"));
            let one = of_group.and_then(|it| it.strip_suffix('>')).unwrap_or(&more);
            (format!("missing: `{}`", one.replace('|', "` or `")), None)
        }
        ErrorKind::InvalidSubcommand => {
            let word = names(ContextKind::InvalidSubcommand).concat();
            if let Some(kind) = catalog.and_then(|it| it.kind_of_name(&word)) {
                let noun = kind.noun();
                let help = format!("run `ctxsim run --{noun} {word}`");
                return Diagnostic::at(Code("usage"), "", format!("`{word}` is a {noun}, not a command"))
                    .help(help);
            }
            let known = command.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
            let near = nearest(&word, known);
            let or_file = if near.is_none() { ", and no file or folder with this name exists" } else { "" };
            (format!("unknown command `{word}`{or_file}"), near.map(did_you_mean))
        }
        ErrorKind::UnknownArgument => {
            let known = names(ContextKind::SuggestedArg).concat();
            let near = nearest(&more, [known.as_str()]).map(did_you_mean);
            // Words that begin with `-` are read as short options.
            let at = words.iter().position(|it| it.starts_with(&more));
            let word = at.map_or(&more, |at| &words[at]);
            let next = word.split_once('=').map(|it| it.1).or_else(|| Some(words.get(at? + 1)?.as_str()));
            // What is not a value of `--format` may be an option, such as `--html`.
            let of_value = next.map(|it| format!("--{it}")).filter(|it| find_option(command, it).is_some());
            let help = of_value.as_deref().map(did_you_mean).or(near);
            let help = help.or_else(|| stray_word_help(word, words, command, catalog));
            (format!("unexpected argument `{word}`"), help)
        }
        ErrorKind::InvalidValue => {
            let known = names(ContextKind::ValidValue);
            let near = nearest(&value, known.iter().map(String::as_str)).map(did_you_mean);
            let help =
                near.or_else(|| (!known.is_empty()).then(|| format!("use one of `{}`", known.join("`, `"))));
            let message = match value.as_str() {
                "" => format!("`{more}` needs a value"),
                _ => format!("`{value}` is not a valid value for `{more}`"),
            };
            (message, help)
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            let message = format!("`{value}` is not a valid value for `{more}`");
            match whole_number_help(&source) {
                Some(help) => (message, Some(help)),
                None => (format!("{message}: {source}"), None),
            }
        }
        _ => (message.to_owned(), None),
    };
    let help = help.unwrap_or_else(|| format!("run `{full_name} --help` to see its arguments"));
    Diagnostic::at(Code("usage"), "", message).help(help)
}

/// Returns help with the allowed whole numbers, if a number is the problem.
fn whole_number_help(error_text: &str) -> Option<String> {
    // Bounds are named by `what::whole_number_parser`.
    if error_text.starts_with("use ") {
        return Some(error_text.to_owned());
    }
    if error_text.is_empty() || error_text.contains("invalid digit") {
        return Some("use a whole number of at least 0".to_owned());
    }
    error_text.contains("too large").then(|| format!("use a whole number up to {}", u64::MAX))
}

fn did_you_mean(known: &str) -> String {
    format!("did you mean `{known}`?")
}

/// Returns help for an unexpected word that is not an option.
fn stray_word_help(
    wrong: &str,
    words: &[String],
    command: &Command,
    catalog: Option<&Catalog>,
) -> Option<String> {
    if wrong.starts_with("--") {
        return None;
    }
    if wrong.starts_with('-') {
        let is_path = wrong.contains(['.', '/']) || Path::new(wrong).exists();
        return is_path.then(|| format!("write `./{wrong}` for a path that begins with `-`"));
    }
    let kind = kind_of_file(Path::new(wrong)).ok().or_else(|| catalog?.kind_of_name(wrong));
    let of_kind = kind.map(|it| format!("--{}", it.noun())).filter(|it| find_option(command, it).is_some());
    let at = words.iter().position(|it| it == wrong)?;
    let before = words[..at].iter().rev().find(|it| it.starts_with('-'));
    let before = before.map(|it| it.split('=').next().unwrap_or(it));
    let repeated =
        before.filter(|it| find_option(command, it).is_some_and(|it| it.get_action().takes_values()));
    match (of_kind, repeated) {
        (Some(of_kind), _) => Some(format!("name it with its option: `{of_kind} {wrong}`")),
        (None, Some(repeated)) => Some(format!("repeat the option: `{repeated} {wrong}`")),
        (None, None) => None,
    }
}

/// Returns the command of a command line, and its full name.
fn find_named_command<'c>(root: &'c Command, words: &[String]) -> (&'c Command, String) {
    let mut found = (root, root.get_name().to_owned());
    for word in words {
        let Some(next) = found.0.find_subcommand(word) else { break };
        found = (next, format!("{} {word}", found.1));
    }
    found
}

/// Returns the texts of one part of an error.
fn context_texts(value: Option<&ContextValue>) -> Vec<String> {
    match value {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(several)) => several.clone(),
        Some(ContextValue::StyledStr(one)) => vec![one.to_string()],
        Some(ContextValue::StyledStrs(several)) => several.iter().map(ToString::to_string).listed(),
        _ => Vec::new(),
    }
}
