//! `ctxsim init`: the files with which a repository begins, each commented; the commands that it names pass on the example.

use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Files};
use crate::diag::{Code, Diagnostic};
use crate::error::Error;
use crate::grid::numbers::counted;
use crate::grid::shell::quoted;
use crate::report::checkup::CheckUp;
use clap::{Args, Subcommand};

use crate::cli::output::{self, ForceArgs};
use crate::cli::verbs::check;

/// The files to write, with their texts.
const CONFIG: (&str, &str) = ("ctxsim.toml", include_str!("init/ctxsim.toml"));
const POLICY: (&str, &str) = ("ctx/policies/mine.ron", include_str!("init/mine.ron"));
const SUITE: (&str, &str) = ("ctx/suites/mine.toml", include_str!("init/suite.toml"));
const WORKFLOW: (&str, &str) = (".github/workflows/ctxsim.yml", include_str!("init/workflow.yml"));
const SCENARIO: (&str, &str) = ("ctx/scenarios/example.ron", include_str!("init/example.ron"));

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
    /// File to write (.ron)
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Policy to start from
    #[arg(long, value_name = "P")]
    from: String,
}

/// Writes files that do not exist yet.
pub(crate) fn init(catalog: &Catalog, args: &InitArgs) -> Result<(), Error> {
    match &args.command {
        Some(InitCommand::Policy(of)) => policy(catalog, of),
        None => repository(catalog, args.sessions.as_deref()),
    }
}

/// Writes a policy based on another, listing the parameters it may change.
fn policy(catalog: &Catalog, args: &PolicyArgs) -> Result<(), Error> {
    let base = catalog.policy(&args.from)?;
    let name = args.path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let params: Vec<&str> = base.spec.params.keys().map(String::as_str).collect();
    let params = if params.is_empty() { "none".to_owned() } else { params.join(", ") };
    let text = format!(
        "// Based on {from}: fields that this file omits come from there. `ctxsim show policy {from} \
            --merged` shows them.\n(\n    name: \"{name}\",\n    about: \"{from} with our own \
            numbers.\",\n    base: \"{from}\",\n    // Its parameters: {params}.\n    params: {{}},\n)\n",
        from = base.spec.name
    );
    refuse_existing(&[&args.path])?;
    write(&args.path, &text)?;
    let path = args.path.to_string_lossy();
    output::print(&format!("Wrote {path}. Next: ctxsim validate {}\n", quoted(&path)))
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
    let suite =
        SUITE.1.replace("SCENARIO", &scenario).replace("EVIDENCE", evidence).replace("PROMPT", prompt);
    let mut files = vec![CONFIG, POLICY, (SUITE.0, suite.as_str())];
    files.extend(sessions.is_none().then_some(SCENARIO));
    files.push(WORKFLOW);
    let paths: Vec<&Path> = files.iter().map(|it| Path::new(it.0)).collect();
    refuse_existing(&paths)?;
    for (path, text) in &files {
        write(Path::new(path), text)?;
    }
    let opened = Catalog::open(Path::new(""))?;
    let checked = check::bless(&opened, "mine")?;
    let mut text = String::from("Wrote:\n");
    files.iter().for_each(|(path, _)| text += &format!("  {path}\n"));
    text += &format!("  snapshots/ ({})\n", counted(checked.snapshots.len(), "snapshot"));
    text += &unmet(&checked);
    text += "\nNext:\n";
    text += "  ctxsim check\n";
    text += &format!("  ctxsim compare --base identity --candidate mine --scenario {scenario}\n");
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
    let there = paths.iter().map(|it| it.as_ref()).filter(|path| path.exists());
    let problems: Vec<Diagnostic> = there
        .map(|path| {
            let mut problem = Diagnostic::at(Code::InitExists, "", "this file already exists");
            problem.place.file = path.display().to_string();
            problem.help("move it away, or run `ctxsim init` in another folder")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        output::make_folder(folder)?;
    }
    output::write(path, text, ForceArgs::default().kept(&Files::default()))
}
