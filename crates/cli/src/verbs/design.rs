//! `ctxsim tune --design`: the cheapest policy that keeps enough evidence, of the presets and of a grammar of stages.

use crate::prelude::*;

use ctxsim_app::design::{DesignTerms, design_policy};
use ctxsim_report::tune::design::terminal_text;

use crate::verbs::sweep::{mark_comparison_inputs, policy_file_format, print_answer};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim tune --design ~/.claude/projects --output mine.ron
  ctxsim tune --design sessions/ --min-evidence 0.95 --budget 50000
  ctxsim run sessions/ --policy identity mine.ron                 what the policy would change in each session

The policies are those that `ctxsim list` shows, and up to four kinds of stages of a grammar, alone or on top of one of them: trim results as they \
enter, mask old results, clear them above a trigger, compact, choose the cache's lifetime, keep it alive in pauses. Successive halving over sessions \
finds where to begin, and coordinate search changes one number after the other while that saves. The older half of the sessions chooses, and the newer \
half, which the search never sees, tests the choice by the rule of `ctxsim tune`. A policy of the grammar takes the place of the cheapest preset only if it is \
likely to cost less in later sessions, too. The same seed gives the same policy, on any number of threads.

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The arguments of `tune --design`.
#[derive(Debug, Args)]
#[command(
    mut_arg(
        "profiles",
        with_help("Model profiles by name, path or pattern [default: each session's own model]")
    ),
    mut_arg("seed", with_help("Seed of the search: the order of sessions, and where it begins"))
)]
pub(crate) struct DesignArgs {
    #[command(flatten)]
    what: LoadArgs,
    /// Policy that costs are compared with, by name or path
    #[arg(long, value_name = "P", default_value = "identity")]
    base: String,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// Most simulations of one policy on one session
    #[arg(long, value_name = "N", value_parser = whole_number_parser::<usize>(5_000, 100_000_000), default_value_t = 20_000)]
    budget: usize,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Write the best policy to a file (.ron or .toml) with comments, atomically
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    wide: WidthArgs,
}

/// Searches, prints, and writes the best policy.
pub(super) fn design_and_print(catalog: &Catalog, args: &DesignArgs) -> Result<()> {
    let format = policy_file_format(args.output.as_deref())?;
    let asked = args.what.comparison(catalog, "--base", std::slice::from_ref(&args.base))?;
    let terms = DesignTerms {
        min_evidence: args.evidence.min_evidence,
        budget: args.budget,
        seed: asked.seed.unwrap_or(0),
    };
    // The seed is that of the search; what is drawn in a scenario has its own.
    let comparison = Comparison { seed: None, ..asked };
    if let Some(path) = &args.output {
        mark_comparison_inputs(catalog, &comparison);
        args.force.overwrite_rules(catalog.files_read()).check_may_write(path, None)?;
    }
    let threads = args.what.threads();
    let found = run_with_progress(SIMULATES, |it| design_policy(catalog, &comparison, terms, threads, it))?;
    if let (Some(path), Some(format)) = (&args.output, format) {
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let text = WrittenByRemark::add_to_input(format, found.to_policy_text(&name, format)?);
        output::write_text_file(path, text, args.force.overwrite_rules(catalog.files_read()))?;
    }
    print_answer(&found.designed, args.json, || terminal_text(&found.designed, args.wide.stdout_terminal()))
}
