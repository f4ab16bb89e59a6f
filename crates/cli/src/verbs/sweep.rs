//! `ctxsim sweep` and `ctxsim run --merge`: a grid of variants of a policy, on one machine or on many.

use crate::prelude::*;

use ctxsim_app::grid::OverrideGrid;
use ctxsim_app::parts::{PlanShard, fold};
use ctxsim_app::sweep_head;
use ctxsim_app::tune::{self, TuneHead};
use ctxsim_report::part::{Common, PartHead};
use ctxsim_report::sweep::{Objective, PointGuard, Sweep, json, page, table};
use ctxsim_report::tune::Tuned;
use serde::Serialize;

use crate::git;
use crate::verbs::parts;
use crate::verbs::parts::shard;
use crate::verbs::run::TotalsView;
use crate::what::{SuiteArgs, What};

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim sweep --policy mine.ron --vary params.trigger.ratio=0.4..0.8:0.05 --vary params.keep=2,4,8
  ctxsim sweep --policy mine.ron --vary params.trigger.tokens=20000..90000:10000 --profile 'anthropic/*' ~/.claude/projects
  ctxsim sweep … --shard 3/16 --output shard-3.json       one part of sixteen, on any machine
  ctxsim run --merge shard-*.json --format json                 the same bytes as a single machine would write

A GitHub matrix, a Slurm array or a Kubernetes indexed job can run the shards: see docs/how-to/review-a-change.md.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// Shown below the options of `run --merge`.
pub(crate) const MERGE_EXAMPLES: &str = "\
Examples:
  ctxsim run ~/.claude/projects --shard 3/16 --parts parts    one part of sixteen, on any machine; what is there already is not made again
  ctxsim run --merge parts                                          what `ctxsim run ~/.claude/projects --totals` says
  ctxsim run --merge shard-*.json --format json                     the sweep that one machine would have written

Exit codes: 0 success; 2 parts are missing, broken, or of different jobs or versions.";

/// The available output formats.
const FORMATS: Formats<'_> =
    Formats { of: "`sweep`", known: &[FormatArg::TABLE, FormatArg::JSON, FormatArg::HTML, FormatArg::SVG] };

/// The only one of a part.
const SHARD_FORMATS: Formats<'_> = Formats { of: "`sweep --shard`", known: &[FormatArg::JSON] };

/// The arguments of `sweep`.
#[derive(Debug, Args)]
#[command(
    mut_arg("set", said("Override a field at every point")),
    mut_arg("suite", said("Suite that supplies the scenarios and profiles that you omit [default: default]")),
    mut_arg("vary", |it| it.required(true))
)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    suite: SuiteArgs,
    /// Objectives that define the Pareto front: cost, evidence, retention, prompt, recovery, or a number of what memories remember, such as `accumulator_error`
    #[arg(long = "objective", value_name = "NAME", num_args = 1.., value_parser = objective, default_values = ["cost", "evidence", "retention"])]
    objectives: Vec<Objective>,
    #[command(flatten)]
    guards: GuardArgs,
    /// Run one part of several, as in `3/16`, and write JSON for `ctxsim run --merge`
    #[arg(long, value_name = "I/N", value_parser = shard, conflicts_with_all = ["html", "details", "width"])]
    shard: Option<PlanShard>,
    #[command(flatten)]
    shown: FrontArgs,
}

/// The policy to vary, its values and its workloads.
#[derive(Clone, Debug, Args)]
pub(crate) struct GridArgs {
    /// Policy to vary, by name or path
    #[arg(long, value_name = "P")]
    pub policy: String,
    /// Base policy, by name or path
    #[arg(long, value_name = "P", default_value = "identity")]
    base: String,
    /// Field and its values: `PATH=LO..HI:STEP` or `PATH=A,B,C`; repeat the option for a grid
    #[arg(long = "vary", value_name = "PATH=VALUES")]
    pub vary: Vec<String>,
    #[command(flatten)]
    pub what: What,
}

impl GridArgs {
    /// Returns the comparison: the base, then the varied policy.
    pub(crate) fn comparison(&self, catalog: &Catalog) -> Result<Comparison, Error> {
        let policies = vec![self.base.clone(), self.policy.clone()];
        Ok(Comparison { policies, ..self.what.comparison(catalog, "--policy", &[])? })
    }

    /// Returns the grid; a path that begins with the policy's name applies to that policy.
    pub(crate) fn grid(&self) -> Result<OverrideGrid, Error> {
        let parsed = OverrideGrid::parse(&self.vary);
        Ok(parsed.map_err(|all| all.into_iter().map(|it| it.in_file("--vary")).listed())?)
    }
}

/// Returns the format of a policy file that may be written, if one is asked for.
pub(crate) fn policy_format(output: Option<&Path>) -> Result<Option<Format>, Error> {
    let Some(path) = output else { return Ok(None) };
    let (message, help) = ("a policy file ends in `.ron` or `.toml`", "rename the output");
    let format =
        Format::from_path(path).ok_or_else(|| wrong_at(Code("output-extension"), path, message, help))?;
    output::writable(path)?;
    Ok(Some(format))
}

/// Prints what a search found, as JSON or as text.
pub(crate) fn print(
    found: &impl Serialize,
    is_json: bool,
    text: impl FnOnce() -> String,
) -> Result<(), Error> {
    if is_json { output::print_encoded(output::json(found)?.as_bytes()) } else { output::print(&text()) }
}

