//! `ctxsim explain`: one request of one run, for people or for programs.

use crate::catalog::Catalog;
use crate::compare::{Comparison, Plan};
use crate::diag::{Code, Diagnostic};
use crate::error::Error;
use crate::explain::explain as explained;
use crate::report::explain::{json, rendered, table};
use crate::report::rows::Context;
use crate::take::{Cell, Load};
use clap::Args;

use crate::cli::args::{FALLBACK_PROFILE, ProcessArgs, WidthArgs, number};
use crate::cli::format::{FormatArg, Formats};
use crate::cli::output::OutputArgs;
use crate::cli::verbs::run::given_width;
use crate::cli::{git, output};
use crate::quantity::saturated;

/// The available output formats.
const FORMATS: Formats<'_> = Formats { of: "`explain`", known: &[FormatArg::TABLE, FormatArg::JSON] };

/// The arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Policy by name or path
    #[arg(long, value_name = "P")]
    pub(crate) policy: String,
    /// Recorded sessions (files, folders or patterns), or a scenario by name or path
    #[arg(value_name = "PATH", required_unless_present = "scenario")]
    pub(crate) paths: Vec<String>,
    /// Scenario by name or path, or a recorded session
    #[arg(long, value_name = "S")]
    pub(crate) scenario: Option<String>,
    /// Request number, counted from 1 in the order of `run --rows requests`
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::<u64>(1, u64::MAX))]
    pub(crate) request: u64,
    /// Session to explain, if the scenario has several
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Conversation length in messages [default: the scenario's first length]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) length: Option<u64>,
    /// Which conversation of that length, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) trial: u64,
    /// Model profile [default: the session's model, else anthropic/claude-opus-4.5]
    #[arg(long, value_name = "M")]
    pub(crate) profile: Option<String>,
    /// Override a field, as in `params.trigger.tokens=20000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Show one line per item
    #[arg(long)]
    pub(crate) details: bool,
    /// Print the prompt text, if the scenario has text; `--format json` adds it as a field
    #[arg(long)]
    pub(crate) render: bool,
    /// Output format [default: by the output's extension, else table]
    #[arg(long, value_parser = FORMATS.parser())]
    pub(crate) format: Option<FormatArg>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) wide: WidthArgs,
}

impl ExplainArgs {
    /// Returns the sessions that are named.
    fn sessions(&self) -> Vec<String> {
        self.paths.iter().chain(&self.scenario).cloned().collect()
    }
}

/// Explains one request and writes the result.
pub(crate) fn explain(catalog: &Catalog, args: &ExplainArgs) -> Result<(), Error> {
    let format = FORMATS.choose(args.format, &args.output)?;
    let comparison = Comparison {
        policies: vec![args.policy.clone()],
        scenarios: args.sessions(),
        profiles: vec![args.profile.clone().unwrap_or_else(|| FALLBACK_PROFILE.to_owned())],
        own_models: args.profile.is_none(),
        set: args.set.clone(),
        ..Comparison::default()
    };
    let catalog = &git::with_revisions(catalog, &comparison.policies, args.process.allow_process)?;
    let plan = Plan::new(catalog, &args.process.of(comparison))?;
    args.output.check(catalog.files())?;
    let load = &session(&plan, &args.sessions(), args.session.as_deref())?;
    let mut profile = load.profiles[0].clone();
    let (made, lived);
    let timeline = match load.timeline() {
        Some(timeline) => {
            lived = load.timeline_of(Cell { scenario: 0, profile: 0, policy: 0 });
            lived.as_ref().unwrap_or(timeline)
        }
        None => {
            (made, profile.limits) = load.world.trial(args.length, args.trial, &profile.limits)?;
            &made
        }
    };
    if args.render && timeline.texts.is_empty() {
        return Err(refused(
            format!("{} has sizes but no text to render", load.name),
            "name a recorded session, or remove `--render`",
        ));
    }
    let (policy, profile) = (&load.policies[0], &profile);
    let n = saturated(args.request);
    let explanation = explained(timeline, policy, profile, n).map_err(|it| vec![*it])?;
    let context = Context::alone(policy, &load.name, timeline, profile);
    let text = match format {
        FormatArg::JSON => json(&explanation, context, args.render)
            .map_err(|error| vec![Diagnostic::at(Code::Unwritable, "", error.to_string())])?,
        _ if args.render => rendered(&explanation),
        _ => {
            let is_terminal = args.output.file().is_none();
            let style = table::Style {
                width: given_width(args.wide, &args.output),
                is_coloured: is_terminal && output::is_coloured(),
                lists_all: args.details,
            };
            table::explanation(&explanation, context, style)
        }
    };
    args.output.put(catalog.files(), format, &text)
}

/// Opens the requested session of a plan: the only one, or the one named.
pub(crate) fn session(plan: &Plan, given: &[String], named: Option<&str>) -> Result<Load, Error> {
    let mut loads = Vec::new();
    for entry in &plan.scenarios {
        loads.extend(plan.open(entry)?);
    }
    let given = given.join(", ");
    let Some(name) = named else {
        if loads.len() == 1 {
            return Ok(loads.swap_remove(0));
        }
        let n = loads.len();
        let names = loads.iter().map(|it| it.name.as_str());
        let help = format!("add `--session NAME`; the sessions are: {}", first(names));
        return Err(refused(format!("{given} has {n} sessions: choose one"), &help));
    };
    if let Some(at) = loads.iter().position(|it| it.name == name) {
        return Ok(loads.swap_remove(at));
    }
    let names = || loads.iter().map(|it| it.name.as_str());
    let help = match crate::diag::nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the sessions are: {}", first(names())),
    };
    Err(refused(format!("{given} has no session `{name}`"), &help))
}

/// Returns the first few of some names.
fn first<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<&str> = names.collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names.iter().take(SHOWN).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "))
}

/// Refuses what cannot be chosen.
pub(crate) fn refused(message: String, help: &str) -> Error {
    vec![Diagnostic::at(Code::ExplainWhat, "", message).help(help)].into()
}
