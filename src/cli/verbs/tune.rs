//! `ctxsim tune`: the parameters that are cheapest under a floor of evidence,
//! compared with sessions that they were not chosen on.

use std::path::{Path, PathBuf};

use crate::catalog::Catalog;
use crate::compare::never_stops;
use crate::compare::parts::{Making, Shard};
use crate::compare::tune::{Found, Search, TuneHead, Tuning, tuned_policy};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::input::Format;
use crate::report::tune::{page, table};
use crate::report::verdict::MIN_EVIDENCE;
use clap::Args;

use crate::cli::args::{DrawArgs, ProcessArgs, WidthArgs, share};
use crate::cli::output::{self, ForceArgs, OutputArgs, PageArgs, Remark};
use crate::cli::verbs::parts::Store;
use crate::cli::verbs::run::{table_width, unwritable, with_progress};
use crate::cli::verbs::sweep::{GridArgs, shard};

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim tune --policy clear_tool_results --output tuned.ron ~/.claude/projects
  ctxsim tune --policy mine.ron --vary params.trigger.tokens=40000..160000:20000 sessions/
  ctxsim tune --policy mine.ron sessions --shard 3/16 --parts parts     one share of the sessions; `ctxsim merge parts` tells the result of all

Without `--vary`, every number that the user of the agent can set is varied: what the policy file calls `settable`, or else what its stages decide by. \
A trigger is tried at shares of the longest prompt, any other number at multiples of itself, and a 0 at small shares of the longest prompt. Sizes that were \
measured, such as that of a summary, are left alone.

The newer half of the sessions is held out (without times, whole projects, if there are several). Parameters are chosen on the other sessions, \
and their savings are measured on those held out. The best variant is shown with its numbers on both parts, and it is recommended, and its file \
written, only if it costs less on the held-out part and keeps the evidence, both with the uncertainty taken into account: even at the \
unfavourable end of the widest of 95% intervals over sessions, over projects (working folders), and over months, weeks or days; without the project (or \
session) that saves most; over what is assumed of recovery; and, with five projects or more, on each project under what is chosen without it. Otherwise, \
one reason says why not, and which limit forbids it.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The arguments of `tune`.
#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Recorded sessions (files, folders or patterns), or scenarios by name or path
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Policy to tune, by name or path
    #[arg(long, value_name = "P")]
    policy: String,
    /// Base policy, by name or path
    #[arg(long, value_name = "P", default_value = "identity")]
    base: String,
    /// Path and values to try [default: values around each number that can be set]
    #[arg(long = "vary", value_name = "PATH=VALUES")]
    vary: Vec<String>,
    /// Scenarios by name or path, or recorded sessions
    #[arg(long = "scenario", visible_alias = "scenarios", value_name = "S", num_args = 1..)]
    scenarios: Vec<String>,
    /// Model profiles by name or path [default: each session's own model]
    #[arg(long = "profile", visible_alias = "profiles", value_name = "M", num_args = 1..)]
    profiles: Vec<String>,
    /// Override a field in every variant
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    draw: DrawArgs,
    #[command(flatten)]
    process: ProcessArgs,
    /// Minimum share of the needed evidence to keep
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = MIN_EVIDENCE)]
    min_evidence: f64,
    /// Show every variant
    #[arg(long)]
    details: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Write one part per recording to this folder, for `ctxsim merge`; parts that are there already are not made again
    #[arg(long, value_name = "DIR", conflicts_with_all = ["details", "json", "output", "html"])]
    parts: Option<PathBuf>,
    /// Play one share of the recordings, as in `3/16`
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "parts")]
    shard: Option<[usize; 2]>,
    /// Write the recommended policy to a file (.ron or .toml), atomically
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    wide: WidthArgs,
}

/// Tunes, prints, and writes the recommended policy.
pub(crate) fn tune(catalog: &Catalog, args: &TuneArgs) -> Result<(), Error> {
    let format = args.output.as_deref().map(|path| Format::of(path).ok_or(path)).transpose();
    let format = format.map_err(|path| {
        let mut problem = Diagnostic::at("output-extension", "", "a policy file ends in `.ron` or `.toml`");
        problem.place.file = path.display().to_string();
        vec![problem.help("rename the output")]
    })?;
    args.output.as_deref().map_or(Ok(()), output::check)?;
    let what = GridArgs {
        paths: args.paths.clone(),
        policy: args.policy.clone(),
        base: args.base.clone(),
        vary: args.vary.clone(),
        scenarios: args.scenarios.clone(),
        profiles: args.profiles.clone(),
        suite: None,
        set: args.set.clone(),
        draw: DrawArgs { seed: None, ..args.draw },
        process: args.process,
    }
    .sorted(catalog)?;
    if let Some(path) = &args.output {
        what.note(catalog);
        args.force.kept(catalog.files()).check(path, None)?;
    }
    args.page.check(catalog.files(), args.force)?;
    let (comparison, threads) = (what.comparison(), args.draw.threads());
    let search = if args.vary.is_empty() {
        with_progress(|it| Search::by_default(catalog, &comparison, threads, it))?
    } else {
        Search::of(&what.grid()?)?
    };
    let seed = args.draw.seed.unwrap_or(0);
    let tuning = Tuning::new(catalog, &comparison, search, args.min_evidence, seed)?;
    if let Some(folder) = &args.parts {
        let [part, of] = args.shard.unwrap_or([1, 1]);
        return output::print(&make(&tuning, folder, Shard { part, of }, threads)?);
    }
    let found = with_progress(|it| tuning.tuned(threads, it))?;
    if let (Some(path), Some(format)) = (&args.output, format) {
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(text) = tuned_policy(catalog, &args.policy, &name, &found, format)? {
            output::write(path, Remark::of_input(format).on(&text), args.force.kept(catalog.files()))?;
        }
    }
    let Found { tuned, .. } = &found;
    args.page.put(catalog.files(), args.force, || page::page(tuned))?;
    let text = if args.json {
        serde_json::to_string_pretty(tuned).map_err(unwritable)? + "\n"
    } else {
        table::tuned(tuned, args.details, Some(table_width(args.wide, &OutputArgs::default())))
    };
    output::print(&text)
}

/// Makes the parts of a share that are not in the folder yet; returns what was done, in a sentence.
fn make(tuning: &Tuning<'_>, folder: &Path, shard: Shard, threads: Option<usize>) -> Result<String, Error> {
    tuning.check_parts()?;
    let (job, head) = (tuning.job()?, tuning.head());
    let store = Store::open::<TuneHead>(folder, &job, &tuning.scenarios(), shard)?;
    let (has, take) = (|it| store.has(it), |part| store.put(&part));
    let making = Making { threads, job: &job, head, shard, has: &has, take: &take };
    with_progress(|it| tuning.parts(&never_stops(it), &making))?;
    Ok(store.done())
}
