//! The rules of a policy that is a program.

use indexmap::IndexMap;

use crate::policy::{PolicyFile, ProcessFile, Size};
use ctxsim_base::diag::{Code, Problems};

/// Checks a policy that starts a program.
pub(super) fn check(file: &PolicyFile, process: &ProcessFile, problems: &mut Problems) {
    if file.code.is_some() || !file.stages.is_empty() {
        let other = if file.code.is_some() { "code" } else { "stages" };
        let help = format!("remove `{other}`, or `process`");
        let message = format!("a policy cannot have both `process` and `{other}`");
        problems.push_at(Code::ProcessBeside, "process", message, help);
    }
    problems.within("process", |problems| {
        if process.command.first().is_none_or(String::is_empty) {
            let help = "name a program and its arguments, as in `command: [\"node\", \"policy.mjs\"]`";
            problems.push_at(Code::ProcessCommandEmpty, "command", "`command` names no program", help);
        }
        if process.deadline().0 == 0 {
            let help = "write `deadline: \"10s\"`, or leave it out";
            problems.push_at(Code::ProcessDeadlineZero, "deadline", "a program needs time to answer", help);
        }
    });
    params(&file.params, problems);
}

/// Checks that parameters are numbers before a run begins.
fn params(params: &IndexMap<String, Size>, problems: &mut Problems) {
    for (name, _) in params.iter().filter(|(_, it)| asks_stage(it)) {
        let message = "this parameter depends on a stage's prompt, and a program has no stages";
        let help = "use `tokens(…)`, `count(…)`, `ratio(…)` or `limit`; each request message gives the program the prompt's size";
        problems.push_at(Code::ProcessParam, format_args!("params.{name}"), message, help);
    }
}

/// Returns whether a size depends on what a stage looks at.
fn asks_stage(size: &Size) -> bool {
    match size {
        Size::Start | Size::Input | Size::Behind | Size::PerRank(_) => true,
        Size::Tokens(_)
        | Size::Chars(_)
        | Size::Count(_)
        | Size::Ratio(_)
        | Size::Limit
        | Size::Window
        | Size::OutputLimit
        | Size::Param(_) => false,
        Size::Sum(parts) | Size::Minus(parts) | Size::Min(parts) | Size::Max(parts) => {
            parts.iter().any(asks_stage)
        }
        Size::Times(_, part) | Size::Harness { or: part, .. } => asks_stage(part),
        Size::ByWindow { then, otherwise, .. } => asks_stage(then) || asks_stage(otherwise),
    }
}
