//! Policies that are programs: none starts unless that was allowed.

use super::{Comparison, Plan};
use crate::catalog::{Catalog, Loaded, Origin};
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::error::Error;
use ctxsim_base::grid::shell::quoted;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::own::process::Process;
use ctxsim_engine::own::{CodeInputs, Own};
use ctxsim_input::policy::{Builtin, OwnCode};
use ctxsim_input::{Policy, PolicyFile};

/// What a program is tried out on: a recorded session with its texts, and a short one that has sizes alone; under a model whose prompts have a
/// limit, the short one also under one whose prompts have none.
const TRIED_ON: [(&str, &[&str]); 2] = [
    ("recorded/claude-code", &["anthropic/claude-opus-4.5"]),
    ("duckagent/incremental_workspace_audit", &["anthropic/claude-opus-4.5", "unlimited"]),
];
/// What is drawn is drawn once: how a program answers does not hang on how often.
const DRAWN_ONCE: &str = "scenario.refetch.played_trials=1";

/// Returns a problem for each policy whose program may not be started.
pub(super) fn refused(policies: &[Loaded<PolicyFile>], comparison: &Comparison) -> Vec<Diagnostic> {
    let refused = policies.iter().filter_map(|policy| {
        let process = policy.spec.process.as_ref()?;
        let (name, line) = (&policy.spec.name, line(&process.command));
        let is_of_revision = matches!(policy.origin, Origin::Revision(..));
        let problem = if process.folder.is_none() && !is_of_revision {
            let message =
                format!("`{name}` starts the program `{line}`, so it must be read from a file on disk");
            Diagnostic::at(ctxsim_base::diag::Code("process-not-on-disk"), "process", message)
                .help("write the policy to a file, and name that file")
        } else if comparison.allow_process {
            return None;
        } else {
            let message = format!("`{name}` starts a program: `{line}`");
            Diagnostic::at(ctxsim_base::diag::Code("process-not-allowed"), "process", message)
                .help("add `--allow-process` if you trust this program")
        };
        Some(policy.locate(vec![problem]))
    });
    refused.flatten().listed()
}

/// Returns a command as it is typed.
fn line(command: &[String]) -> String {
    command.iter().map(|it| quoted(it)).listed().join(" ")
}

/// Puts the program into a policy that is one; it starts when a run begins.
pub(super) fn with_program(policy: Policy) -> Policy {
    let Some(process) = policy.process.as_ref().map(|it| Process::new(it, &policy.params)) else {
        return policy;
    };
    let own = Own::process(&policy.name, process);
    policy.with_code(Some(Builtin::Own(OwnCode::new(own))))
}

/// Has the runs of own code played twice.
pub(super) fn played_twice(policy: Policy) -> Policy {
    let own = match &policy.code {
        Some(Builtin::Own(code)) => Own::of(code).cloned(),
        _ => None,
    };
    let Some(mut own) = own else { return policy };
    own.plays_twice = true;
    policy.with_code(Some(Builtin::Own(OwnCode::new(own))))
}

/// Tries out a policy that is a program: it is started, plays some loads twice, and is ended.
///
/// # Errors
/// Everything that it does against the protocol, or that its policy file says wrong.
pub(super) fn try_out(catalog: &Catalog, name: &str) -> Result<(), Error> {
    let loaded = catalog.policy(name)?;
    let Some(process) = &loaded.spec.process else { return Ok(()) };
    let mut found: Vec<String> = Vec::new();
    let mut short = None;
    for (scenario, profiles) in TRIED_ON {
        let comparison = Comparison {
            policies: vec![name.to_owned()],
            scenarios: vec![scenario.to_owned()],
            profiles: profiles.iter().map(|it| (*it).to_owned()).listed(),
            set: vec![DRAWN_ONCE.to_owned()],
            allow_process: true,
            play_twice: true,
            ..Comparison::default()
        };
        let plan = Plan::new(catalog, &comparison)?;
        for failed in plan.report(None, &|_, _| {})?.failures {
            // What goes wrong at every start is told once.
            if !found.iter().any(|it| it.ends_with(&failed.reason)) {
                found.push(failed.to_string());
            }
        }
        short = Some(plan);
    }
    if let Some(plan) = short.filter(|_| found.is_empty()) {
        let process = Process::new(process, &loaded.spec.params);
        let ended = plan.each(Some(1), &|_, _| {}, |load, _| {
            let (timeline, profile) = (load.timeline()?, load.profiles.first()?);
            let made = CodeInputs { timeline, limits: profile.limits, play: 0 };
            process.try_out(&loaded.spec.name, made).err()
        })?;
        found.extend(ended.into_iter().flatten().next().map(|it| it.to_string()));
    }
    if found.is_empty() {
        return Ok(());
    }
    let told = found.into_iter().map(|it| {
        Diagnostic::at(ctxsim_base::diag::Code("process-fault"), "process", it)
            .help("correct the program; docs/reference/processes.md describes the messages and the answers")
    });
    Err(loaded.locate(told.listed()).into())
}
