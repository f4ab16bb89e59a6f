//! The verbs of the command line.

use clap::{Parser, Subcommand};

use crate::args::{
    CompletionsArgs, ConvertArgs, ListArgs, ManArgs, RunArgs, SchemaArgs, ShowArgs, ValidateArgs,
};
use crate::check::{self, CheckArgs};
use crate::compare::{self, CompareArgs};
use crate::explain::ExplainArgs;
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
  ctxsim ~/.claude/projects                       every recorded session below a folder, and what each policy would change
  ctxsim list policies                            what there is to compare
  ctxsim show policy A --merged                   a policy's file, with what it takes from its bases
  ctxsim run --policy A --policy B --scenario S   two policies on one scenario; a name or a path
  ctxsim run --scenario session.jsonl             a recorded session as it is
  ctxsim run --set '*.params.threshold.ratio=0.7' one number changed, of all policies that have it
  ctxsim run --rows requests --policy A           every request of a run, one JSON object a line
  ctxsim run --format json --output report.json   every field
  ctxsim explain --policy A --scenario S --request 12   why that prompt looks so, and what it cost
  ctxsim import session.jsonl                     what a recording holds, and what of it is left out
  ctxsim run --suite S --output report.html       a page with charts and tables
  ctxsim store write --policy P --scenario S --output DIR   what a memory holds at the end, as JSON files
  ctxsim import --report session.jsonl            how well the session's bill is predicted
  ctxsim validate my/policies                     every problem of every file
  ctxsim convert my.ron --to toml                 the same input in the other format
  ctxsim schema policy                            what may stand in a policy, for editors

Exit codes: 0 fine, 1 a guard failed or a number moved, 2 bad input or usage, or nothing to run or list.";

/// Shows what a context policy does to prompts, prompt cache, recovery and cost, before it ships.
///
/// Offline and deterministic: it makes no network call and runs no model.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, override_usage = "ctxsim [COMMAND]\n       ctxsim [PATH]... [OPTIONS of run]")]
pub(crate) struct Cli {
    /// `run`, when left out.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare policies on scenarios under model profiles
    #[command(after_help = EXAMPLES)]
    Run(RunArgs),
    /// Show what changes from one policy to another, and why
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Hold suites against their guards and snapshots
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArgs),
    /// Run a grid of variants of a policy and show which no other beats
    #[command(after_help = sweep::EXAMPLES)]
    Sweep(SweepArgs),
    /// Put the shards of a sweep together
    Merge(MergeArgs),
    /// Find the cheapest parameters under a floor of evidence, held against sessions that they were not chosen on
    #[command(after_help = tune::EXAMPLES)]
    Tune(TuneArgs),
    /// Write the files that a repository begins with
    Init(InitArgs),
    /// Compare policies across price lists: cost, order, break-even points, elasticities
    #[command(after_help = sensitivity::EXAMPLES)]
    Sensitivity(SensitivityArgs),
    /// Say of one request how each item is shown and why, where the prefix broke, and what the cache did
    Explain(ExplainArgs),
    /// Show what recorded sessions hold and what of them is left out, or how well their bill is predicted
    Import(ImportArgs),
    /// Name the policies, scenarios, profiles and suites there are
    List(ListArgs),
    /// Print a policy, scenario, profile or suite as its file has it
    Show(ShowArgs),
    /// Report every problem of input files; the whole catalog, when none is named
    Validate(ValidateArgs),
    /// Print an input file in the other format; its comments are lost
    Convert(ConvertArgs),
    /// Make profiles of price lists, or show where lists disagree
    Prices(PricesArgs),
    /// Print the JSON Schema of a kind of input file, which editors check and complete by
    Schema(SchemaArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
    /// Write what a memory holds after a conversation to a folder, or read it back
    Store(StoreArgs),
    /// Write a completion script for a shell
    Completions(CompletionsArgs),
}
