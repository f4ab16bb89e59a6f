//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  ctxsim                                          the default suite as tables
  ctxsim list policies                            what there is to compare
  ctxsim run --policy A --policy B --scenario S   two policies on one scenario; a name or a path
  ctxsim run --scenario session.jsonl             a recorded session as it is
  ctxsim run --set params.threshold.ratio=0.7     one number changed for this run
  ctxsim run --rows requests --policy A           every request of a run, one JSON object a line
  ctxsim run --format json --output report.json   every field
  ctxsim run --suite S --output report.html       a page with charts beside the tables
  ctxsim store write --policy P --scenario S --output DIR   what a memory holds at the end, as JSON files
  ctxsim import session.jsonl                     what a recording holds, and what of it is left out
  ctxsim import --report session.jsonl            how well the session's bill is predicted
  ctxsim validate my/policies                     every problem of every file
  ctxsim convert my.ron --to toml                 the same input in the other format
  ctxsim schema policy                            what may stand in a policy, for editors

Exit codes: 0 fine, 1 a guard failed, 2 bad input or usage.";

const SENSITIVITY_EXAMPLES: &str = "\
Examples:
  ctxsim sensitivity                                           six policies under the bundled providers' models
  ctxsim sensitivity --profiles 'openai/*' 'anthropic/*'       two providers
  ctxsim sensitivity --policy A B --scenario session.jsonl     your own session under all of them
  ctxsim sensitivity --profiles imported/openai/*.toml         price lists that `ctxsim prices import` wrote
  ctxsim sensitivity --set break_even.prune_removes_tokens=30_000

Exit codes: 0 fine, 2 bad input or usage.";

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
    #[command(after_help = SENSITIVITY_EXAMPLES)]
    Sensitivity(SensitivityArgs),
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
    /// Write what a memory holds after a conversation to a folder, or read it back
    Store(StoreArgs),
    /// Print the JSON Schema of a kind of input file, which editors check and complete by
    Schema(SchemaArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
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
    /// The seed of every draw [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many conversations of each length, where a scenario draws them [default: the scenario's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// How many threads; the result is the same with any number [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
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

/// The arguments of `sensitivity`.
#[derive(Debug, Args)]
pub(crate) struct SensitivityArgs {
    /// A suite, which gives what the other options leave out [default: sensitivity]
    #[arg(long, value_name = "S")]
    pub(crate) suite: Option<String>,
    /// Policies, by name, path or pattern
    #[arg(long = "policy", visible_alias = "policies", value_name = "P", num_args = 1..)]
    pub(crate) policies: Vec<String>,
    /// Scenarios, by name, path or pattern, or recorded sessions
    #[arg(long = "scenario", visible_alias = "scenarios", value_name = "S", num_args = 1..)]
    pub(crate) scenarios: Vec<String>,
    /// Model profiles, by name, path or pattern; `all` for every one there is
    #[arg(long = "profile", visible_alias = "profiles", value_name = "M", num_args = 1..)]
    pub(crate) profiles: Vec<String>,
    /// The seed of every draw [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many conversations of each length, where a scenario draws them [default: the scenario's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// How many threads; the result is the same with any number [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Override a field of the inputs for this run, as in `break_even.prune_removes_tokens=30_000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// How it is written: table, json, csv or markdown [default: table, or what the output's extension says]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArg>,
    /// Write to a file, all of it or nothing
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Show every scenario, and every policy's elasticities
    #[arg(long)]
    pub(crate) details: bool,
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

/// The arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Recorded sessions, or scenarios that name one
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Compare what the cache should have read with what the provider billed
    #[arg(long)]
    pub(crate) report: bool,
    /// The model profile of the report, by name or path
    #[arg(long, value_name = "M", default_value = "anthropic/claude-opus-4.5", requires = "report")]
    pub(crate) profile: String,
    /// Override a field of the report's inputs, as in `scenario.load.recorded.assume.side_request=none`
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "report")]
    pub(crate) set: Vec<String>,
    /// How it is written: table or json
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: CalibrationFormatArg,
    /// Write to a file, all of it or nothing
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// How a calibration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalibrationFormatArg {
    /// A table for people
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

/// The arguments of `prices`.
#[derive(Debug, Args)]
pub(crate) struct PricesArgs {
    /// What to do with them
    #[command(subcommand)]
    pub(crate) command: PricesCommand,
}

/// What can be done with price lists.
#[derive(Debug, Subcommand)]
pub(crate) enum PricesCommand {
    /// Make profiles of LiteLLM's JSON, genai-prices' data.json or models.dev's TOML tree, and list what is in none
    Import(PriceImportArgs),
    /// Show every price on which lists disagree
    Compare(CompareArgs),
}

/// The arguments of `prices import`.
#[derive(Debug, Args)]
pub(crate) struct PriceImportArgs {
    /// Files of price lists, or folders of TOML files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The folder below which profiles are written
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// The day on which the lists were fetched, YYYY-MM-DD
    #[arg(long, value_name = "DATE", default_value = "1970-01-01")]
    pub(crate) as_of: String,
}

/// The arguments of `prices compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Files of price lists, or folders of TOML files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

/// The arguments of `store`.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// What to do with it
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

/// What can be done with a store.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Play one conversation and write what the policy's memory holds at its end: BANK.json for each bank, keys with
    /// values in the order of writing, and index.json, which says what run left it
    Write(StoreWriteArgs),
    /// Read a folder that `store write` wrote, and say whether it is still what its run leaves
    Read(StoreReadArgs),
}

/// The arguments of `store write`.
#[derive(Debug, Args)]
pub(crate) struct StoreWriteArgs {
    /// A policy with a memory, by name or path
    #[arg(long, value_name = "P")]
    pub(crate) policy: String,
    /// A scenario of conversations, by name or path
    #[arg(long, value_name = "S")]
    pub(crate) scenario: String,
    /// A model profile, by name or path
    #[arg(long, value_name = "M", default_value = "context_decay/words")]
    pub(crate) profile: String,
    /// Turns of the conversation [default: the scenario's first length]
    #[arg(long, value_name = "N")]
    pub(crate) length: Option<u64>,
    /// Which conversation of that length, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) trial: u64,
    /// The seed of every draw [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Override a field of the inputs, as in `memory.store.banks.capacity=3`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// The folder, made if it is not there; files of the same names are replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

/// The arguments of `store read`.
#[derive(Debug, Args)]
pub(crate) struct StoreReadArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
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
