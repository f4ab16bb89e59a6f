//! Rules that take a few lines each: which earlier results a call needs by a process, a file or a word that it names.

use std::path::Path;

use super::NeededResult;
use super::history::{CallHistory, PastCall, words};
use crate::prelude::*;
use ctxsim_input::scenario::NeedRule;
use ctxsim_input::scenario::summaries::FactKind;

/// Finds what a call needs that asks for a process again: the newest result that names the process, else the newest of a call that did.
pub(super) fn polled_again(call: &PastCall, history: &CallHistory<'_>, spec: &NeedRule) -> Vec<NeededResult> {
    let names = spec.arguments.as_deref().unwrap_or_default();
    let processes = call.named(names).filter(|it| !it.is_empty());
    let newest = |process: &str| {
        let said = history.places(process).find(|it| history.kind(*it) == Kind::ToolResult);
        said.max(history.results_for(process).next())
    };
    processes.filter_map(newest).map(|item| NeededResult { item, names: None }).collect()
}

/// Finds what a later edit or search of a file needs: the newest result of an earlier call on the file that brought something of it. A later read is
/// the fetch itself, and folders, which hold too much, are not followed.
pub(super) fn same_path(call: &PastCall, history: &CallHistory<'_>, spec: &NeedRule) -> Vec<NeededResult> {
    if history.spine.is_one_of(call.tool, spec.rereads.as_deref().unwrap_or_default()) {
        return Vec::new();
    }
    let names = spec.arguments.as_deref().unwrap_or_default();
    let files = call.named(names).filter(|it| Path::new(it).extension().is_some());
    files
        .filter_map(|file| history.results_for(file).find(|it| history.spine.brings(*it)))
        .map(|item| NeededResult { item, names: None })
        .collect()
}

/// Finds the results that were the last to say a name, a path or a number that a call uses; once the agent has said it itself, it needs them no more.
pub(super) fn literals(call: &PastCall, history: &CallHistory<'_>, spec: &NeedRule) -> Vec<NeededResult> {
    let n_min = saturated(spec.characters_min.unwrap_or_default());
    let mut results = Vec::new();
    for value in call.others(&[]) {
        let literals = words(value).filter(|it| is_literal(it, n_min));
        let newest = literals.filter_map(|it| {
            let item = history.places(it).next()?;
            Some(NeededResult { item, names: FactKind::of_literal(it) })
        });
        results.extend(newest.filter(|it| history.kind(it.item) == Kind::ToolResult));
    }
    results
}

/// Returns whether a word is one that nobody says by chance: long enough, with a digit, a joint, or a capital inside.
fn is_literal(word: &str, n_min: usize) -> bool {
    let is_joint = |it: char| it.is_ascii_digit() || matches!(it, '_' | '/' | '.');
    let has_hump =
        || word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    word.chars().count() >= n_min && (word.contains(is_joint) || has_hump())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_no_literal_and_names_are() {
        let literals = |words: [&str; 4]| words.map(|it| is_literal(it, 8));

        assert_eq!(literals(["straightforward", "well-known", "a.b", "Capital"]), [false; 4]);
        assert_eq!(literals(["snake_case", "camelCase", "src/lib.rs", "deadbeef42"]), [true; 4]);
    }
}
