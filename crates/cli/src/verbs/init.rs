//! `ctxsim init`: the files with which a repository begins, each commented; the commands that it names pass on the example.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ctxsim_app::catalog::{Catalog, Files, Kind};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::grid::numbers::counted;
use ctxsim_base::grid::shell::quoted;
use ctxsim_base::list::Listed as _;
use ctxsim_input::Format;
use ctxsim_report::checkup::CheckUp;
use ctxsim_report::made::VERSION;
use serde_json::Value;

use crate::output::{self, ForceArgs};
use crate::verbs::check;
use crate::wrong_at;

/// The files to write, with their texts.
const CONFIG: (&str, &str) = ("ctxsim.toml", include_str!("init/ctxsim.toml"));
const POLICY: (&str, &str) = ("ctx/policies/mine.ron", include_str!("init/mine.ron"));
const SUITE: (&str, &str) = ("ctx/suites/mine.toml", include_str!("init/suite.toml"));
const WORKFLOW: (&str, &str) = (".github/workflows/ctxsim.yml", include_str!("init/workflow.yml"));
const SCENARIO: (&str, &str) = ("ctx/scenarios/example.ron", include_str!("init/example.ron"));

/// The profile of the suite, whose prices are those of the day that is pinned.
const PROFILE: &str = "anthropic/claude-sonnet-5.5";
/// What keeps snapshots that wait for a review out of git.
const IGNORED: (&str, &str) =
    ("snapshots/.gitignore", "# What `ctxsim check` writes for a review.\n*.snap.new\n");

/// The arguments of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder of recorded sessions for the suite, instead of an example
    #[arg(long, value_name = "DIR")]
    sessions: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<InitCommand>,
}

/// Other files that `init` can write.
#[derive(Debug, Subcommand)]
enum InitCommand {
    /// Write a policy file based on another policy
    Policy(PolicyArgs),
}

/// The arguments of `init policy`.
#[derive(Debug, Args)]
struct PolicyArgs {
    /// File to write (.ron or .toml)
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Policy to start from
    #[arg(long, value_name = "P")]
    from: String,
}

/// Writes files that do not exist yet.
pub(super) fn init(catalog: &Catalog, args: &InitArgs) -> Result<(), Error> {
    match &args.command {
        Some(InitCommand::Policy(of)) => policy(catalog, of),
        None => repository(catalog, args.sessions.as_deref()),
    }
}

/// Writes a policy based on another, listing the parameters it may change.
fn policy(catalog: &Catalog, args: &PolicyArgs) -> Result<(), Error> {
    let base = catalog.policy(&args.from)?;
    let name = name(&args.path);
    let params: Vec<String> = base.spec.params.keys().map(|it| it.escape_debug().to_string()).listed();
    let params = if params.is_empty() { "none".to_owned() } else { params.join(", ") };
    let from = &base.spec.name;
    let said = format!(
        "Based on {from}: fields that this file omits come from there. `ctxsim show policy {from} --merged` shows them."
    );
    let about = format!("{from} with our own numbers.");
    let text = match Format::of(&args.path) {
        Some(Format::Ron) => format!(
            "// {said}\n(\n    name: {name:?},\n    about: {about:?},\n    base: {from:?},\n    // Its parameters: {params}.\n    \
                params: {{}},\n)\n"
        ),
        Some(Format::Toml) => {
            let [name, about, from] = [&name, &about, from].map(|it| quoted_in_toml(it));
            format!(
                "# {said}\nname = {name}\nabout = {about}\nbase = {from}\n\n# Its parameters: {params}.\n[params]\n"
            )
        }
        None => {
            let message = "a policy is written as RON or TOML, by the file's extension";
            let help = format!("name it `{}`", args.path.with_extension("ron").display());
            return Err(wrong_at(Code::OutputExtension, &args.path, message, help));
        }
    };
    refuse_existing(&[&args.path])?;
    write(&args.path, &text)?;
    let path = args.path.to_string_lossy();
    output::print(&format!("Wrote {path}. Next: ctxsim validate {}\n", quoted(&path)))
}