/// Marks the files that a comparison names as inputs, before they are read.
pub(crate) fn note(catalog: &Catalog, named: &Comparison) {
    output::note(catalog, Kind::Policy, &named.policies);
    output::note(catalog, Kind::Scenario, &named.scenarios);
    output::note(catalog, Kind::Profile, &named.profiles);
}

/// How a sweep is shown.
#[derive(Debug, Args)]
#[command(mut_arg("format", |it| FORMATS.offered(it)))]
pub(crate) struct FrontArgs {
    #[command(flatten)]
    to: PagedArgs,
    /// Show every point on the front
    #[arg(long)]
    details: bool,
}

/// The arguments of `run --merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of parts (or such files) written by `run` or `tune` with `--parts`, or files written by `ctxsim sweep --shard`
    #[arg(value_name = "PATH", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    shown: FrontArgs,
}

/// Reads the name of an objective.
pub(super) fn objective(text: &str) -> Result<Objective, String> {
    Objective::try_from(text.to_owned())
}

/// Bounds that a recommended point has to keep.
#[derive(Clone, Debug, Args)]
pub(crate) struct GuardArgs {
    /// Bound on a number that a recommended point must keep, as in `accumulator_error<=20` or `final>=0.5`
    #[arg(long = "guard", value_name = "BOUND", value_parser = guard)]
    pub guards: Vec<PointGuard>,
}

fn guard(text: &str) -> Result<PointGuard, String> {
    PointGuard::try_from(text.to_owned())
}

/// Runs a sweep, or a part of it, and writes it.
pub(crate) fn sweep(catalog: &Catalog, args: &SweepArgs) -> Result<(), Error> {
    let formats = if args.shard.is_some() { SHARD_FORMATS } else { FORMATS };
    let format = args.shown.to.shown.choose(&formats)?;
    let grid = args.grid.grid()?;
    let suite = args.suite.suite.clone();
    let comparison = Comparison { suite, ..args.grid.comparison(catalog)? };
    let catalog = git::with_revisions(catalog, &comparison.policies, comparison.allow_process)?;
    note(&catalog, &comparison);
    args.shown.to.check(catalog.files())?;
    let (objectives, guards) = (args.objectives.clone(), args.guards.guards.clone());
    let head = sweep_head(&grid, &comparison, objectives, guards);
    let PlanShard { part, of: n_shards } = args.shard.unwrap_or(PlanShard::WHOLE);
    // Neighbours differ little, so every machine gets a share of each region.
    let indices: Vec<usize> = (part - 1..grid.len()).step_by(n_shards).listed();
    let threads = args.grid.what.threads();
    let points = with_progress(SIMULATES, |progress| {
        ctxsim_app::sweep(&catalog, &comparison, &grid, &indices, threads, progress)
    })?;
    match args.shard {
        Some(PlanShard { part, of: n_shards }) => {
            let text = json::shard([part, n_shards], head, points).map_err(unwritable)?;
            args.shown.to.shown.output.put(catalog.files(), FormatArg::JSON, &text)
        }
        None => show(&Sweep::new(head, points), format, &args.shown, catalog.files()),
    }
}

/// Merges shards and writes what a single machine would have written.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Error> {
    let to = &args.shown.to;
    let format = to.shown.choose(&FORMATS)?;
    let inputs = Files::default();
    args.files.iter().for_each(|it| inputs.note(it));
    let schema = parts::schema_named_in(&args.files)?;
    if schema.as_deref() == Some(PartHead::SCHEMA) {
        let put = TotalsView { to, format };
        put.check(&inputs)?;
        return put.put(&parts::merged(&args.files, |order, read| fold(order, read))?, &inputs);
    }
    to.check(&inputs)?;
    if schema.as_deref() == Some(TuneHead::SCHEMA) {
        let found = parts::merged(&args.files, |order, read| tune::fold(order, read))?;
        return tuned(&found, format, &args.shown, &inputs);
    }
    let read = |path: &PathBuf| Ok((path.display().to_string(), read_text(path)?));
    let files: Vec<(String, String)> = args.files.iter().map(read).collect::<Result<_, Error>>()?;
    show(&json::merged(&files)?, format, &args.shown, &inputs)
}

/// Writes what a search came to.
fn tuned(tuned: &Tuned, format: FormatArg, shown: &FrontArgs, inputs: &Files) -> Result<(), Error> {
    let text = || match format {
        FormatArg::JSON => output::json(tuned),
        FormatArg::TABLE => Ok(ctxsim_report::tune::table(tuned, shown.details, shown.to.shown.terminal())),
        _ => {
            let help = "use `--format table`, `--format json` or `--format html`";
            Err(wrong(Code("usage"), "a search is written as a table, as JSON or as a page", help))
        }
    };
    shown.to.put(inputs, format, || ctxsim_report::tune::page(tuned), text)
}

/// Writes a whole sweep.
fn show(sweep: &Sweep, format: FormatArg, shown: &FrontArgs, inputs: &Files) -> Result<(), Error> {
    let text = || match format {
        FormatArg::JSON => json::document(sweep).map_err(unwritable),
        FormatArg::SVG => match sweep.figure() {
            Some(figure) => figure.document().map_err(unwritable),
            None => {
                let message = "cost and evidence are unknown at these points";
                let help = "name scenarios that declare evidence needs";
                Err(wrong(Code("chart-missing"), message, help))
            }
        },
        _ => Ok(table(sweep, shown.details, shown.to.shown.terminal())),
    };
    shown.to.put(inputs, format, || page(sweep), text)
}
