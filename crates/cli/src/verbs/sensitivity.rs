//! `ctxsim sensitivity`: what a set of policies costs under many price lists.

use crate::prelude::*;
use ctxsim_report::sensitivity::page::html_page;
use ctxsim_report::sensitivity::{markdown, sensitivity_rows, terminal_text, write_json_document};

/// Shown below the options.
pub(super) const EXAMPLES: &str = "\
Examples:
  ctxsim sensitivity                                           six policies under the bundled providers' models
  ctxsim sensitivity --profiles 'openai/*' 'anthropic/*'       two providers
  ctxsim sensitivity ~/.claude/projects                        what can be set in your agents, under all of them
  ctxsim sensitivity --profiles all mine.toml                  your own price list beside all that are bundled
  ctxsim sensitivity --profiles imported/openai/*.toml         price lists written by `ctxsim prices import`
  ctxsim sensitivity --set break_even.prune_removes_tokens=30_000

Exit codes: 0 success; 2 bad input or usage, or a run failed.";

/// The available output formats.
const FORMATS: Formats<'_> = Formats {
    of: "`sensitivity`",
    known: &[FormatArg::TABLE, FormatArg::JSON, FormatArg::CSV, FormatArg::MARKDOWN, FormatArg::HTML],
};

/// The arguments of `sensitivity`.
#[derive(Debug, Args)]
#[command(
    mut_arg("format", |it| FORMATS.restrict_format_arg(it)),
    mut_arg("policies", with_help("Policies by name, path or pattern")),
    mut_arg("set", with_help("Override a field, as in `break_even.prune_removes_tokens=30_000`")),
    mut_arg("suite", with_help("Suite that supplies whatever the other options omit [default: sensitivity]"))
)]
pub(crate) struct SensitivityArgs {
    #[command(flatten)]
    policies: PoliciesArgs,
    #[command(flatten)]
    what: LoadArgs,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    shown: PagedArgs,
    /// Show every price list, every scenario and break-even points
    #[arg(long)]
    details: bool,
}

/// The suite that supplies what the arguments omit.
const DEFAULT_SUITE: &str = "sensitivity";

/// Runs and writes.
pub(super) fn write_sensitivity(catalog: &Catalog, args: &SensitivityArgs) -> Result<()> {
    let format = args.shown.shown.choose_format(&FORMATS)?;
    let comparison = args.what.comparison(catalog, "--policy", &args.policies.policies)?;
    let suite = args.suite.suite.clone();
    let plan = Plan::new(catalog, &Comparison { suite, default_suite: Some(DEFAULT_SUITE), ..comparison })?;
    args.shown.check_output_paths(catalog.files_read())?;
    let found = run_with_progress(SIMULATES, |it| plan.sensitivity_to_profiles(args.what.threads(), it))?;
    if format == FormatArg::JSON {
        return args.shown.write_json_and_page(
            catalog.files_read(),
            |to| write_json_document(&found, to),
            || html_page(&found),
        );
    }
    let text = || match format {
        FormatArg::MARKDOWN => Ok(String::from(markdown(&found, args.details)).into_bytes()),
        FormatArg::TABLE => Ok(terminal_text(&found, args.details, args.shown.shown.terminal()).into_bytes()),
        of_rows => of_rows.encode_rows(|_| vec![sensitivity_rows(&found)]),
    };
    args.shown.write_text_and_page(catalog.files_read(), format, || html_page(&found), text)
}
