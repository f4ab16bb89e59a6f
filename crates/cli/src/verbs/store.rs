//! `ctxsim run --store`: what a memory holds after a conversation, as files in a folder, and back.

use crate::prelude::*;

use clap::Subcommand;
use ctxsim_app::catalog::Origin;
use ctxsim_engine::memory::export::{Export, INDEX_FILE, Index};

use crate::what::ConversationArgs;

/// Shown below the options of `store write`.
const CONTENTS: &str = "\
The folder gets BANK.json for each bank, with keys and values in the order in which they were written, and \
index.json, which records the run.";

/// A command on exports of a memory.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Run one conversation and export the memory's final contents as JSON files
    #[command(after_help = CONTENTS)]
    Write(StoreWriteArgs),
    /// Check an export against a new run of the same conversation
    Read(StoreReadArgs),
}

/// The arguments of `run --store write`.
#[derive(Debug, Args)]
pub(crate) struct StoreWriteArgs {
    /// Policy with a memory, by name or path
    #[arg(long, value_name = "P")]
    pub policy: String,
    /// Conversation scenario, by name or path
    #[arg(long, value_name = "S")]
    pub scenario: String,
    /// Model profile by name or path
    #[arg(long, value_name = "M", default_value = "context_decay/words")]
    pub profile: String,
    #[command(flatten)]
    conversation: ConversationArgs,
    /// Random seed [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Override a field, as in `memory.store.banks.capacity=3`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub process: ProcessArgs,
    /// Output folder, created if missing; an earlier export in it is replaced
    #[arg(long, value_name = "DIR")]
    pub output: PathBuf,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// The arguments of `run --store read`.
#[derive(Debug, Args)]
pub(crate) struct StoreReadArgs {
    /// Exported folder; run this in the directory where `store write` ran, so that paths resolve
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub process: ProcessArgs,
}

/// Plays a conversation and writes the memory's final contents.
pub(super) fn export_memory(catalog: &Catalog, args: &StoreWriteArgs) -> Result<()> {
    let named = [&args.policy, &args.scenario, &args.profile];
    let plan = plan_memory_run(catalog, args.process, named, args.seed, &args.set)?;
    let ConversationArgs { length, trial } = args.conversation;
    let length = match (length, plan.scenarios.first()) {
        (None, Some(entry)) => {
            let loads = plan.open(entry)?;
            let first = || loads.first()?.world.lengths().first().copied();
            first().unwrap_or(0)
        }
        (length, _) => length.unwrap_or(0),
    };
    let mut export = plan.export_memory(length, trial, &args.set)?;
    let given =
        |kind, name: &String| catalog.expand_pattern(kind, name).into_iter().next().unwrap_or(name.clone());
    export.index.policy = given(InputKind::Policy, &args.policy);
    export.index.scenario = given(InputKind::Scenario, &args.scenario);
    export.index.profile = given(InputKind::Profile, &args.profile);
    let files = export.files()?;
    // The index comes last: a folder with an index is complete.
    let files: Vec<_> = files.iter().rev().map(|(name, text)| (args.output.join(name), text)).listed();
    let earlier = read_text(&args.output.join(INDEX_FILE)).unwrap_or_default();
    let kept = args.force.overwrite_rules(catalog.files_read());
    // An index may list any file: only what a bank looks like is replaced or removed.
    let is_bank = |name: &String| read_text(&args.output.join(name)).is_ok_and(|it| Export::is_bank(&it));
    let of_earlier: Vec<String> = Export::bank_files(&earlier).into_iter().filter(is_bank).listed();
    let (replaced, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(path, _)| of_earlier.iter().any(|it| path.ends_with(it)));
    others.iter().try_for_each(|(path, text)| kept.check_may_write(path, Some(text.as_bytes())))?;
    let stale = export.stale(&earlier).into_iter().filter(is_bank);
    stale.map(|it| args.output.join(it)).try_for_each(|it| output::remove_own_file(&it))?;
    output::write_together(&replaced, OverwriteRules { replaced: Replaceable::All, ..kept })?;
    output::write_together(&others, kept)?;
    output::print_text(&format!("{} to {}\n", export_summary(&export), args.output.display()))
}

/// Reads an export, replays its conversation and reports the first difference.
pub(super) fn verify_by_replay(catalog: &Catalog, args: &StoreReadArgs) -> Result<()> {
    let place = |error: Error| match error {
        Error::Invalid(problems) => {
            let below = |problem: Diagnostic| {
                let file = args.folder.join(&problem.place.file).display().to_string();
                problem.in_file(file)
            };
            Error::from(problems.into_iter().map(below).listed())
        }
        other => other,
    };
    let export = Export::read(|name| read_text(&args.folder.join(name))).map_err(place)?;
    let missing = missing_input_problems(catalog, &export.index);
    if !missing.is_empty() {
        return Err(place(missing.into()));
    }
    let Index { policy, scenario, profile, seed, length, trial, set, .. } = &export.index;
    let plan = plan_memory_run(catalog, args.process, [policy, scenario, profile], Some(*seed), set)?;
    let mut after_run = plan.export_memory(*length, *trial, set)?;
    // A run has the names of its inputs, the index what was given for them.
    after_run.index = Index { written: after_run.index.written, ..export.index.clone() };
    if let Some(difference) = first_difference(&export, &after_run) {
        let help = "run `ctxsim run --store write` again, or restore the files as they were written";
        return Err(error_at(Code("store-differs"), &args.folder, difference, help));
    }
    let mut text = String::new();
    for (bank, facts) in &export.banks {
        let _ = writeln!(text, "{bank:20} {:>5}", facts.len());
    }
    let run = format!("conversation {trial} of {length} messages of {scenario}, seed {seed}");
    let _ = writeln!(text, "{}: the contents of {policy} after {run}", export_summary(&export));
    output::print_text(&text)
}

/// Plans the run whose memory is written: of one policy on one scenario under one profile.
fn plan_memory_run(
    catalog: &Catalog,
    process: ProcessArgs,
    [policy, scenario, profile]: [&String; 3],
    seed: Option<u64>,
    overrides: &[String],
) -> Result<Plan> {
    let [policies, scenarios, profiles] = [policy, scenario, profile].map(|it| vec![it.clone()]);
    let set = overrides.to_vec();
    let comparison = Comparison { policies, scenarios, profiles, seed, set, ..Comparison::default() };
    Plan::new(catalog, &process.add_permissions_to(comparison))
}

/// Returns a problem for each input of the export's run that no longer exists.
fn missing_input_problems(catalog: &Catalog, index: &Index) -> Vec<Diagnostic> {
    let Index { policy, scenario, profile, .. } = index;
    let inputs =
        [(InputKind::Policy, policy), (InputKind::Scenario, scenario), (InputKind::Profile, profile)];
    let is_missing = |kind, given: &str| match catalog.find_origin(kind, given) {
        Ok(Origin::File(path)) => !path.exists(),
        found => found.is_err(),
    };
    let missing = inputs.into_iter().filter(|(kind, given)| is_missing(*kind, given)).map(|(kind, given)| {
        let message =
            format!("the {} `{given}`, with which the export was written, does not exist", kind.noun());
        let problem = Diagnostic::at(Code("store-input-missing"), kind.noun(), message).in_file(INDEX_FILE);
        problem.help(if Path::new(given).is_absolute() {
            "put the file back, or run `ctxsim run --store write` again"
        } else {
            "paths and `ctxsim.toml` are resolved from the working directory: run this where the export was \
                written"
        })
    });
    missing.listed()
}

/// Returns the numbers of facts, entries and files; a fact in two banks is two entries.
fn export_summary(export: &Export) -> String {
    let facts: BTreeSet<&String> = export.banks.values().flat_map(|it| it.keys()).collect();
    let counted = |n, one, several| format!("{n} {}", if n == 1 { one } else { several });
    let entries = counted(export.index.written.len(), "entry", "entries");
    let files = counted(1 + export.banks.len(), "file", "files");
    format!("{} as {entries} in {files}", counted(facts.len(), "fact", "facts"))
}

/// Returns the first difference between an export and a new run.
fn first_difference(exported: &Export, after_run: &Export) -> Option<String> {
    if exported == after_run {
        return None;
    }
    let names: Vec<&String> = exported.banks.keys().chain(after_run.banks.keys()).listed();
    for bank in names {
        let (own, other) = (exported.banks.get(bank), after_run.banks.get(bank));
        for (key, value) in own.into_iter().flatten() {
            match other.and_then(|it| it.get(key)) {
                None => return Some(format!("`{bank}` has `{key}`, which the run does not leave there")),
                Some(left) if left != value => {
                    return Some(format!("`{key}` in `{bank}` is `{value}`, but the run leaves `{left}`"));
                }
                Some(_) => {}
            }
        }
        for key in other.into_iter().flatten().map(|(key, _)| key) {
            if !own.is_some_and(|it| it.contains_key(key)) {
                return Some(format!("`{bank}` lacks `{key}`, which the run leaves there"));
            }
        }
    }
    Some("the facts were written in a different order".to_owned())
}
