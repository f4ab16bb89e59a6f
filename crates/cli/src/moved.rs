//! Which verbs are in sight, in groups of what a person wants; and the flags with which one of these does what has options of its own.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;

use clap::builder::Resettable::Reset;
use clap::{Arg, ArgAction, Command, CommandFactory as _, Id};
use ctxsim_base::list::Listed as _;

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
  ctxsim ~/.claude/projects          what your sessions cost, and what to do
  ctxsim advise ~/.claude/projects   settings to change, and what to paste
  ctxsim run ~/.claude/projects      what each policy would change in them";

/// What it ends with.
const CLOSING: &str = "\
Without a verb, recorded sessions go to `screen` and everything else to `run`.
`ctxsim VERB --help` shows the options of a verb, with examples.

Exit codes: 0 success; 1 a guard or a run failed, or a number changed; 2 bad
input or usage, or nothing to run or list.";

/// A flag that makes its verb do something with options of its own: those of a hidden verb.
pub(super) struct MovedVerb {
    /// The verb that has the flag; empty where `ctxsim` itself has it.
    host: &'static str,
    flag: &'static str,
    /// The name of its value, if it takes one.
    value: &'static str,
    /// The values that are meant, if not all.
    only: &'static [&'static str],
    /// The name of the hidden verb. It reads the flag itself where it has the flag's name as an option.
    pub verb: &'static str,
    does: &'static str,
}

/// Every such flag.
#[rustfmt::skip]
pub(super) const MOVED: [MovedVerb; 10] = [
    MovedVerb { host: "run", flag: "--merge", value: "", only: &[], verb: "run --merge",
        does: "Fold the parts that other runs wrote with `--parts`" },
    MovedVerb { host: "sweep", flag: "--merge", value: "", only: &[], verb: "run --merge",
        does: "Merge the shards of a sweep" },
    MovedVerb { host: "run", flag: "--store", value: "write|read", only: &[], verb: "run --store",
        does: "Export a memory's contents after a conversation, or verify an export" },
    MovedVerb { host: "tune", flag: "--fit", value: "TABLE", only: &[], verb: "tune --fit",
        does: "Fit the numbers of a memory to what your own agent answered" },
    MovedVerb { host: "tune", flag: "--design", value: "", only: &[], verb: "tune --design",
        does: "Find the cheapest policy, of the presets and of a grammar of stages" },
    MovedVerb { host: "show", flag: "--as", value: "FORMAT", only: &["toml", "ron"], verb: "show --as toml",
        does: "Print an input as `toml` or `ron`, with its comments" },
    MovedVerb { host: "show", flag: "--redact", value: "", only: &[], verb: "show --redact",
        does: "Write the sessions of a recording without their words" },
    MovedVerb { host: "show", flag: "--schema", value: "KIND", only: &[], verb: "show --schema",
        does: "Print the JSON Schema of a kind of input file, for editors" },
    MovedVerb { host: "", flag: "--man", value: "", only: &[], verb: "--man",
        does: "Print the manual page, or write one per command" },
    MovedVerb { host: "", flag: "--completions", value: "SHELL", only: &[], verb: "--completions",
        does: "Print a completion script for a shell" },
];

impl MovedVerb {
    /// Returns the new form, as it is typed, with one of the values that are meant.
    fn form(&self) -> String {
        let words = ["ctxsim", self.host, self.flag, self.only.first().unwrap_or(&"")];
        words.into_iter().filter(|it| !it.is_empty()).listed().join(" ")
    }

    /// Returns whether the hidden verb reads the flag.
    fn stays(&self) -> bool {
        Cli::command().find_subcommand(self.verb).is_some_and(|it| has(it, self.flag))
    }

    /// Returns where the flag stands among words, if they mean it, and its value in the same or in the next word.
    fn found(&self, words: &[OsString]) -> Option<(usize, Option<OsString>)> {
        let end = words.iter().position(|it| it == "--").unwrap_or(words.len());
        words[..end].iter().enumerate().find_map(|(at, word)| {
            let word = word.to_str()?;
            let value = match word.split_once('=') {
                Some((flag, value)) if flag == self.flag && !self.value.is_empty() => Some(value.into()),
                None if word == self.flag => words.get(at + 1).cloned(),
                _ => return None,
            };
            let is_meant = |it: &OsStr| self.only.iter().any(|only| it == *only);
            (self.only.is_empty() || value.as_deref().is_some_and(is_meant)).then_some((at, value))
        })
    }

    /// Returns the words for the hidden verb: its name, the flag's value, and the others in their order.
    fn words(&self, mut words: Vec<OsString>, at: usize) -> Vec<OsString> {
        let mut all = vec![OsString::from(self.verb)];
        if !self.stays() {
            let flag = words.remove(at);
            let joined = flag.to_str().and_then(|it| it.split_once('=')).map(|it| OsString::from(it.1));
            let is_next = !self.value.is_empty()
                && words.get(at).is_some_and(|it| !it.to_string_lossy().starts_with('-'));
            all.extend(joined.or_else(|| is_next.then(|| words.remove(at))));
        }
        all.append(&mut words);
        all
    }
}

