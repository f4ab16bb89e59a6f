//! `ctxsim sweep` and `ctxsim run --merge`: a grid of variants of a policy, on one machine or on many.

use crate::prelude::*;

use ctxsim_app::describe_sweep;
use ctxsim_app::grid::OverrideGrid;
use ctxsim_app::parts::{PlanShard, fold_parts};
use ctxsim_app::tune::{self, TuneHead};
use ctxsim_report::part::{JobKind, PartHead};
use ctxsim_report::sweep::{Objective, PointGuard, Sweep, html_page, json, terminal_text};
use ctxsim_report::tune::Tuned;
use serde::Serialize;

use crate::verbs::parts::{self, parse_shard};
use crate::verbs::run::{check_totals_path, write_totals};

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
    mut_arg("set", with_help("Override a field at every point")),
    mut_arg("suite", with_help("Suite that supplies the scenarios and profiles that you omit [default: default]")),
    mut_arg("vary", |it| it.required(true))
)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    suite: SuiteArgs,
    /// Objectives that define the Pareto front: cost, evidence, retention, prompt, recovery, or a number of what memories remember, such as `accumulator_error`
    #[arg(long = "objective", value_name = "NAME", num_args = 1.., value_parser = parse_objective, default_values = ["cost", "evidence", "retention"])]
    objectives: Vec<Objective>,
    #[command(flatten)]
    guards: GuardArgs,
    /// Run one part of several, as in `3/16`, and write JSON for `ctxsim run --merge`
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with_all = ["html", "details", "width"])]
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
    pub what: LoadArgs,
}

impl GridArgs {
    /// Returns the comparison: the base, then the varied policy.
    pub(crate) fn comparison(&self, catalog: &Catalog) -> Result<Comparison> {
        let policies = vec![self.base.clone(), self.policy.clone()];
        Ok(Comparison { policies, ..self.what.comparison(catalog, "--policy", &[])? })
    }

    /// Returns the grid; a path that begins with the policy's name applies to that policy.
    pub(crate) fn grid(&self) -> Result<OverrideGrid> {
        let parsed = OverrideGrid::parse(&self.vary);
        Ok(parsed.map_err(|all| all.into_iter().map(|it| it.in_file("--vary")).listed())?)
    }
}

/// Returns the format of a policy file that may be written, if one is asked for.
pub(crate) fn policy_file_format(output: Option<&Path>) -> Result<Option<Format>> {
    let Some(path) = output else { return Ok(None) };
    let (message, help) = ("a policy file ends in `.ron` or `.toml`", "rename the output");
    let format =
        Format::from_path(path).ok_or_else(|| error_at(Code("output-extension"), path, message, help))?;
    output::check_output_path(path)?;
    Ok(Some(format))
}

/// Prints what a search found, as JSON or as text.
pub(crate) fn print_answer(found: &impl Serialize, json: bool, text: impl FnOnce() -> String) -> Result<()> {
    if json {
        output::print_encoded(output::to_json_text(found)?.as_bytes())
    } else {
        output::print_text(&text())
    }
}

/// Marks the files that a comparison names as inputs, before they are read.
pub(crate) fn mark_comparison_inputs(catalog: &Catalog, named: &Comparison) {
    output::mark_inputs(catalog, InputKind::Policy, &named.policies);
    output::mark_inputs(catalog, InputKind::Scenario, &named.scenarios);
    output::mark_inputs(catalog, InputKind::Profile, &named.profiles);
}

/// How a sweep is shown.
#[derive(Debug, Args)]
#[command(mut_arg("format", |it| FORMATS.restrict_format_arg(it)))]
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
pub(super) fn parse_objective(text: &str) -> Result<Objective, String> {
    Objective::try_from(text.to_owned())
}

/// Bounds that a recommended point has to keep.
#[derive(Clone, Debug, Args)]
pub(crate) struct GuardArgs {
    /// Bound on a number that a recommended point must keep, as in `accumulator_error<=20` or `final>=0.5`
    #[arg(long = "guard", value_name = "BOUND", value_parser = |it: &str| PointGuard::try_from(it.to_owned()))]
    pub guards: Vec<PointGuard>,
}

