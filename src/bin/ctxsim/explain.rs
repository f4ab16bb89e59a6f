//! `ctxsim explain`: one request of one run, for people or for programs.

use std::path::PathBuf;

use clap::Args;
use ctxsim::catalog::Catalog;
use ctxsim::compare::{Comparison, Load, Plan, Workload};
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::explain::explain as explained;
use ctxsim::report::explain::{json, rendered, table};
use ctxsim::report::rows::Context;

use crate::args::DocumentFormatArg;
use crate::output;

/// The arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The policy, by name or path
    #[arg(long, value_name = "P")]
    pub(crate) policy: String,
    /// The scenario, by name or path, or a recorded session
    #[arg(long, value_name = "S")]
    pub(crate) scenario: String,
    /// The request: its place among those that `run --rows requests` lists, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) request: u64,
    /// The session, where the scenario records several
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The model profile, by name or path
    #[arg(long, value_name = "M", default_value = "anthropic/claude-opus-4.5")]
    pub(crate) profile: String,
    /// Override a field of the inputs, as in `params.trigger.tokens=20000`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Give every item a line of its own
    #[arg(long)]
    pub(crate) details: bool,
    /// Print the prompt itself, where there is text; with `--format json` beside the rest
    #[arg(long)]
    pub(crate) render: bool,
    /// How it is written: table or json
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: DocumentFormatArg,
    /// Write to a file, all of it or nothing
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// Explains and writes.
pub(crate) fn explain(catalog: &Catalog, args: &ExplainArgs) -> Result<(), Error> {
    let comparison = Comparison {
        policies: vec![args.policy.clone()],
        scenarios: vec![args.scenario.clone()],
        profiles: vec![args.profile.clone()],
        set: args.set.clone(),
        ..Comparison::default()
    };
    let plan = Plan::new(catalog, &comparison)?;
    let load = session(&plan, args)?;
    let timeline = match &load.workload {
        Workload::Items(timeline) => timeline,
        Workload::Conversations(_) => {
            return Err(refused(
                format!("the requests of {} are those of many conversations", load.name),
                "name a scenario that is one session",
            ));
        }
        Workload::Blocks(_) => {
            return Err(refused(
                format!("{} is a block trace: its prompts are ids, and no policy changes them", load.name),
                "name a scenario of items",
            ));
        }
    };
    if args.render && timeline.texts.is_empty() {
        return Err(refused(
            format!("{} has sizes and no text to render", load.name),
            "name a recorded session, or leave out `--render`",
        ));
    }
    let (policy, profile) = (&load.policies[0], &plan.profiles[0]);
    let n = usize::try_from(args.request).unwrap_or(usize::MAX);
    let explanation = explained(timeline, policy, profile, n).map_err(|it| vec![*it])?;
    let recorded = timeline.recorded.as_ref();
    let context = Context { policy, scenario: &load.name, recorded, profile, names_run: false };
    let text = match args.format {
        DocumentFormatArg::Json => json(&explanation, context, args.render)
            .map_err(|error| vec![Diagnostic::at("unwritable", "", error.to_string())])?,
        DocumentFormatArg::Table if args.render => rendered(&explanation),
        DocumentFormatArg::Table => {
            let is_terminal = args.output.is_none();
            let style = table::Style {
                width: if is_terminal { output::width() } else { None },
                is_coloured: is_terminal && output::is_coloured(),
                lists_all: args.details,
            };
            table::explanation(&explanation, context, style)
        }
    };
    output::put(args.output.as_deref(), &text)
}

/// Returns the session that is meant: the only one, or the one that is named.
fn session<'a>(plan: &'a Plan, args: &ExplainArgs) -> Result<&'a Load, Error> {
    let names = || plan.scenarios.iter().map(|it| it.name.as_str());
    let Some(name) = &args.session else {
        return match plan.scenarios.as_slice() {
            [only] => Ok(only),
            all => Err(refused(
                format!("{} has {} sessions, and a request is of one", args.scenario, all.len()),
                &format!("write `--session NAME`; there are: {}", first(names())),
            )),
        };
    };
    plan.scenarios.iter().find(|it| it.name == *name).ok_or_else(|| {
        let help = match ctxsim::diag::nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", first(names())),
        };
        refused(format!("{} has no session called `{name}`", args.scenario), &help)
    })
}

/// Returns the first few of some names.
fn first<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<&str> = names.collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names.iter().take(SHOWN).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "))
}

fn refused(message: String, help: &str) -> Error {
    vec![Diagnostic::at("explain-what", "", message).help(help)].into()
}
