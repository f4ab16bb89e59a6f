//! Which verbs are in sight, in groups of what a person wants; and the flags with which one of these does what has options of its own.

use crate::prelude::*;
use clap::builder::Resettable::Reset;
use clap::{ArgAction, Command, CommandFactory as _, Id};

use crate::verbs::Cli;

/// The verbs in sight, by what a person wants.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Look at my bill", &["screen", "import", "explain"]),
    ("Choose a setting", &["advise", "realised"]),
    ("Design a policy", &["run", "compare", "sweep", "tune", "sensitivity"]),
    ("Guard it in CI", &["init", "check"]),
    ("Inputs and data", &["list", "show", "validate", "prices"]),
];

/// What `ctxsim --help` begins with.
const OPENING: &str = "\
Shows what the sessions of your agent cost, and what another setting or context
policy would change. Offline and deterministic: no network, no model.
  ctxsim                             what your sessions cost, and what to do
  ctxsim advise ~/.claude/projects   settings to change, and what to paste
  ctxsim run ~/.claude/projects      what each setting would change in them";

/// What it ends with.
const CLOSING: &str = "\
Without a verb, recorded sessions go to `screen` and everything else to `run`.
Alone, `ctxsim` reads the sessions of the agents on this machine.
`ctxsim VERB --help` shows the options of a verb, with examples.

Exit codes: 0 success; 1 a guard or a run failed, or a number changed; 2 bad
input or usage, or nothing to run or list.";

/// A flag that makes its verb do something with options of its own: those of a hidden verb.
struct MovedVerb {
    /// The verb that has the flag.
    host: &'static str,
    flag: &'static str,
    /// The name of its value, if it takes one.
    value: &'static str,
    /// The name of the hidden verb.
    verb: &'static str,
    does: &'static str,
}

/// Every such flag.
#[rustfmt::skip]
const MOVED: [MovedVerb; 5] = [
    MovedVerb { host: "run", flag: "--merge", value: "", verb: "run --merge",
        does: "Fold the parts that other runs wrote with `--parts`" },
    MovedVerb { host: "sweep", flag: "--merge", value: "", verb: "run --merge",
        does: "Merge the shards of a sweep" },
    MovedVerb { host: "run", flag: "--store", value: "write|read", verb: "run --store",
        does: "Export a memory's contents after a conversation, or verify an export" },
    MovedVerb { host: "tune", flag: "--fit", value: "TABLE", verb: "tune --fit",
        does: "Fit the numbers of a memory to what your own agent answered" },
    MovedVerb { host: "tune", flag: "--design", value: "", verb: "tune --design",
        does: "Find the cheapest policy, of the presets and of a grammar of stages" },
];

impl MovedVerb {
    /// Takes the flag out of a verb's words and puts the name of the hidden verb before them, and the flag's value before the other words; `None`
    /// if they do not have the flag.
    fn replace_flag_with_verb(&self, words: &[OsString]) -> Option<Vec<OsString>> {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        // Its value may be in the same word.
        let flag_in = |word: &OsString| match word.to_str()?.split_once('=') {
            Some((flag, value)) if flag == self.flag && !self.value.is_empty() => Some(Some(value.into())),
            None if word == self.flag => Some(None),
            _ => None,
        };
        let (at, joined) =
            words[..end].iter().enumerate().find_map(|(at, word)| Some((at, flag_in(word)?)))?;
        let mut rest = words.to_vec();
        rest.remove(at);
        let is_next = !self.value.is_empty()
            && rest.get(at).is_some_and(|word| !word.to_string_lossy().starts_with('-'));
        let value = joined.or_else(|| is_next.then(|| rest.remove(at)));
        Some(std::iter::once(self.verb.into()).chain(value).chain(rest).listed())
    }
}

/// Returns an option of a command by its long name.
pub(super) fn find_option<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|it| it.get_long().is_some() && it.get_long() == name.strip_prefix("--"))
}

