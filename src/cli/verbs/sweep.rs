//! `ctxsim sweep` and `ctxsim merge`: a grid of variants of a policy, on one machine or on many.

use std::path::PathBuf;

use crate::catalog::{Catalog, Files, Kind};
use crate::compare::grid::Grid;
use crate::compare::parts::fold;
use crate::compare::tune::{self, TuneHead};
use crate::compare::{self, Comparison};
use crate::diag::{Code, Diagnostic};
use crate::error::Error;
use crate::input::text::source::read_text;
use crate::report;
use crate::report::part::{Common, Head, HistoryHead};
use crate::report::sweep::{Objective, Sweep, SweepHead, json, page, table};
use crate::report::tune::Tuned;
use clap::{Args, ValueEnum};

use crate::cli::args::{DrawArgs, ProcessArgs, WidthArgs};
use crate::cli::format::{FormatArg, Formats};
use crate::cli::output::{OutputArgs, PageArgs};
use crate::cli::verbs::run::{TotalsArgs, table_width, unwritable, with_progress};
use crate::cli::verbs::{memory, parts};
use crate::cli::words::without_sessions;
use crate::cli::{git, output};

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim sweep --policy mine.ron --vary params.trigger.ratio=0.4..0.8:0.05 --vary params.keep=2,4,8
  ctxsim sweep --policy mine.ron --vary params.trigger.tokens=20000..90000:10000 --profile 'anthropic/*' ~/.claude/projects
  ctxsim sweep … --shard 3/16 --output shard-3.json       one part of sixteen, on any machine
  ctxsim merge shard-*.json --format json                 the same bytes as a single machine would write

A GitHub matrix, a Slurm array or a Kubernetes indexed job can run the shards: see docs/guide.md.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// Shown below the options of `merge`.
pub(crate) const MERGE_EXAMPLES: &str = "\
Examples:
  ctxsim run ~/.claude/projects --shard 3/16 --parts parts    one part of sixteen, on any machine; what is there already is not made again
  ctxsim merge parts                                          what `ctxsim run ~/.claude/projects --totals` says
  ctxsim merge parts --html memory.html                       the same of parts that `ctxsim memory ~/.claude/projects --parts parts` wrote
  ctxsim merge shard-*.json --format json                     the sweep that one machine would have written

Exit codes: 0 success; 2 parts are missing, broken, or of different jobs or versions.";

/// The available output formats.
const FORMATS: Formats<'_> =
    Formats { of: "`sweep`", known: &[FormatArg::TABLE, FormatArg::JSON, FormatArg::HTML, FormatArg::SVG] };

/// The arguments of `sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) what: GridArgs,
    /// Objectives that define the Pareto front
    #[arg(long = "objective", value_enum, num_args = 1.., default_values_t = [ObjectiveArg::Cost, ObjectiveArg::Evidence, ObjectiveArg::Retention])]
    objectives: Vec<ObjectiveArg>,
    /// Run one part of several, as in `3/16`, and write JSON for `ctxsim merge`
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<[usize; 2]>,
    #[command(flatten)]
    shown: ShownArgs,
}

/// The policy to vary, its values and its workloads.
#[derive(Clone, Debug, Args)]
pub(crate) struct GridArgs {
    /// Recorded sessions (files, folders or patterns), or scenarios by name or path
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Policy to vary, by name or path
    #[arg(long, value_name = "P")]
    pub(crate) policy: String,
    /// Base policy, by name or path
    #[arg(long, value_name = "P", default_value = "identity")]
    pub(crate) base: String,
    /// Field and its values: `PATH=LO..HI:STEP` or `PATH=A,B,C`; repeat the option for a grid
    #[arg(long = "vary", value_name = "PATH=VALUES", required = true)]
    pub(crate) vary: Vec<String>,
    /// Scenarios by name or path, or recorded sessions
    #[arg(long = "scenario", visible_alias = "scenarios", value_name = "S", num_args = 1..)]
    pub(crate) scenarios: Vec<String>,
    /// Model profiles by name or path
    #[arg(long = "profile", visible_alias = "profiles", value_name = "M", num_args = 1..)]
    pub(crate) profiles: Vec<String>,
    /// Suite that supplies the scenarios and profiles that you omit [default: default]
    #[arg(long, value_name = "S")]
    pub(crate) suite: Option<String>,
    /// Override a field at every point
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
}

