//! Arguments that several verbs share, and those of short verbs; those of a long verb are beside it.

use crate::prelude::*;

use clap::{Arg, ValueEnum};
use ctxsim_report::chart::KINDS;
use ctxsim_report::sections::columns::TableColumn;
use ctxsim_report::verdict::MIN_EVIDENCE;

use crate::git::RevArgs;
use crate::output::OutputArgs;
use crate::shown::WidthArgs;
use crate::verbs::parts::PartsArgs;
use crate::verbs::run;
use crate::what::{PoliciesArgs, SelectArgs, SuiteArgs, What};

/// The arguments of `run`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", run::offered("`run`")),
    mut_arg("parts", |parts| {
        parts.conflicts_with_all(["rows", "details", "columns", "chart", "format", "output", "html", "totals"])
    })
)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub policies: PoliciesArgs,
    #[command(flatten)]
    pub what: What,
    #[command(flatten)]
    pub suite: SuiteArgs,
    #[command(flatten)]
    pub rev: RevArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    /// Row granularity
    #[arg(long, value_enum, default_value_t)]
    pub rows: RowsArg,
    #[command(flatten)]
    pub shown: PagedArgs,
    /// Columns of the tables, as in `cost_usd,cache_hit,recovery_tokens`
    #[arg(long, value_name = "A,B,C", long_help = columns_help())]
    pub columns: Option<String>,
    #[arg(long, value_name = "NAME", help = chart_help(), conflicts_with = "rows")]
    pub chart: Option<String>,
    /// Show every scenario and every assumption
    #[arg(long)]
    pub details: bool,
    /// Write only what all scenarios come to together, without the runs of each: as tables, JSON or a page
    #[arg(long, conflicts_with_all = ["rows", "details", "columns", "chart"])]
    pub totals: bool,
    #[command(flatten)]
    pub parts: PartsArgs,
}

/// Describes `--columns`: every column there is.
fn columns_help() -> String {
    let names: Vec<&str> = TableColumn::names().listed();
    format!(
        "Columns of the tables, separated by commas: a name below, or a heading with `_` for blanks, such as `cost_usd`, \
            `recovery_tokens`, `compression_savings` or `limit_pressure`\n\n{}",
        names.join(", ")
    )
}

/// Describes `--chart`: every kind of chart.
fn chart_help() -> String {
    let names = KINDS.map(|it| it.name).join(", ");
    format!("Chart to write as svg: {names}; the second of a kind is `cost-2`")
}

/// Says in the help of a verb what an argument that others have, too, is to it.
pub(super) fn said(help: &'static str) -> impl FnOnce(Arg) -> Arg {
    move |arg| arg.help(help)
}

/// How much must be kept.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct EvidenceArgs {
    /// Least share of the needed evidence (of memories: of what they are asked) for a recommendation
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = MIN_EVIDENCE)]
    pub min_evidence: f64,
}

/// Returns a parser of whole numbers within bounds, which names the bounds whatever is wrong.
pub(super) fn number<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|it| (least..=most).contains(it));
        let help = match most {
            _ if most < u64::from(u32::MAX) => format!("use a whole number from {least} to {most}"),
            _ => format!("use a whole number of at least {least}"),
        };
        number.and_then(|it| T::try_from(it).ok()).ok_or(help)
    }
}

/// Parses a share such as `0.9` or `90%`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |it| (it, 100.0));
    let share =
        number.trim().parse::<f64>().map(|it| it / unit).ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to 1, such as `0.9`, or a percentage, such as `90%`".to_owned())
}

/// The granularity of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum RowsArg {
    /// One policy on one scenario under one profile
    #[default]
    Runs,
    /// One model request
    Requests,
    /// One evidence need: something earlier that a later step needs
    Needs,
    /// One conversation and which of its facts survived, or one sample of all needs
    Trials,
    /// One conversation of the context-decay loads, as the published script writes it
    Published,
    /// One question about a fact, and what happened to the fact
    Probes,
    /// One aging card: a run over many sessions, in AgingBench's schema
    Cards,
    /// One stream of sessions: its facts and what depends on them
    Facts,
    /// One call from a memory to its service
    Calls,
    /// One action of a memory runner: a message, a call or a model request
    Log,
    /// One changed assumption, and which memory runner then answers more questions
    Orderings,
}

/// The arguments of `list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// List only this kind
    #[arg(value_enum)]
    pub kind: Option<KindArg>,
    /// List only inputs whose name or description contains this text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,
    #[command(flatten)]
    pub wide: WidthArgs,
}

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KindArg {
    /// Rules that turn an agent's history into prompts
    Policies,
    /// Workloads: what an agent does, turn by turn
    Scenarios,
    /// Models with limits, cache rules and prices
    Profiles,
    /// Named comparisons
    Suites,
    /// Recorded sessions that can be read: where they are, what is read, and what the readers were checked on
    Formats,
}

/// The arguments of `validate`.
#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    /// Files, or folders of files [default: the whole catalog]
    #[arg(value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Start the programs that policies name, and check that they follow the protocol
    #[arg(long)]
    pub allow_process: bool,
    /// End with exit code 2 if a policy is warned of, too
    #[arg(long)]
    pub strict: bool,
}

/// The arguments of `show`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub(super) struct ShowArgs {
    /// Kind of input, where several kinds have one of the name
    #[arg(value_enum)]
    pub kind: Option<SchemaArg>,
    /// Name or path
    #[arg(value_name = "NAME", required_unless_present = "schema")]
    pub name: Option<String>,
    /// Merge a policy with its bases into one file; comments are lost
    #[arg(long, conflicts_with_all = ["to", "redact"])]
    pub merged: bool,
    /// Print it in this language, with its comments
    #[arg(long = "as", value_name = "FORMAT", value_enum)]
    pub to: Option<InputFormatArg>,
    /// Write the sessions of a recording without their words, to send a log that fails
    #[arg(long, conflicts_with_all = ["kind", "to"])]
    pub redact: bool,
    /// Print the JSON Schema of a kind of file, for editors; with `--output DIR` write KIND.json there, of all kinds if none is named
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, conflicts_with_all = ["kind", "name", "merged", "to", "redact"])]
    pub schema: Option<Option<SchemaArg>>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A format of input files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InputFormatArg {
    /// Rusty Object Notation
    Ron,
    /// TOML
    Toml,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaArg {
    /// Rules that turn an agent's history into prompts
    Policy,
    /// A workload: what an agent does, turn by turn
    Scenario,
    /// A model with limits, cache rules and prices
    Profile,
    /// A named comparison
    Suite,
}

/// The arguments of `--man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Folder to write ctxsim.1 and one page per command to, created if missing
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// The arguments of `--completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
