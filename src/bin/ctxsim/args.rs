//! Arguments that several verbs share, and those of short verbs; those of a long verb stand beside it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ctxsim::compare::Comparison;
use ctxsim::report::verdict::MIN_EVIDENCE;

/// The profile of what names no model.
pub(crate) const FALLBACK_PROFILE: &str = "anthropic/claude-opus-4.5";

/// The arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Recorded sessions, folders of them, quoted patterns, or scenarios by name or path
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
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
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Override a field of the inputs for this run, as in `POLICY.params.trigger.tokens=20000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Share of the needed evidence that a policy must keep to be advised
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = MIN_EVIDENCE)]
    pub(crate) min_evidence: f64,
    /// What a row is
    #[arg(long, value_enum, default_value_t)]
    pub(crate) rows: RowsArg,
    /// How it is written [default: table, or what the output's extension says; jsonl for rows below runs]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArg>,
    /// Write to a file, all of it or nothing; `-` is standard output
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// The chart that `--format svg` writes: frontier, cost, change, requests, depth, length; with a number, as in cost-2, a further one
    #[arg(long, value_name = "NAME")]
    pub(crate) chart: Option<String>,
    /// Show every scenario, and what is assumed
    #[arg(long)]
    pub(crate) details: bool,
}

/// Reads a share, as `0.9` or `90%`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |it| (it, 100.0));
    let share = number.trim().parse::<f64>().map(|it| it / unit).ok().filter(|it| (0.0..=1.0).contains(it));
    share.ok_or_else(|| "write a share from 0 to 1, as in `0.9`, or in percent, as in `90%`".to_owned())
}

/// Which recorded sessions take part.
#[derive(Debug, Default, Args)]
pub(crate) struct SelectArgs {
    /// Leave out recorded sessions that ended before this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) since: Option<String>,
    /// Take only the newest N recorded sessions
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Take only recorded sessions of a model: a part of its id, or a pattern
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,
}

impl SelectArgs {
    /// Lays the selection over a comparison.
    pub(crate) fn of(&self, comparison: Comparison) -> Comparison {
        Comparison {
            since: self.since.clone(),
            limit: self.limit.map(|it| usize::try_from(it).unwrap_or(usize::MAX)),
            model: self.model.clone(),
            ..comparison
        }
    }
}

/// What is drawn, and by how many threads.
#[derive(Debug, Default, Args)]
pub(crate) struct DrawArgs {
    /// The seed of every draw [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// How many conversations of each length, and how many times needs are drawn, where a scenario draws any [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// How many threads; the result is the same with any number [default: one a core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl DrawArgs {
    /// Returns how many threads are asked for.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// What policies that are programs may do.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ProcessArgs {
    /// Let policies start the programs that their files name
    #[arg(long)]
    pub(crate) allow_process: bool,
    /// Play each run of a program twice, and end it where the second play differs
    #[arg(long)]
    pub(crate) play_twice: bool,
}

impl ProcessArgs {
    /// Adds what is allowed to a comparison.
    pub(crate) fn of(self, comparison: Comparison) -> Comparison {
        Comparison { allow_process: self.allow_process, play_twice: self.play_twice, ..comparison }
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
    /// A conversation with what was kept of its facts, or one drawing of all needs with its totals
    Trials,
    /// A question about a fact, with what became of the fact
    Probes,
    /// An aging card: a run over many sessions, in AgingBench's schema
    Cards,
    /// The facts of a stream of sessions, with what depends on them
    Facts,
    /// A call of a memory to the service that holds it
    Calls,
    /// Anything that a memory runner did: a message, a call, a model request
    Log,
    /// Who answers more questions of a type, where a declared number of memory runners has another value
    Orderings,
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
    /// A page with charts and tables that needs no other file
    Html,
    /// One chart: the first, or the one that `--chart` names
    Svg,
    /// Markdown for the summary of a GitHub workflow run, details folded
    Github,
    /// JUnit's XML
    Junit,
    /// SARIF 2.1.0
    Sarif,
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
    /// Start the programs that policies name, and check that they keep to the protocol
    #[arg(long)]
    pub(crate) allow_process: bool,
}

/// The arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Its kind
    #[arg(value_enum)]
    pub(crate) kind: SchemaArg,
    /// Its name or path
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Lay a policy over its bases, so that the text stands alone; comments are lost
    #[arg(long)]
    pub(crate) merged: bool,
    /// Write to a file, all of it or nothing; `-` is standard output
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
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
    /// Write to a file, all of it or nothing; `-` is standard output
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
    /// Write KIND.json into a folder, made if it is not there; of every kind, when none is named
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
    /// Write ctxsim.1 and a page for each command into a folder, made if it is not there
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
