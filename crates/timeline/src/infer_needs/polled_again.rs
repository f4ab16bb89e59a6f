//! A process that is asked for again needs the newest result that says how to ask for it.

use super::NeededResult;
use super::history::{CallHistory, PastCall};
use crate::Kind;
use ctxsim_input::scenario::NeedRule;

/// Finds the newest result that names the process, else the newest of a call that did.
pub(super) fn find(call: &PastCall, history: &CallHistory<'_>, spec: &NeedRule) -> Vec<NeededResult> {
    let names = spec.arguments.as_deref().unwrap_or_default();
    let processes = call.named(names).filter(|it| !it.is_empty());
    let newest = |process: &str| {
        let said = history.places(process).find(|it| history.kind(*it) == Kind::ToolResult);
        said.max(history.results_for(process).next())
    };
    processes.filter_map(newest).map(NeededResult::from).collect()
}