/// Returns whether a command has a long option.
fn has(command: &Command, flag: &str) -> bool {
    command.get_arguments().any(|it| it.get_long() == flag.strip_prefix("--"))
}

/// Puts the name of a hidden verb in the place of a flag that means it.
pub(super) fn resolved(mut args: Vec<OsString>) -> Vec<OsString> {
    let at = if args.get(1).is_some_and(|it| it == "help") { 2 } else { 1 };
    let Some(first) = args.get(at).and_then(|it| it.to_str()).map(str::to_owned) else { return args };
    for row in &MOVED {
        let from = if row.host.is_empty() { at } else { at + 1 };
        let is_host = if row.host.is_empty() { first.starts_with(row.flag) } else { first == row.host };
        if is_host && let Some((nth, _)) = row.found(&args[from..]) {
            let rest = row.words(args.split_off(from), nth);
            args.truncate(at);
            args.extend(rest);
            return args;
        }
    }
    args
}

/// Returns the command line with the flags that mean hidden verbs, and the verbs in sight in their groups.
pub(super) fn command() -> Command {
    let root = MOVED.iter().fold(Cli::command(), |root, row| match row.host {
        "" => root.arg(offered(row)),
        // Of several rows with a flag, the first has the words of all.
        host => root.mut_subcommand(host, |it| if has(&it, row.flag) { it } else { it.arg(offered(row)) }),
    });
    let template = format!("{OPENING}\n{}\n{CLOSING}\n", listed(&root));
    root.help_template(template)
}

/// Returns the flag of a row, with what all rows of the flag do.
fn offered(row: &MovedVerb) -> Arg {
    let same = MOVED.iter().filter(|it| it.host == row.host && it.flag == row.flag).listed();
    let does: Vec<String> = same.iter().map(|it| format!("{} (`{} --help`)", it.does, it.form())).listed();
    let arg = Arg::new(row.flag).long(&row.flag[2..]).help(does.join("\n"));
    let arg = if row.host.is_empty() { arg } else { arg.help_heading("Instead, with options of its own") };
    let only: Vec<&str> = same.iter().flat_map(|it| it.only.iter().copied()).listed();
    match row.value {
        "" => arg.action(ArgAction::SetTrue),
        value if only.is_empty() => arg.value_name(value),
        value => arg.value_name(value).value_parser(only).hide_possible_values(true),
    }
}

/// Returns the verbs in sight, a line each, and the options of `ctxsim` itself.
fn listed(root: &Command) -> String {
    let mut text = String::new();
    for (wanted, verbs) in GROUPS {
        let _ = writeln!(text, "\n{wanted}:");
        for verb in verbs {
            let about = root.find_subcommand(verb).and_then(Command::get_about);
            let _ = writeln!(text, "  {verb:11}  {}", about.map(ToString::to_string).unwrap_or_default());
        }
    }
    text += "\nOptions:\n";
    let own = MOVED.iter().filter(|it| it.host.is_empty());
    let own = own.map(|it| (format!("{} {}", it.flag, it.value), it.does));
    let usual = [("-h, --help", "Print help"), ("-V, --version", "Print version")];
    for (flag, does) in own.chain(usual.map(|it| (it.0.to_owned(), it.1))) {
        let _ = writeln!(text, "  {flag:19}  {does}");
    }
    text
}

/// Returns the command line as shells complete it: no hidden verb, and the options of each on the verb that has its flag.
pub(super) fn completed() -> Command {
    let root = command();
    let plain = Command::new("ctxsim").version(env!("CARGO_PKG_VERSION"));
    let plain = plain.args(root.get_arguments().cloned());
    let verbs = root.get_subcommands().filter(|it| !it.is_hide_set()).map(|verb| {
        let rows = MOVED.iter().filter(|it| it.host == verb.get_name());
        let hidden = rows.filter_map(|it| root.find_subcommand(it.verb));
        hidden.flat_map(Command::get_arguments).fold(verb.clone(), |verb, of_hidden| {
            let is_new = of_hidden.get_long().is_some_and(|it| !has(&verb, &format!("--{it}")));
            if is_new { verb.arg(alone(of_hidden.clone())) } else { verb }
        })
    });
    plain.subcommands(verbs)
}

/// Returns an argument without those that it requires or excludes.
fn alone(arg: Arg) -> Arg {
    let arg = arg.required(false).required_unless_present(Reset::<Id>).requires(Reset::<Id>);
    arg.conflicts_with(Reset::<Id>).help_heading(Reset)
}
