//! `ctxsim check --laws`: whether policies keep the laws of context policies on random sessions.

use crate::prelude::*;

use ctxsim_app::laws::{LawKit, LawReport, PolicyLaws};
use serde::Serialize;

use super::CheckArgs;
use crate::exit_code;

/// The scenario that a plan needs and no law is tried on.
const SCENARIO: &str = "duckagent/fix_test_loop";
/// The model whose limits and cache hold, unless another is named.
const PROFILE: &str = "anthropic/claude-opus-4.5";
/// The folder of counterexamples, unless another is named.
const FOLDER: &str = "laws";

/// The available output formats.
const FORMATS: Formats<'_> = Formats { of: "`check --laws`", known: &[FormatArg::TABLE, FormatArg::JSON] };

/// The arguments of `check --laws`.
#[derive(Debug, Default, Args)]
pub(super) struct LawsArgs {
    /// Check policies, not suites: do they keep the laws of context policies on random sessions?
    #[arg(long, requires = "law_policies", conflicts_with_all = ["suites", "bless", "ratchet", "html", "explain", "snapshots", "allow_rev", "assume"])]
    pub(super) laws: bool,
    /// Policies for `--laws`, by name, pattern or path
    #[arg(id = "law_policies", long = "policy", value_name = "P", num_args = 1.., requires = "laws")]
    policies: Vec<String>,
    /// Profile whose limits and cache hold with `--laws` [default: anthropic/claude-opus-4.5]
    #[arg(id = "law_profile", long = "profile", value_name = "M", requires = "laws")]
    profile: Option<String>,
    /// Random sessions per policy with `--laws` [default: 48, or 12 for programs]
    #[arg(long, value_name = "N", requires = "laws", value_parser = whole_number_parser::<u32>(1, 100_000))]
    sessions: Option<u32>,
    /// Random seed of `--laws` [default: 0]
    #[arg(long, value_name = "SEED", requires = "laws")]
    seed: Option<u64>,
    /// Folder for the counterexamples of `--laws` [default: laws]
    #[arg(long, value_name = "DIR", requires = "laws")]
    counterexamples: Option<PathBuf>,
}

/// The report as JSON.
#[derive(Serialize)]
struct LawDocument<'r> {
    schema: &'static str,
    #[serde(flatten)]
    report: &'r LawReport,
}

/// Holds policies against the laws, writes a scenario file for each breach, and returns the exit code.
pub(super) fn check_laws(catalog: &Catalog, args: &CheckArgs) -> Result<ExitCode> {
    let format = args.shown.shown.choose_format(&FORMATS)?;
    let wanted = &args.laws;
    let profile = wanted.profile.clone().unwrap_or_else(|| PROFILE.to_owned());
    let (policies, profiles) = (wanted.policies.clone(), vec![profile.clone()]);
    let scenarios = vec![SCENARIO.to_owned()];
    let comparison = Comparison { policies, scenarios, profiles, ..Comparison::default() };
    let plan = Plan::new(catalog, &args.process.add_permissions_to(comparison))?;
    args.shown.check_output_paths(catalog.files_read())?;
    let kit = LawKit { seed: wanted.seed.unwrap_or_default(), sessions: wanted.sessions };
    let report = kit.check_policies(&plan)?;
    let folder = wanted.counterexamples.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    let path = |name: &str| folder.join(format!("{name}.toml"));
    let text = |scenario: &String| WrittenByRemark::add_to_input(Format::Toml, scenario);
    let files = report.broken_laws().map(|(.., it)| (path(&it.name), text(&it.scenario))).listed();
    let kept = args.shown.shown.output.force.overwrite_rules(catalog.files_read());
    output::write_together(&files, kept)?;
    let text = if format == FormatArg::JSON {
        output::to_json_text(&LawDocument { schema: "ctxsim.laws/1", report: &report })?
    } else {
        args.shown.shown.terminal().fitted(1..=report.failed_policies().count(), |_, most| {
            let shown = report.failed_policies().take(most).listed();
            let is_shown = |it: &PolicyLaws| shown.iter().any(|other| other.policy == it.policy);
            let mut text = report.to_text(most);
            for (policy, _, example) in report.broken_laws().filter(|it| is_shown(it.0)) {
                let at = quoted(&path(&example.name).display().to_string());
                let _ = writeln!(text, "{}", command_to_explain(policy, &at, &profile, example.request));
            }
            text
        })
    };
    args.shown.shown.output.write_result(catalog.files_read(), format, &text)?;
    Ok(exit_code(report.failed_policies().next().is_none()))
}

/// Returns the command that shows the request at which a policy broke a law.
fn command_to_explain(policy: &PolicyLaws, scenario: &str, profile: &str, request: u32) -> String {
    let allow = if policy.is_program { " --allow-process" } else { "" };
    let (argument, profile) = (&policy.argument, quoted(profile));
    format!("ctxsim explain {argument}{allow} --scenario {scenario} --profile {profile} --request {request}")
}