/// Returns a policy's name: its path below `policies/`, else that of the file, without the extension.
fn name(path: &Path) -> String {
    let plain = path.with_extension("");
    let parts: Vec<_> = plain.components().map(|it| it.as_os_str().to_string_lossy()).listed();
    let below = parts.iter().rposition(|it| *it == Kind::Policy.folder()).map(|it| it + 1);
    let first = below.filter(|it| *it < parts.len()).unwrap_or(parts.len().saturating_sub(1));
    parts[first..].join("/")
}

/// Returns a text as a string in TOML, whose escapes are those of JSON.
fn quoted_in_toml(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Writes the files a repository needs for its first check.
fn repository(catalog: &Catalog, sessions: Option<&Path>) -> Result<(), Error> {
    let (scenario, evidence, prompt) = match sessions {
        Some(folder) => (folder.display().to_string(), "0.5", "\"0.9 window\""),
        None => ("example".to_owned(), "0.8", "60_000"),
    };
    if sessions.is_some() {
        // A wrong path must leave nothing behind.
        for found in catalog.search(&scenario)?.found {
            catalog.scenario(&found.name)?;
        }
    }
    // The path comes last: it may hold one of the other words.
    let suite = SUITE.1.replace("EVIDENCE", evidence).replace("PROMPT", prompt);
    let suite = suite.replace("\"SCENARIO\"", &quoted_in_toml(&scenario));
    let profile = catalog.shipped().profile(PROFILE)?.spec;
    let config = CONFIG.1.replace("VERSION", VERSION).replace("PRICES", &profile.as_of);
    let mut files = vec![(CONFIG.0, config.as_str()), POLICY, (SUITE.0, suite.as_str())];
    files.extend(sessions.is_none().then_some(SCENARIO));
    files.push(WORKFLOW);
    // Another suite's snapshots may be there already.
    files.extend((!Path::new(IGNORED.0).exists()).then_some(IGNORED));
    let paths: Vec<&Path> = files.iter().map(|it| Path::new(it.0)).listed();
    refuse_existing(&paths)?;
    check::replaceable("mine")?;
    let checked = files.iter().try_for_each(|(path, text)| write(Path::new(path), text));
    let checked = checked.and_then(|()| check::bless(&catalog.reopened(Path::new(""))?, "mine"));
    // What cannot be checked must leave nothing behind.
    let checked = checked.inspect_err(|_| paths.iter().for_each(|it| drop(output::remove(it))))?;
    let mut text = String::from("Wrote:\n");
    files.iter().for_each(|(path, _)| text += &format!("  {path}\n"));
    text += &format!("  snapshots/ ({})\n", counted(checked.snapshots.len(), "snapshot"));
    text += &unmet(&checked);
    text += "\nNext:\n";
    text += "  ctxsim check\n";
    text += &format!("  ctxsim compare --base identity --candidate mine --scenario {}\n", quoted(&scenario));
    output::print(&text)
}

/// Returns the guards that the user's own sessions break from the start, with what to do; none on the example.
fn unmet(checked: &CheckUp) -> String {
    let unmet = checked.verdicts.iter().filter(|it| !it.holds);
    let lines: String = unmet.map(|it| format!("  {}: {}\n", it.title(), it.finding())).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nThese guards fail on your sessions; change {} or {}:\n{lines}", POLICY.0, SUITE.0)
}

/// Refuses to overwrite files.
fn refuse_existing(paths: &[&(impl AsRef<Path> + ?Sized)]) -> Result<(), Error> {
    let there = paths.iter().map(|it| it.as_ref()).filter(|path| path.symlink_metadata().is_ok());
    let problems: Vec<Diagnostic> = there
        .map(|path| {
            let mut problem = Diagnostic::at(Code::InitExists, "", "this file already exists");
            problem.place.file = path.display().to_string();
            problem.help("move it away, or run `ctxsim init` in another folder")
        })
        .listed();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        output::make_folder(folder)?;
    }
    output::write(path, text, ForceArgs::default().kept(&Files::default()))
}
