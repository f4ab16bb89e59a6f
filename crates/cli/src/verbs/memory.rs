//! `ctxsim import --memory`: what the sessions of a project fetch again, and what a memory would be worth to them.

use std::path::PathBuf;

use clap::Args;
use ctxsim_app::catalog::{Catalog, Files, Kind};
use ctxsim_app::parts::histories::fold_histories;
use ctxsim_base::error::Error;
use ctxsim_base::list::Listed as _;
use ctxsim_input::scenario::{HistoryLoad, HistorySource, HistoryUnit, LoadSpec};
use ctxsim_input::text::decode::encode;
use ctxsim_input::{Format, ScenarioFile};

use crate::args::{EvidenceArgs, RowsArg, RunArgs, said};
use crate::git::RevArgs;
use crate::output;
use crate::shown::PagedArgs;
use crate::verbs::parts::{self, PartJob, PartsArgs};
use crate::verbs::run::{self, ReportView, TotalsView, written};
use crate::what::{PlayedUnder, PoliciesArgs, SelectArgs, SuiteArgs, What};
use ctxsim_report::html::{self, Traces};
use ctxsim_report::sections::Detail;
use ctxsim_report::verdict::MIN_EVIDENCE;

pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim import --memory ~/.claude/projects                      what is fetched again, per project and in all, and what each memory would make of it
  ctxsim import --memory sessions --by user                      one memory for all projects of a user
  ctxsim import --memory sessions --policy histories/none --policy my/memory.ron
  ctxsim import --memory sessions --set history.use.trusts_note=0.6
  ctxsim import --memory sessions --rows probes                  one row per fetch: what it is, what it found, what it cost
  ctxsim import --memory sessions --shard 3/16 --parts parts     one share of the projects, on any machine; `ctxsim run --merge parts` says what all come to
  ctxsim import --memory sessions --scenario --output h.ron      write the scenario, for `run`, `sweep`, `tune` and `check`";

/// The name of the scenario of the sessions that are named.
const NAME: &str = "history";

/// The arguments of `import --memory`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", run::offered("`memory`")),
    mut_arg("policies", said("Policies with `memory: sources(…)`, by name, path or pattern [default: all of histories/]")),
    mut_arg("profiles", said("Model profiles by name, path or pattern [default: that of the model that answered most of a project]")),
    mut_arg("set", said("Override a field, as in `POLICY.memory.sources.store.file.tokens=4000`")),
    mut_arg("parts", |it| {
        let help = "Write one part per project (or user) to this folder, for `ctxsim run --merge`; parts that are there already are not made again";
        it.help(help).conflicts_with_all(["rows", "format", "output", "html", "scenario"])
    }),
    mut_arg("shard", said("Run one share of the projects, as in `3/16`"))
)]
pub(crate) struct MemoryArgs {
    /// Recorded sessions: files, folders or patterns
    #[arg(value_name = "SESSIONS", required = true)]
    sessions: Vec<String>,
    /// Which sessions share a memory
    #[arg(long, value_enum, default_value_t)]
    by: UnitArg,
    #[command(flatten)]
    policies: PoliciesArgs,
    #[command(flatten)]
    under: PlayedUnder,
    /// One row per project, policy and profile, or one per fetch
    #[arg(long, value_enum, default_value_t)]
    rows: MemoryRowsArg,
    #[command(flatten)]
    shown: PagedArgs,
    /// Print the scenario of these sessions, and run nothing
    #[arg(long)]
    scenario: bool,
    #[command(flatten)]
    parts: PartsArgs,
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
pub(super) fn memory(catalog: &Catalog, args: &MemoryArgs) -> Result<bool, Error> {
    output::note(catalog, Kind::Scenario, &args.sessions);
    let by = match args.by {
        UnitArg::Project => HistoryUnit::Project,
        UnitArg::User => HistoryUnit::User,
    };
    let from = HistorySource::Recorded(args.sessions.clone());
    let load = LoadSpec::History(Box::new(HistoryLoad { by, numbers: indexmap::IndexMap::new(), from }));
    let about = "Recorded sessions in the order of time.".to_owned();
    // A file is called what it is named.
    let file =
        args.shown.shown.output.file().filter(|_| args.scenario).and_then(|it| it.file_stem()?.to_str());
    let name = file.unwrap_or(NAME);
    let scenario = ScenarioFile { about, load, ..ScenarioFile::named(name) };
    if args.scenario {
        // A scenario of sessions that are not there is of no use.
        for name in &args.sessions {
            for found in catalog.search(name)?.found {
                catalog.scenario(&found.name)?;
            }
        }
        let text = encode(&scenario, Format::Ron).map_err(|it| vec![*it])?;
        return args.shown.shown.output.put_source(catalog.files(), &text).map(|()| true);
    }
    let mut catalog = catalog.clone();
    catalog.hold(Kind::Scenario, NAME, scenario, None);
    let mut policies = args.policies.clone();
    if policies.policies.is_empty() {
        policies.policies = vec!["histories/none".to_owned(), "histories/*".to_owned()];
    }
    let run = RunArgs {
        policies,
        what: What { scenarios: vec![NAME.to_owned()], under: args.under.clone(), ..What::default() },
        suite: SuiteArgs::default(),
        rev: RevArgs::default(),
        select: SelectArgs::default(),
        evidence: EvidenceArgs { min_evidence: MIN_EVIDENCE },
        rows: if args.rows == MemoryRowsArg::Probes { RowsArg::Probes } else { RowsArg::Runs },
        shown: args.shown.clone(),
        columns: None,
        chart: None,
        details: false,
        totals: false,
        parts: PartsArgs::default(),
    };
    let Some(folder) = args.parts.folder() else { return run::run(&catalog, &run) };
    let (_catalog, plan) = run::planned(&catalog, &run)?;
    let threads = run.what.threads();
    let histories = plan.histories(threads)?;
    let names = histories.names();
    let names: Vec<&str> = names.iter().map(String::as_str).listed();
    let (digest, head) = (histories.job(MIN_EVIDENCE), histories.head(MIN_EVIDENCE));
    let job = PartJob { digest: &digest, head: &head, names: &names, threads };
    args.parts.make(folder, &job, |told, making| histories.parts(told, making))?;
    Ok(true)
}

/// Writes what parts in folders and files come to, as one process would have written it.
pub(super) fn merge(paths: &[PathBuf], put: &TotalsView<'_>, inputs: &Files) -> Result<(), Error> {
    let report = parts::merged(paths, |order, read| fold_histories(order, read))?;
    // Runs that were folded have no requests.
    let traces = Traces::default();
    let detail = Detail::Groups;
    let shown = ReportView { on: put.to.shown.terminal(), detail, chart: None };
    let text = written(&report, &traces, &shown, put.format)?;
    put.to.put(inputs, put.format, text, || html::report(&report, detail, &traces))
}
