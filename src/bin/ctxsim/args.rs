//! The verbs of the command line, and the arguments that several share; those of one long verb stand beside it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::explain::ExplainArgs;
use crate::import::ImportArgs;
use crate::prices::PricesArgs;
use crate::sensitivity::{self, SensitivityArgs};
use crate::store::StoreArgs;

const EXAMPLES: &str = "\
Examples:
  ctxsim                                          the default suite as tables
  ctxsim list policies                            what there is to compare
  ctxsim run --policy A --policy B --scenario S   two policies on one scenario; a name or a path
  ctxsim run --scenario session.jsonl             a recorded session as it is
  ctxsim run --set params.threshold.ratio=0.7     one number changed for this run
  ctxsim run --rows requests --policy A           every request of a run, one JSON object a line
  ctxsim run --format json --output report.json   every field
  ctxsim explain --policy A --scenario S --request 12   why that prompt looks so, and what it cost
  ctxsim import session.jsonl                     what a recording holds, and what of it is left out
  ctxsim run --suite S --output report.html       a page with charts beside the tables
  ctxsim store write --policy P --scenario S --output DIR   what a memory holds at the end, as JSON files
  ctxsim import --report session.jsonl            how well the session's bill is predicted
  ctxsim validate my/policies                     every problem of every file
  ctxsim convert my.ron --to toml                 the same input in the other format
  ctxsim schema policy                            what may stand in a policy, for editors

Exit codes: 0 fine, 1 a guard failed, 2 bad input or usage.";

/// Shows what a context policy does to prompts, prompt cache, recovery and cost, before it ships.
///
/// Offline and deterministic: it makes no network call and runs no model.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Runs the default suite, when left out.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare policies on scenarios under model profiles
    #[command(after_help = EXAMPLES)]
    Run(RunArgs),
    /// Compare policies across price lists: cost, order, break-even points, elasticities
    #[command(after_help = sensitivity::EXAMPLES)]
    Sensitivity(SensitivityArgs),
    /// Say of one request how each item is shown and why, where the prefix broke, and what the cache did
    Explain(ExplainArgs),
    /// Show what recorded sessions hold and what of them is left out, or how well their bill is predicted
    Import(ImportArgs),
    /// Name the policies, scenarios, profiles and suites there are
    List(ListArgs),
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

impl Default for Command {
    fn default() -> Self {
        Self::Run(RunArgs::default())
    }
}

/// The arguments of `run`.
#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// A suite, which gives what the other options leave out [default: default]
    #[arg(long, value_name = "S")]
    pub(crate) suite: Option<String>,
    /// A policy, by name or path; differences are against the first
    #[arg(long = "policy", value_name = "P")]
    pub(crate) policies: Vec<String>,
    /// A scenario by name or path, or a recorded session
    #[arg(long = "scenario", value_name = "S")]
    pub(crate) scenarios: Vec<String>,
    /// A model profile, by name or path
    #[arg(long = "profile", value_name = "M")]
    pub(crate) profiles: Vec<String>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    /// Override a field of the inputs for this run, as in `stages.history.until.prompt.at_most.ratio=0.3`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// What a row is
    #[arg(long, value_enum, default_value_t)]
    pub(crate) rows: RowsArg,
    /// How it is written [default: table, or what the output's extension says; jsonl for rows below runs]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArg>,
    /// Write to a file, all of it or nothing
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Show every scenario, and what is assumed
    #[arg(long)]
    pub(crate) details: bool,
}

/// What is drawn, and by how many threads.
#[derive(Debug, Default, Args)]
pub(crate) struct DrawArgs {
    /// The seed of every draw [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many conversations of each length, where a scenario draws them [default: the scenario's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// How many threads; the result is the same with any number [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl DrawArgs {
    /// Returns how many threads are asked for.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// What a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowsArg {
    /// A policy on a scenario under a profile
    #[default]
    Runs,
    /// A model request
    Requests,
    /// Something later that needs something earlier
    Needs,
    /// A conversation with what was kept of its facts
    Trials,
    /// A question about one fact of a conversation, with what became of the fact
    Probes,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Tables for people
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values
    Csv,
    /// Markdown tables
    Markdown,
    /// A page with tables, and charts where facts are planted
    Html,
}

/// How one document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormatArg {
    /// Tables for people
    Table,
    /// One JSON document
    Json,
}

/// The arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only one kind
    #[arg(value_enum)]
    pub(crate) kind: Option<KindArg>,
    /// Only those whose name or sentence has this in it, in any case
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) filter: String,
}

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// What turns history into prompts
    Policies,
    /// What agents do
    Scenarios,
    /// Models with limits, cache rules and prices
    Profiles,
    /// Named comparisons
    Suites,
}

/// The arguments of `validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Files, or folders of files
    #[arg(value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
}

/// The arguments of `convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A policy, a scenario, a profile or a suite
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// The format to write
    #[arg(long, value_enum)]
    pub(crate) to: InputFormatArg,
    /// Write to a file, all of it or nothing
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// A format of input files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormatArg {
    /// Rusty Object Notation
    Ron,
    /// TOML
    Toml,
}

/// The arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which kind of file
    #[arg(value_enum, required_unless_present = "output")]
    pub(crate) kind: Option<SchemaArg>,
    /// Write KIND.json into a folder; of every kind, when none is named
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaArg {
    /// What turns history into prompts
    Policy,
    /// What agents do
    Scenario,
    /// A model with limits, cache rules and prices
    Profile,
    /// A named comparison
    Suite,
}

/// The arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write ctxsim.1 and a page for each command into a folder
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// The arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
