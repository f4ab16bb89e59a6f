//! Policies that are programs: none starts unless that was allowed.

use super::Comparison;
use super::entry::quoted;
use crate::catalog::{Loaded, Origin};
use crate::diag::Diagnostic;
use crate::input::policy::{Code, OwnCode};
use crate::input::{Policy, PolicyFile};
use crate::own::Own;
use crate::own::process::Process;

/// Returns a problem for each policy whose program may not be started.
pub(super) fn refused(policies: &[Loaded<PolicyFile>], comparison: &Comparison) -> Vec<Diagnostic> {
    let refused = policies.iter().filter_map(|policy| {
        let process = policy.spec.process.as_ref()?;
        let (name, line) = (&policy.spec.name, line(&process.command));
        let problem = if let (Origin::Revision(..), _) | (_, None) = (&policy.origin, &process.folder) {
            let message = format!("`{name}` starts a program, `{line}`, and is not read from a file on disk");
            Diagnostic::at("process-revision", "process", message)
                .help("check that revision out in another folder, and name the policy file there")
        } else if comparison.allow_process {
            return None;
        } else {
            let message = format!("`{name}` starts a program: `{line}`");
            Diagnostic::at("process-not-allowed", "process", message)
                .help("add `--allow-process` if you trust this program")
        };
        Some(policy.locate(vec![problem]))
    });
    refused.flatten().collect()
}

/// Returns a command as it is typed.
fn line(command: &[String]) -> String {
    command.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}

/// Puts the program into a policy that is one; it starts when a run begins.
pub(super) fn with_program(policy: Policy) -> Policy {
    let Some(process) = policy.process.as_ref().map(|it| Process::new(it, &policy.params)) else {
        return policy;
    };
    let own = Own::process(&policy.name, process);
    policy.with_code(Some(Code::Own(OwnCode::new(own))))
}

/// Has the runs of own code played twice.
pub(super) fn played_twice(policy: Policy) -> Policy {
    let own = match &policy.code {
        Some(Code::Own(code)) => Own::of(code).cloned(),
        _ => None,
    };
    let Some(mut own) = own else { return policy };
    own.plays_twice = true;
    policy.with_code(Some(Code::Own(OwnCode::new(own))))
}
