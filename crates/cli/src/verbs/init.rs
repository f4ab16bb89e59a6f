//! `ctxsim init`: the files with which a repository begins, each commented; the commands that it names pass on the example.

use crate::prelude::*;
use std::path::Component;

use clap::Subcommand;
use ctxsim_report::guard::GuardVerdict;
use ctxsim_report::made::VERSION;

use crate::output::RemovedUnlessKept;
use crate::verbs::check;
use crate::verbs::compare::own_input_names;

/// The files to write, with their texts.
const CONFIG: (&str, &str) = ("ctxsim.toml", include_str!("init/ctxsim.toml"));
const POLICY: (&str, &str) = ("policies/mine.ron", include_str!("init/mine.ron"));
const SUITE: (&str, &str) = ("suites/mine.toml", include_str!("init/suite.toml"));
const WORKFLOW: (&str, &str) = (".github/workflows/ctxsim.yml", include_str!("init/workflow.yml"));
const SCENARIO: (&str, &str) = ("scenarios/example.ron", include_str!("init/example.ron"));

/// The profile of the suite, whose prices are those of the day that is pinned.
const PROFILE: &str = "anthropic/claude-sonnet-5.5";
/// Has sessions run under the profiles of their own models.
const OWN_MODELS: &str = "own_models = true                               # each session under its own model, others under these\n";

/// The folder of inputs where no configuration names one.
const FOLDER: &str = "ctx";

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
pub(super) fn write_starter_files(catalog: &Catalog, args: &InitArgs) -> Result<()> {
    match &args.command {
        Some(InitCommand::Policy(of)) => write_policy_file(catalog, of),
        None => write_repository_files(catalog, args.sessions.as_deref()),
    }
}

/// Writes a policy based on another, listing the parameters it may change.
fn write_policy_file(catalog: &Catalog, args: &PolicyArgs) -> Result<()> {
    let base = catalog.policy(&args.from)?;
    let name = policy_name_of_path(&args.path);
    let params: Vec<String> = base.spec.params.keys().map(|it| it.escape_debug().to_string()).listed();
    let params = if params.is_empty() { "none".to_owned() } else { params.join(", ") };
    let from = &base.spec.name;
    let said = format!(
        "Based on {from}: fields that this file omits come from there. `ctxsim show policy {from} --merged` shows them."
    );
    let about = format!("{from} with our own numbers.");
    let text = match Format::from_path(&args.path) {
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
            return Err(error_at(Code("output-extension"), &args.path, message, help));
        }
    };
    refuse_existing(&[&args.path])?;
    let inputs = InputFiles::default();
    output::write_together(&[(args.path.clone(), text)], ForceArgs::default().overwrite_rules(&inputs))?;
    let path = args.path.to_string_lossy();
    output::print_text(&format!("Wrote {path}. Next: ctxsim validate {}\n", quoted(&path)))
}