/// Puts the name of a hidden verb in the place of a flag that means it.
pub(super) fn replace_flags_with_verbs(mut args: Vec<OsString>) -> Vec<OsString> {
    let at = if args.get(1).is_some_and(|it| it == "help") { 2 } else { 1 };
    let Some(first) = args.get(at).cloned() else { return args };
    let mut of_host = MOVED.iter().filter(|row| first == row.host);
    if let Some(words) = of_host.find_map(|row| row.replace_flag_with_verb(&args[at + 1..])) {
        args.truncate(at);
        args.extend(words);
    }
    args
}

/// Returns the command line with the flags that mean hidden verbs, and the verbs in sight in their groups.
pub(super) fn build_root_command() -> Command {
    // Of several rows with a flag, the first has the words of all.
    let root = MOVED.iter().fold(Cli::command().args(man_and_completions_flags()), |root, row| {
        root.mut_subcommand(row.host, |verb| {
            if find_option(&verb, row.flag).is_some() { verb } else { verb.arg(flag_as_arg(row)) }
        })
    });
    let template = format!("{OPENING}\n{}\n{CLOSING}\n", verbs_and_options_help(&root));
    root.help_template(template)
}

/// Returns the flag of a row.
fn flag_as_arg(row: &MovedVerb) -> Arg {
    let help = format!("{} (`ctxsim {} {} --help`)", row.does, row.host, row.flag);
    let arg = Arg::new(row.flag).long(&row.flag[2..]).help(help);
    let arg = arg.help_heading("Instead, with options of its own");
    if row.value.is_empty() { arg.action(ArgAction::SetTrue) } else { arg.value_name(row.value) }
}

/// Returns the flags that stand in the place of a verb: hidden verbs have these names.
fn man_and_completions_flags() -> [Arg; 2] {
    let man = Arg::new("man").long("man").help("Print the manual page, or write one per command");
    let completions =
        Arg::new("completions").long("completions").help("Print a completion script for a shell");
    [man.action(ArgAction::SetTrue), completions.value_name("SHELL")]
}

/// Returns the verbs in sight, a line each, and the options of `ctxsim` itself.
fn verbs_and_options_help(root: &Command) -> String {
    let mut text = String::new();
    for (wanted, verbs) in GROUPS {
        let _ = writeln!(text, "\n{wanted}:");
        for verb in verbs {
            let about = root.find_subcommand(verb).and_then(Command::get_about);
            let _ = writeln!(text, "  {verb:11}  {}", about.map(ToString::to_string).unwrap_or_default());
        }
    }
    text += "\nOptions:\n";
    let own = man_and_completions_flags().map(|arg| {
        let value = arg.get_value_names().map_or_else(String::new, |names| names.join(" "));
        let does = arg.get_help().map(ToString::to_string).unwrap_or_default();
        (format!("--{} {value}", arg.get_id()), does)
    });
    let usual = [("-h, --help", "Print help"), ("-V, --version", "Print version")];
    for (flag, does) in own.into_iter().chain(usual.map(|(flag, does)| (flag.to_owned(), does.to_owned()))) {
        let _ = writeln!(text, "  {flag:19}  {does}");
    }
    text
}

/// Returns the command line as shells complete it: no hidden verb, and the options of each on the verb that has its flag.
pub(super) fn command_for_completions() -> Command {
    let root = build_root_command();
    let plain = Command::new("ctxsim").version(env!("CARGO_PKG_VERSION"));
    let plain = plain.args(root.get_arguments().cloned());
    let verbs = root.get_subcommands().filter(|it| !it.is_hide_set()).map(|verb| {
        let rows = MOVED.iter().filter(|it| it.host == verb.get_name());
        let hidden = rows.filter_map(|it| root.find_subcommand(it.verb));
        hidden.flat_map(Command::get_arguments).fold(verb.clone(), |verb, of_hidden| {
            let is_new =
                of_hidden.get_long().is_some_and(|it| find_option(&verb, &format!("--{it}")).is_none());
            if is_new { verb.arg(without_arg_dependencies(of_hidden.clone())) } else { verb }
        })
    });
    plain.subcommands(verbs)
}

/// Returns an argument without those that it requires or excludes.
fn without_arg_dependencies(arg: Arg) -> Arg {
    let arg = arg.required(false).required_unless_present(Reset::<Id>).requires(Reset::<Id>);
    arg.conflicts_with(Reset::<Id>).help_heading(Reset)
}
