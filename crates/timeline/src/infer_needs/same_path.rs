//! A later edit or search of the same file needs the newest result that brought something of it; a later read is the fetch itself.

use std::path::Path;

use super::NeededResult;
use super::history::{CallHistory, PastCall};
use ctxsim_input::scenario::NeedRule;

/// Finds the results of earlier calls on the files that a call names; folders, which hold too much, are not followed.
pub(super) fn find(call: &PastCall, history: &CallHistory<'_>, spec: &NeedRule) -> Vec<NeededResult> {
    if call.is_of(spec.rereads.as_deref().unwrap_or_default(), history) {
        return Vec::new();
    }
    let names = spec.arguments.as_deref().unwrap_or_default();
    let files = call.named(names).filter(|it| Path::new(it).extension().is_some());
    files
        .filter_map(|file| history.results_for(file).find(|it| history.brings(*it)))
        .map(NeededResult::from)
        .collect()
}
