//! The verbs of the command line.

mod advise;
pub(super) mod check;
mod compare;
mod design;
mod explain;
mod fit;
mod import;
mod init;
mod inputs;
mod list;
pub(super) mod parts;
mod prices;
mod realised;
pub(super) mod run;
mod screen;
mod sensitivity;
mod store;
pub(super) mod sweep;
mod tune;

use crate::prelude::*;
use clap::{Parser, Subcommand};

use crate::exit_code;
use crate::output::ToneArgs;
use prices::PricesCommand;
use store::StoreCommand;

const EXAMPLES: &str = "\
Examples:
  ctxsim run                                      the default suite as tables
  ctxsim run ~/.claude/projects                   what each setting of your agent would change in your sessions
  ctxsim run --policy A --policy B --scenario S   two policies on one scenario, by name or path
  ctxsim run --scenario session.jsonl             a recorded session
  ctxsim run --set '*.params.threshold.ratio=0.7' one parameter changed in every policy that has it
  ctxsim run --rows requests --policy A           every request, one JSON object per line
  ctxsim run --format json --output report.json   every field
  ctxsim run --suite S --output report.html       a page with charts and tables
  ctxsim run --merge parts                        what the parts of other runs come to
  ctxsim run --store write --policy P --scenario S --output DIR   a memory's final contents, as JSON files

Exit codes: 0 success; 1 a guard or a run failed, or a number changed; 2 bad input or usage, or nothing to run or list.";

/// Simulates what a context policy does to prompts, prompt caching, recovery and cost.
///
/// Offline and deterministic: it makes no network calls and runs no model.
#[derive(Debug, Parser)]
#[command(
    name = "ctxsim",
    version,
    override_usage = "ctxsim [COMMAND]\n       ctxsim SESSIONS... [OPTIONS of screen]\n       ctxsim [PATH]... [OPTIONS of run]"
)]
pub(super) struct Cli {
    /// `screen` in front of recorded sessions, else `run`, when left out.
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub tone: ToneArgs,
}

/// A command: those in sight in the order of `GROUPS`, and the hidden ones under names that are typed as a flag.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show what sessions cost, where that goes, and what to do
    #[command(after_help = screen::EXAMPLES)]
    Screen(screen::ScreenArgs),
    /// Show what sessions contain, or how well bills are predicted
    #[command(after_help = import::EXAMPLES)]
    Import(import::ImportArgs),
    /// Explain one request: its prompt, cache breaks and bill
    Explain(explain::ExplainArgs),
    /// Say which settings to change, what it saves, what to paste
    #[command(after_help = advise::EXAMPLES)]
    Advise(advise::AdviseArgs),
    /// Compare what advice forecast with what later sessions cost
    #[command(after_help = realised::EXAMPLES)]
    Realised(realised::RealisedArgs),
    /// Compare policies on scenarios under model profiles
    #[command(after_help = EXAMPLES)]
    Run(run::RunArgs),
    /// Show what changes from one policy to another, and why
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::CompareArgs),
    /// Run a grid of policy variants and show the Pareto front
    #[command(after_help = sweep::EXAMPLES)]
    Sweep(sweep::SweepArgs),
    /// Find the cheapest parameters that keep enough evidence
    #[command(after_help = tune::EXAMPLES)]
    Tune(tune::TuneArgs),
    /// Compare policies across price lists: cost, order, break-even
    #[command(after_help = sensitivity::EXAMPLES)]
    Sensitivity(sensitivity::SensitivityArgs),
    /// Write starter files for a repository
    Init(init::InitArgs),
    /// Check suites against their guards and snapshots
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckArgs),
    /// List bundled policies, scenarios, profiles and suites
    List(list::ListArgs),
    /// Print the file of an input, or convert it
    #[command(after_help = inputs::EXAMPLES)]
    Show(inputs::ShowArgs),
    /// Report every problem in input files
    Validate(inputs::ValidateArgs),
    /// Import price lists as profiles, or show what newer ones change
    #[command(subcommand)]
    Prices(PricesCommand),
    /// Fold the parts of a run, or merge the shards of a sweep
    #[command(name = "run --merge", display_name = "ctxsim-run-merge", hide = true, after_help = sweep::MERGE_EXAMPLES)]
    Merge(sweep::MergeArgs),
    /// Export a memory's contents after a conversation, or verify an export
    #[command(subcommand, name = "run --store", display_name = "ctxsim-run-store", hide = true)]
    Store(StoreCommand),
    /// Fit the numbers of a memory to what your own agent answered
    #[command(name = "tune --fit", display_name = "ctxsim-tune-fit", hide = true, after_help = fit::EXAMPLES)]
    Fit(fit::FitArgs),
    /// Find the cheapest policy that keeps enough evidence: presets, and stages of a grammar
    #[command(name = "tune --design", display_name = "ctxsim-tune-design", hide = true, after_help = design::EXAMPLES)]
    Design(design::DesignArgs),
    /// Print the manual page, or write one per command
    #[command(name = "--man", display_name = "ctxsim-man", hide = true)]
    Man(inputs::ManArgs),
    /// Print a shell completion script
    #[command(name = "--completions", display_name = "ctxsim-completions", hide = true)]
    Completions(inputs::CompletionsArgs),
}

impl Command {
    /// Returns whether it is a first screen on what are recorded sessions.
    pub(super) fn is_screen_of_recordings(&self, catalog: &Catalog) -> bool {
        matches!(self, Self::Screen(args) if args.is_screen_of_recordings(catalog))
    }

    /// Does what was asked; returns the exit code, which says whether all that was checked holds.
    pub(super) fn run(self, catalog: &Catalog) -> Result<ExitCode> {
        match self {
            Self::Run(args) => return run::run_and_check_guards(catalog, &args).map(exit_code),
            Self::Check(args) => return check::check_suites(catalog, &args),
            Self::Screen(args) => screen::write_first_screen(catalog, &args),
            Self::Advise(args) => advise::advise_on_sessions(catalog, &args),
            Self::Realised(args) => realised::compare_with_forecast(catalog, &args),
            Self::Compare(args) => compare::compare_policies(catalog, &args),
            Self::Sweep(args) => sweep::run_sweep(catalog, &args),
            Self::Merge(args) => sweep::merge_part_files(&args),
            Self::Tune(args) => tune::tune_policy(catalog, &args),
            Self::Fit(args) => fit::fit_memory(catalog, &args),
            Self::Design(args) => design::design_and_print(catalog, &args),
            Self::Init(args) => init::write_starter_files(catalog, &args),
            Self::Sensitivity(args) => sensitivity::write_sensitivity(catalog, &args),
            Self::Explain(args) => explain::explain_request(catalog, &args),
            Self::Import(args) => import::show_recording_contents(catalog, &args),
            Self::List(args) => list::print_catalog(catalog, &args),
            Self::Show(args) => inputs::print_input(catalog, &args),
            Self::Validate(args) => inputs::validate_inputs(catalog, &args),
            Self::Prices(PricesCommand::Import(args)) => prices::import_price_lists(&args),
            Self::Prices(PricesCommand::Update(args)) => prices::update_profile_prices(&args, catalog),
            Self::Store(StoreCommand::Write(args)) => store::export_memory(catalog, &args),
            Self::Store(StoreCommand::Read(args)) => store::verify_by_replay(catalog, &args),
            Self::Man(args) => inputs::write_manual(&args),
            Self::Completions(args) => inputs::print_completions(&args),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
