//! The verbs of the command line.

use clap::{Parser, Subcommand};

use crate::args::{
    CompletionsArgs, ConvertArgs, ListArgs, ManArgs, RunArgs, SchemaArgs, ShowArgs, ValidateArgs,
};
use crate::check::{self, CheckArgs};
use crate::compare::{self, CompareArgs};
use crate::explain::ExplainArgs;
use crate::fit::{self, FitArgs};
use crate::import::ImportArgs;
use crate::init::InitArgs;
use crate::prices::PricesArgs;
use crate::sensitivity::{self, SensitivityArgs};
use crate::store::StoreArgs;
use crate::sweep::{self, MergeArgs, SweepArgs};
use crate::tune::{self, TuneArgs};

const EXAMPLES: &str = "\
Examples:
  ctxsim                                          the default suite as tables
  ctxsim ~/.claude/projects                       your recorded sessions: what each policy would change
  ctxsim list policies                            every policy you can compare
  ctxsim show policy A --merged                   a policy's file, merged with its bases
  ctxsim run --policy A --policy B --scenario S   two policies on one scenario, by name or path
  ctxsim run --scenario session.jsonl             a recorded session
  ctxsim run --set '*.params.threshold.ratio=0.7' one parameter changed in every policy that has it
  ctxsim run --rows requests --policy A           every request, one JSON object per line
  ctxsim run --format json --output report.json   every field
  ctxsim run --suite S --output report.html       a page with charts and tables
  ctxsim explain --policy A --scenario S --request 12   why one prompt looks as it does, and what it cost
  ctxsim import session.jsonl                     what a recording contains, and what is left out
  ctxsim import --report session.jsonl            how well the session's bill is predicted
  ctxsim store write --policy P --scenario S --output DIR   a memory's final contents, as JSON files
  ctxsim validate my/policies                     every problem in every file
  ctxsim convert my.ron --to toml                 the same input in the other format
  ctxsim schema policy                            the JSON Schema of policies, for editors

Exit codes: 0 success; 1 a guard or a run failed, or a number changed; 2 bad input or usage, or nothing to run or list.";

/// Simulates what a context policy does to prompts, prompt caching, recovery and cost.
///
/// Offline and deterministic: it makes no network calls and runs no model.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, override_usage = "ctxsim [COMMAND]\n       ctxsim [PATH]... [OPTIONS of run]")]
pub(crate) struct Cli {
    /// `run`, when left out.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare policies on scenarios under model profiles
    #[command(after_help = EXAMPLES)]
    Run(RunArgs),
    /// Show what changes from one policy to another, and why
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Check suites against their guards and snapshots
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArgs),
    /// Run a grid of policy variants and show the Pareto front
    #[command(after_help = sweep::EXAMPLES)]
    Sweep(SweepArgs),
    /// Merge the shards of a sweep
    Merge(MergeArgs),
    /// Find the cheapest parameters that keep enough evidence, and validate them on held-out sessions
    #[command(after_help = tune::EXAMPLES)]
    Tune(TuneArgs),
    /// Fit the numbers of a memory to what your own agent answered
    #[command(after_help = fit::EXAMPLES)]
    Fit(FitArgs),
    /// Write starter files for a repository
    Init(InitArgs),
    /// Compare policies across price lists: cost, order, break-even points, elasticities
    #[command(after_help = sensitivity::EXAMPLES)]
    Sensitivity(SensitivityArgs),
    /// Explain one request: what was shown, where the cached prefix broke, what was billed
    Explain(ExplainArgs),
    /// Show what recorded sessions contain, or how well their bills are predicted
    Import(ImportArgs),
    /// List bundled policies, scenarios, profiles and suites
    List(ListArgs),
    /// Print the file of a policy, scenario, profile or suite
    Show(ShowArgs),
    /// Report every problem in input files
    Validate(ValidateArgs),
    /// Convert an input file between RON and TOML; comments are lost
    Convert(ConvertArgs),
    /// Import price lists as profiles, or show where lists disagree
    Prices(PricesArgs),
    /// Print the JSON Schema of an input file, for editors
    Schema(SchemaArgs),
    /// Print the manual page, or write one per command
    Man(ManArgs),
    /// Export a memory's contents after a conversation, or verify an export
    Store(StoreArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
}