/// Returns a policy's name: its path below `policies/`, else that of the file, without the extension.
fn policy_name_of_path(path: &Path) -> String {
    let plain = path.with_extension("");
    let below = path_below_folder(&plain, InputKind::Policy.folder_name()).filter(|it| !it.is_empty());
    below.unwrap_or_else(|| plain.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// Returns what a path has behind the last folder of a name; `None` if it has no such folder.
pub(super) fn path_below_folder(path: &Path, folder_name: &str) -> Option<String> {
    let parts: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).listed();
    let at = parts.iter().rposition(|it| it == folder_name)?;
    Some(parts[at + 1..].join("/"))
}

/// Returns a text as a string in TOML, whose escapes are those of JSON.
fn quoted_in_toml(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Writes the files a repository needs for its first check: on the policies and the sessions that are there, else on examples.
fn write_repository_files(catalog: &Catalog, sessions_folder: Option<&Path>) -> Result<()> {
    let found = if sessions_folder.is_none() { find_sessions_folder(catalog) } else { None };
    let sessions_folder = sessions_folder.or(found.as_deref());
    let scenario = sessions_folder.map_or("example".to_owned(), |it| it.display().to_string());
    if sessions_folder.is_some() {
        // A wrong path must leave nothing behind.
        for found in catalog.search_scenarios(&scenario)?.found {
            catalog.scenario(&found.name)?;
        }
    }
    let profile = catalog.shipped_inputs().profile(PROFILE)?.spec;
    // A project that has inputs keeps its configuration.
    let is_configured = Path::new(CONFIG.0).symlink_metadata().is_ok();
    let here = Path::new(InputKind::Policy.folder_name()).is_dir().then_some(Path::new(""));
    let folder = catalog.user_folders().first().map(PathBuf::as_path).or(here).unwrap_or(Path::new(FOLDER));
    if is_configured {
        check_first_folder_is_below(catalog)?;
    }
    let own = match here.filter(|_| !is_configured) {
        Some(_) => own_input_names(&catalog.clone().with_folder(Path::new("."))?, InputKind::Policy),
        None => own_input_names(catalog, InputKind::Policy),
    };
    let suite = suite_text(&own, sessions_folder.is_some(), &scenario);
    let suite_at = folder.join(SUITE.0);
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut made: Vec<[String; 2]> = Vec::new();
    let mut add = |path: PathBuf, text: String, why: String| {
        made.extend((!why.is_empty()).then(|| [path.display().to_string(), why]));
        files.push((path, text));
    };
    if !is_configured {
        let named = if folder == Path::new("") { "." } else { FOLDER };
        let config = CONFIG.1.replace("VERSION", VERSION).replace("PRICES", &profile.as_of);
        let config = config.replace("[\"ctx\"]", &format!("[\"{named}\"]"));
        let why = "where your inputs are, and the version and prices that numbers are accepted under";
        add(CONFIG.0.into(), config, why.to_owned());
    }
    if own.is_empty() {
        let why = "a policy to change: it clears old tool results above 40,000 tokens";
        add(folder.join(POLICY.0), POLICY.1.to_owned(), why.to_owned());
    }
    let on =
        if sessions_folder.is_some() { scenario.as_str() } else { "an example, until you have sessions" };
    let whose = if own.is_empty() { "that policy".to_owned() } else { listed(&own) };
    let why = format!("what `check` runs: {whose} against keeping everything, on {on}");
    add(suite_at.clone(), suite.clone(), why);
    if sessions_folder.is_none() {
        add(folder.join(SCENARIO.0), SCENARIO.1.to_owned(), String::new());
    }
    add(WORKFLOW.0.into(), WORKFLOW.1.to_owned(), "`check` and `compare` on each pull request".to_owned());
    // Another suite's snapshots may be there already.
    files.extend((!Path::new(IGNORED.0).exists()).then(|| (PathBuf::from(IGNORED.0), IGNORED.1.to_owned())));
    let paths: Vec<&Path> = files.iter().map(|it| it.0.as_path()).listed();
    refuse_existing(&paths)?;
    check::check_snapshots_replaceable("mine")?;
    // What cannot be written or checked must leave nothing behind.
    let begun = RemovedUnlessKept::new(paths.into_iter().chain([Path::new("snapshots/mine")]));
    output::write_together(&files, ForceArgs::default().overwrite_rules(&InputFiles::default()))?;
    let mut checked = check::bless_suite(&catalog.reopen_in(Path::new(""))?, "mine")?;
    let unmet = checked.verdicts.iter().filter(|it| !it.holds).cloned().listed();
    if !unmet.is_empty() {
        let kept = OverwriteRules { inputs: &InputFiles::default(), replaced: Replaceable::All };
        output::write_text_file(&suite_at, comment_out_unmet_guards(&suite, &unmet), kept)?;
        checked = check::bless_suite(&catalog.reopen_in(Path::new(""))?, "mine")?;
    }
    begun.keep();
    let n_snapshots = counted(checked.snapshots.len(), "snapshot");
    made.push(["snapshots/".to_owned(), format!("the numbers that `check` compares: {n_snapshots}")]);
    let mut text = describe_written(&made, checked.verdicts.len(), &suite_at, &unmet);
    let (candidate, scenario) = (quoted(own.first().map_or("mine", String::as_str)), quoted(&scenario));
    text += "\nNext:\n  ctxsim check\n  ctxsim compare --base identity";
    text += &format!(" --candidate {candidate} --scenario {scenario}\n");
    output::print_text(&text)
}

/// Refuses a configuration whose first folder of inputs is elsewhere: whoever wrote it need not be who writes beside it now.
fn check_first_folder_is_below(catalog: &Catalog) -> Result<()> {
    let is_name = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    if catalog.user_folders().first().is_some_and(|it| it.components().all(is_name)) {
        return Ok(());
    }
    let help = format!("put `{FOLDER}` first in its `folders`, so that what is written there is found");
    Err(error_at(Code("init-exists"), CONFIG.0, "its first folder of inputs is not below this one", help))
}

/// Says what was written and why, and which guards of the suite are comments.
fn describe_written(made: &[[String; 2]], n_guards: usize, suite: &Path, unmet: &[GuardVerdict]) -> String {
    let width = made.iter().map(|it| it[0].chars().count()).max().unwrap_or_default();
    let mut text = format!("`ctxsim check` passes: {}. Wrote:\n", counted(n_guards, "guard check"));
    made.iter().for_each(|[path, why]| text += &format!("  {path:width$}  {why}\n"));
    if !unmet.is_empty() {
        text += &format!("\nThese guards fail today, so they are comments in {}:\n", suite.display());
    }
    unmet.iter().for_each(|it| text += &format!("  {it}\n"));
    text
}

/// Returns the first folder here that has recorded sessions.
fn find_sessions_folder(catalog: &Catalog) -> Option<PathBuf> {
    let is_log = |path: &Path| path.extension().is_some_and(|it| it == "jsonl");
    let entries = |path: &Path| path.read_dir().into_iter().flatten().filter_map(|it| Some(it.ok()?.path()));
    let mut folders = entries(Path::new(".")).filter(|it| it.is_dir()).listed();
    folders.sort();
    let is_of_sessions = |folder: &PathBuf| {
        let found = || catalog.search_scenarios(&folder.display().to_string()).ok();
        entries(folder).any(|it| is_log(&it))
            && found().is_some_and(|it| it.found.iter().any(|it| catalog.scenario(&it.name).is_ok()))
    };
    let named = folders.into_iter().filter_map(|it| Some(it.strip_prefix(".").ok()?.to_owned()));
    named.filter(|it| !it.to_string_lossy().starts_with('.')).find(is_of_sessions)
}

/// Returns the suite of policies, or of the one that is written, on what is there.
fn suite_text(own: &[String], are_sessions: bool, scenario: &str) -> String {
    let (evidence, prompt) = if are_sessions { ("0.5", "\"0.9 window\"") } else { ("0.8", "60_000") };
    let suite = SUITE.1.replace("EVIDENCE", evidence).replace("PROMPT", prompt);
    let suite = suite.replace("MODELS", if are_sessions { OWN_MODELS } else { "" });
    let mut parts = suite.split(GUARD);
    let mut text = parts.next().unwrap_or_default().to_owned();
    // The first guard is on a stage of the policy that is written.
    let guards = parts.skip(usize::from(!own.is_empty())).listed();
    let policies: &[String] = if own.is_empty() { &["mine".to_owned()] } else { own };
    let names = policies.iter().map(|it| quoted_in_toml(it)).listed();
    text = text.replace("\"identity\", \"mine\"", &format!("\"identity\", {}", names.join(", ")));
    for name in &names {
        for guard in &guards {
            let of =
                if names.len() > 1 { format!(" ({})\"", name.trim_matches('"')) } else { "\"".to_owned() };
            let guard = guard.replace("policy = \"mine\"", &format!("policy = {name}"));
            text += &format!("{GUARD}{}", guard.replacen(".\"", &format!(".{of}"), 1));
        }
    }
    // The path comes last: it may hold one of the other words.
    text.replace("\"SCENARIO\"", &quoted_in_toml(scenario))
}

/// What a guard of a suite begins with.
const GUARD: &str = "\n[[guards]]\n";

/// Makes comments of the guards of a suite that do not hold, each below what was found.
fn comment_out_unmet_guards(suite_text: &str, unmet: &[GuardVerdict]) -> String {
    let mut parts = suite_text.split(GUARD);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = |it: &&GuardVerdict| part.starts_with(&format!("name = {}", quoted_in_toml(&it.guard)));
        match unmet.iter().find(name) {
            Some(verdict) => {
                let lines: String = part.lines().map(|it| format!("# {it}\n")).collect();
                text += &format!("\n# Today: {}.\n# [[guards]]\n{lines}", verdict.finding());
            }
            None => text += &format!("{GUARD}{part}"),
        }
    }
    text
}

/// Refuses to overwrite files.
fn refuse_existing(paths: &[&(impl AsRef<Path> + ?Sized)]) -> Result<()> {
    let there = paths.iter().map(|it| it.as_ref()).filter(|path| path.symlink_metadata().is_ok());
    let help = "move it away, or run `ctxsim init` in another folder";
    let error = |path: &Path| error_at(Code("init-exists"), path, "this file already exists", help);
    let problems = there.flat_map(|path| error(path).problems()).listed();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}