impl GridArgs {
    /// Returns the arguments with the sessions behind `--profile` among the paths.
    pub(crate) fn sorted(mut self, catalog: &Catalog) -> Result<Self, Error> {
        let profiles = std::mem::take(&mut self.profiles);
        self.profiles = without_sessions(catalog, ("--profile", Kind::Profile), &profiles, &mut self.paths)?;
        Ok(self)
    }

    /// Returns the comparison: the base, then the varied policy.
    pub(crate) fn comparison(&self) -> Comparison {
        self.process.of(Comparison {
            suite: self.suite.clone(),
            policies: vec![self.base.clone(), self.policy.clone()],
            scenarios: self.paths.iter().chain(&self.scenarios).cloned().collect(),
            profiles: self.profiles.clone(),
            seed: self.draw.seed,
            trials: self.draw.trials,
            set: self.set.clone(),
            ..Comparison::default()
        })
    }

    /// Marks the files that it names as inputs, before they are read.
    pub(crate) fn note(&self, catalog: &Catalog) {
        output::note(catalog, Kind::Policy, [&self.policy, &self.base]);
        output::note(catalog, Kind::Scenario, self.paths.iter().chain(&self.scenarios));
        output::note(catalog, Kind::Profile, &self.profiles);
    }

    /// Returns the grid; a path that begins with the policy's name applies to that policy.
    pub(crate) fn grid(&self) -> Result<Grid, Error> {
        Ok(Grid::parse(&self.vary).map_err(|mut problems| {
            problems.iter_mut().for_each(|it| "--vary".clone_into(&mut it.place.file));
            problems
        })?)
    }

    /// Returns a description of the grid that two machines share.
    pub(crate) fn head(&self, grid: &Grid, objectives: &[Objective]) -> SweepHead {
        let seed = self.draw.seed.map(|it| format!("seed {it}"));
        let trials = self.draw.trials.map(|it| format!("{it} trials"));
        let suite = self.suite.as_ref().map(|it| format!("suite {it}"));
        SweepHead {
            base: self.base.clone(),
            policy: self.policy.clone(),
            scenarios: self.paths.iter().chain(&self.scenarios).cloned().collect(),
            profiles: self.profiles.clone(),
            set: self.set.iter().cloned().chain(suite).chain(seed).chain(trials).collect(),
            vary: grid.axes.iter().map(|it| (it.path.clone(), it.values.clone())).collect(),
            objectives: objectives.to_vec(),
            points: grid.len(),
        }
    }
}

/// How a sweep is shown.
#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = FORMATS.parser())]
    format: Option<FormatArg>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    wide: WidthArgs,
    /// Show every point on the front
    #[arg(long)]
    details: bool,
}

/// The arguments of `merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of parts (or such files) written by `run`, `tune` or `memory` with `--parts`, or files written by `ctxsim sweep --shard`
    #[arg(value_name = "PATH", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    shown: ShownArgs,
}

/// An objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectiveArg {
    /// Low cost
    Cost,
    /// A large share of the needed evidence kept
    Evidence,
    /// Much remembered: facts found, mean score or right answers
    Retention,
    /// A low maximum prompt length
    Prompt,
    /// Few recovery calls
    Recovery,
}

impl From<ObjectiveArg> for Objective {
    fn from(it: ObjectiveArg) -> Self {
        match it {
            ObjectiveArg::Cost => Self::Cost,
            ObjectiveArg::Evidence => Self::Evidence,
            ObjectiveArg::Retention => Self::Retention,
            ObjectiveArg::Prompt => Self::Prompt,
            ObjectiveArg::Recovery => Self::Recovery,
        }
    }
}

/// Parses a shard, `I/N`.
pub(crate) fn shard(text: &str) -> Result<[usize; 2], String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
    let is_part = |[i, n]: &[usize; 2]| (1..=*n).contains(i);
    parts.filter(is_part).ok_or_else(|| "write the part and the number of parts, as in `3/16`".to_owned())
}

