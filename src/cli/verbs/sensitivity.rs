//! `ctxsim sensitivity`: what a set of policies costs under many price lists.

use crate::catalog::{Catalog, Kind};
use crate::compare::{Comparison, Plan};
use crate::error::Error;
use crate::measure::sensitivity::Sort;
use crate::report::sensitivity::page::page;
use crate::report::sensitivity::{document, markdown, rows, table};
use clap::{Args, ValueEnum};

use crate::cli::args::{DrawArgs, ProcessArgs, WidthArgs, number};
use crate::cli::format::{FormatArg, Formats};
use crate::cli::output::{OutputArgs, PageArgs};
use crate::cli::verbs::run::{table_width, unwritable, with_progress};
use crate::cli::words::without_sessions;

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim sensitivity                                           six policies under the bundled providers' models
  ctxsim sensitivity --profiles 'openai/*' 'anthropic/*'       two providers
  ctxsim sensitivity ~/.claude/projects --policy A B           your own sessions under all of them
  ctxsim sensitivity --profiles imported/openai/*.toml         price lists written by `ctxsim prices import`
  ctxsim sensitivity --profiles all --sort cost --top 20       the twenty cheapest price lists
  ctxsim sensitivity --set break_even.prune_removes_tokens=30_000

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The available output formats.
const FORMATS: Formats<'_> = Formats {
    of: "`sensitivity`",
    known: &[FormatArg::TABLE, FormatArg::JSON, FormatArg::CSV, FormatArg::MARKDOWN, FormatArg::HTML],
};

/// The arguments of `sensitivity`.
#[derive(Debug, Args)]
pub(crate) struct SensitivityArgs {
    /// Recorded sessions (files, folders or patterns), or scenarios by name or path
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Suite that supplies whatever the other options omit [default: sensitivity]
    #[arg(long, value_name = "S")]
    pub(crate) suite: Option<String>,
    /// Policies by name, path or pattern
    #[arg(long = "policy", visible_alias = "policies", value_name = "P", num_args = 1..)]
    pub(crate) policies: Vec<String>,
    /// Scenarios by name, path or pattern, or recorded sessions
    #[arg(long = "scenario", visible_alias = "scenarios", value_name = "S", num_args = 1..)]
    pub(crate) scenarios: Vec<String>,
    /// Model profiles by name, path or pattern; `all` for every profile
    #[arg(long = "profile", visible_alias = "profiles", value_name = "M", num_args = 1..)]
    pub(crate) profiles: Vec<String>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Override a field, as in `break_even.prune_removes_tokens=30_000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Sort order of the price lists
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sort: SortArg,
    /// Show only the first N price lists
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::<u32>(1, u32::MAX.into()))]
    pub(crate) top: Option<u32>,
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = FORMATS.parser())]
    pub(crate) format: Option<FormatArg>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) wide: WidthArgs,
    /// Show every scenario and every policy's elasticities
    #[arg(long)]
    pub(crate) details: bool,
}

/// The sort order of the price lists.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum SortArg {
    /// As given
    Given,
    /// By name
    Name,
    /// By the cheapest policy's cost; free price lists last
    #[default]
    Cost,
}

impl From<SortArg> for Sort {
    fn from(sort: SortArg) -> Self {
        match sort {
            SortArg::Given => Self::Given,
            SortArg::Name => Self::Name,
            SortArg::Cost => Self::Cost,
        }
    }
}

/// The suite that supplies what the arguments omit.
const DEFAULT_SUITE: &str = "sensitivity";

/// Runs and writes.
pub(crate) fn sensitivity(catalog: &Catalog, args: &SensitivityArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.format, &args.output)?;
    let mut sessions: Vec<String> = args.paths.iter().chain(&args.scenarios).cloned().collect();
    let policies = without_sessions(catalog, ("--policy", Kind::Policy), &args.policies, &mut sessions)?;
    let profiles = without_sessions(catalog, ("--profile", Kind::Profile), &args.profiles, &mut sessions)?;
    let all = || catalog.names(Kind::Profile).map(str::to_owned).collect();
    let every = profiles.into_iter().flat_map(|it| if it == "all" { all() } else { vec![it] });
    let comparison = Comparison {
        suite: Some(args.suite.clone().unwrap_or_else(|| DEFAULT_SUITE.to_owned())),
        policies,
        scenarios: sessions,
        profiles: every.collect(),
        seed: args.draw.seed,
        trials: args.draw.trials,
        set: args.set.clone(),
        ..Comparison::default()
    };
    let plan = Plan::new(catalog, &args.process.of(comparison))?;
    args.output.check(catalog.files())?;
    args.page.check(catalog.files(), args.output.force())?;
    let found = with_progress(|it| plan.sensitivity(args.draw.threads(), it))?;
    let top = args.top.and_then(|it| usize::try_from(it).ok());
    let found = found.arranged(args.sort.into(), top);
    let text = match format {
        FormatArg::JSON => document(&found).map_err(unwritable)?.into(),
        FormatArg::MARKDOWN => markdown(&found, args.details).into(),
        FormatArg::HTML => page(&found).map_err(unwritable)?.into(),
        FormatArg::TABLE => table(&found, args.details, Some(table_width(args.wide, &args.output))).into(),
        of_rows => of_rows.write(|_| vec![rows(&found)])?,
    };
    args.page.put(catalog.files(), args.output.force(), || page(&found))?;
    args.output.put(catalog.files(), format, text)
}