/// Runs a sweep, or a part of it, and writes it.
pub(crate) fn run_sweep(catalog: &Catalog, args: &SweepArgs) -> Result<()> {
    let formats = if args.shard.is_some() { SHARD_FORMATS } else { FORMATS };
    let format = args.shown.to.shown.choose_format(&formats)?;
    let grid = args.grid.grid()?;
    let comparison = Comparison { suite: args.suite.suite.clone(), ..args.grid.comparison(catalog)? };
    let catalog = git::read_policy_revisions(catalog, &comparison.policies, comparison.allow_process)?;
    mark_comparison_inputs(&catalog, &comparison);
    args.shown.to.check_output_paths(catalog.files_read())?;
    let (objectives, guards) = (args.objectives.clone(), args.guards.guards.clone());
    let head = describe_sweep(&grid, &comparison, objectives, guards);
    let PlanShard { part, of: n_shards } = args.shard.unwrap_or(PlanShard::WHOLE);
    // Neighbours differ little, so every machine gets a share of each region.
    let indices: Vec<usize> = (part - 1..grid.len()).step_by(n_shards).listed();
    let threads = args.grid.what.threads();
    let points = run_with_progress(SIMULATES, |progress| {
        ctxsim_app::sweep_points(&catalog, &comparison, &grid, &indices, threads, progress)
    })?;
    match args.shard {
        Some(PlanShard { part, of: n_shards }) => {
            let text = json::shard_json([part, n_shards], head, points).map_err(unwritable_error)?;
            args.shown.to.shown.output.write_result(catalog.files_read(), FormatArg::JSON, &text)
        }
        None => write_sweep(&Sweep::new(head, points), format, &args.shown, catalog.files_read()),
    }
}

/// Merges shards and writes what a single machine would have written.
pub(crate) fn merge_part_files(args: &MergeArgs) -> Result<()> {
    let to = &args.shown.to;
    let format = to.shown.choose_format(&FORMATS)?;
    let inputs = InputFiles::default();
    args.files.iter().for_each(|it| inputs.add_path(it));
    let schema = parts::schema_of_first_part(&args.files)?;
    if schema.as_deref() == Some(PartHead::SCHEMA) {
        check_totals_path(to, format, &inputs)?;
        let folded = parts::fold_part_files(&args.files, |order, read| fold_parts(order, read))?;
        return write_totals(&folded, to, format, &inputs);
    }
    to.check_output_paths(&inputs)?;
    if schema.as_deref() == Some(TuneHead::SCHEMA) {
        let found = parts::fold_part_files(&args.files, |order, read| tune::fold_parts(order, read))?;
        return write_tuned(&found, format, &args.shown, &inputs);
    }
    let read = |path: &PathBuf| Ok((path.display().to_string(), read_text(path)?));
    let files: Vec<(String, String)> = args.files.iter().map(read).collect::<Result<_>>()?;
    write_sweep(&json::merge_shards(&files)?, format, &args.shown, &inputs)
}

/// Writes what a search came to.
fn write_tuned(tuned: &Tuned, format: FormatArg, shown: &FrontArgs, inputs: &InputFiles) -> Result<()> {
    let text = || match format {
        FormatArg::JSON => output::to_json_text(tuned),
        FormatArg::TABLE => {
            Ok(ctxsim_report::tune::terminal_text(tuned, shown.details, shown.to.shown.terminal()))
        }
        _ => {
            let help = "use `--format table`, `--format json` or `--format html`";
            Err(usage_error("a search is written as a table, as JSON or as a page", help))
        }
    };
    shown.to.write_text_and_page(inputs, format, || ctxsim_report::tune::html_page(tuned), text)
}

/// Writes a whole sweep.
fn write_sweep(sweep: &Sweep, format: FormatArg, shown: &FrontArgs, inputs: &InputFiles) -> Result<()> {
    let text = || match format {
        FormatArg::JSON => json::sweep_json(sweep).map_err(unwritable_error),
        FormatArg::SVG => {
            let message = "cost and evidence are unknown at these points";
            let help = "name scenarios that declare evidence needs";
            let missing = || Error::refused(Code("chart-missing"), message, help);
            sweep.frontier_chart().ok_or_else(missing)?.to_svg_file().map_err(unwritable_error)
        }
        _ => Ok(terminal_text(sweep, shown.details, shown.to.shown.terminal())),
    };
    shown.to.write_text_and_page(inputs, format, || html_page(sweep), text)
}
