//! `ctxsim tune`: the parameters that are cheapest under a floor of evidence,
//! compared with sessions that they were not chosen on.

use crate::prelude::*;

use ctxsim_app::tune::{Tuning, default_variants, tuned_policy_text, variants_from_grid};
use ctxsim_report::sweep::Objective;
use ctxsim_report::tune::{TriedVariants, TuneGoal, html_page, terminal_text};

use crate::progress::READS;
use crate::verbs::parts::{PartJob, PartsArgs};
use crate::verbs::sweep::{
    GridArgs, GuardArgs, mark_comparison_inputs, parse_objective, policy_file_format, print_answer,
};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim tune --policy clear_tool_results --output tuned.ron ~/.claude/projects
  ctxsim tune --policy mine.ron --vary params.trigger.tokens=40000..160000:20000 sessions/
  ctxsim tune --policy mine.ron sessions --shard 3/16 --parts parts     one share of the sessions; `ctxsim run --merge parts` tells the result of all

Without `--vary`, every number that the user of the agent can set is varied: what the policy file calls `settable`, or else what its stages decide by. \
A trigger is tried at shares of the longest prompt, any other number at multiples of itself, and a 0 at small shares of the longest prompt. Sizes that were \
measured, such as that of a summary, are left alone.

The newer half of the sessions is held out (without times, whole projects, if there are several). Parameters are chosen on the other sessions, \
and their savings are measured on those held out. The best variant is shown with its numbers on both parts, and it is recommended, and its file \
written, only if it costs less on the held-out part and keeps the evidence, both with the uncertainty taken into account: even at the \
unfavourable end of the 95% interval for later sessions of the same projects (working folders) in other months; without the project (or session) that \
saves most; over what is assumed of recovery; and, with five projects or more, on each project under what is chosen without it. Otherwise, one reason \
says why not.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The arguments of `tune`.
#[derive(Debug, Args)]
#[command(
    mut_arg("policy", with_help("Policy to tune, by name or path")),
    mut_arg("profiles", with_help("Model profiles by name, path or pattern [default: each session's own model]")),
    mut_arg("set", with_help("Override a field in every variant")),
    mut_arg("vary", with_help("Path and values to try [default: values around each number that can be set]")),
    mut_arg("parts", |parts| {
        let help = "Write one part per recording to this folder, for `ctxsim run --merge`; parts that are there already are not made again";
        parts.help(help).conflicts_with_all(["details", "json", "output", "html"])
    }),
    mut_arg("shard", with_help("Play one share of the recordings, as in `3/16`"))
)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// What to look for instead of the lowest cost: numbers of what memories remember, the most important first, such as `accumulator_error`
    #[arg(long = "objective", value_name = "NAME", num_args = 1.., value_parser = parse_objective)]
    objectives: Vec<Objective>,
    #[command(flatten)]
    guards: GuardArgs,
    /// Show every variant
    #[arg(long)]
    details: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    parts: PartsArgs,
    /// Write the recommended policy to a file (.ron or .toml), atomically
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    wide: WidthArgs,
}

/// Tunes, prints, and writes the recommended policy.
pub(super) fn tune_policy(catalog: &Catalog, args: &TuneArgs) -> Result<()> {
    let format = policy_file_format(args.output.as_deref())?;
    let asked = args.grid.comparison(catalog)?;
    let (seed, threads) = (asked.seed.unwrap_or(0), args.grid.what.threads());
    // The seed is that of the choice; what is drawn in a scenario has its own.
    let comparison = Comparison { seed: None, ..asked };
    if let Some(path) = &args.output {
        mark_comparison_inputs(catalog, &comparison);
        args.force.overwrite_rules(catalog.files_read()).check_may_write(path, None)?;
    }
    args.page.check_output_path(catalog.files_read(), args.force, args.output.as_deref())?;
    let tried = if args.grid.vary.is_empty() {
        run_with_progress(READS, |it| default_variants(catalog, &comparison, threads, it))?
    } else {
        variants_from_grid(&args.grid.grid()?)?
    };
    let goal = TuneGoal { objectives: args.objectives.clone(), guards: args.guards.guards.clone() };
    if !goal.has_objectives() && !goal.guards.is_empty() {
        let help = "add `--objective`, such as `--objective cost`";
        return Err(usage_error("`--guard` bounds what `--objective` looks for", help));
    }
    let tried = TriedVariants { goal, ..tried };
    let tuning = Tuning::new(catalog, &comparison, tried, args.evidence.min_evidence, seed)?;
    if let Some(folder) = args.parts.folder() {
        tuning.check_splittable()?;
        let (digest, names) = (tuning.job_digest()?, tuning.scenario_names());
        let job = PartJob { digest: &digest, head: tuning.head(), names: &names, threads };
        return args.parts.make_missing_parts(folder, &job, |told, making| tuning.make_parts(told, making));
    }
    let tuned = run_with_progress(SIMULATES, |it| tuning.tune(threads, it))?;
    if let (Some(path), Some(format)) = (&args.output, format) {
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        match tuned_policy_text(catalog, &args.grid.policy, &name, &tuned, format)? {
            Some(text) => {
                let text = WrittenByRemark::add_to_input(format, text);
                output::write_text_file(path, text, args.force.overwrite_rules(catalog.files_read()))?;
            }
            None => output::print_note(format_args!(
                "Nothing was written to `{}`: no variant is recommended.",
                path.display()
            )),
        }
    }
    args.page.write_if_asked(catalog.files_read(), args.force, || html_page(&tuned))?;
    print_answer(&tuned, args.json, || terminal_text(&tuned, args.details, args.wide.stdout_terminal()))
}
