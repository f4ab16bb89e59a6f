//! `ctxsim explain`: one request of one run, for people or for programs.

use crate::prelude::*;
use ctxsim_engine::explain::explain as explained;
use ctxsim_engine::take::{Cell, Load};
use ctxsim_report::explain::{explanation_json, render_prompt_text, table};
use ctxsim_report::rows::RowContext;

use crate::what::{ConversationArgs, SessionArgs};
use ctxsim_base::quantity::saturated;

/// The available output formats.
const FORMATS: Formats<'_> = Formats { of: "`explain`", known: &[FormatArg::TABLE, FormatArg::JSON] };

/// The arguments of `explain`.
#[derive(Debug, Args)]
#[command(mut_arg("format", |it| FORMATS.restrict_format_arg(it)))]
pub(crate) struct ExplainArgs {
    /// Policy by name or path
    #[arg(long, value_name = "P")]
    policy: String,
    /// Recorded sessions (files, folders or patterns), or a scenario by name or path
    #[arg(value_name = "PATH", required_unless_present = "scenario")]
    paths: Vec<String>,
    /// Scenario by name or path, or a recorded session
    #[arg(long, value_name = "S")]
    scenario: Option<String>,
    /// Request number, counted from 1 in the order of `run --rows requests`
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number_parser::<u64>(1, u64::MAX))]
    request: u64,
    #[command(flatten)]
    one: SessionArgs,
    #[command(flatten)]
    conversation: ConversationArgs,
    /// Show one line per item
    #[arg(long)]
    details: bool,
    /// Print the prompt text, if the scenario has text; `--format json` adds it as a field
    #[arg(long)]
    render: bool,
    #[command(flatten)]
    shown: ShownArgs,
}

/// Explains one request and writes the result.
pub(super) fn explain_request(catalog: &Catalog, args: &ExplainArgs) -> Result<()> {
    let format = args.shown.choose_format(&FORMATS)?;
    let named = args.paths.iter().chain(&args.scenario).cloned().listed();
    let comparison = args.one.comparison(&args.policy, named);
    let catalog = &git::read_policy_revisions(catalog, &comparison.policies, comparison.allow_process)?;
    let plan = Plan::new(catalog, &comparison)?;
    args.shown.output.check_output_path(catalog.files_read())?;
    let load = &open_session(&plan, &comparison.scenarios, args.one.session.as_deref())?;
    let mut profile = load.profiles[0].clone();
    let (made, lived);
    let timeline = match load.timeline() {
        Some(timeline) => {
            lived = load.timeline_of(Cell { scenario: 0, profile: 0, policy: 0 });
            lived.as_ref().unwrap_or(timeline)
        }
        None => {
            let ConversationArgs { length, trial } = args.conversation;
            (made, profile.limits) = load.world.trial(length, trial, &profile.limits)?;
            &made
        }
    };
    if args.render && timeline.texts.is_empty() {
        let message = format!("{} has sizes but no text to render", load.name);
        return Err(explain_error(message, "name a recorded session, or remove `--render`"));
    }
    let (policy, profile) = (&load.policies[0], &profile);
    let explanation = explained(timeline, policy, profile, saturated(args.request))?;
    let context = RowContext::for_single_run(policy, &load.name, timeline, profile);
    let text = match format {
        FormatArg::JSON => explanation_json(&explanation, context, args.render).map_err(unwritable_error)?,
        _ if args.render => render_prompt_text(&explanation),
        _ => {
            let on = args.shown.terminal_without_default_width();
            let style = table::ExplainStyle { on, lists_all: args.details };
            table::draw_explanation(&explanation, context, style)
        }
    };
    args.shown.output.write_result(catalog.files_read(), format, &text)
}

/// Opens the requested session of a plan: the only one, or the one named.
pub(super) fn open_session(plan: &Plan, given: &[String], session_name: Option<&str>) -> Result<Load> {
    let mut loads = Vec::new();
    for entry in &plan.scenarios {
        loads.extend(plan.open(entry)?);
    }
    let given = given.join(", ");
    let Some(name) = session_name else {
        if loads.len() == 1 {
            return Ok(loads.swap_remove(0));
        }
        let n = loads.len();
        let names = loads.iter().map(|it| it.name.as_str());
        let help = format!("add `--session NAME`; the sessions are: {}", list_first_names(names));
        return Err(explain_error(format!("{given} has {n} sessions: choose one"), &help));
    };
    if let Some(at) = loads.iter().position(|it| it.name == name) {
        return Ok(loads.swap_remove(at));
    }
    let names = || loads.iter().map(|it| it.name.as_str());
    let help = match ctxsim_base::diag::nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the sessions are: {}", list_first_names(names())),
    };
    Err(explain_error(format!("{given} has no session `{name}`"), &help))
}

/// Returns the first few of some names.
fn list_first_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<&str> = names.listed();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names.iter().take(SHOWN).map(|it| format!("`{it}`")).listed().join(", "))
}

/// Refuses what cannot be chosen.
pub(super) fn explain_error(message: String, help: &str) -> Error {
    Error::refused(Code("explain-what"), message, help)
}