/// Runs a sweep, or a part of it, and writes it.
pub(crate) fn sweep(catalog: &Catalog, args: &SweepArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.shown.format, &args.shown.output)?;
    let what = args.what.clone().sorted(catalog)?;
    let grid = what.grid()?;
    let comparison = what.comparison();
    let catalog = git::with_revisions(catalog, &comparison.policies, comparison.allow_process)?;
    what.note(&catalog);
    args.shown.output.check(catalog.files())?;
    args.shown.page.check(catalog.files(), args.shown.output.force())?;
    let objectives: Vec<Objective> = args.objectives.iter().map(|it| (*it).into()).collect();
    let head = what.head(&grid, &objectives);
    let [part, of] = args.shard.unwrap_or([1, 1]);
    // Neighbours differ little, so every machine gets a share of each region.
    let indices: Vec<usize> = (part - 1..grid.len()).step_by(of).collect();
    let threads = what.draw.threads();
    let points = with_progress(|it| compare::sweep(&catalog, &comparison, &grid, &indices, threads, it))?;
    match args.shard {
        Some(shard) => {
            let text = json::shard(shard, head, points).map_err(unwritable)?;
            args.shown.output.put(catalog.files(), FormatArg::JSON, &text)
        }
        None => show(&Sweep::new(head, points), format, &args.shown, catalog.files()),
    }
}

/// Merges shards and writes what a single machine would have written.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.shown.format, &args.shown.output)?;
    let inputs = Files::default();
    args.files.iter().for_each(|it| inputs.note(it));
    let ShownArgs { output, page, wide, .. } = &args.shown;
    let schema = parts::schema(&args.files)?;
    if schema.as_deref() == Some(Head::SCHEMA) {
        let put = TotalsArgs { output, page, wide: *wide, format };
        put.check(&inputs)?;
        return put.put(&parts::merged(&args.files, |order, read| fold(order, read))?, &inputs);
    }
    output.check(&inputs)?;
    page.check(&inputs, output.force())?;
    if schema.as_deref() == Some(TuneHead::SCHEMA) {
        let found = parts::merged(&args.files, |order, read| tune::fold(order, read))?;
        return tuned(&found.tuned, format, &args.shown, &inputs);
    }
    if schema.as_deref() == Some(HistoryHead::SCHEMA) {
        let put = TotalsArgs { output, page, wide: *wide, format };
        return memory::merge(&args.files, &put, &inputs);
    }
    let read = |path: &PathBuf| Ok((path.display().to_string(), read_text(path)?));
    let files: Vec<(String, String)> = args.files.iter().map(read).collect::<Result<_, Error>>()?;
    show(&json::merged(&files)?, format, &args.shown, &inputs)
}

/// Writes what a search came to.
fn tuned(tuned: &Tuned, format: FormatArg, shown: &ShownArgs, inputs: &Files) -> Result<(), Error> {
    let page = || report::tune::page::page(tuned);
    let text = match format {
        FormatArg::JSON => serde_json::to_string_pretty(tuned).map_err(unwritable)? + "\n",
        FormatArg::HTML => page().map_err(unwritable)?,
        FormatArg::TABLE => {
            let width = Some(table_width(shown.wide, &shown.output));
            report::tune::table::tuned(tuned, shown.details, width)
        }
        _ => {
            let problem =
                Diagnostic::at(Code::Usage, "", "a search is written as a table, as JSON or as a page");
            return Err(vec![problem.help("use `--format table`, `--format json` or `--format html`")].into());
        }
    };
    shown.page.put(inputs, shown.output.force(), page)?;
    shown.output.put(inputs, format, &text)
}

/// Writes a whole sweep.
fn show(sweep: &Sweep, format: FormatArg, shown: &ShownArgs, inputs: &Files) -> Result<(), Error> {
    let text = match format {
        FormatArg::JSON => json::document(sweep).map_err(unwritable)?,
        FormatArg::SVG => match sweep.figure() {
            Some(figure) => figure.document().map_err(unwritable)?,
            None => {
                let problem =
                    Diagnostic::at(Code::ChartMissing, "", "cost and evidence are unknown at these points");
                return Err(vec![problem.help("name scenarios that declare evidence needs")].into());
            }
        },
        FormatArg::HTML => page::page(sweep).map_err(unwritable)?,
        _ => table::sweep(sweep, shown.details, Some(table_width(shown.wide, &shown.output))),
    };
    shown.page.put(inputs, shown.output.force(), || page::page(sweep))?;
    shown.output.put(inputs, format, &text)
}
