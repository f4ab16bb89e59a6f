//! `ctxsim compare`: what changes from one policy to another, and why.

use std::path::PathBuf;

use clap::Args;
use ctxsim::catalog::{Catalog, Kind, Origin};
use ctxsim::compare::{Comparison, Plan};
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::report::contrast::{json, markdown, table};

use crate::args::{DrawArgs, FormatArg, ProcessArgs, SelectArgs};
use crate::format::Formats;
use crate::run::{table_width, unwritable, with_progress};
use crate::{git, output};

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  ctxsim compare --base identity --candidate clear_tool_results --scenario duckagent/long_run
  ctxsim compare --base rev:main --candidate policies/mine.ron ~/.claude/projects   your branch against main
  ctxsim compare --base rev:main                    every policy of yours that differs from main
  ctxsim compare --base A --candidate B --scenario S --set scenario.recovery=sampled --trials 200
  ctxsim compare --base A --candidate B --format github >> \"$GITHUB_STEP_SUMMARY\"

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The available output formats.
const FORMATS: Formats<'_> = Formats {
    of: "`compare`",
    known: &[FormatArg::Table, FormatArg::Json, FormatArg::Markdown, FormatArg::Github],
};

/// The arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Recorded sessions (files, folders or patterns), or scenarios by name or path
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Base policy by name or path, or `rev:REVISION` for the candidate as of that git revision
    #[arg(long, value_name = "P")]
    base: String,
    /// Candidate policies by name or path [default: your policies that differ from `rev:…`]
    #[arg(long = "candidate", value_name = "P", num_args = 1..)]
    candidates: Vec<String>,
    /// Scenarios by name or path, or recorded sessions
    #[arg(long = "scenario", visible_alias = "scenarios", value_name = "S", num_args = 1..)]
    scenarios: Vec<String>,
    /// Model profiles by name or path
    #[arg(long = "profile", visible_alias = "profiles", value_name = "M", num_args = 1..)]
    profiles: Vec<String>,
    /// Suite that supplies the scenarios and profiles that you omit [default: default]
    #[arg(long, value_name = "S")]
    suite: Option<String>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    draw: DrawArgs,
    #[command(flatten)]
    process: ProcessArgs,
    /// Override a field for this run
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = FORMATS.parser())]
    format: Option<FormatArg>,
    /// Write to a file atomically; `-` is standard output
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Compares and writes.
pub(crate) fn compare(catalog: &Catalog, args: &CompareArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.format, args.output.as_deref())?;
    let pairs = pairs(catalog, args)?;
    let catalog = git::with_revisions(catalog, pairs.iter().flatten())?;
    let pairs = changed(&catalog, pairs)?;
    let mut names: Vec<String> = Vec::new();
    let mut place = |name: &String| {
        let known = names.iter().position(|it| it == name);
        known.unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        })
    };
    let places: Vec<[usize; 2]> = pairs.iter().map(|it| it.each_ref().map(&mut place)).collect();
    if pairs.is_empty() {
        let same = "The candidate is the same as the base: nothing changes.\n";
        return output::put(args.output.as_deref(), same);
    }
    let comparison = Comparison {
        suite: args.suite.clone(),
        policies: names,
        scenarios: args.paths.iter().chain(&args.scenarios).cloned().collect(),
        profiles: args.profiles.clone(),
        seed: args.draw.seed,
        trials: args.draw.trials,
        set: args.set.clone(),
        ..Comparison::default()
    };
    let plan = Plan::new(&catalog, &args.process.of(args.select.of(comparison)))?;
    let contrasts = with_progress(|it| plan.contrasts(&places, args.draw.threads(), it))?;
    let text = match format {
        FormatArg::Json => json::document(&contrasts).map_err(unwritable)?,
        FormatArg::Markdown => markdown::review(&contrasts),
        FormatArg::Github => markdown::summary(&contrasts),
        _ => table::comparisons(&contrasts, Some(table_width(args.output.as_deref()))),
    };
    output::put(args.output.as_deref(), &text)
}

/// Returns base and candidate names; if only a revision is named, every policy file of the user.
fn pairs(catalog: &Catalog, args: &CompareArgs) -> Result<Vec<[String; 2]>, Error> {
    let mut candidates = args.candidates.clone();
    if candidates.is_empty() {
        if !args.base.starts_with(git::MARK) {
            let problem = Diagnostic::at("usage", "", "`--candidate` is missing");
            return Err(vec![problem.help("name the policy to compare with the base")].into());
        }
        let is_own = |it: &&str| matches!(catalog.find(Kind::Policy, it), Ok(Origin::File(_)));
        candidates = catalog.names(Kind::Policy).filter(is_own).map(str::to_owned).collect();
        // A program is on disk, and not in a revision: what it did there cannot be played.
        candidates.retain(|name| {
            let is_process = catalog.policy(name).is_ok_and(|it| it.spec.process.is_some());
            if is_process {
                anstream::eprintln!("left out {name}: a program has no revisions that could be compared");
            }
            !is_process
        });
        if candidates.is_empty() {
            let problem = Diagnostic::at("usage", "", "your folders contain no policies");
            let help = "name one with `--candidate`, or list your folders in `ctxsim.toml`";
            return Err(vec![problem.help(help)].into());
        }
    }
    Ok(candidates.into_iter().map(|it| [git::named(&args.base, &it), it]).collect())
}

/// Returns the pairs whose policies differ in more than their name.
fn changed(catalog: &Catalog, pairs: Vec<[String; 2]>) -> Result<Vec<[String; 2]>, Error> {
    let mut read = catalog.policies();
    let mut kept = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let [base, candidate] = [read.policy(&pair[0])?.spec, read.policy(&pair[1])?.spec];
        if base != candidate {
            kept.push(pair);
        }
    }
    Ok(kept)
}
