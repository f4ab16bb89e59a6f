//! `ctxsim memory`: what the sessions of a project fetch again, and what a memory would be worth to them.

use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Files, Kind};
use crate::compare::never_stops;
use crate::compare::parts::histories::whole;
use crate::compare::parts::{Making, Shard};
use crate::error::Error;
use crate::input::scenario::{HistoryLoad, HistorySource, HistoryUnit, Load};
use crate::input::text::decode::encode;
use crate::input::{Format, ScenarioFile};
use clap::Args;

use crate::cli::args::{DrawArgs, ProcessArgs, RowsArg, RunArgs, SelectArgs, WidthArgs};
use crate::cli::format::{FormatArg, Formats};
use crate::cli::output::{self, OutputArgs, PageArgs, Remark};
use crate::cli::verbs::parts::{self, Store};
use crate::cli::verbs::run::{self, Shown, TotalsArgs, with_progress, written};
use crate::cli::verbs::sweep::shard;
use crate::report::html;
use crate::report::part::{HistoryHead, HistoryPart};
use crate::report::sections::Detail;
use crate::report::tracer::Tracer;
use crate::report::verdict::MIN_EVIDENCE;

pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim memory ~/.claude/projects                      what is fetched again, per project and in all, and what each memory would make of it
  ctxsim memory sessions --by user                      one memory for all projects of a user
  ctxsim memory sessions --policy histories/none --policy my/memory.ron
  ctxsim memory sessions --set history.use.trusts_note=0.6
  ctxsim memory sessions --rows probes                  one row per fetch: what it is, what it found, what it cost
  ctxsim memory sessions --shard 3/16 --parts parts     one share of the projects, on any machine; `ctxsim merge parts` says what all come to
  ctxsim memory sessions --scenario --output h.ron      write the scenario, for `run`, `sweep`, `tune` and `check`";

/// The name of the scenario of the sessions that are named.
const NAME: &str = "history";

/// The arguments of `memory`.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Recorded sessions: files, folders or patterns
    #[arg(value_name = "SESSIONS", required = true)]
    sessions: Vec<String>,
    /// Which sessions share a memory
    #[arg(long, value_enum, default_value_t)]
    by: UnitArg,
    /// Policies with `memory: sources(…)`, by name, path or pattern [default: all of histories/]
    #[arg(long = "policy", visible_alias = "policies", value_name = "P", num_args = 1..)]
    policies: Vec<String>,
    /// Model profiles by name, path or pattern [default: that of the model that answered most of a project]
    #[arg(long = "profile", visible_alias = "profiles", value_name = "M", num_args = 1..)]
    profiles: Vec<String>,
    /// Override a field, as in `POLICY.memory.sources.store.file.tokens=4000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// One row per project, policy and profile, or one per fetch
    #[arg(long, value_enum, default_value_t)]
    rows: MemoryRowsArg,
    #[command(flatten)]
    draw: DrawArgs,
    /// Output format [default: by the output's extension, else table or jsonl]
    #[arg(long, value_parser = Formats { of: "`memory`", known: &run::formats() }.parser())]
    format: Option<FormatArg>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    wide: WidthArgs,
    /// Print the scenario of these sessions, and run nothing
    #[arg(long)]
    scenario: bool,
    /// Write one part per project (or user) to this folder, for `ctxsim merge`; parts that are there already are not made again
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rows", "format", "output", "html", "scenario"])]
    parts: Option<PathBuf>,
    /// Run one share of the projects, as in `3/16`
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "parts")]
    shard: Option<[usize; 2]>,
}

/// Which sessions share a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum UnitArg {
    /// Those of a project, with its worktrees
    #[default]
    Project,
    /// Those of a user
    User,
}

/// The granularity of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum MemoryRowsArg {
    /// One policy on one project under one profile
    #[default]
    Runs,
    /// One fetch, and what it found
    Probes,
}

/// Tells what is fetched again, and what memories would make of it; returns whether every run came to a result.
pub(crate) fn memory(catalog: &Catalog, args: &MemoryArgs) -> Result<bool, Error> {
    output::note(catalog, Kind::Scenario, &args.sessions);
    let by = match args.by {
        UnitArg::Project => HistoryUnit::Project,
        UnitArg::User => HistoryUnit::User,
    };
    let from = HistorySource::Recorded(args.sessions.clone());
    let load = Load::History(Box::new(HistoryLoad { by, numbers: indexmap::IndexMap::new(), from }));
    let about = "Recorded sessions in the order of time.".to_owned();
    // A file is called what it is named.
    let file = args.output.file().filter(|_| args.scenario).and_then(|it| it.file_stem()?.to_str());
    let name = file.unwrap_or(NAME);
    let scenario = ScenarioFile { about, load, ..ScenarioFile::named(name) };
    if args.scenario {
        let text = encode(&scenario, Format::Ron).map_err(|it| vec![*it])?;
        return args.output.put_as(catalog.files(), Remark::None, &text).map(|()| true);
    }
    let mut catalog = catalog.clone();
    catalog.hold(Kind::Scenario, NAME, scenario, None);
    let all = || vec!["histories/none".to_owned(), "histories/*".to_owned()];
    let run = RunArgs {
        paths: Vec::new(),
        suite: None,
        policies: if args.policies.is_empty() { all() } else { args.policies.clone() },
        scenarios: vec![NAME.to_owned()],
        profiles: args.profiles.clone(),
        select: SelectArgs::default(),
        draw: args.draw.clone(),
        process: ProcessArgs::default(),
        set: args.set.clone(),
        min_evidence: MIN_EVIDENCE,
        rows: if args.rows == MemoryRowsArg::Probes { RowsArg::Probes } else { RowsArg::Runs },
        format: args.format,
        output: args.output.clone(),
        page: args.page.clone(),
        wide: args.wide,
        columns: None,
        chart: None,
        details: false,
        totals: false,
        parts: None,
        shard: None,
    };
    let Some(folder) = &args.parts else { return run::run(&catalog, &run) };
    let [part, of] = args.shard.unwrap_or([1, 1]);
    output::print(made(&catalog, &run, folder, Shard { part, of })?)?;
    Ok(true)
}

/// Makes the parts of a share that are not in a folder yet; returns what was done, in a sentence.
fn made(catalog: &Catalog, run: &RunArgs, folder: &Path, shard: Shard) -> Result<String, Error> {
    let (_catalog, plan) = run::planned(catalog, run)?;
    let threads = run.draw.threads();
    let histories = plan.histories(threads)?;
    let names = histories.names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (job, head) = (histories.job(MIN_EVIDENCE), histories.head(MIN_EVIDENCE));
    let store = Store::open::<HistoryHead>(folder, &job, &names, shard)?;
    let (has, take) = (|it| store.has(it), |part: HistoryPart| store.put(&part));
    let making = Making { threads, job: &job, head: &head, shard, has: &has, take: &take };
    with_progress(|progress| histories.parts(&never_stops(progress), &making))?;
    Ok(store.done())
}

/// Writes what parts in folders and files come to, as one process would have written it.
pub(crate) fn merge(paths: &[PathBuf], put: &TotalsArgs<'_>, inputs: &Files) -> Result<(), Error> {
    let report = parts::merged(paths, |order, read| whole(order, read))?;
    let traces = Tracer::of_none(report.runs.len());
    let detail = Detail::Groups;
    put.page.put(inputs, put.output.force(), || html::report(&report, detail, &traces))?;
    let shown = Shown { output: put.output, wide: put.wide, detail, chart: None };
    put.output.put(inputs, put.format, written(&report, &traces, &shown, put.format)?)
}
